//! Pruning: fields the schema does not name are removed (`apiextensions-apiserver/pkg/apiserver/schema/pruning/algorithm.go`).
//!
//! `x-kubernetes-preserve-unknown-fields` keeps everything at its level, but what the schema does name below is pruned by
//! its own schema again. Branches of anyOf and the like protect nothing. Without any schema objects become `{}`.

use super::compiled::Node;
use super::unknown::Unknown;
use crate::value::{Map, Value};

/// Prunes `v` by `node`. At a resource's root, and in embedded resources, apiVersion, kind and metadata are left alone.
pub fn prune(v: &mut Value, node: Option<&Node>, is_root: bool, unknown: &mut Unknown) {
    match v {
        Value::Object(members) if is_root => match node {
            Some(node) if node.preserves => preserve_object(members, node, true, unknown),
            Some(node) => prune_object(members, node, true, unknown),
            None => members.retain(|key, _| {
                let keep = is_meta(key);
                if !keep {
                    unknown.record(key);
                }
                keep
            }),
        },
        _ => prune_value(v, node, unknown),
    }
}

fn is_meta(key: &str) -> bool {
    matches!(key, "apiVersion" | "kind" | "metadata")
}

fn prune_value(v: &mut Value, node: Option<&Node>, unknown: &mut Unknown) {
    match (v, node) {
        (v, Some(node)) if node.preserves => preserve(v, node, unknown),
        (Value::Object(members), Some(node)) => prune_object(members, node, node.embedded, unknown),
        (Value::Object(members), None) => {
            for key in members.keys() {
                unknown.record(key);
            }
            members.clear();
        }
        (Value::Array(items), node) => {
            let items_node = node.and_then(|n| n.items.as_deref());
            for (i, item) in items.iter_mut().enumerate() {
                if matches!(item, Value::Object(_) | Value::Array(_)) {
                    let before = unknown.enter_index(i);
                    prune_value(item, items_node, unknown);
                    unknown.leave(before);
                }
            }
        }
        _ => {}
    }
}

fn prune_object(members: &mut Map, node: &Node, is_resource: bool, unknown: &mut Unknown) {
    members.retain(|key, v| {
        if is_resource && is_meta(key) {
            return true;
        }
        let child = match (node.property(key), &node.additional) {
            (Some(property), _) => Some(property),
            (None, Some(_)) => node.additional_schema(),
            (None, None) => {
                if !is_meta(key) || !unknown.at_root() {
                    unknown.record(key);
                }
                return false;
            }
        };
        descend(key, v, child, unknown);
        true
    });
}

fn descend(key: &str, v: &mut Value, child: Option<&Node>, unknown: &mut Unknown) {
    if matches!(v, Value::Object(_) | Value::Array(_)) {
        let before = unknown.enter_key(key);
        prune_value(v, child, unknown);
        unknown.leave(before);
    }
}

fn preserve(v: &mut Value, node: &Node, unknown: &mut Unknown) {
    match v {
        Value::Object(members) => preserve_object(members, node, node.embedded, unknown),
        Value::Array(items) => {
            let Some(items_node) = node.items.as_deref() else { return };
            for (i, item) in items.iter_mut().enumerate() {
                let before = unknown.enter_index(i);
                preserve(item, items_node, unknown);
                unknown.leave(before);
            }
        }
        _ => {}
    }
}

fn preserve_object(members: &mut Map, node: &Node, is_resource: bool, unknown: &mut Unknown) {
    for (key, v) in members.iter_mut() {
        if is_resource && is_meta(key) {
            continue;
        }
        if let Some(property) = node.property(key) {
            descend(key, v, Some(property), unknown);
        } else if node.additional.is_some() {
            descend(key, v, node.additional_schema(), unknown);
        }
    }
}
