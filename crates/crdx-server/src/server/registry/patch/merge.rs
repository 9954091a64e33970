//! JSON merge patches (RFC 7386) with the semantics of `evanphx/json-patch` 4.

use crate::server::http::status::Refusal;
use crdx_value::json::go_kind;
use crdx_value::{Map, Value};

/// Merges `patch` into `current`. `strict` is true if the server decodes the patch strictly first, which changes the
/// message for a patch that is not an object.
pub(super) fn apply(patch: &Value, current: Value, strict: bool) -> Result<Value, Refusal> {
    match patch {
        Value::Object(members) => {
            let Value::Object(mut out) = current else { return Ok(without_nulls(patch)) };
            merge(&mut out, members);
            Ok(Value::Object(out))
        }
        // The strict decoder accepts null as an empty object, but the merge rejects it.
        Value::Null => Err(Refusal::bad_request("Invalid JSON Patch")),
        other if strict => Err(Refusal::bad_request(format!(
            "error decoding patch: json: cannot unmarshal {} into Go value of type map[string]interface {{}}",
            go_kind(other)
        ))),
        Value::Array(_) => Ok(without_nulls(patch)),
        _ => Err(Refusal::bad_request("Invalid JSON Patch")),
    }
}

fn merge(current: &mut Map, patch: &Map) {
    for (key, value) in patch {
        match value {
            Value::Null => {
                current.remove(key);
            }
            Value::Object(members) => match current.get_mut(key) {
                Some(Value::Object(below)) => merge(below, members),
                _ => {
                    current.insert(key.clone(), without_nulls(value));
                }
            },
            Value::Array(_) if !matches!(current.get(key), Some(Value::Object(_))) => {
                current.insert(key.clone(), without_nulls(value));
            }
            other => {
                current.insert(key.clone(), other.clone());
            }
        }
    }
}

/// `pruneNulls`: removes null members and keeps null items.
fn without_nulls(value: &Value) -> Value {
    match value {
        Value::Object(members) => Value::Object(
            members.iter().filter(|(_, v)| !v.is_null()).map(|(k, v)| (k.clone(), without_nulls(v))).collect(),
        ),
        Value::Array(items) => Value::Array(items.iter().map(without_nulls).collect()),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::json::read;
    use crdx_value::json::to_string;

    fn patched(current: &str, patch: &str) -> String {
        let read = |text: &str| read(text.as_bytes()).unwrap();
        to_string(&apply(&read(patch), read(current), true).unwrap())
    }

    #[test]
    fn nulls_remove_and_objects_merge() {
        assert_eq!(patched(r#"{"a":1,"b":{"c":1,"d":2}}"#, r#"{"a":null,"b":{"c":3}}"#), r#"{"b":{"c":3,"d":2}}"#);
        assert_eq!(
            patched(r#"{"a":1}"#, r#"{"b":{"c":null,"d":[null,{"e":null}]}}"#),
            r#"{"a":1,"b":{"d":[null,{}]}}"#
        );
        assert_eq!(patched(r#"{"a":{"b":1}}"#, r#"{"a":[{"x":null}]}"#), r#"{"a":[{"x":null}]}"#);
    }

    #[test]
    fn only_objects_are_patches() {
        let refusal = apply(&Value::Array(vec![]), Value::Null, true).unwrap_err();
        assert_eq!(
            refusal.message,
            "error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}"
        );
        assert_eq!(apply(&Value::Null, Value::Null, true).unwrap_err().message, "Invalid JSON Patch");
    }
}
