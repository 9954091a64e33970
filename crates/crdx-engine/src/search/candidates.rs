//! The objects that a search asks about.
//!
//! An [`Edit`] changes an accepted object where two schemas differ, at a rule, in a union or at an optional field. The search
//! tries single edits first, then a second one on what the old CRD accepted, then random combinations.

use super::differing::DifferingNode;
use super::place::placed;
use crate::examples::boundaries::beyond;
use crate::examples::changes::{Change, Changes, changed, of_error, of_unions, texts_of};
use crate::examples::generate::{self, ExampleFields};
use crate::schema_steps::{SchemaStep, is_type_or_metadata, steps_below};
use crdx_server::schema::Schema;
use crdx_value::{Value, json};
use std::collections::{HashSet, VecDeque};

/// The maximum number of values for one node.
const MAX_VALUES: usize = 120;
/// The maximum number of optional fields.
const MAX_FIELDS: usize = 600;
/// The maximum number of patterns of a node.
const MAX_PATTERNS: usize = 16;
/// The number of generated values of a node.
const GENERATED: usize = 4;

/// A change of an object.
#[derive(Clone, Debug)]
pub enum Edit {
    /// Sets a value at a node, or removes it.
    Place(Vec<SchemaStep>, Option<Value>),
    /// Changes values at known places.
    Change(Changes),
}

impl Edit {
    /// Returns the changed object; `None` if the edit does not apply.
    pub fn on(&self, root: &Schema, object: &Value) -> Option<Value> {
        match self {
            Self::Place(steps, value) => placed(root, object, steps, value.as_ref()),
            Self::Change(changes) => Some(changed(object, changes)),
        }
    }
}

