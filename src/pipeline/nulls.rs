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
    fn only_useless_nulls_of_known_members_go() {
        let n = node(
            r#"{"properties":{"a":{},"b":{"nullable":true},"c":{"default":1},"l":{"items":{}},
                "m":{"additionalProperties":{}},"x":{"x-kubernetes-preserve-unknown-fields":true}}}"#,
        );
        let mut v = json(r#"{"a":null,"b":null,"c":null,"l":[null],"m":{"k":null},"x":{"y":null}}"#);
        drop_nulls(&mut v, &n);
        assert_eq!(v, json(r#"{"b":null,"c":null,"l":[null],"m":{},"x":{"y":null}}"#));
    }
}
