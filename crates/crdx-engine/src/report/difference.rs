//! Compares two readings of an object under different CRDs.

use crdx_value::{Map, Value};
use std::fmt::Write as _;

/// The differences between two readings of one object; paths are written as the server writes them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Difference {
    /// Values that are lost.
    pub lost: Vec<(String, Value)>,
    /// Stored values that the old schema prunes on reading and the new one shows.
    pub appearing: Vec<(String, Value)>,
    /// Values set by defaulting.
    pub defaulted: Vec<(String, Value)>,
    /// Values that change.
    pub changed: Vec<(String, Value, Value)>,
}

impl Difference {
    /// Compares `before` and `after`, two readings of `stored`.
    pub fn between(before: &Value, after: &Value, stored: &Value) -> Self {
        let mut difference = Self::default();
        difference.walk(before, after, Some(stored), &mut String::new());
        difference
    }

    /// Returns true if there is no difference.
    pub fn is_empty(&self) -> bool {
        let Self { lost, appearing, defaulted, changed } = self;
        lost.is_empty() && appearing.is_empty() && defaulted.is_empty() && changed.is_empty()
    }

    fn walk(&mut self, before: &Value, after: &Value, stored: Option<&Value>, path: &mut String) {
        let length = path.len();
        match (before, after) {
            (Value::Object(old), Value::Object(new)) => {
                for (key, value) in old {
                    enter(path, key);
                    match new.get(key) {
                        Some(other) => self.walk(value, other, stored.and_then(|s| s.get(key)), path),
                        None => self.lost.push((path.clone(), value.clone())),
                    }
                    path.truncate(length);
                }
                for (key, value) in new.iter().filter(|(key, _)| !old.contains_key(key)) {
                    enter(path, key);
                    self.new_value(value, stored.and_then(|s| s.get(key)), path);
                    path.truncate(length);
                }
            }
            (Value::Array(old), Value::Array(new)) if old.len() == new.len() => {
                for (i, (value, other)) in old.iter().zip(new).enumerate() {
                    // Writing to a String cannot fail.
                    let _ = write!(path, "[{i}]");
                    self.walk(value, other, stored.and_then(|s| s.as_array()?.get(i)), path);
                    path.truncate(length);
                }
            }
            (old, new) if old == new => {}
            (old, new) => self.changed.push((path.clone(), old.clone(), new.clone())),
        }
    }
}

impl Difference {
    /// Classifies a value that only the second reading has: a stored value appears, any other was defaulted.
    fn new_value(&mut self, value: &Value, stored: Option<&Value>, path: &mut String) {
        let length = path.len();
        match (value, stored) {
            (_, None) => self.defaulted.push((path.clone(), value.clone())),
            (_, Some(Value::Null)) if !value.is_null() => self.defaulted.push((path.clone(), value.clone())),
            (Value::Object(members), Some(Value::Object(kept))) => {
                let own = members.iter().filter(|(key, _)| kept.contains_key(key));
                let own: Map = own.map(|(key, value)| (key.clone(), value.clone())).collect();
                self.appearing.push((path.clone(), own.into()));
                for (key, value) in members.iter().filter(|(key, _)| !kept.contains_key(key)) {
                    enter(path, key);
                    self.defaulted.push((path.clone(), value.clone()));
                    path.truncate(length);
                }
            }
            _ => self.appearing.push((path.clone(), value.clone())),
        }
    }
}

fn enter(path: &mut String, key: &str) {
    if !path.is_empty() {
        path.push('.');
    }
    path.push_str(key);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::json;

    #[test]
    fn every_kind_of_difference_has_its_path() {
        let read = |text: &str| json::read(text.as_bytes()).unwrap();
        let before = read(r#"{"spec":{"a":1,"list":[{"x":1,"y":2}],"n":null}}"#);
        let after = read(r#"{"spec":{"b":2,"list":[{"x":1}],"n":3,"hidden":{"own":1,"set":2}}}"#);
        let stored = read(r#"{"spec":{"a":1,"list":[{"x":1,"y":2}],"n":null,"hidden":{"own":1}}}"#);
        let difference = Difference::between(&before, &after, &stored);
        assert_eq!(
            difference.lost,
            [("spec.a".to_owned(), Value::Int(1)), ("spec.list[0].y".to_owned(), Value::Int(2))]
        );
        assert_eq!(difference.appearing, [("spec.hidden".to_owned(), read(r#"{"own":1}"#))]);
        let defaulted = [("spec.b".to_owned(), Value::Int(2)), ("spec.hidden.set".to_owned(), Value::Int(2))];
        assert_eq!(difference.defaulted, defaulted);
        assert_eq!(difference.changed, [("spec.n".to_owned(), Value::Null, Value::Int(3))]);
        assert!(Difference::between(&before, &before, &before).is_empty());
    }
}
