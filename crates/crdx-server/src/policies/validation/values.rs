//! Reads the fields of decoded objects and formats their values for errors.

use crdx_value::field::{BadValue, ErrorList, FieldError, FieldPath};
use crdx_value::release::{Release, V1_34};
use crdx_value::{Value, json, quote};

/// A struct to validate: `spec`, or a struct in it.
#[derive(Clone, Copy)]
pub struct Spec<'a> {
    /// The value of the struct.
    pub value: &'a Value,
    /// The path of the struct.
    pub path: &'a FieldPath<'a>,
    /// The release.
    pub release: Release,
}

const NOTHING: &Value = &Value::Null;

/// Returns `spec` of an object.
pub fn spec(object: &Value) -> &Value {
    object.get("spec").unwrap_or(NOTHING)
}

/// Returns a field that exists and is not null.
pub fn present<'v>(value: &'v Value, key: &str) -> Option<&'v Value> {
    value.get(key).filter(|v| !v.is_null())
}

/// Returns a string field; empty if it is absent.
pub fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// Returns a list field; empty if it is absent.
pub fn list<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    value.get(key).and_then(Value::as_array).unwrap_or_default()
}

/// Returns a list of strings; a null list is empty.
pub fn texts<'v>(value: &'v Value, key: &str) -> Vec<&'v str> {
    list(value, key).iter().map(|item| item.as_str().unwrap_or_default()).collect()
}

/// Returns true if a list contains `*` and other items.
pub(crate) fn mixes_wildcard(items: &[&str]) -> bool {
    items.len() > 1 && items.contains(&"*")
}

/// Formats a string of a named Go type. Since 1.34, the server formats it as JSON.
pub fn typed(text: &str, release: Release) -> BadValue {
    if release.since(V1_34) { BadValue::Raw(json::to_string(&text.into())) } else { BadValue::from(text) }
}

/// Formats a list of such strings. Before 1.34, the server formats it in Go syntax.
pub(crate) fn typed_list(items: &[&str], go_type: &str, release: Release) -> BadValue {
    if release.since(V1_34) {
        return BadValue::strings(items.iter().copied(), release);
    }
    let items: Vec<String> = items.iter().map(|item| quote::go_quote(item)).collect();
    BadValue::Raw(format!("[]admissionregistration.{go_type}{{{}}}", items.join(", ")))
}

impl Spec<'_> {
    /// Validates a required string of a fixed set.
    pub fn one_of(&self, key: &str, supported: &[&str], errors: &mut ErrorList) {
        let path = self.path.child(key);
        match present(self.value, key).and_then(Value::as_str) {
            None => errors.push(FieldError::required(&path, "")),
            Some(word) if supported.contains(&word) => {}
            Some(word) => errors.push(FieldError::not_supported(&path, typed(word, self.release), supported)),
        }
    }
}
