//! Strategic merge patches (`strategicPatchObject` and `applyPatchToObject` in `endpoints/handlers/patch.go`).

use crate::server::http::context::Context;
use crate::server::http::options::WriteOptions;
use crate::server::http::status::{Reason, Refusal};
use crate::server::registry::patch::refuse;
use crate::server::strategy::built_in_kind::BuiltInKind;
use crdx_text::strict::StrictError;
use crdx_types::strategic::{PatchError, unconsumed};
use crdx_value::json::go_kind;
use crdx_value::{Map, Value, print};

/// Applies a patch to the current object of a kind that is served with its Go type; `strict` are the duplicate fields of
/// the patch.
pub(in crate::server) fn typed(
    ctx: &mut Context<'_>,
    kind: &BuiltInKind,
    current: Value,
    patch: &Value,
    strict: Vec<StrictError>,
    options: &WriteOptions,
) -> Result<Value, Refusal> {
    checked(ctx, kind, current, patch, strict, options).map(|merged| kind.complete_request(&merged))
}

/// Like [`typed`], but does not encode the result.
pub(in crate::server) fn checked(
    ctx: &mut Context<'_>,
    kind: &BuiltInKind,
    current: Value,
    patch: &Value,
    mut strict: Vec<StrictError>,
    options: &WriteOptions,
) -> Result<Value, Refusal> {
    let before = current.clone();
    let merged = merged(current, patch, |current, patch| kind.patch(current, patch))?;
    let echo = || echo(&before, patch);
    let unknown = kind.check(&merged).map_err(|error| refuse(&echo(), error))?;
    if options.field_validation.is_enabled() {
        strict.extend(unknown.into_iter().map(StrictError::DroppedField));
    }
    ctx.strict_errors(strict, options).map_err(|error| refuse(&echo(), error.to_string()))?;
    Ok(merged)
}

/// The text of a patch in errors about its result.
pub(in crate::server) fn echo(current: &Value, patch: &Value) -> String {
    match (current, patch) {
        (Value::Object(current), Value::Object(patch)) => {
            print::format_v(&Value::Object(unconsumed(current, patch.clone())))
        }
        _ => print::format_v(patch),
    }
}

/// Applies a patch with `merge`, without checking the types of the result.
pub(in crate::server) fn merged(
    current: Value,
    patch: &Value,
    merge: impl FnOnce(Map, Map) -> Result<Map, PatchError>,
) -> Result<Value, Refusal> {
    let members = match patch {
        Value::Object(members) => members.clone(),
        Value::Null => Map::new(),
        other => {
            let found = go_kind(other);
            let text = format!("json: cannot unmarshal {found} into Go value of type map[string]interface {{}}");
            return Err(Refusal::bad_request(text));
        }
    };
    let Value::Object(current) = current else { return Err(Refusal::internal("the stored object is no object")) };
    let merged = merge(current, members).map_err(|patch_error| match patch_error {
        PatchError::Format(text) => Refusal::bad_request(text),
        PatchError::Unprocessable(text) => Refusal::unrouted(422, Reason::Invalid, text),
        PatchError::Other(text) => Refusal::unclassified(text),
    })?;
    Ok(Value::Object(merged))
}
