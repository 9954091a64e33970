//! The empty lists and maps of a decoded object. Its encoded form leaves them out, but validation sees them: Go tells an
//! empty list from a nil one.

mod atomic_lists;

use crdx_value::{Map, Value};
use std::collections::BTreeMap;

/// The maximum depth at which empty values are looked for.
const MAX_DEPTH: usize = 500;

/// The places of empty lists and maps below a value.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Empties {
    /// `[]` or `{}`, if the value itself is empty.
    empty: Option<&'static str>,
    /// The members and items with empty values, items by their index.
    inner: BTreeMap<String, Empties>,
}

impl Empties {
    /// The empty lists and maps of a value; `None` if there are none.
    pub fn from_value(value: &Value) -> Option<Self> {
        // Most objects have none, so nothing is built before one is found.
        if has_empty(value, 0) { Self::at(value, 0) } else { None }
    }

    fn at(value: &Value, depth: usize) -> Option<Self> {
        let empty = |text| Some(Self { empty: Some(text), inner: BTreeMap::new() });
        let of = |inner: BTreeMap<String, Self>| (!inner.is_empty()).then_some(Self { empty: None, inner });
        match value {
            _ if depth > MAX_DEPTH => None,
            Value::Array(items) if items.is_empty() => empty("[]"),
            Value::Object(members) if members.is_empty() => empty("{}"),
            Value::Array(items) => of(items
                .iter()
                .enumerate()
                .filter_map(|(at, item)| Some((at, Self::at(item, depth + 1)?)))
                .map(|(at, inner)| (at.to_string(), inner))
                .collect()),
            Value::Object(members) => of(members
                .iter()
                .filter_map(|(key, value)| Some((key, Self::at(value, depth + 1)?)))
                .map(|(key, inner)| (key.clone(), inner))
                .collect()),
            _ => None,
        }
    }

    /// The empty values below a member.
    pub fn child(&self, name: &str) -> Option<&Self> {
        self.inner.get(name)
    }

    /// The empty values below an item.
    pub fn index(&self, index: usize) -> Option<&Self> {
        if self.inner.is_empty() { None } else { self.inner.get(&index.to_string()) }
    }

    /// Removes the record of an empty list or map at a path. `*` in a path matches every item.
    pub fn clear(&mut self, path: &[&str]) {
        match path.split_first() {
            None => self.empty = None,
            Some((&"*", rest)) => self.inner.values_mut().for_each(|inner| inner.clear(rest)),
            Some((name, rest)) => {
                if let Some(inner) = self.inner.get_mut(*name) {
                    inner.clear(rest);
                }
            }
        }
    }

    /// Returns a copy of an encoded value with the empty lists and maps where it has null, which it has for fields without
    /// `omitempty`; `None` if there are none.
    pub fn restored(&self, encoded: &Value) -> Option<Value> {
        self.is_lost_in(encoded).then(|| {
            let mut restored = encoded.clone();
            self.restore(&mut restored);
            restored
        })
    }

    fn is_lost_in(&self, encoded: &Value) -> bool {
        self.inner.iter().any(|(key, inner)| {
            let member = match encoded {
                Value::Object(members) => members.get(key),
                Value::Array(items) => key.parse().ok().and_then(|at: usize| items.get(at)),
                _ => None,
            };
            member.is_some_and(|member| match inner.empty {
                Some(_) => member.is_null(),
                None => inner.is_lost_in(member),
            })
        })
    }

    fn restore(&self, encoded: &mut Value) {
        for (key, inner) in &self.inner {
            let member = match encoded {
                Value::Object(members) => members.get_mut(key),
                Value::Array(items) => key.parse().ok().and_then(|at: usize| items.get_mut(at)),
                _ => None,
            };
            match (member, inner.empty) {
                (Some(member @ Value::Null), Some("[]")) => *member = Value::Array(Vec::new()),
                (Some(member @ Value::Null), Some(_)) => *member = Value::Object(Map::new()),
                (Some(member), None) => inner.restore(member),
                _ => {}
            }
        }
    }

    /// `[]` or `{}`, if the value itself is an empty list or map.
    pub fn text(&self) -> Option<&'static str> {
        self.empty
    }
}

/// Returns true if there is an empty list or map at or below a value.
fn has_empty(value: &Value, depth: usize) -> bool {
    match value {
        _ if depth > MAX_DEPTH => false,
        Value::Array(items) => items.is_empty() || items.iter().any(|item| has_empty(item, depth + 1)),
        Value::Object(members) => members.is_empty() || members.values().any(|member| has_empty(member, depth + 1)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_values_replace_null_only() {
        let read = |text: &str| crdx_text::json::read(text.as_bytes()).unwrap();
        let empties = Empties::from_value(&read(r#"{"a":[],"b":[],"c":[{"d":{}}],"e":{}}"#)).unwrap();
        let encoded = read(r#"{"a":null,"c":[{"d":null}],"e":{"f":1}}"#);
        let restored = empties.restored(&encoded).unwrap();
        assert_eq!(restored, read(r#"{"a":[],"c":[{"d":{}}],"e":{"f":1}}"#));
        assert_eq!(empties.restored(&restored), None);
    }

    #[test]
    fn empty_lists_and_maps_are_found_at_their_places() {
        let value = crdx_text::json::read(br#"{"a":[],"b":[1,{"c":{}}],"d":{"e":1}}"#).unwrap();
        let empties = Empties::from_value(&value).unwrap();
        assert_eq!(empties.child("a").and_then(Empties::text), Some("[]"));
        let inner = empties.child("b").and_then(|b| b.index(1)).and_then(|item| item.child("c"));
        assert_eq!(inner.and_then(Empties::text), Some("{}"));
        assert_eq!((empties.text(), empties.child("d")), (None, None));
        assert_eq!(Empties::from_value(&Value::Int(1)), None);
        let mut cleared = empties.clone();
        cleared.clear(&["b", "*", "c"]);
        let inner = cleared.child("b").and_then(|b| b.index(1)).and_then(|item| item.child("c"));
        assert_eq!(inner.and_then(Empties::text), None);
        assert_eq!(cleared.child("a").and_then(Empties::text), Some("[]"));
    }
}
