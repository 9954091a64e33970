//! Shows strings that are not UTF-8 in errors, as Go does.

use crdx_text::malformed::MalformedStrings;
use crdx_value::field::{BadValue, ErrorList};
use crdx_value::release::{Release, V1_38};
use crdx_value::{Value, json};

/// Replaces malformed strings in the values of errors. Go 1.27, with which 1.38 is built, does not escape U+FFFD in JSON.
pub fn show(malformed: &MalformedStrings, errors: &mut ErrorList, release: Release) {
    if malformed.is_empty() {
        return;
    }
    for error in errors {
        let shown = match &error.bad_value {
            BadValue::Value(Value::String(text)) if malformed.get(text).is_some() => malformed.quote(text),
            BadValue::Value(Value::Array(_)) | BadValue::Raw(_) if release.since(V1_38) => continue,
            BadValue::Value(v @ Value::Array(_)) => malformed.escape_json(&json::to_string(v)),
            BadValue::Raw(text) => malformed.escape_json(text),
            _ => continue,
        };
        error.bad_value = BadValue::Raw(shown);
    }
}
