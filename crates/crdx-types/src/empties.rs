//! The empty lists and maps of a decoded object, and the fractions of its times. Its encoded form leaves them out, but
//! validation sees them: Go tells an empty list from a nil one, and keeps nanoseconds in memory.

use crate::merge::{ListRelation, Type};
use crdx_value::{Map, Value, time};
use std::collections::BTreeMap;

/// The maximum depth at which empty values are looked for.
const MAX_DEPTH: usize = 500;

/// The places of empty lists and maps, and of times with a fraction of a second, below a value.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Empties {
    /// `[]` or `{}`, if the value itself is empty.
    empty: Option<&'static str>,
    /// The nanoseconds of the value, if it is the text of a time.
    nanos: u32,
    /// The members and items with empty values, items by their index.
    inner: BTreeMap<String, Empties>,
}

impl Empties {
    /// The empty lists and maps of a value, and the fractions of its times; `None` if there are none.
    pub fn from_value(value: &Value) -> Option<Self> {
        Self::at(value, 0)
    }

    fn at(value: &Value, depth: usize) -> Option<Self> {
        let empty = |text| Some(Self { empty: Some(text), ..Self::default() });
        let of = |inner: BTreeMap<String, Self>| (!inner.is_empty()).then_some(Self { inner, ..Self::default() });
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
            Value::String(text) => fraction(text).map(|nanos| Self { nanos, ..Self::default() }),
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

    /// The records at and below some paths. `*` in a path matches every item.
    #[must_use]
    pub fn only(&self, paths: &[&[&str]]) -> Self {
        if paths.iter().any(|path| path.is_empty()) {
            return self.clone();
        }
        let inner = self.inner.iter().filter_map(|(key, inner)| {
            let below: Vec<&[&str]> = paths
                .iter()
                .filter_map(|path| path.split_first())
                .filter(|(first, _)| **first == "*" || **first == key)
                .map(|(_, rest)| rest)
                .collect();
            (!below.is_empty()).then(|| (key.clone(), inner.only(&below)))
        });
        Self { inner: inner.collect(), ..Self::default() }
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
    /// `omitempty`, and with those that it omits inside atomic lists, which the server compares in memory
    /// (`listReflect.EqualsUsing` in `structured-merge-diff/value`); `None` if there are none.
    pub fn restored(&self, encoded: &Value, type_: &Type) -> Option<Value> {
        self.is_lost_in(encoded, Place::of(type_)).then(|| {
            let mut restored = encoded.clone();
            self.restore(&mut restored, Place::of(type_));
            restored
        })
    }

    fn is_lost_in(&self, encoded: &Value, place: Place<'_>) -> bool {
        let is_lost = |inner: &Self, member: &Value, place: Place<'_>| match inner.empty {
            Some(_) => member.is_null(),
            None => inner.is_lost_in(member, place),
        };
        match encoded {
            Value::Object(members) => self.inner.iter().any(|(key, inner)| {
                let place = place.child(key);
                match members.get(key) {
                    Some(member) => is_lost(inner, member, place),
                    None => inner.empty.is_some_and(|text| place.shows(text)),
                }
            }),
            Value::Array(items) => self.inner.iter().any(|(key, inner)| {
                let item = key.parse().ok().and_then(|at: usize| items.get(at));
                item.is_some_and(|item| is_lost(inner, item, place.item()))
            }),
            _ => false,
        }
    }

    fn restore(&self, encoded: &mut Value, place: Place<'_>) {
        for (key, inner) in &self.inner {
            let (member, place) = match encoded {
                Value::Object(members) => {
                    let place = place.child(key);
                    if let Some(text) = inner.empty.filter(|text| !members.contains_key(key) && place.shows(text)) {
                        members.insert(key.clone(), empty_value(text));
                    }
                    (members.get_mut(key), place)
                }
                Value::Array(items) => (key.parse().ok().and_then(|at: usize| items.get_mut(at)), place.item()),
                _ => return,
            };
            match (member, inner.empty) {
                (Some(member @ Value::Null), Some(text)) => *member = empty_value(text),
                (Some(member), None) => inner.restore(member, place),
                _ => {}
            }
        }
    }

    /// The nanoseconds of a time that has a fraction of a second; otherwise 0.
    pub fn nanos(&self) -> u32 {
        self.nanos
    }

    /// `[]` or `{}`, if the value itself is an empty list or map.
    pub fn text(&self) -> Option<&'static str> {
        self.empty
    }
}

/// The merge type at a place, and the place relative to atomic lists.
#[derive(Clone, Copy)]
struct Place<'t> {
    type_: Option<&'t Type>,
    in_atomic_list: bool,
}

impl<'t> Place<'t> {
    fn of(type_: &'t Type) -> Self {
        Self { type_: Some(type_), in_atomic_list: false }
    }

