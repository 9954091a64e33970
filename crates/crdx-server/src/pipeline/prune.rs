//! Pruning: removes fields that the schema does not specify
//! (`apiextensions-apiserver/pkg/apiserver/schema/pruning/algorithm.go`).
//!
//! `x-kubernetes-preserve-unknown-fields` keeps unknown fields at its level, but specified fields below are pruned by
//! their own schema. Fields that are specified only in branches of anyOf and other junctors are pruned. Without a
//! schema, objects become `{}`.

use super::compiled::SchemaNode;
use super::unknown::{Path, Unknown};
use crdx_value::{Map, Value};

/// Prunes `v` by `node`. apiVersion, kind and metadata are kept at the root of a resource and in embedded resources.
pub fn prune(v: &mut Value, node: Option<&SchemaNode>, is_root: bool, unknown: &mut Unknown) {
    match v {
        Value::Object(members) if is_root => match node {
            Some(node) if node.preserves => preserve_object(members, node, true, Path::Root, unknown),
            Some(node) => prune_object(members, node, true, Path::Root, unknown),
            None => members.retain(|key, _| {
                let keep = is_meta(key);
                if !keep {
                    unknown.record(Path::Root, key);
                }
                keep
            }),
        },
        _ => prune_value(v, node, Path::Root, unknown),
    }
}

fn is_meta(key: &str) -> bool {
    matches!(key, "apiVersion" | "kind" | "metadata")
}

fn prune_value(v: &mut Value, node: Option<&SchemaNode>, path: Path<'_>, unknown: &mut Unknown) {
    match (v, node) {
        (v, Some(node)) if node.preserves => preserve(v, node, path, unknown),
        (Value::Object(members), Some(node)) => prune_object(members, node, node.embedded, path, unknown),
        (Value::Object(members), None) => {
            for key in members.keys() {
                unknown.record(path, key);
            }
            members.clear();
        }
        (Value::Array(items), node) => {
            let items_node = node.and_then(|n| n.items.as_deref());
            for (i, item) in items.iter_mut().enumerate() {
                if matches!(item, Value::Object(_) | Value::Array(_)) {
                    prune_value(item, items_node, Path::Index(&path, i), unknown);
                }
            }
        }
        _ => {}
    }
}

fn prune_object(members: &mut Map, node: &SchemaNode, is_resource: bool, path: Path<'_>, unknown: &mut Unknown) {
    let mut drops = false;
    let mut properties = node.properties_in_order();
    for (key, v) in members.iter_mut() {
        if is_resource && is_meta(key) {
            continue;
        }
        match (properties.find(key), &node.additional) {
            (Some(property), _) => descend(v, Some(property), Path::Key(&path, key), unknown),
            (None, Some(_)) => descend(v, node.additional_schema(), Path::Key(&path, key), unknown),
            (None, None) => {
                if !is_meta(key) || !matches!(path, Path::Root) {
                    unknown.record(path, key);
                }
                drops = true;
            }
        }
    }
    // Only objects with fields to drop are rebuilt.
    if drops {
        members.retain(|key, _| is_resource && is_meta(key) || node.property(key).is_some());
    }
}

fn descend(v: &mut Value, node: Option<&SchemaNode>, path: Path<'_>, unknown: &mut Unknown) {
    if matches!(v, Value::Object(_) | Value::Array(_)) {
        prune_value(v, node, path, unknown);
    }
}

fn preserve(v: &mut Value, node: &SchemaNode, path: Path<'_>, unknown: &mut Unknown) {
    match v {
        Value::Object(members) => preserve_object(members, node, node.embedded, path, unknown),
        Value::Array(items) => {
            let Some(items_node) = node.items.as_deref() else { return };
            for (i, item) in items.iter_mut().enumerate() {
                preserve(item, items_node, Path::Index(&path, i), unknown);
            }
        }
        _ => {}
    }
}

fn preserve_object(members: &mut Map, node: &SchemaNode, is_resource: bool, path: Path<'_>, unknown: &mut Unknown) {
    let mut properties = node.properties_in_order();
    for (key, v) in members.iter_mut() {
        if is_resource && is_meta(key) {
            continue;
        }
        if let Some(property) = properties.find(key) {
            descend(v, Some(property), Path::Key(&path, key), unknown);
        } else if node.additional.is_some() {
            descend(v, node.additional_schema(), Path::Key(&path, key), unknown);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipeline::testing::{json, node};

    fn pruned(schema: &str, v: &str, is_root: bool) -> (Value, Vec<String>) {
        let mut v = json(v);
        let mut unknown = Unknown::new(true);
        prune(&mut v, Some(&node(schema)), is_root, &mut unknown);
        (v, unknown.sorted())
    }

    #[test]
    fn unspecified_fields_are_pruned() {
        let schema = r#"{"properties":{"a":{},"l":{"items":{"properties":{"b":{}}}},
            "m":{"additionalProperties":{"properties":{"c":{}}}},"any":{"additionalProperties":true}}}"#;
        let v = r#"{"z":1,"a":{"x":1},"l":[{"b":1,"y":1},3],"m":{"k":{"c":1,"d":1}},"any":{"s":1,"o":{"p":1}}}"#;
        let (v, unknown) = pruned(schema, v, false);
        assert_eq!(v, json(r#"{"a":{},"l":[{"b":1},3],"m":{"k":{"c":1}},"any":{"s":1,"o":{}}}"#));
        assert_eq!(unknown, ["a.x", "any.o.p", "l[0].y", "m.k.d", "z"]);
    }

    #[test]
    fn preserving_applies_down_to_the_next_schema() {
        let schema = r#"{"x-kubernetes-preserve-unknown-fields":true,"properties":{"a":{"properties":{"b":{}}}},
            "items":{"properties":{"c":{"properties":{"d":{}}}}}}"#;
        let (v, unknown) = pruned(schema, r#"{"z":{"y":1},"a":{"b":1,"x":1}}"#, false);
        assert_eq!(v, json(r#"{"z":{"y":1},"a":{"b":1}}"#));
        assert_eq!(unknown, ["a.x"]);
        // Items inherit `x-kubernetes-preserve-unknown-fields` from their list.
        let (v, _) = pruned(schema, r#"[{"z":1,"c":{"d":1,"e":1}}]"#, false);
        assert_eq!(v, json(r#"[{"z":1,"c":{"d":1}}]"#));
    }

    #[test]
    fn resources_keep_their_type_and_metadata() {
        let schema = r#"{"properties":{"e":{"x-kubernetes-embedded-resource":true,"properties":{"spec":{}}},"n":{}}}"#;
        let meta = r#"{"apiVersion":"v1","kind":"K","metadata":{"zz":1}"#;
        let (v, unknown) = pruned(schema, &format!(r#"{meta},"e":{meta},"x":1}},"n":{meta}}}}}"#), true);
        assert_eq!(v, json(&format!(r#"{meta},"e":{meta}}},"n":{{}}}}"#)));
        assert_eq!(unknown, ["e.x", "n.apiVersion", "n.kind", "n.metadata"]);
    }
}
