//! JSON patches created by expressions (`mutating/patch/json_patch.go`).

use super::native::{self, NativeError};
use super::{MutationFailure, apply::check_names};
use crate::apply::json_patch::{MemberError, Patch, PatchOperation};
use crate::policies::denial::Refused;
use crdx_cel::value::{Message, Value as CelValue, message::OBJECT};
use crdx_value::steps::Steps;
use crdx_value::{Value, json as json_text, quote};

/// Applies the operations. The object is unchanged if a test operation fails.
///
/// # Errors
/// Returns the server's message for an invalid operation, or for a result that is not an object.
pub fn apply(value: &CelValue<'_>, object: &Value, steps: &Steps) -> Result<Value, MutationFailure> {
    let CelValue::List(list) = value else {
        return Err("type mismatch: JSONPatchType.expression should evaluate to array".to_owned().into());
    };
    let mut operations = Vec::new();
    for item in list.iter() {
        let item = item.map_err(|error| error.to_string())?;
        let CelValue::Message(message) = &item else {
            let reason = "type mismatch: JSONPatchType.expression should evaluate to array of JSONPatch";
            return Err(reason.to_owned().into());
        };
        operations.push(operation(message, steps)?);
    }
    let mut document = object.clone();
    // The limit on the copies of a patch is a variable of the library, which the server sets for all patches.
    let mut patch = Patch::of_policy();
    for operation in &operations {
        match patch.apply(operation, &mut document) {
            Ok(()) => {}
            Err(error) if error.is_failed_test() => return Ok(object.clone()),
            Err(error) if error.is_unfinished() => return Err(MutationFailure::OfServer(Refused::Unfinished)),
            Err(error) => return Err(format!("JSON Patch: {error}").into()),
        }
    }
    let kind = document.str_at(&["kind"]).unwrap_or_default();
    if kind.is_empty() {
        let text = json_text::to_string(&document);
        return Err(MutationFailure::OfServer(Refused::Internal(format!("Object 'Kind' is missing in '{text}'"))));
    }
    Ok(document)
}

fn operation(message: &Message<'_>, steps: &Steps) -> Result<PatchOperation, NativeError> {
    let text = |name: &str| match message.fields.get(name) {
        Some(CelValue::String(text)) => text.to_string(),
        _ => String::new(),
    };
    let from = text("from");
    let value = match message.fields.get("value") {
        None => None,
        Some(value) => {
            if matches!(value, CelValue::Message(message) if message.is_object()) {
                let mut errors = Vec::new();
                check_names(value, &mut vec![own_name(value)], &mut errors, steps)?;
                if !errors.is_empty() {
                    return Err(format!("type mismatch: {}", errors.join("\n")).into());
                }
            }
            let value = native::json(value, steps).map_err(|error| {
                error.within(|error| {
                    format!("JSONPath valueExpression evaluated to a type that could not marshal to JSON: {error}")
                })
            })?;
            Some(value)
        }
    };
    let from = if from.is_empty() { Err(MemberError::NoFrom) } else { through_go(from) };
    let op = through_go(text("op")).unwrap_or_else(|_| "unknown".to_owned());
    Ok(PatchOperation { op, path: through_go(text("path")), from, value })
}

/// Returns the text after Go quoting and JSON decoding: some of Go's escapes are invalid in JSON.
fn through_go(text: String) -> Result<String, MemberError> {
    let quoted = quote::go_quote(&text);
    let mut chars = quoted.chars();
    while let Some(c) = chars.next() {
        if c == '\\'
            && let Some(escape) = chars.next()
            && !matches!(escape, '"' | '\\' | 'b' | 'f' | 'n' | 'r' | 't' | 'u')
        {
            return Err(MemberError::Escape(escape));
        }
    }
    Ok(text)
}

/// Returns the type name that matches the value, because a patch may set any part of the object.
fn own_name(value: &CelValue<'_>) -> String {
    match value {
        CelValue::Message(message) => message.type_name.to_string(),
        _ => OBJECT.to_owned(),
    }
}