    fn child(self, name: &str) -> Self {
        let map = self.type_.and_then(|type_| type_.map.as_ref());
        Self { type_: map.and_then(|map| map.type_of(name)), ..self }
    }

    fn item(self) -> Self {
        let list = self.type_.and_then(|type_| type_.list.as_ref());
        let is_atomic = list.is_some_and(|list| list.relation == ListRelation::Atomic);
        Self { type_: list.map(|list| list.items.resolve()), in_atomic_list: self.in_atomic_list || is_atomic }
    }

    /// Returns true if an omitted value differs from an empty one, `[]` or `{}`. An empty struct does not differ.
    fn shows(self, text: &str) -> bool {
        let Some(type_) = self.type_.filter(|_| self.in_atomic_list) else { return false };
        let is_map = || type_.map.as_ref().is_some_and(|map| map.fields.is_empty());
        type_.scalar.is_none() && if text == "[]" { type_.list.is_some() } else { is_map() }
    }
}

/// The value with a text: `[]` or `{}`.
fn empty_value(text: &str) -> Value {
    if text == "[]" { Value::Array(Vec::new()) } else { Value::Object(Map::new()) }
}

/// The nanoseconds of the text of a time, unless there are none.
pub(crate) fn fraction(text: &str) -> Option<u32> {
    const LETTER: usize = "2006-01-02".len();
    let may_be_time = text.as_bytes().get(LETTER) == Some(&b'T') && text.contains(['.', ',']);
    may_be_time.then(|| time::parse(text).ok()).flatten().map(|time| time.nanos).filter(|nanos| *nanos > 0)
}

/// Returns true if there is an empty list or map, or a time with a fraction, at or below a value at this depth of an object.
pub(crate) fn has_empty(value: &Value, depth: usize) -> bool {
    match value {
        _ if depth > MAX_DEPTH => false,
        Value::Array(items) => items.is_empty() || items.iter().any(|item| has_empty(item, depth + 1)),
        Value::Object(members) => members.is_empty() || members.values().any(|member| has_empty(member, depth + 1)),
        Value::String(text) => fraction(text).is_some(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::merge_type::merge_type;
    use crate::types::Types;

    #[test]
    fn empty_values_replace_null_only() {
        let read = |text: &str| crdx_text::json::read(text.as_bytes()).unwrap();
        let empties = Empties::from_value(&read(r#"{"a":[],"b":[],"c":[{"d":{}}],"e":{}}"#)).unwrap();
        let encoded = read(r#"{"a":null,"c":[{"d":null}],"e":{"f":1}}"#);
        let untyped = Type::default();
        let restored = empties.restored(&encoded, &untyped).unwrap();
        assert_eq!(restored, read(r#"{"a":[],"c":[{"d":{}}],"e":{"f":1}}"#));
        assert_eq!(empties.restored(&restored, &untyped), None);
    }

    #[test]
    fn fractions_of_times_are_found() {
        let value =
            crdx_text::json::read(br#"{"a":"2020-01-01T00:00:00.25Z","b":["2020-01-01T00:00:00Z","x.y"]}"#).unwrap();
        let empties = Empties::from_value(&value).unwrap();
        assert_eq!(empties.child("a").map(Empties::nanos), Some(250_000_000));
        assert_eq!(empties.child("b"), None);
    }

    #[test]
    fn omitted_lists_are_restored_inside_atomic_lists_only() {
        let read = |text: &str| crdx_text::json::read(text.as_bytes()).unwrap();
        let types = Types::for_release(37);
        let policy = merge_type(types, types.id("networking/v1.NetworkPolicy").unwrap()).resolve();
        let given = r#"{"metadata":{"finalizers":[]},"spec":{"podSelector":{"matchLabels":{}},"egress":[],
            "ingress":[{"ports":[],"from":[{"podSelector":{"matchLabels":{}},"namespaceSelector":{}}]}]}}"#;
        let empties = Empties::from_value(&read(given)).unwrap();
        let encoded = r#"{"metadata":{},"spec":{"podSelector":{},"ingress":[{"from":[{"podSelector":{},"namespaceSelector":{}}]}]}}"#;
        let restored = empties.restored(&read(encoded), policy).unwrap();
        let expected = r#"{"metadata":{},"spec":{"podSelector":{},"ingress":[{"ports":[],
            "from":[{"podSelector":{"matchLabels":{}},"namespaceSelector":{}}]}]}}"#;
        assert_eq!(restored, read(expected));
        assert_eq!(empties.restored(&restored, policy), None);
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
        assert_eq!(empties.only(&[&["b", "*", "c"]]).child("a"), None);
        assert_eq!(empties.only(&[&["b", "*", "c"]]).child("b"), empties.child("b"));
    }
}
