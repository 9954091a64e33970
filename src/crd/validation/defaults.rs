//! Defaults must be valid values themselves (`pkg/apiserver/schema/defaulting/{validation,prune,surroundingobject}.go`).
//!
//! Each is judged as it is written, not after defaulting. Those of metadata are judged inside an object that is otherwise
//! empty. Below `additionalProperties` there can be none.

use super::structural;
use crate::crd::conditions::aggregate;
use crate::field::{ErrorList, FieldError, FieldPath, ROOT};
use crate::pipeline::coerce::coerce;
use crate::pipeline::compiled::{Dialect, Node};
use crate::pipeline::prune::prune;
use crate::pipeline::unknown::Unknown;
use crate::pipeline::{embedded, validate};
use crate::schema::Schema;
use crate::value::{Map, Value, object};

/// The faults of the defaults of a structural schema.
pub fn validate_all(root: &Schema, pruned: bool, path: &FieldPath<'_>) -> ErrorList {
    if !root.any(&mut |s| s.default.is_some()) {
        return Vec::new();
    }
    let compiled = Node::compile(root, Dialect::Defaults);
    let mut walk = Walk { pruned, errors: Vec::new() };
    walk.node(&compiled, &Place { resource: &compiled, surroundings: None, in_metadata: false }, true, path);
    walk.errors
}

struct Walk {
    /// Whether defaults must be pruned.
    pruned: bool,
    errors: ErrorList,
}

#[derive(Clone, Copy)]
struct Place<'a> {
    /// The nearest resource: the root, or an embedded one.
    resource: &'a Node,
    /// The way from there; `None` is the resource itself.
    surroundings: Option<&'a Surroundings<'a>>,
    /// Inside of the resource's metadata, or its apiVersion or kind.
    in_metadata: bool,
}

/// The way to a value inside of an object: a key, or `None` for an item of a list.
struct Surroundings<'a> {
    outer: Option<&'a Surroundings<'a>>,
    key: Option<&'a str>,
}

/// The object in which `v` stands at a place, and nothing else does.
fn surround(mut at: Option<&Surroundings<'_>>, mut v: Value) -> Value {
    while let Some(Surroundings { outer, key }) = at {
        v = match key {
            Some(key) => object([(*key, v)]),
            None => Value::Array(vec![v]),
        };
        at = *outer;
    }
    v
}

/// The value at a place of an object.
fn take(at: Option<&Surroundings<'_>>, v: Value) -> Option<Value> {
    let Some(Surroundings { outer, key }) = at else { return Some(v) };
    match (take(*outer, v)?, key) {
        (Value::Object(mut members), Some(key)) => members.remove(*key),
        (Value::Array(items), None) => items.into_iter().next(),
        _ => None,
    }
}

impl Walk {
    fn node(&mut self, node: &Node, place: &Place<'_>, is_root: bool, path: &FieldPath<'_>) {
        if !node.has.defaults {
            return;
        }
        let is_resource = is_root || node.embedded;
        let place = if is_resource { &Place { resource: node, surroundings: None, in_metadata: false } } else { place };
        if let Some(default) = &node.default {
            let path = path.child("default");
            if place.in_metadata {
                self.in_metadata(default, node, place, &path);
            } else {
                self.elsewhere(default, node, is_resource, &path);
            }
        }
        if let Some(items) = &node.items {
            let surroundings = Surroundings { outer: place.surroundings, key: None };
            let place = Place { surroundings: Some(&surroundings), ..*place };
            self.node(items, &place, false, &path.child("items"));
        }
        let properties = path.child("properties");
        for (name, property) in node.properties() {
            let surroundings = Surroundings { outer: place.surroundings, key: Some(name) };
            let meta = is_resource && matches!(name, "metadata" | "apiVersion" | "kind");
            let place = Place {
                surroundings: Some(&surroundings),
                in_metadata: place.in_metadata || meta,
                resource: place.resource,
            };
            self.node(property, &place, false, &properties.key(name));
        }
    }

    fn in_metadata(&mut self, default: &Value, node: &Node, place: &Place<'_>, path: &FieldPath<'_>) {
        let mut whole = surround(place.surroundings, default.clone());
        if let Value::Object(members) = &mut whole {
            members.entry("kind".to_owned()).or_insert_with(|| Value::from("Validation"));
            members.entry("apiVersion".to_owned()).or_insert_with(|| Value::from("validation/v1"));
        }
        let mut invalid = |reason: String| {
            let detail = format!("must result in valid metadata: {reason}");
            self.errors.push(FieldError::invalid(path, default, detail));
        };
        if let Err(e) = coerce(&mut whole, place.resource, true, false, &ROOT, &mut Unknown::new(false)) {
            return invalid(e.to_string());
        }
        let faults = embedded::validate(&whole, place.resource, true, &ROOT);
        if !faults.is_empty() {
            return invalid(aggregate(faults.iter().map(ToString::to_string)));
        }
        self.errors.append(&mut validate::validate(default, node, path));
    }

    fn elsewhere(&mut self, default: &Value, node: &Node, is_resource: bool, path: &FieldPath<'_>) {
        if self.pruned {
            let mut rest = default.clone();
            prune(&mut rest, Some(node), is_resource, &mut Unknown::new(false));
            if rest != *default {
                self.errors.push(FieldError::invalid(path, default, "must not have unknown fields"));
            }
        }
        let mut coerced = default.clone();
        if let Err(e) = coerce(&mut coerced, node, is_resource, false, path, &mut Unknown::new(false)) {
            self.errors.push(e);
            return;
        }
        let mut faults = embedded::validate(&coerced, node, is_resource, path);
        if faults.is_empty() {
            faults = validate::validate(&coerced, node, path);
        }
        self.errors.append(&mut faults);
    }
}

/// Whether a structural schema has defaults with unknown fields; when one cannot be judged, the answer is no.
pub fn has_unpruned(root: &Schema) -> bool {
    if !root.any(&mut |s| s.default.is_some()) || !structural::is_structural(root) {
        return false;
    }
    let compiled = Node::compile(root, Dialect::Defaults);
    unpruned(&compiled, &compiled, None) == Some(true)
}

/// `None` when a default cannot be judged.
fn unpruned(node: &Node, root: &Node, at: Option<&Surroundings<'_>>) -> Option<bool> {
    let mut found = false;
    if !node.has.defaults {
        return Some(false);
    }
    if let Some(default) = &node.default {
        let mut whole = surround(at, default.clone());
        if !matches!(whole, Value::Object(Map { .. })) {
            return None;
        }
        coerce(&mut whole, root, true, true, &ROOT, &mut Unknown::new(false)).ok()?;
        prune(&mut whole, Some(root), true, &mut Unknown::new(false));
        found = take(at, whole).as_ref() != Some(default);
    }
    if let Some(additional) = node.additional_schema() {
        found |= unpruned(additional, root, Some(&Surroundings { outer: at, key: Some("*") }))?;
    }
    if let Some(items) = &node.items {
        found |= unpruned(items, root, Some(&Surroundings { outer: at, key: None }))?;
    }
    for (name, property) in node.properties() {
        found |= unpruned(property, root, Some(&Surroundings { outer: at, key: Some(name) }))?;
    }
    Some(found)
}
