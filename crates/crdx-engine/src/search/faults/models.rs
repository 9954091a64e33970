//! One value of a node for each case that its rules distinguish.

use super::fragment::{FieldUses, Uses, field, is_finite};
use crate::examples::generate::{self, ExampleFields};
use crdx_server::pipeline::compiled::{Dialect, SchemaNode};
use crdx_server::pipeline::validate::validate;
use crdx_server::schema::Schema;
use crdx_value::field::ROOT;
use crdx_value::release::Release;
use crdx_value::{Map, Value};
use std::collections::BTreeSet;

/// The longest text or list of a case.
const MAX_SIZE: i64 = 600;

/// The value of a field in one case; `None` if the field is absent.
pub type FieldCase = Option<Value>;

/// The values of one field.
#[derive(Debug)]
pub struct FieldCases {
    /// The names on the path from the node.
    pub path: Vec<String>,
    /// One value for each case.
    pub cases: Vec<FieldCase>,
}

/// Returns the cases of each field and of the optional objects above them, parents first; `None` if some case may have no value
/// here.
pub fn cases(node: &Schema, uses: &Uses, release: Release) -> Option<Vec<FieldCases>> {
    let mut parents: BTreeSet<&[String]> = BTreeSet::new();
    for path in uses.keys() {
        parents.extend((0..path.len()).filter_map(|length| path.get(..length)));
    }
    let mut all = Vec::new();
    let paths: BTreeSet<&[String]> = uses.keys().map(Vec::as_slice).chain(parents.iter().copied()).collect();
    for path in paths {
        let schema = field(node, path)?;
        let uses_of = uses.get(path);
        let values = if parents.contains(path) {
            // A parent has no other cases than the fields below it.
            let is_object = schema.type_ == "object" && uses_of.is_none_or(|uses| !uses.is_compared);
            if path.is_empty() && uses_of.is_none() {
                continue;
            }
            is_object.then(|| vec![Value::Object(Map::new())])?
        } else {
            values(schema, uses_of?, &Critical::of(node, uses, path)?, release)?
        };
        let mut cases: Vec<FieldCase> = values.into_iter().map(Some).collect();
        if schema.nullable {
            cases.push(Some(Value::Null));
        }
        if !is_present(node, path, schema) {
            cases.push(None);
        }
        // An object that is always there is part of every model.
        if !(parents.contains(path) && cases.len() == 1) {
            all.push(FieldCases { path: path.to_vec(), cases });
        }
    }
    Some(all)
}

/// Returns true if every value of the parent has the field.
fn is_present(node: &Schema, path: &[String], schema: &Schema) -> bool {
    let Some((last, parents)) = path.split_last() else { return true };
    schema.default.is_some() || field(node, parents).is_some_and(|parent| parent.required.contains(last))
}

/// The constants that matter to a field: its own, and those of all fields with which it is compared, directly or not. Between
/// two neighbours, and beyond the ends, as many values as there are fields show every order of the fields.
struct Critical {
    fields: usize,
    numbers: BTreeSet<i64>,
    reals: Vec<f64>,
    texts: BTreeSet<String>,
}

impl Critical {
    fn of(node: &Schema, uses: &Uses, path: &[String]) -> Option<Self> {
        let mut critical = Self { fields: 0, numbers: BTreeSet::from([0]), reals: vec![0.0], texts: BTreeSet::new() };
        let (mut seen, mut left) = (BTreeSet::from([path]), vec![path]);
        while let Some(path) = left.pop() {
            let uses_of = uses.get(path)?;
            critical.add(field(node, path)?, uses_of);
            let peers = uses_of.peers.iter().map(Vec::as_slice);
            left.extend(peers.filter(|peer| seen.insert(*peer)));
        }
        Some(critical)
    }

