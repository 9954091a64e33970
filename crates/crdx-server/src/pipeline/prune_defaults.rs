//! Prunes the defaults of a schema, as the server does before it serves a CRD
//! (`pkg/apiserver/schema/defaulting/{prune,surroundingobject}.go`).
//!
//! Each default is put into an otherwise empty object, from which unknown fields and malformed metadata are dropped.
//! Validation rejects such defaults, except below `additionalProperties`, and in CRDs that were stored with them.

use super::coerce::coerce;
use super::compiled::{Additional, SchemaNode};
use super::prune::prune;
use super::unknown::Unknown;
use crate::schema::Schema;
use crdx_value::field::ROOT;
use crdx_value::release::Release;
use crdx_value::{Value, object};

/// A path inside an object, innermost step first. A step is a key, or `None` for a list item.
pub(crate) struct ResourcePath<'a> {
    pub outer: Option<&'a ResourcePath<'a>>,
    pub key: Option<&'a str>,
}

/// Wraps `v` in objects and lists, so that it is at the path `at`.
pub(crate) fn wrap_at(mut at: Option<&ResourcePath<'_>>, mut v: Value) -> Value {
    while let Some(ResourcePath { outer, key }) = at {
        v = match key {
            Some(key) => object([(*key, v)]),
            None => Value::Array(vec![v]),
        };
        at = *outer;
    }
    v
}

/// The value at a path of an object.
fn take(at: Option<&ResourcePath<'_>>, v: Value) -> Option<Value> {
    let Some(ResourcePath { outer, key }) = at else { return Some(v) };
    match (take(*outer, v)?, key) {
        (Value::Object(mut members), Some(key)) => members.remove(key),
        (Value::Array(items), None) => items.into_iter().next(),
        _ => None,
    }
}

/// Returns true if the defaults of a schema cannot be pruned: one is in the items of its root, which cannot be in an
/// object. The server accepts such a CRD, and then cannot serve it.
pub(crate) fn is_unservable(root: &Schema) -> bool {
    root.items_schema().is_some_and(|items| items.any(&mut |s| s.default.is_some()))
}

/// Returns true if pruning changes a default of the schema with this root.
pub(crate) fn changes_any(root: &SchemaNode, release: Release) -> bool {
    !changes(root, release).is_empty()
}

/// Prunes the defaults of the schema with this root.
pub(crate) fn prune_defaults(root: &mut SchemaNode, release: Release) {
    for DefaultChange { steps, default } in changes(root, release) {
        if let Some(node) = steps.into_iter().try_fold(&mut *root, step_into) {
            node.default = default;
        }
    }
}

/// A step from a schema to one inside it.
#[derive(Clone)]
enum ChildStep {
    Items,
    Additional,
    Property(String),
}

fn step_into(node: &mut SchemaNode, step: ChildStep) -> Option<&mut SchemaNode> {
    match step {
        ChildStep::Items => node.items.as_deref_mut(),
        ChildStep::Additional => match &mut node.additional {
            Some(Additional::Schema(additional)) => Some(additional),
            _ => None,
        },
        ChildStep::Property(name) => node.property_mut(&name),
    }
}

/// A default that pruning changes or, with `None`, removes.
struct DefaultChange {
    steps: Vec<ChildStep>,
    default: Option<Value>,
}

fn changes(root: &SchemaNode, release: Release) -> Vec<DefaultChange> {
    let mut walk = DefaultPruner { root, release, steps: Vec::new(), changes: Vec::new() };
    walk.node(root, None, false);
    walk.changes
}

struct DefaultPruner<'a> {
    root: &'a SchemaNode,
    release: Release,
    steps: Vec<ChildStep>,
    changes: Vec<DefaultChange>,
}

