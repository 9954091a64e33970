//! Validates that items of set lists and keys of map lists are unique
//! (`apiextensions-apiserver/pkg/apiserver/schema/listtype`).
//!
//! Each repeated value is reported once, at its second index. Two missing keys are equal. Scalars of different types
//! are different, so 1 and 1.0 are distinct items; inside objects and lists they are compared as JSON and are equal.

use super::compiled::{SchemaNode, Unique};
use crdx_value::field::{BadValue, ErrorList, FieldError, FieldPath};
use crdx_value::release::Release;
use crdx_value::{Map, Value, json, number};
use std::collections::HashMap;
use std::hash::Hash;

/// Validates every list in `v` that has a list type.
pub fn validate(v: &Value, node: &SchemaNode, path: &FieldPath<'_>, release: Release) -> ErrorList {
    let mut errors = ErrorList::new();
    visit(v, node, path, release, &mut errors);
    errors
}

fn visit(v: &Value, node: &SchemaNode, path: &FieldPath<'_>, release: Release, errors: &mut ErrorList) {
    if !node.has.unique {
        return;
    }
    match v {
        Value::Object(members) => {
            if let Some(additional) = node.additional_schema().filter(|additional| additional.has.unique) {
                for (name, v) in members {
                    visit(v, additional, &path.key(name), release, errors);
                }
            }
            // Both are sorted by name. Many objects may each have few of many properties.
            if members.len() < node.unique_count() {
                for (name, v) in members {
                    if let Some(property) = node.property(name) {
                        visit(v, property, &path.child(name), release, errors);
                    }
                }
                return;
            }
            for (name, property) in node.unique_properties() {
                if let Some(v) = members.get(name) {
                    visit(v, property, &path.child(name), release, errors);
                }
            }
        }
        Value::Array(items) => {
            match &node.unique {
                Some(Unique::Set) => {
                    for i in repeated(items.iter().map(Item::from_value)) {
                        let bad = items.get(i).map_or(BadValue::Omitted, |item| BadValue::new(item, release));
                        errors.push(FieldError::duplicate(&path.index(i), bad));
                    }
                }
                Some(Unique::Map(keys)) => list_map(items, keys, path, release, errors),
                None => {}
            }
            if let Some(node) = node.items.as_deref().filter(|node| node.has.unique) {
                for (i, item) in items.iter().enumerate() {
                    visit(item, node, &path.index(i), release, errors);
                }
            }
        }
        _ => {}
    }
}

fn list_map<'a>(items: &'a [Value], keys: &[String], path: &FieldPath<'_>, release: Release, errors: &mut ErrorList) {
    if let Some((i, item)) = items.iter().enumerate().find(|(_, v)| !matches!(v, Value::Object(_) | Value::Null)) {
        errors.push(FieldError::invalid(
            &path.index(i),
            BadValue::new(item, release),
            "must be an object for an array of list-type map",
        ));
        return;
    }
    let key_of =
        |item: &Value| -> Map { keys.iter().filter_map(|key| Some((key.clone(), item.get(key)?.clone()))).collect() };
    let repeated = if let [key] = keys {
        repeated(items.iter().map(|item| item.get(key).map_or(Item::Missing, Item::from_value)))
    } else {
        let part = |item: &'a Value, key: &String| item.get(key).map_or(Item::Missing, Item::as_json);
        repeated(items.iter().map(|item| keys.iter().map(|key| part(item, key)).collect::<Vec<_>>()))
    };
    for i in repeated {
        let key = items.get(i).map(key_of).unwrap_or_default();
        errors.push(FieldError::duplicate(&path.index(i), BadValue::new(&Value::Object(key), release)));
    }
}

/// The number of items up to which comparing each with each is faster than a hash table.
const FEW: usize = 12;

/// A list item in the form used for comparison.
#[derive(PartialEq, Eq, Hash)]
enum Item<'a> {
    Missing,
    Null,
    Bool(bool),
    Int(i64),
    Float(u64),
    Text(&'a str),
    Compound(String),
}

