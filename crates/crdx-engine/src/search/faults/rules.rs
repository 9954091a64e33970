//! The truth tables of the rules of one node.

use super::fragment::{Uses, uses};
use super::models::{self, FieldCases};
use super::{Fault, FaultEffort, FaultKind, FaultNode};
use crate::schema_steps::steps_below;
use crdx_server::rules::Rules;
use crdx_server::schema::Schema;
use crdx_value::release::Release;
use crdx_value::{Value, json, object};
use std::collections::BTreeMap;

/// A case, by the index of the value of each field, and the rules that hold in it.
struct TruthCase {
    choice: Vec<usize>,
    holds: Vec<bool>,
}

/// The truth of some rules of a node in each case.
struct TruthTable {
    /// The indices of the rules.
    rules: Vec<usize>,
    fields: Vec<FieldCases>,
    cases: Vec<TruthCase>,
}

/// Returns the faults of the rules of a node.
pub fn faults(node: &FaultNode<'_>, release: Release, effort: FaultEffort) -> Vec<Fault> {
    let rules = &node.schema.x_validations;
    let used: Vec<(usize, Uses)> =
        rules.iter().enumerate().filter_map(|(index, rule)| Some((index, uses(node.schema, &rule.rule)?))).collect();
    if used.is_empty() {
        return Vec::new();
    }
    let mut found = Vec::new();
    match TruthTable::new(node.schema, &used, release, effort) {
        Some(table) => {
            found.extend(table.single(node));
            found.extend(table.implied(node));
            found.extend(table.impossible(node));
        }
        // Together they have too many cases.
        None if used.len() > 1 => {
            for one in used {
                let table = TruthTable::new(node.schema, &[one], release, effort);
                found.extend(table.iter().flat_map(|table| table.single(node)));
            }
        }
        None => {}
    }
    found
}

impl TruthTable {
    /// `None` if there are too many cases, or if the cases are not known.
    fn new(schema: &Schema, used: &[(usize, Uses)], release: Release, effort: FaultEffort) -> Option<Self> {
        let fields = models::cases(schema, &joined(used), release)?;
        let count = fields.iter().try_fold(1, |count: usize, field| count.checked_mul(field.cases.len()))?;
        if count == 0 || count > effort.models {
            return None;
        }
        let rules: Vec<usize> = used.iter().map(|(index, _)| *index).collect();
        let evaluated = Rules::new(&around(schema, &rules, used), release)?;
        let mut cases = Vec::new();
        for number in 0..count {
            let Some(choice) = models::effective(&fields, &choice(&fields, number)) else { continue };
            let model = object([("value", models::model(&fields, &choice))]);
            let mut holds = vec![false; rules.len()];
            let evaluations = evaluated.evaluations(&model, None);
            // A null value has no rules.
            if evaluations.is_empty() {
                continue;
            }
            for one in evaluations {
                *holds.get_mut(one.rule)? = one.holds;
            }
            cases.push(TruthCase { choice, holds });
        }
        (!cases.is_empty()).then_some(Self { rules, fields, cases })
    }

    /// Rules that hold in every case, or in none.
    fn single(&self, node: &FaultNode<'_>) -> Vec<Fault> {
        let fault = |(position, index): (usize, &usize)| {
            let keyword = format!("x-kubernetes-validations[{index}].rule");
            let mut values = self.cases.iter().map(|case| case.holds.get(position).copied().unwrap_or_default());
            let first = values.next()?;
            if values.any(|value| value != first) {
                return None;
            }
            let (kind, what) = if first {
                (FaultKind::DeadRule, "is true for every value that the schema allows, so it never rejects any")
            } else {
                (FaultKind::UnsatisfiableRule, "is false for every value that the schema allows")
            };
            let rule = node.schema.x_validations.get(*index)?.rule.trim();
            Some(node.proved(kind, &keyword, format!("{}: the rule {rule:?} {what}", node.path())))
        };
        self.rules.iter().enumerate().filter_map(fault).collect()
    }

    /// Rules that hold whenever another one does.
    fn implied(&self, node: &FaultNode<'_>) -> Vec<Fault> {
        let holds = |case: &TruthCase, position: usize| case.holds.get(position).copied().unwrap_or_default();
        let varies = |position: usize| {
            let count = self.cases.iter().filter(|case| holds(case, position)).count();
            count > 0 && count < self.cases.len()
        };
        let implies = |one: usize, other: usize| self.cases.iter().all(|case| !holds(case, one) || holds(case, other));
        let mut found = Vec::new();
        for (position, index) in self.rules.iter().enumerate().filter(|(position, _)| varies(*position)) {
            let stronger = (0..self.rules.len()).find(|other| {
                let is_same = implies(position, *other);
                *other != position && varies(*other) && implies(*other, position) && (!is_same || *other < position)
            });
            let text = |index: usize| node.schema.x_validations.get(index).map_or("", |rule| rule.rule.trim());
            if let Some(other) = stronger.and_then(|other| self.rules.get(other)) {
                let keyword = format!("x-kubernetes-validations[{index}].rule");
                let (path, rule, other) = (node.path(), text(*index), text(*other));
                let message = format!("{path}: the rule {rule:?} is true whenever {other:?} is");
                found.push(node.proved(FaultKind::ImpliedRule, &keyword, message));
            }
        }
        found
    }