    #[expect(clippy::cast_possible_truncation, reason = "a bound beyond the range is its end")]
    #[expect(clippy::cast_precision_loss, reason = "only numbers that a double represents are constants of rules")]
    fn add(&mut self, schema: &Schema, uses: &FieldUses) {
        self.fields += 1;
        let bounds: Vec<f64> = [schema.minimum, schema.maximum].into_iter().flatten().collect();
        self.reals.extend(uses.numbers.iter().map(|number| *number as f64).chain(bounds.iter().copied()));
        self.numbers.extend(bounds.iter().map(|bound| *bound as i64));
        self.numbers.extend(uses.numbers.iter().chain(&uses.sizes));
        let limits = [
            (schema.min_length, schema.max_length),
            (schema.min_items, schema.max_items),
            (schema.min_properties, schema.max_properties),
        ];
        self.numbers.extend(limits.into_iter().flat_map(|(least, most)| [least, most]).flatten());
        if schema.format == "int32" {
            self.numbers.extend([i64::from(i32::MIN), i64::from(i32::MAX)]);
        }
        let named = schema.enum_.iter();
        self.texts
            .extend(uses.texts.iter().cloned().chain(named.filter_map(|value| value.as_str().map(str::to_owned))));
        self.numbers.extend(self.texts.iter().map(|text| length(text)));
        for value in &schema.enum_ {
            match value {
                Value::Int(number) => {
                    self.numbers.insert(*number);
                    self.reals.push(*number as f64);
                }
                Value::Float(number) => self.reals.push(*number),
                _ => {}
            }
        }
    }

    fn integers(&self) -> BTreeSet<i64> {
        let by = i64::try_from(self.fields).unwrap_or(i64::MAX);
        let near = |number: &i64| (number.saturating_sub(by)..=number.saturating_add(by)).collect::<Vec<_>>();
        self.numbers.iter().flat_map(near).collect()
    }

    /// Returns the constants, as many numbers between each two neighbours as there are fields, and as many beyond the ends.
    #[expect(clippy::cast_precision_loss, reason = "few fields")]
    fn reals(&self) -> Vec<f64> {
        let mut all = self.reals.clone();
        all.sort_by(f64::total_cmp);
        all.dedup();
        let parts = || (1..=self.fields).map(|part| part as f64);
        let between = |(one, next): (&f64, &f64)| {
            let (one, next, count) = (*one, *next, self.fields as f64 + 1.0);
            parts().map(move |part| one * (1.0 - part / count) + next * (part / count)).collect::<Vec<_>>()
        };
        let mut found: Vec<f64> = all.iter().zip(all.iter().skip(1)).flat_map(between).collect();
        found.extend(all.first().into_iter().flat_map(|first| parts().map(move |part| first - part)));
        found.extend(all.last().into_iter().flat_map(|last| parts().map(move |part| last + part)));
        found.extend(all);
        found
    }

    /// Returns the sizes within limits that stand for all others, because the rules and the schema treat those in between alike;
    /// `None` if one is too large.
    fn sizes(&self, least: Option<i64>, most: Option<i64>) -> Option<BTreeSet<i64>> {
        let within = |size: &i64| *size >= least.unwrap_or(0).max(0) && most.is_none_or(|most| *size <= most);
        let all: BTreeSet<i64> = self.integers().into_iter().filter(within).collect();
        all.iter().all(|size| *size <= MAX_SIZE).then_some(all)
    }

    /// Returns the named texts, and for each size as many others as there are fields.
    fn texts(&self, schema: &Schema) -> Option<Vec<String>> {
        let mut all: Vec<String> = self.texts.iter().cloned().collect();
        for size in self.sizes(schema.min_length, schema.max_length)? {
            let size = usize::try_from(size).unwrap_or(0);
            let letters = "qxz7".chars().chain('a'..='p').chain('A'..='Z');
            let texts = letters.map(|letter| letter.to_string().repeat(size));
            let mut others: Vec<String> = texts.filter(|text| !self.texts.contains(text)).take(self.fields).collect();
            if size == 0 {
                others.truncate(1);
            } else if others.len() < self.fields {
                return None;
            }
            all.extend(others);
        }
        Some(all)
    }
}

fn length(text: &str) -> i64 {
    i64::try_from(text.chars().count()).unwrap_or(i64::MAX)
}

