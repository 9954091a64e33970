//! The fields of decoded objects, and how errors show their values.

use crate::field::{BadValue, ErrorList, FieldError, FieldPath};
use crate::release::{Release, V1_34};
use crate::value::{Value, json, quote};

/// A struct that is validated: `spec` or one in it.
#[derive(Clone, Copy)]
pub struct Spec<'a> {
    /// Its value.
    pub value: &'a Value,
    /// Its path.
    pub path: &'a FieldPath<'a>,
    /// The release.
    pub release: Release,
}

const NOTHING: &Value = &Value::Null;

/// `spec` of an object.
pub fn spec(object: &Value) -> &Value {
    object.get("spec").unwrap_or(NOTHING)
}

/// A field that is there and not null.
pub fn present<'v>(value: &'v Value, key: &str) -> Option<&'v Value> {
    value.get(key).filter(|v| !v.is_null())
}

/// A text, empty if it is absent.
pub fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// A list, empty if it is absent.
pub fn list<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    value.get(key).and_then(Value::as_array).unwrap_or_default()
}

/// A list of texts; null is an empty one.
pub fn texts<'v>(value: &'v Value, key: &str) -> Vec<&'v str> {
    list(value, key).iter().map(|item| item.as_str().unwrap_or_default()).collect()
}

/// Whether there are two of something and one of them is `*`.
pub fn mixes_wildcard(items: &[&str]) -> bool {
    items.len() > 1 && items.contains(&"*")
}

/// A text of a Go type of its own. Since 1.34 it prints as JSON.
pub fn typed(text: &str, release: Release) -> BadValue {
    if release.since(V1_34) { BadValue::Raw(json::to_string(&text.into())) } else { BadValue::from(text) }
}

/// A list of such texts. Before 1.34 it prints in Go syntax.
pub fn typed_list(items: &[&str], go_type: &str, release: Release) -> BadValue {
    if release.since(V1_34) {
        return BadValue::strings(items.iter().copied(), release);
    }
    let items: Vec<String> = items.iter().map(|item| quote::go_quote(item)).collect();
    BadValue::Raw(format!("[]admissionregistration.{go_type}{{{}}}", items.join(", ")))
}

impl Spec<'_> {
    /// A text of a fixed set that must be there.
    pub fn one_of(&self, key: &str, supported: &[&str], errors: &mut ErrorList) {
        let path = self.path.child(key);
        match present(self.value, key).and_then(Value::as_str) {
            None => errors.push(FieldError::required(&path, "")),
            Some(word) if supported.contains(&word) => {}
            Some(word) => errors.push(FieldError::not_supported(&path, typed(word, self.release), supported)),
        }
    }
}