impl<'a> Item<'a> {
    fn from_value(v: &'a Value) -> Self {
        match v {
            Value::Null => Self::Null,
            Value::Bool(b) => Self::Bool(*b),
            Value::Int(i) => Self::Int(*i),
            // +0 and -0 are equal.
            Value::Float(x) => Self::Float(if *x == 0.0 { 0 } else { x.to_bits() }),
            Value::String(s) => Self::Text(s),
            Value::Array(_) | Value::Object(_) => Self::Compound(json::to_string(v)),
        }
    }

    /// The part of a key that is compared as JSON, in which 1 and 1.0 are equal, but 0 and -0.0 are not.
    fn as_json(v: &'a Value) -> Self {
        match v {
            Value::Float(x) => match number::to_value(*x) {
                Value::Int(i) if i != 0 || x.is_sign_positive() => Self::Int(i),
                _ => Self::Float(x.to_bits()),
            },
            _ => Self::from_value(v),
        }
    }
}

/// The second index of each repeated item.
fn repeated<T: Eq + Hash>(items: impl ExactSizeIterator<Item = T>) -> Vec<usize> {
    if items.len() <= FEW {
        let items: Vec<T> = items.collect();
        let is_second = |(i, item): (usize, &T)| {
            let before = items.iter().take(i).filter(|other| *other == item).count();
            (before == 1).then_some(i)
        };
        return items.iter().enumerate().filter_map(is_second).collect();
    }
    let mut seen: HashMap<T, usize> = HashMap::new();
    let mut second = Vec::new();
    for (i, item) in items.enumerate() {
        let times = seen.entry(item).or_default();
        *times += 1;
        if *times == 2 {
            second.push(i);
        }
    }
    second
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipeline::testing::{json, node, texts};
    use crdx_value::field::ROOT;

    fn errors(schema: &str, v: &str) -> Vec<String> {
        texts(&validate(
            &json(&format!(r#"{{"l":{v}}}"#)),
            &node(&format!(r#"{{"properties":{{"l":{schema}}}}}"#)),
            &ROOT,
            Release::NEWEST,
        ))
    }

    #[test]
    fn items_of_sets_differ() {
        let set = r#"{"x-kubernetes-list-type":"set"}"#;
        assert_eq!(errors(set, r#"["a","b","a","a"]"#), [r#"l[2]: Duplicate value: "a""#]);
        assert_eq!(errors(set, r#"[1,1.0,null,"1"]"#), [""; 0]);
        assert_eq!(errors(set, r#"[{"a":1},{"a":1.0}]"#), [r#"l[1]: Duplicate value: {"a":1}"#]);
    }

    #[test]
    fn keys_of_maps_differ() {
        let one = r#"{"x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k"]}"#;
        assert_eq!(errors(one, r#"[{"k":1},{"k":2},{"k":1,"v":0}]"#), [r#"l[2]: Duplicate value: {"k":1}"#]);
        assert_eq!(errors(one, r"[{},null]"), ["l[1]: Duplicate value: {}"]);
        assert_eq!(errors(one, r"[3]"), ["l[0]: Invalid value: 3: must be an object for an array of list-type map"]);
        let two = r#"{"x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k","p"]}"#;
        assert_eq!(errors(two, r#"[{"k":"a"},{"k":"a","p":1},{"k":"a"}]"#), [r#"l[2]: Duplicate value: {"k":"a"}"#]);
        let integral = r#"[{"k":"a","p":1},{"k":"a","p":1.0},{"k":"a","p":"1"}]"#;
        assert_eq!(errors(two, integral), [r#"l[1]: Duplicate value: {"k":"a","p":1}"#]);
        assert_eq!(errors(two, r#"[{"k":"a"},{"k":"a","p":null}]"#), [""; 0]);
    }
}
