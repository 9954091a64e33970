//! Compares values of Go types by meaning (`apiequality.Semantic`): quantities are equal if their amounts are. Both values
//! have the form in which the types encode them.

use super::custom::Custom;
use super::types::{Type, TypeDefinition, TypeId, Types};
use crdx_value::quantity::Quantity;
use crdx_value::{Map, Value};

/// The maximum depth of values. Deeper values are compared as they are.
const MAX_DEPTH: usize = 500;

/// Returns true if two objects of a struct type are equal except for their members `ignored`.
pub fn equal_except(types: &Types, id: TypeId, one: &Value, other: &Value, ignored: &str) -> bool {
    equal_named(types, id, one, other, Some(ignored), 0)
}

fn equal(types: &Types, type_: &Type, a: &Value, b: &Value, depth: usize) -> bool {
    if depth > MAX_DEPTH {
        return a == b;
    }
    match (type_.target(), a, b) {
        (Type::Named(id), a, b) => equal_named(types, *id, a, b, None, depth),
        (Type::List(item), Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal(types, item, a, b, depth + 1))
        }
        (Type::Map(_, of), Value::Object(a), Value::Object(b)) => {
            same_members(a, b, None, |_, a, b| equal(types, of, a, b, depth + 1))
        }
        _ => a == b,
    }
}

fn equal_named(types: &Types, id: TypeId, a: &Value, b: &Value, ignored: Option<&str>, depth: usize) -> bool {
    match (types.definition(id), a, b) {
        (Some(TypeDefinition::Struct(s)), Value::Object(a), Value::Object(b)) => {
            same_members(a, b, ignored, |name, a, b| {
                s.field(name).map_or(a == b, |(_, field)| equal(types, &field.type_, a, b, depth + 1))
            })
        }
        (Some(TypeDefinition::Named { of, .. }), a, b) => equal(types, of, a, b, depth + 1),
        (Some(TypeDefinition::Custom(Custom::Quantity)), Value::String(a), Value::String(b)) => {
            let amount = |text| Quantity::parse(text, types.minor());
            a == b || matches!((amount(a), amount(b)), (Ok(a), Ok(b)) if a == b)
        }
        _ => a == b,
    }
}

/// Returns true if two objects have the same members, except for `ignored`, and each is equal.
fn same_members(a: &Map, b: &Map, ignored: Option<&str>, is_equal: impl Fn(&str, &Value, &Value) -> bool) -> bool {
    let compared = |members: &Map| members.len() - usize::from(ignored.is_some_and(|name| members.contains_key(name)));
    compared(a) == compared(b)
        && a.iter()
            .filter(|(name, _)| Some(name.as_str()) != ignored)
            .all(|(name, value)| b.get(name).is_some_and(|other| is_equal(name, value, other)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::json;

    fn equal_pods(a: &str, b: &str) -> bool {
        let types = Types::for_release(37);
        let [a, b] = [a, b].map(|text| json::read(text.as_bytes()).unwrap());
        equal_except(types, types.id("core/v1.Pod").unwrap(), &a, &b, "metadata")
    }

    #[test]
    fn quantities_are_compared_by_their_amounts() {
        let pod = |cpu: &str, name: &str| {
            let container = format!(r#"{{"name":"{name}","resources":{{"limits":{{"cpu":"{cpu}"}}}}}}"#);
            format!(r#"{{"metadata":{{"name":"{cpu}"}},"spec":{{"containers":[{container}]}}}}"#)
        };
        assert!(equal_pods(&pod("1", "a"), &pod("+1", "a")));
        assert!(!equal_pods(&pod("1", "a"), &pod("2", "a")));
        assert!(!equal_pods(&pod("1", "1"), &pod("1", "+1")), "a name is no quantity");
    }

    #[test]
    fn members_are_the_same_except_for_ignored_ones() {
        assert!(equal_pods(r#"{"metadata":{},"spec":{"a":1}}"#, r#"{"spec":{"a":1}}"#));
        assert!(!equal_pods(r#"{"spec":{"nodeName":"a"}}"#, r#"{"spec":{}}"#));
        assert!(!equal_pods(r#"{"spec":{}}"#, r#"{"spec":{},"status":{}}"#));
        assert!(!equal_pods(r#"{"spec":{"containers":[{}]}}"#, r#"{"spec":{"containers":[{},{}]}}"#));
        assert!(!equal_pods(r#"{"spec":{"nodeSelector":{"":"a"}}}"#, r#"{"spec":{"nodeSelector":{"":"b"}}}"#));
    }
}