/// Returns the edits at the nodes at which the schemas differ, those of each node in turn. The nodes above are removed, too: an update that
/// adds them compares the values with nothing.
pub fn at_differences(nodes: &[DifferingNode<'_>]) -> Vec<Edit> {
    let mut removed: HashSet<&[SchemaStep]> = HashSet::new();
    let of_nodes = nodes.iter().map(|node| {
        let values = values(node.old, node.new);
        let above = (1..=node.steps.len()).rev().filter_map(|length| node.steps.get(..length));
        let above: Vec<&[SchemaStep]> = above.filter(|steps| removed.insert(steps)).collect();
        let removal = above.into_iter().map(|steps| Edit::Place(steps.to_vec(), None));
        let placed = values.into_iter().map(|value| Edit::Place(node.steps.clone(), Some(value)));
        removal.chain(placed).chain(required(node)).collect::<VecDeque<_>>()
    });
    in_turn(of_nodes.collect())
}

/// Returns edits of the name if the new schema limits names in another way. The schema of an object need not list its name.
pub fn of_names(old: &Schema, new: &Schema) -> Vec<Edit> {
    let of = |root: &Schema| Some(root.properties.get("metadata")?.properties.get("name")?.as_ref().clone());
    let Some(after) = of(new) else { return Vec::new() };
    let before = of(old).unwrap_or_else(|| Schema { type_: "string".to_owned(), ..Schema::default() });
    if before == after {
        return Vec::new();
    }
    let path = || vec!["metadata".to_owned(), "name".to_owned()];
    let names = values(Some(&before), Some(&after)).into_iter().filter(|value| value.as_str().is_some());
    names.map(|name| Edit::Change(vec![Change { path: path(), value: Some(name) }])).collect()
}

/// Returns the object with a generated status, if the schema has one and the object does not.
pub fn with_status(schema: &Schema, object: &Value, fields: ExampleFields) -> Value {
    let mut object = object.clone();
    if let (Some(status), Some(members)) = (schema.property("status"), object.as_object_mut()) {
        members.entry("status".to_owned()).or_insert_with(|| generate::value(status, fields, 0));
    }
    object
}

/// Returns edits that remove fields that the new schema requires.
fn required(node: &DifferingNode<'_>) -> Vec<Edit> {
    let names = node.new.map(|schema| schema.required.as_slice()).unwrap_or_default();
    let before = node.old.map(|schema| schema.required.as_slice()).unwrap_or_default();
    let new = names.iter().filter(|name| !before.contains(name));
    new.map(|name| {
        let steps = node.steps.iter().cloned().chain([SchemaStep::Property(name.clone())]);
        Edit::Place(steps.collect(), None)
    })
    .collect()
}

/// Returns objects in which a value is changed that the rules at the differing nodes use.
pub fn at_rules(new: &Schema, bases: &[Value], nodes: &[DifferingNode<'_>]) -> Vec<Value> {
    let with_rules = nodes.iter().filter(|node| node.new.is_some_and(|schema| !schema.x_validations.is_empty()));
    let of_nodes = with_rules.flat_map(|node| {
        bases.iter().filter_map(move |base| {
            let (object, path) = with_node(new, base, node)?;
            let changed = of_error(new, &object, &path).into_iter().map(|changes| changed(&object, &changes));
            Some(changed.chain([object.clone()]).collect::<VecDeque<_>>())
        })
    });
    in_turn(of_nodes.collect())
}

/// Returns an object that has the node, and the path of its value.
fn with_node(new: &Schema, base: &Value, node: &DifferingNode<'_>) -> Option<(Value, Vec<String>)> {
    let schema = node.old.or(node.new)?;
    let mut path = Vec::new();
    let mut at = base;
    for step in &node.steps {
        let name = match (step, at) {
            (SchemaStep::Property(name), _) => name.clone(),
            (SchemaStep::Items, _) => "0".to_owned(),
            (SchemaStep::Values, Value::Object(members)) => members.keys().next()?.clone(),
            (SchemaStep::Values, _) => "example".to_owned(),
        };
        at = crdx_server::rules::node::step(at, &name).unwrap_or(&Value::Null);
        path.push(name);
    }
    if node.steps.is_empty() || !at.is_null() {
        return Some((base.clone(), path));
    }
    let value = generate::value(schema, ExampleFields::Full, 0);
    Some((placed(new, base, &node.steps, Some(&value))?, path))
}

/// Returns edits for the branches of unions, and edits that set and remove optional fields.
pub fn elsewhere(old: &Schema, base: &Value) -> Vec<Edit> {
    let mut all: Vec<Edit> = of_unions(old, base).into_iter().map(Edit::Change).collect();
    optional(old, &mut Vec::new(), &mut all);
    all
}

fn optional(schema: &Schema, steps: &mut Vec<SchemaStep>, all: &mut Vec<Edit>) {
    for (step, node) in steps_below(schema) {
        if all.len() >= MAX_FIELDS {
            return;
        }
        if steps.is_empty() && is_type_or_metadata(&step) {
            continue;
        }
        let is_required = matches!(&step, SchemaStep::Property(name) if schema.required.contains(name));
        steps.push(step);
        let forms = [ExampleFields::Minimal, ExampleFields::Full].map(|fields| generate::value(node, fields, 0));
        all.extend(forms.into_iter().map(|value| Edit::Place(steps.clone(), Some(value))));
        if !is_required {
            all.push(Edit::Place(steps.clone(), None));
        }
        optional(node, steps, all);
        steps.pop();
    }
}

/// Returns values for a node whose schema changes: values that the old schema accepts and the new one may reject come first.
pub fn values(old: Option<&Schema>, new: Option<&Schema>) -> Vec<Value> {
    let mut all: Vec<Value> = Vec::new();
    let Some(known) = old.or(new) else { return all };
    if let (Some(old), Some(new)) = (old, new) {
        all.extend(old.enum_.iter().filter(|value| !new.enum_.contains(value)).cloned());
        all.extend(old.nullable.then_some(Value::Null));
    }
    let made: Vec<Value> = [ExampleFields::Minimal, ExampleFields::Full]
        .into_iter()
        .flat_map(|fields| (0..GENERATED).map(move |number| generate::value(known, fields, number)))
        .collect();
    if let (Some(old), Some(new)) = (old, new) {
        all.extend(of_numbers(old, new, &made));
    }
    all.extend(pair(known));
    let narrow = limited(known, new);
    for value in &made {
        // The old schema accepts no text and no list beyond its own limits, but a number at them.
        if new.is_some() || matches!(value, Value::Int(_) | Value::Float(_)) {
            all.extend(beyond(&narrow, value));
        }
        all.extend(repeated(value));
    }
    all.extend(made);
    if known.type_ == "string" || known.x_int_or_string {
        all.extend([new, old].into_iter().flatten().flat_map(texts_of).map(Value::from));
        all.extend(patterns(known).into_iter().flat_map(|pattern| samples(known, pattern)).map(Value::from));
    }
    all.extend([old, new].into_iter().flatten().flat_map(|schema| schema.enum_.iter().cloned()));
    if known.type_ == "boolean" {
        all.extend([Value::Bool(true), Value::Bool(false)]);
    }
    distinct(all, MAX_VALUES)
}

/// Returns numbers that only the old type or format has: fractions, and integers and fractions beyond the range of a format.
fn of_numbers(old: &Schema, new: &Schema, made: &[Value]) -> Vec<Value> {
    let mut all = Vec::new();
    if old.type_ == "number" && new.type_ != "number" {
        let as_float = |value: &Value| match value {
            Value::Int(number) => Some(*number as f64),
            Value::Float(number) => Some(*number),
            _ => None,
        };
        let numbers = made.iter().filter_map(as_float).chain([0.0]);
        all.extend(numbers.flat_map(|number| [number + 0.5, number - 0.5]).map(Value::Float));
    }
    if old.format != new.format {
        match (old.type_.as_str(), new.format.as_str()) {
            ("integer" | "number", "int32") => {
                all.extend([i64::from(i32::MAX) + 1, i64::from(i32::MIN) - 1].map(Value::Int));
            }
            ("number", "float") => all.extend([f64::MAX, f64::MIN].map(Value::Float)),
            _ => {}
        }
    }
    all
}

/// Returns the old schema with the limits of the new one, whose boundaries are of interest.
fn limited(old: &Schema, new: Option<&Schema>) -> Schema {
    let Some(new) = new else { return old.clone() };
    Schema {
        max_length: new.max_length,
        min_length: new.min_length,
        max_items: new.max_items,
        min_items: new.min_items,
        max_properties: new.max_properties,
        min_properties: new.min_properties,
        maximum: new.maximum,
        minimum: new.minimum,
        exclusive_maximum: new.exclusive_maximum,
        exclusive_minimum: new.exclusive_minimum,
        multiple_of: new.multiple_of,
        pattern: new.pattern.clone(),
        enum_: Vec::new(),
        ..old.clone()
    }
}

/// Returns the list with its first item twice, and twice in a longer list.
fn repeated(value: &Value) -> Vec<Value> {
    let Some((first, _)) = value.as_array().and_then(<[Value]>::split_first) else { return Vec::new() };
    vec![vec![first.clone(), first.clone()].into()]
}

/// Returns a list of two different items.
fn pair(schema: &Schema) -> Option<Value> {
    let item = schema.items_schema()?;
    let made = (0..GENERATED).map(|number| generate::value(item, ExampleFields::Minimal, number));
    let mut items = item.enum_.iter().cloned().chain(made);
    let first = items.next()?;
    let second = items.find(|one| *one != first)?;
    Some(vec![first, second].into())
}

/// Returns the patterns of a node and of the branches of its unions.
fn patterns(schema: &Schema) -> Vec<&str> {
    let branches = schema.all_of.iter().chain(&schema.any_of).chain(&schema.one_of);
    let all = std::iter::once(schema).chain(branches).map(|branch| branch.pattern.as_str());
    all.filter(|pattern| !pattern.is_empty()).take(MAX_PATTERNS).collect()
}

/// Returns texts that match a pattern of a node, of different lengths.
fn samples(schema: &Schema, pattern: &str) -> Vec<String> {
    let Ok(pattern) = crdx_regexp::Regexp::new(pattern) else { return Vec::new() };
    if pattern.size() > 5_000 {
        return Vec::new();
    }
    let least = schema.min_length.and_then(|length| usize::try_from(length).ok()).unwrap_or(0).min(4096);
    (0..5)
        .flat_map(|more| (0..4).map(move |choice| (more * more, choice)))
        .filter_map(|(more, choice)| pattern.sample(least + more, choice))
        .collect()
}

fn distinct(all: Vec<Value>, most: usize) -> Vec<Value> {
    let mut seen = HashSet::new();
    all.into_iter().filter(|value| seen.insert(json::to_string(value))).take(most).collect()
}

/// Takes one element of each queue in turn.
pub fn in_turn<T>(mut queues: Vec<VecDeque<T>>) -> Vec<T> {
    let mut all = Vec::new();
    while queues.iter().any(|queue| !queue.is_empty()) {
        all.extend(queues.iter_mut().filter_map(VecDeque::pop_front));
    }
    all
}
