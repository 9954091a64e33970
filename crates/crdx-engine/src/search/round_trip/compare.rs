//! Compares an object before and after a trip.

use crdx_server::schema::Schema;
use crdx_types::amounts::quantity;
use crdx_value::duration::Duration;
use crdx_value::release::Release;
use crdx_value::sort::sort_by_key;
use crdx_value::{Map, Value, json, time};
use std::collections::BTreeSet;

/// The path of a field in all objects: `.spec`, `.list`, `[*]`. The values of a map have the step `.*`.
pub type FieldPath = Vec<String>;

/// A value that differs.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// The path.
    pub path: FieldPath,
    /// The value before the trip; `None` if there was none.
    pub before: Option<Value>,
    /// The value after the trip; `None` if there is none.
    pub after: Option<Value>,
    /// True if both are the same value, written differently.
    pub is_rewritten: bool,
}

/// The result of a comparison.
#[derive(Debug, Default)]
pub struct ComparedFields {
    /// The values that differ.
    pub changes: Vec<Change>,
    /// The paths of values that are equal.
    pub kept: BTreeSet<FieldPath>,
}

impl ComparedFields {
    /// Compares two objects of a version.
    pub fn of(schema: &Schema, before: &Value, after: &Value, release: Release) -> Self {
        let mut walk = Walk { release, path: Vec::new(), found: Self::default() };
        walk.value(Some(schema), Some(before), Some(after));
        walk.found
    }
}

struct Walk {
    release: Release,
    path: FieldPath,
    found: ComparedFields,
}

impl Walk {
    fn value(&mut self, schema: Option<&Schema>, before: Option<&Value>, after: Option<&Value>) {
        let none = Map::new();
        match (before, after) {
            (Some(Value::Object(old)), Some(Value::Object(new))) => self.members(schema, old, new),
            // Each field of an object that appears or disappears is counted.
            (Some(Value::Object(old)), None) if !old.is_empty() => self.members(schema, old, &none),
            (None, Some(Value::Object(new))) if !new.is_empty() => self.members(schema, &none, new),
            (Some(Value::Array(old)), Some(Value::Array(new))) if old.len() == new.len() => {
                self.items(schema, old, new);
            }
            (before, after) => self.leaf(schema, before, after),
        }
    }

    fn members(&mut self, schema: Option<&Schema>, old: &Map, new: &Map) {
        let names: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
        for name in names {
            let property = schema.and_then(|schema| schema.property(name));
            let (child, step) = match (property, schema.and_then(Schema::additional_properties_schema)) {
                (Some(property), _) => (Some(property), format!(".{name}")),
                (None, Some(values)) => (Some(values), ".*".to_owned()),
                (None, None) if self.is_labels_or_annotations() => (None, format!("[{name}]")),
                (None, None) => (None, format!(".{name}")),
            };
            self.path.push(step);
            self.value(child, old.get(name), new.get(name));
            self.path.pop();
        }
    }

    fn items(&mut self, schema: Option<&Schema>, old: &[Value], new: &[Value]) {
        let item = schema.and_then(Schema::items_schema);
        let (sorted_old, sorted_new) = (in_order(schema, old), in_order(schema, new));
        if sorted_old == sorted_new && old != new {
            let (before, after) = (old.to_vec().into(), new.to_vec().into());
            self.found.changes.push(Change {
                path: self.path.clone(),
                before: Some(before),
                after: Some(after),
                is_rewritten: true,
            });
        }
        self.path.push("[*]".to_owned());
        for (before, after) in sorted_old.into_iter().zip(sorted_new) {
            self.value(item, Some(before), Some(after));
        }
        self.path.pop();
    }

    fn leaf(&mut self, schema: Option<&Schema>, before: Option<&Value>, after: Option<&Value>) {
        if before == after {
            if before.is_some_and(|value| !is_empty(value)) {
                self.found.kept.insert(self.path.clone());
            }
            return;
        }
        let is_rewritten = match (before, after) {
            (Some(old), Some(new)) => self.is_same(schema, old, new),
            // Conversions keep in annotations what a version does not have.
            (None, Some(_)) if self.is_label_or_annotation() => true,
            (Some(only), None) | (None, Some(only)) => is_empty(only),
            (None, None) => return,
        };
        let (before, after) = (before.cloned(), after.cloned());
        self.found.changes.push(Change { path: self.path.clone(), before, after, is_rewritten });
    }

    fn is_labels_or_annotations(&self) -> bool {
        match self.path.as_slice() {
            [metadata, field] => metadata == ".metadata" && (field == ".labels" || field == ".annotations"),
            _ => false,
        }
    }

    fn is_label_or_annotation(&self) -> bool {
        self.path.len() == 3 && self.path.first().is_some_and(|step| step == ".metadata")
    }

