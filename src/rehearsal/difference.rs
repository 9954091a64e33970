//! What reading an object under another CRD takes away, adds and changes.

use crate::value::Value;
use std::fmt::Write as _;

/// How two readings of one object differ; paths as the server writes them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Difference {
    /// What is there no more.
    pub lost: Vec<(String, Value)>,
    /// What is new.
    pub added: Vec<(String, Value)>,
    /// What is another value.
    pub changed: Vec<(String, Value, Value)>,
}

impl Difference {
    /// From `before` to `after`.
    pub fn between(before: &Value, after: &Value) -> Self {
        let mut difference = Self::default();
        difference.walk(before, after, &mut String::new());
        difference
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.lost.is_empty() && self.added.is_empty() && self.changed.is_empty()
    }

    fn walk(&mut self, before: &Value, after: &Value, path: &mut String) {
        let length = path.len();
        match (before, after) {
            (Value::Object(old), Value::Object(new)) => {
                for (key, value) in old {
                    enter(path, key);
                    match new.get(key) {
                        Some(other) => self.walk(value, other, path),
                        None => self.lost.push((path.clone(), value.clone())),
                    }
                    path.truncate(length);
                }
                for (key, value) in new.iter().filter(|(key, _)| !old.contains_key(*key)) {
                    enter(path, key);
                    self.added.push((path.clone(), value.clone()));
                    path.truncate(length);
                }
            }
            (Value::Array(old), Value::Array(new)) if old.len() == new.len() => {
                for (i, (value, other)) in old.iter().zip(new).enumerate() {
                    // Writing to a String cannot fail.
                    let _ = write!(path, "[{i}]");
                    self.walk(value, other, path);
                    path.truncate(length);
                }
            }
            (old, new) if old == new => {}
            (old, new) => self.changed.push((path.clone(), old.clone(), new.clone())),
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
    use crate::text::json;

    #[test]
    fn every_kind_of_difference_has_its_path() {
        let read = |text: &str| json::read(text.as_bytes()).unwrap();
        let before = read(r#"{"spec":{"a":1,"list":[{"x":1,"y":2}],"n":null}}"#);
        let after = read(r#"{"spec":{"b":2,"list":[{"x":1}],"n":3}}"#);
        let difference = Difference::between(&before, &after);
        assert_eq!(
            difference.lost,
            [("spec.a".to_owned(), Value::Int(1)), ("spec.list[0].y".to_owned(), Value::Int(2))]
        );
        assert_eq!(difference.added, [("spec.b".to_owned(), Value::Int(2))]);
        assert_eq!(difference.changed, [("spec.n".to_owned(), Value::Null, Value::Int(3))]);
        assert!(Difference::between(&before, &before).is_empty());
    }
}