/// Returns one valid value for each case. Values that the schema rejects are left out.
fn values(schema: &Schema, uses: &FieldUses, critical: &Critical, release: Release) -> Option<Vec<Value>> {
    let compiled = SchemaNode::compile(&without_rules(schema), Dialect::Objects, release);
    let is_valid = |value: &Value| validate(value, &compiled, &ROOT, release).is_empty();
    if is_finite(schema) {
        let all =
            if schema.enum_.is_empty() { vec![Value::Bool(true), Value::Bool(false)] } else { schema.enum_.clone() };
        return Some(all.into_iter().filter(is_valid).collect());
    }
    if !uses.is_compared {
        let value = generate::value(schema, ExampleFields::Minimal, 0);
        return is_valid(&value).then(|| vec![value]);
    }
    let has_unions = [&schema.all_of, &schema.any_of, &schema.one_of].iter().any(|parts| !parts.is_empty());
    if !schema.pattern.is_empty() || schema.multiple_of.is_some() || has_unions || schema.not.is_some() {
        return None;
    }
    match schema.type_.as_str() {
        "integer" => Some(critical.integers().into_iter().map(Value::Int).filter(is_valid).collect()),
        "number" => Some(critical.reals().into_iter().map(Value::Float).filter(is_valid).collect()),
        "string" => Some(critical.texts(schema)?.into_iter().map(Value::from).filter(is_valid).collect()),
        "array" | "object" => collections(schema, critical, is_valid),
        _ => None,
    }
}

fn without_rules(schema: &Schema) -> Schema {
    Schema { x_validations: Vec::new(), ..schema.clone() }
}

/// Returns a list or a map of each size within the limits; `None` if one cannot be generated.
fn collections(schema: &Schema, critical: &Critical, is_valid: impl Fn(&Value) -> bool) -> Option<Vec<Value>> {
    let (least, most) = match schema.type_.as_str() {
        "array" => (schema.min_items, schema.max_items),
        _ if schema.properties.is_empty() => (schema.min_properties, schema.max_properties),
        _ => return None,
    };
    let made = critical.sizes(least, most)?.into_iter().map(|size| {
        let limits = Schema {
            min_items: Some(size),
            max_items: Some(size),
            min_properties: Some(size),
            max_properties: Some(size),
            default: None,
            ..schema.clone()
        };
        let value = generate::value(&limits, ExampleFields::Minimal, 0);
        let length = value.as_array().map(<[Value]>::len).or_else(|| value.as_object().map(Map::len));
        let is_size = length.and_then(|length| i64::try_from(length).ok()) == Some(size);
        (is_size && is_valid(&value)).then_some(value)
    });
    made.collect()
}

/// Returns the choice without the fields below parents that are absent or null in it; `None` if another choice has the same
/// model.
pub fn effective(fields: &[FieldCases], choice: &[usize]) -> Option<Vec<usize>> {
    let mut effective = choice.to_vec();
    for (position, field) in fields.iter().enumerate() {
        let is_parent = |(other, index): &(&FieldCases, &usize)| {
            let is_object = matches!(other.cases.get(**index), Some(Some(Value::Object(_))));
            other.path.len() < field.path.len() && field.path.starts_with(&other.path) && !is_object
        };
        if fields.iter().zip(choice).any(|pair| is_parent(&pair)) {
            if choice.get(position) != Some(&0) {
                return None;
            }
            *effective.get_mut(position)? = ABSENT;
        }
    }
    Some(effective)
}

/// The index of the case of a field whose parent is absent.
const ABSENT: usize = usize::MAX;

/// Returns the value of the node with this case of each field.
pub fn model(fields: &[FieldCases], choice: &[usize]) -> Value {
    let mut model = Value::Object(Map::new());
    for (field, index) in fields.iter().zip(choice) {
        let value = field.cases.get(*index).cloned().flatten();
        if field.path.is_empty() {
            model = value.unwrap_or_default();
        } else if *index != ABSENT {
            set(&mut model, &field.path, value);
        }
    }
    model
}

fn set(at: &mut Value, path: &[String], value: Option<Value>) {
    let (Value::Object(members), Some((first, rest))) = (at, path.split_first()) else { return };
    if rest.is_empty() {
        members.extend(value.map(|value| (first.clone(), value)));
    } else {
        set(members.entry(first.clone()).or_insert_with(|| Value::Object(Map::new())), rest, value);
    }
}