    /// Returns true if Go writes one value differently: a number, a quantity, a duration or a time.
    fn is_same(&self, schema: Option<&Schema>, old: &Value, new: &Value) -> bool {
        if is_empty(old) && is_empty(new) {
            return true;
        }
        if let (Some(old), Some(new)) = (number(old), number(new)) {
            return old.total_cmp(&new).is_eq();
        }
        if schema.is_some_and(|schema| schema.x_int_or_string) && self.is_same_quantity(old, new) {
            return true;
        }
        let (Some(old), Some(new)) = (old.as_str(), new.as_str()) else { return false };
        let is_duration =
            Duration::parse(old).is_some_and(|one| Duration::parse(new).is_some_and(|other| one.0 == other.0));
        is_duration || time::parse(old).is_ok_and(|one| time::parse(new).is_ok_and(|other| one == other))
    }

    fn is_same_quantity(&self, old: &Value, new: &Value) -> bool {
        let of = |value: &Value| quantity(value, self.release.emulated());
        matches!((of(old), of(new)), (Some(old), Some(new)) if old.compare(&new).is_eq())
    }
}

/// Returns the items in an order that does not depend on the one of the list, if the list has none: a map or a set.
fn in_order<'v>(schema: Option<&Schema>, items: &'v [Value]) -> Vec<&'v Value> {
    let mut sorted: Vec<&Value> = items.iter().collect();
    let Some(schema) = schema else { return sorted };
    match schema.x_list_type.as_deref() {
        Some("map") => {
            let keys = &schema.x_list_map_keys;
            sort_by_key(&mut sorted, |item| {
                keys.iter().map(|key| item.get(key).map(json::to_string)).collect::<Vec<_>>()
            });
        }
        Some("set") => sort_by_key(&mut sorted, |item| json::to_string(item)),
        _ => {}
    }
    sorted
}

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Int(number) => Some(*number as f64),
        Value::Float(number) => Some(*number),
        _ => None,
    }
}

/// Returns true for a value that Go omits with `omitempty`, or writes without it.
fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) | Value::Int(0) => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.iter().all(|(_, value)| is_empty(value)),
        Value::Float(number) => *number == 0.0,
        Value::Bool(true) | Value::Int(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::yaml;

    const SCHEMA: &str = "{type: object, properties: {spec: {type: object, properties: {
        size: {x-kubernetes-int-or-string: true}, wait: {type: string}, lit: {type: boolean}, at: {type: string},
        map: {type: object, additionalProperties: {type: object, properties: {x: {type: integer}}}},
        list: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [name],
          items: {type: object, properties: {name: {type: string}, own: {type: string}}}}}}}}";

    fn compared(before: &str, after: &str) -> Vec<(String, bool)> {
        let read = |text: &str| yaml::read(text.as_bytes()).unwrap();
        let schema = Schema::from_value(&read(SCHEMA)).unwrap();
        let found = ComparedFields::of(&schema, &read(before), &read(after), Release::NEWEST);
        found.changes.into_iter().map(|change| (change.path.concat(), change.is_rewritten)).collect()
    }

    #[test]
    fn changes_have_the_path_of_the_field_in_all_objects() {
        let before = "{spec: {map: {k: {x: 1}}, list: [{name: a, own: b}, {name: c}]}, metadata: {labels: {l: m}}}";
        let after = "{spec: {map: {k: {x: 2}}, list: [{name: a}, {name: c}]}, metadata: {labels: {l: n}}}";
        let changed = |path: &str| (path.to_owned(), false);
        let paths = [changed(".metadata.labels[l]"), changed(".spec.list[*].own"), changed(".spec.map.*.x")];
        assert_eq!(compared(before, after), paths);
    }

    #[test]
    fn a_value_that_is_written_differently_is_no_change() {
        let before =
            "{spec: {size: 1000m, wait: 60s, lit: false, at: '2024-01-01T00:00:00.0Z', list: [{name: b}, {name: a}]}}";
        let after =
            "{spec: {size: 1, wait: 1m0s, at: '2024-01-01T00:00:00Z', list: [{name: a}, {name: b}]}, status: {a: {}},
            metadata: {annotations: {kept: x}}}";
        let found = compared(before, after);
        assert_eq!(found.len(), 7, "{found:?}");
        assert!(found.iter().all(|(_, is_rewritten)| *is_rewritten), "{found:?}");
        assert_eq!(compared("{spec: {lit: true}}", "{spec: {}}"), [(".spec.lit".to_owned(), false)]);
        assert_eq!(compared("{spec: {wait: a}}", "{spec: {wait: b}}"), [(".spec.wait".to_owned(), false)]);
    }
}
