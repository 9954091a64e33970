//! Finds changes to an accepted object that violate exactly one constraint.

use crate::examples::boundaries;
use crate::examples::changes::{Change, Changes, changed, of_error, of_unions, schema_at};
use crate::examples::generate::{self, ExampleFields};
use crate::examples::{Checker, Rejection};
use crate::suites::coverage::{ConstraintKind, Coverage};
use crate::suites::outcome::{CaseRequest, CaseWrite};
use crate::suites::update::part_of_message;
use crdx_server::schema::Schema;
use crdx_value::Value;
use std::sync::Arc;

/// The maximum number of objects that are checked for one node of the schema.
const BUDGET: usize = 250;

/// Requests whose last one the server rejects because of a single constraint.
#[derive(Clone, Debug)]
pub struct NearMiss {
    /// The object that is created.
    pub initial: Value,
    /// The object that replaces it; `None` if the create is rejected.
    pub updated: Option<Value>,
    /// A part of the server's message.
    pub error: String,
}

/// Returns the object with the metadata that suites set.
pub fn named(object: &Value) -> Value {
    let mut object = object.clone();
    if let Some(members) = object.as_object_mut() {
        let metadata = members.entry("metadata".to_owned()).or_insert_with(|| crdx_value::Map::new().into());
        if let Some(metadata) = metadata.as_object_mut() {
            metadata.insert("generateName".to_owned(), "test-".into());
        }
    }
    object
}

/// Searches for near misses of the constraints of a CRD.
pub struct Finder<'f> {
    checker: &'f Checker,
    coverage: &'f Coverage,
    /// The near miss of each constraint, by its index.
    pub found: Vec<Option<NearMiss>>,
    /// The paths at and below which nodes are searched; empty means all.
    scope: Vec<Vec<String>>,
}

/// A node of the schema and its value in an object.
struct SchemaPosition<'n> {
    base: &'n Value,
    schema: &'n Schema,
    value: &'n Value,
    /// The property names and list indices of its path.
    steps: Vec<String>,
    /// The constraints of the node.
    constraints: Vec<usize>,
}

impl<'f> Finder<'f> {
    pub fn new(checker: &'f Checker, coverage: &'f Coverage) -> Self {
        Self { checker, coverage, found: vec![None; coverage.constraints.len()], scope: Vec::new() }
    }

    /// Searches for near misses among the changes of an object.
    pub fn search(&mut self, base: &Value) {
        let schema = Arc::clone(&self.checker.schema);
        self.node(base, &schema, base, "", &mut Vec::new());
    }

    /// Also searches among objects with other branches of unions, and with fields that the object lacks.
    pub(crate) fn search_variants(&mut self, base: &Value) {
        let schema = Arc::clone(&self.checker.schema);
        let mut variants = of_unions(&schema, base);
        absent(&schema, base, &mut Vec::new(), &mut variants);
        for changes in variants.into_iter().take(BUDGET) {
            if self.found.iter().all(Option::is_some) {
                break;
            }
            let changes: Changes = changes.into_iter().map(|change| full(&schema, change)).collect();
            let object = changed(base, &changes);
            if self.checker.create(&named(&object)).is_none() {
                self.scope = changes.into_iter().map(|change| change.path).collect();
                self.search(&object);
            }
        }
        self.scope.clear();
    }

    fn node(&mut self, base: &Value, schema: &Schema, value: &Value, path: &str, steps: &mut Vec<String>) {
        let constraints = self.coverage.constraints.iter().enumerate();
        let here = constraints.filter(|(_, constraint)| constraint.path == path).map(|(index, _)| index).collect();
        if self.scope.is_empty() || self.scope.iter().any(|path| steps.starts_with(path)) {
            self.misses(&SchemaPosition { base, schema, value, steps: steps.clone(), constraints: here });
        }
        let mut below = |finder: &mut Self, name: &str, schema: &Schema, value: &Value, path: &str| {
            steps.push(name.to_owned());
            finder.node(base, schema, value, path, steps);
            steps.pop();
        };
        let elements = format!("{path}[*]");
        match value {
            Value::Object(members) => {
                for (name, value) in members {
                    let dot = if path.is_empty() { "" } else { "." };
                    if let Some(property) = schema.property(name) {
                        below(self, name, property, value, &format!("{path}{dot}{name}"));
                    } else if let Some(values) = schema.additional_properties_schema() {
                        below(self, name, values, value, &elements);
                    }
                }
            }
            Value::Array(items) => {
                for (index, value) in items.iter().enumerate() {
                    if let Some(item) = schema.items_schema() {
                        below(self, &index.to_string(), item, value, &elements);
                    }
                }
            }
            _ => {}
        }
    }

    fn is_open(&self, node: &SchemaPosition<'_>, kind: Option<ConstraintKind>) -> bool {
        node.constraints.iter().any(|index| {
            let is_kind = kind.is_none_or(|kind| self.coverage.constraints.get(*index).is_some_and(|c| c.kind == kind));
            is_kind && self.found.get(*index).is_some_and(Option::is_none)
        })
    }