    /// Values that no case has in which all rules hold.
    fn impossible(&self, node: &FaultNode<'_>) -> Vec<Fault> {
        let valid: Vec<&TruthCase> = self.cases.iter().filter(|case| case.holds.iter().all(|holds| *holds)).collect();
        let is_single =
            |position: usize| self.cases.iter().all(|case| !case.holds.get(position).copied().unwrap_or_default());
        if (0..self.rules.len()).any(is_single) {
            // A rule that is never true is reported itself.
            return Vec::new();
        }
        if valid.is_empty() {
            let message = format!("{}: no value satisfies all of its rules", node.path());
            return vec![node.proved(FaultKind::Unsatisfiable, "x-kubernetes-validations", message)];
        }
        let mut found = Vec::new();
        for (position, field) in self.fields.iter().enumerate() {
            let allowed = |index: usize| valid.iter().any(|case| case.choice.get(position) == Some(&index));
            let schema = super::fragment::field(node.schema, &field.path);
            let is_finite = schema.is_some_and(super::fragment::is_finite);
            let present: Vec<usize> = (0..field.cases.len())
                .filter(|index| matches!(field.cases.get(*index), Some(Some(value)) if !value.is_null()))
                .collect();
            let name = name(node, field);
            let keyword = "x-kubernetes-validations";
            let mut report = |message: String| found.push(node.proved(FaultKind::ImpossibleValue, keyword, message));
            if field.cases.iter().any(Option::is_none) && !present.iter().any(|index| allowed(*index)) {
                report(format!("{name}: no object that the rules accept has this field"));
                continue;
            }
            if is_finite {
                for value in present
                    .iter()
                    .filter(|index| !allowed(**index))
                    .filter_map(|index| field.cases.get(*index)?.as_ref())
                {
                    report(format!("{name}: no object that the rules accept has the value {}", json::to_string(value)));
                }
            }
            let null = field.cases.iter().position(|case| case.as_ref().is_some_and(Value::is_null));
            if null.is_some_and(|index| !allowed(index)) && !field.path.is_empty() {
                report(format!(
                    "{name}: no object that the rules accept has null here, although the field is nullable"
                ));
            }
        }
        found
    }
}

fn name(node: &FaultNode<'_>, field: &FieldCases) -> String {
    let own = node.path();
    match (own.as_str(), field.path.is_empty()) {
        (_, true) => own,
        ("self", false) => field.path.join("."),
        (_, false) => format!("{own}.{}", field.path.join(".")),
    }
}

/// Returns what all rules use.
fn joined(used: &[(usize, Uses)]) -> Uses {
    let mut all: Uses = BTreeMap::new();
    for (path, uses) in used.iter().flat_map(|(_, uses)| uses) {
        let joined = all.entry(path.clone()).or_default();
        joined.numbers.extend(&uses.numbers);
        joined.texts.extend(uses.texts.iter().cloned());
        joined.sizes.extend(&uses.sizes);
        joined.peers.extend(uses.peers.iter().cloned());
        joined.is_compared |= uses.is_compared;
    }
    all
}

/// Returns a schema whose member `value` has the node's schema with only these rules and the fields that they use.
fn around(schema: &Schema, rules: &[usize], used: &[(usize, Uses)]) -> Schema {
    let paths: Vec<&[String]> = used.iter().flat_map(|(_, uses)| uses.keys()).map(Vec::as_slice).collect();
    let mut node = with_fields(schema, &paths);
    node.x_validations = rules.iter().filter_map(|index| schema.x_validations.get(*index).cloned()).collect();
    Schema {
        type_: "object".to_owned(),
        properties: BTreeMap::from([("value".to_owned(), Box::new(node))]),
        ..Schema::default()
    }
}

/// Returns a schema without rules, with the fields at these paths: most nodes have many more.
fn with_fields(schema: &Schema, paths: &[&[String]]) -> Schema {
    if schema.properties.is_empty() || paths.iter().any(|path| path.is_empty()) {
        let mut whole = schema.clone();
        clear_rules(&mut whole);
        return whole;
    }
    let mut properties = BTreeMap::new();
    for (name, property) in &schema.properties {
        let below = paths.iter().filter_map(|path| path.split_first()).filter(|(first, _)| *first == name);
        let below: Vec<&[String]> = below.map(|(_, rest)| rest).collect();
        if !below.is_empty() {
            properties.insert(name.clone(), Box::new(with_fields(property, &below)));
        }
    }
    Schema {
        type_: schema.type_.clone(),
        nullable: schema.nullable,
        x_embedded_resource: schema.x_embedded_resource,
        properties,
        ..Schema::default()
    }
}

/// Removes the rules of a node and of the nodes below it.
pub fn clear_rules(schema: &mut Schema) {
    schema.x_validations.clear();
    for step in steps_below(schema).into_iter().map(|(step, _)| step).collect::<Vec<_>>() {
        if let Some(child) = crate::schema_steps::below_mut(schema, &step) {
            clear_rules(child);
        }
    }
}

/// Returns the `number`th combination of cases.
fn choice(fields: &[FieldCases], number: usize) -> Vec<usize> {
    let mut rest = number;
    let digit = |field: &FieldCases| {
        let count = field.cases.len().max(1);
        let digit = rest % count;
        rest /= count;
        digit
    };
    fields.iter().map(digit).collect()
}
