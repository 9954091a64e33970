//! Nulls that no one can use: a null member whose schema is neither nullable nor defaulted is removed; nulls in lists stay
//! (`apiextensions-apiserver/pkg/apiserver/schema/defaulting/prunenulls.go`).

use super::compiled::Node;
use crate::value::Value;

/// Removes useless nulls from `v`.
pub fn drop_nulls(v: &mut Value, node: &Node) {
    match v {
        Value::Object(members) => members.retain(|key, v| match node.member(key) {
            Some(child) if v.is_null() => child.nullable || child.default.is_some(),
            Some(child) => {
                drop_nulls(v, child);
                true
            }
            None => true,
        }),
        Value::Array(items) => {
            if let Some(node) = &node.items {
                items.iter_mut().for_each(|item| drop_nulls(item, node));
            }
        }
        _ => {}
    }
}