impl DefaultPruner<'_> {
    /// Visits a node, which is at the path `at` of an object; `in_meta` is true for the apiVersion and kind of an
    /// embedded resource, and in its metadata.
    fn node(&mut self, node: &SchemaNode, at: Option<&ResourcePath<'_>>, in_meta: bool) {
        if !node.has.defaults {
            return;
        }
        if let Some(default) = &node.default
            && (in_meta || has_members(default))
        {
            let pruned = self.pruned(default, at);
            if pruned.as_ref() != Some(default) {
                self.changes.push(DefaultChange { steps: self.steps.clone(), default: pruned });
            }
        }
        if let Some(additional) = node.additional_schema() {
            self.step(ChildStep::Additional, additional, &ResourcePath { outer: at, key: Some("*") }, in_meta);
        }
        if let Some(items) = &node.items {
            self.step(ChildStep::Items, items, &ResourcePath { outer: at, key: None }, in_meta);
        }
        for (name, property) in node.defaulted_properties() {
            let in_meta = in_meta || node.embedded && matches!(name, "metadata" | "apiVersion" | "kind");
            let path = ResourcePath { outer: at, key: Some(name) };
            self.step(ChildStep::Property(name.to_owned()), property, &path, in_meta);
        }
    }

    fn step(&mut self, step: ChildStep, node: &SchemaNode, path: &ResourcePath<'_>, in_meta: bool) {
        self.steps.push(step);
        self.node(node, Some(path), in_meta);
        self.steps.pop();
    }

    fn pruned(&self, default: &Value, at: Option<&ResourcePath<'_>>) -> Option<Value> {
        let mut whole = wrap_at(at, default.clone());
        // Coercion that drops malformed fields does not fail.
        let _ = coerce(&mut whole, self.root, true, true, &ROOT, &mut Unknown::new(false), self.release);
        prune(&mut whole, Some(self.root), true, &mut Unknown::new(false));
        take(at, whole)
    }
}

/// Returns true if something can be dropped from a value.
fn has_members(v: &Value) -> bool {
    match v {
        Value::Object(members) => !members.is_empty(),
        Value::Array(items) => !items.is_empty(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipeline::testing::{json, node};

    /// The default of the property `d` in a map of objects.
    fn pruned(property: &str) -> Option<Value> {
        let embedded = r#""x-kubernetes-embedded-resource":true,"x-kubernetes-preserve-unknown-fields":true"#;
        let property = property.replace("EMBEDDED", embedded);
        let mut root = node(&format!(
            r#"{{"properties":{{"m":{{"additionalProperties":{{"properties":{{"d":{property}}}}}}}}}}}"#
        ));
        prune_defaults(&mut root, Release::NEWEST);
        root.property("m")?.additional_schema()?.property("d")?.default.clone()
    }

    #[test]
    fn unknown_fields_are_dropped_from_defaults() {
        assert_eq!(pruned(r#"{"properties":{"x":{}},"default":{"x":1,"y":1}}"#), Some(json(r#"{"x":1}"#)));
        assert_eq!(pruned(r#"{"items":{"properties":{"x":{}}},"default":[{"y":1}]}"#), Some(json("[{}]")));
        assert_eq!(pruned(r#"{"default":7}"#), Some(json("7")));
    }

    #[test]
    fn malformed_metadata_is_dropped_from_defaults() {
        let resource = r#"{"apiVersion":1,"kind":"K","metadata":{"labels":{"a":1},"foo":1}}"#;
        assert_eq!(
            pruned(&format!(r#"{{EMBEDDED,"default":{resource}}}"#)),
            Some(json(r#"{"kind":"K","metadata":{}}"#))
        );
        let labels = r#"{EMBEDDED,"properties":{"metadata":{"properties":{"labels":{"default":{"a":1}}}}}}"#;
        let mut root = node(&format!(
            r#"{{"properties":{{"e":{}}}}}"#,
            labels.replace("EMBEDDED", r#""x-kubernetes-embedded-resource":true"#)
        ));
        prune_defaults(&mut root, Release::NEWEST);
        let metadata = root.property("e").and_then(|e| e.property("metadata")).unwrap();
        assert_eq!(metadata.property("labels").unwrap().default, None);
    }

    #[test]
    fn a_default_in_the_items_of_the_root_cannot_be_served() {
        let schema = |text: &str| Schema::from_value(&json(text)).unwrap();
        assert!(is_unservable(&schema(r#"{"items":{"properties":{"a":{"default":1}}}}"#)));
        assert!(!is_unservable(&schema(r#"{"items":{},"properties":{"a":{"items":{"default":1}}}}"#)));
    }
}