    fn misses(&mut self, node: &SchemaPosition<'_>) {
        if !self.is_open(node, None) {
            return;
        }
        let mut left = BUDGET;
        for value in boundaries::beyond(node.schema, node.value) {
            self.create(changed(node.base, &[Change { path: node.steps.clone(), value: Some(value) }]), &mut left);
        }
        for name in &node.schema.required {
            let path = node.steps.iter().cloned().chain([name.clone()]).collect();
            self.create(changed(node.base, &[Change { path, value: None }]), &mut left);
        }
        if self.is_open(node, Some(ConstraintKind::Union)) {
            for changes in unions(node).into_iter().chain(of_unions(&self.checker.schema, node.base)) {
                self.create(changed(node.base, &changes), &mut left);
            }
        }
        if self.is_open(node, Some(ConstraintKind::Rule)) || self.is_open(node, Some(ConstraintKind::Union)) {
            self.rules(node);
        }
    }

    /// Searches for near misses of rules: creates with one change, then updates, then creates with two changes.
    fn rules(&mut self, node: &SchemaPosition<'_>) {
        let mut left = BUDGET;
        let first: Vec<Value> = of_error(&self.checker.schema, node.base, &node.steps)
            .into_iter()
            .map(|changes| changed(node.base, &changes))
            .take(BUDGET / 2)
            .collect();
        let mut accepted = Vec::new();
        for object in &first {
            if !self.is_open(node, None) {
                return;
            }
            if self.create(object.clone(), &mut left) {
                accepted.push(object);
            }
        }
        let mut updates = BUDGET / 2;
        for object in &first {
            if !self.is_open(node, Some(ConstraintKind::Rule)) {
                return;
            }
            self.update(node.base, object, &mut updates);
        }
        for object in accepted {
            for changes in of_error(&self.checker.schema, object, &node.steps) {
                if left == 0 || !self.is_open(node, None) {
                    return;
                }
                self.create(changed(object, &changes), &mut left);
            }
        }
    }

    /// Checks the create of an object. Returns true if the server accepts it.
    fn create(&mut self, object: Value, left: &mut usize) -> bool {
        if *left == 0 {
            return false;
        }
        *left -= 1;
        let sent = named(&object);
        match self.checker.send(&sent) {
            Ok(_) => true,
            Err(rejection) => {
                self.note(NearMissWrites { initial: object, updated: None }, sent, None, rejection);
                false
            }
        }
    }

    fn update(&mut self, initial: &Value, updated: &Value, left: &mut usize) {
        if *left == 0 || initial == updated {
            return;
        }
        *left -= 1;
        if let Some((sent, old, Err(rejection))) = self.checker.update(&named(initial), &named(updated)) {
            let writes = NearMissWrites { initial: initial.clone(), updated: Some(updated.clone()) };
            self.note(writes, sent, Some(old), rejection);
        }
    }

    /// Records the writes if they violate exactly one constraint that has no near miss yet.
    fn note(&mut self, writes: NearMissWrites, sent: Value, old: Option<Arc<Value>>, rejection: Rejection) {
        let [error] = self.checker.own_errors(&rejection) else { return };
        let error = part_of_message(error);
        let step = if old.is_some() { CaseRequest::Update } else { CaseRequest::Initial };
        let Rejection { message, errors, .. } = rejection;
        let write = CaseWrite { step, sent, old, answer: Err(message.into()), errors, warnings: Vec::new() };
        let violated = self.coverage.violated(&write);
        if let [only] = violated.as_slice()
            && let Some(found @ None) = self.found.get_mut(*only)
        {
            *found = Some(NearMiss { initial: writes.initial, updated: writes.updated, error });
        }
    }
}

struct NearMissWrites {
    initial: Value,
    updated: Option<Value>,
}

/// Returns the change with every field of the value that it sets.
fn full(root: &Schema, change: Change) -> Change {
    let set = change.value.as_ref().and(schema_at(root, &change.path));
    let value = set.map(|(schema, _)| generate::value(schema, ExampleFields::Full, 0));
    Change { path: change.path, value: value.or(change.value) }
}

/// Collects changes that set fields that objects in `value` lack.
fn absent(schema: &Schema, value: &Value, steps: &mut Vec<String>, all: &mut Vec<Changes>) {
    match value {
        Value::Object(members) => {
            for (name, property) in &schema.properties {
                steps.push(name.clone());
                match members.get(name) {
                    Some(value) => absent(property, value, steps, all),
                    None => all.push(vec![Change { path: steps.clone(), value: Some(Value::Null) }]),
                }
                steps.pop();
            }
        }
        Value::Array(items) => {
            if let (Some(first), Some(item)) = (items.first(), schema.items_schema()) {
                steps.push("0".to_owned());
                absent(item, first, steps, all);
                steps.pop();
            }
        }
        _ => {}
    }
}

/// Returns changes that remove all fields of a union, and changes that set all of them.
fn unions(node: &SchemaPosition<'_>) -> Vec<Changes> {
    let all_of = node.schema.all_of.iter().flat_map(|part| part.one_of.iter().chain(&part.any_of));
    let branches = node.schema.one_of.iter().chain(&node.schema.any_of).chain(all_of);
    let not = node.schema.not.iter().flat_map(|not| std::iter::once(&**not).chain(&not.any_of).chain(&not.all_of));
    let names: Vec<&String> = branches.chain(not).flat_map(|branch| &branch.required).collect();
    let path = |name: &String| node.steps.iter().cloned().chain([name.clone()]).collect::<Vec<_>>();
    let none = names.iter().map(|name| Change { path: path(name), value: None }).collect();
    let set = |name: &&String| {
        let property = node.schema.property(name)?;
        let value =
            node.value.get(name).cloned().unwrap_or_else(|| generate::value(property, ExampleFields::Minimal, 0));
        Some(Change { path: path(name), value: Some(value) })
    };
    let all = names.iter().filter_map(set).collect();
    vec![none, all]
}
