//! Drops nulls: a null member whose schema is neither nullable nor has a default is removed; nulls in lists are kept
//! (`apiextensions-apiserver/pkg/apiserver/schema/defaulting/prunenulls.go`).

use super::compiled::SchemaNode;
use crdx_value::Value;

fn is_dropped(null_at: &SchemaNode) -> bool {
    !null_at.nullable && null_at.default.is_none()
}

/// Drops nulls from `v` that are neither allowed nor defaulted.
pub fn drop_nulls(v: &mut Value, node: &SchemaNode) {
    match v {
        Value::Object(members) => {
            let mut drops = false;
            let mut properties = node.properties_in_order();
            for (key, v) in members.iter_mut() {
                match v {
                    Value::Null => drops |= properties.member(key).is_some_and(is_dropped),
                    Value::Object(_) | Value::Array(_) => {
                        if let Some(child) = properties.member(key) {
                            drop_nulls(v, child);
                        }
                    }
                    _ => {}
                }
            }
            if drops {
                members.retain(|key, v| !v.is_null() || !node.member(key).is_some_and(is_dropped));
            }
        }
        Value::Array(items) => {
            if let Some(node) = &node.items {
                for item in items {
                    drop_nulls(item, node);
                }
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipeline::testing::{json, node};

    #[test]
    fn only_nulls_without_use_in_specified_members_are_dropped() {
        let n = node(
            r#"{"properties":{"a":{},"b":{"nullable":true},"c":{"default":1},"l":{"items":{}},
                "m":{"additionalProperties":{}},"x":{"x-kubernetes-preserve-unknown-fields":true}}}"#,
        );
        let mut v = json(r#"{"a":null,"b":null,"c":null,"l":[null],"m":{"k":null},"x":{"y":null}}"#);
        drop_nulls(&mut v, &n);
        assert_eq!(v, json(r#"{"b":null,"c":null,"l":[null],"m":{},"x":{"y":null}}"#));
    }
}
