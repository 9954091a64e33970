//! Decodes the object of a request: parsing, pruning, defaulting and strict errors (`create.go`, `update.go`,
//! `transformDecodeError`).

use crate::pipeline::Defaulted;
use crate::pipeline::{self, ObjectOrigin};
use crate::server::http::body;
use crate::server::http::body::unreadable::Unreadable;
use crate::server::http::context::Context;
use crate::server::http::negotiate::Input;
use crate::server::http::options::{FieldValidation, WriteOptions};
use crate::server::http::protobuf::DefaultType;
use crate::server::http::status::Refusal;
use crate::server::registry::patch;
use crate::server::registry::patched_object::PatchedObject;
use crate::server::strategy::serving::{Serving, Version};
use crdx_text::strict::{StrictDecodingError, StrictError};
use crdx_value::steps::Spent;
use crdx_value::{Value, quote};

/// The message for a decoded object without apiVersion.
const NO_API_VERSION: &str = "Object 'apiVersion' is missing in 'object has no apiVersion field'";

/// The reason why a body cannot be decoded.
enum DecodeFailure {
    /// Parsing failed: the decoder's error message, and the kind and version if they were already known.
    Unreadable(String, Option<(String, String)>),
    /// Strict validation failed: the errors, and the kind and version of the object; an empty apiVersion has none.
    Strict(StrictDecodingError, (String, Option<String>)),
    /// The defaults need too much memory.
    Unfinished(Spent),
}

impl From<Spent> for DecodeFailure {
    fn from(spent: Spent) -> Self {
        Self::Unfinished(spent)
    }
}

/// Decodes and defaults the body of a write. Its apiVersion may still differ from that of the URL.
pub(super) fn request_object(
    ctx: &mut Context<'_>,
    serving: &Serving,
    version: &Version,
    input: Input,
    options: &WriteOptions,
) -> Result<Value, Refusal> {
    let request = ctx.request;
    let api_version = serving.api_version(version);
    let default = DefaultType { api_version: &api_version, kind: &serving.kind };
    let read = ctx.body_object(input, options.field_validation, default);
    let decoded = match read {
        Ok(document) => {
            let missing = || body::missing_kind(&request.body, input, options.field_validation);
            decode(ctx, serving, version, document.value, document.strict, &missing, options)
        }
        Err(Unreadable::Late(text)) => {
            let (kind, version_name) = body::declared_type(&request.body);
            let kind = if kind.is_empty() { serving.kind.clone() } else { kind };
            let version_name = if version_name.is_empty() { version.name.clone() } else { version_name };
            Err(DecodeFailure::Unreadable(text, Some((kind, version_name))))
        }
        Err(Unreadable::Early(text)) => Err(DecodeFailure::Unreadable(text, None)),
    };
    decoded.map_err(|error| match error {
        DecodeFailure::Unreadable(text, Some((kind, v))) => Refusal::bad_request(format!(
            "{kind} in version {} cannot be handled as a {}: {text}",
            quote::go_quote(&v),
            serving.kind
        )),
        // The decoded object has the kind of the body.
        DecodeFailure::Strict(text, (kind, Some(v))) => Refusal::bad_request(format!(
            "{kind} in version {} cannot be handled as a {kind}: {text}",
            quote::go_quote(&v)
        )),
        DecodeFailure::Unfinished(spent) => spent.into(),
        DecodeFailure::Strict(_, (_, None)) => {
            ctx.trace.failed_strict_decoding = false;
            Refusal::bad_request(NO_API_VERSION)
        }
        DecodeFailure::Unreadable(text, None) => {
            let summary = body::bytes(&request.body).map(|b| body::summary(&b)).unwrap_or_default();
            Refusal::bad_request(format!(
                "the object provided is unrecognized (must be of type {}): {text} ({summary})",
                serving.kind
            ))
        }
    })
}

/// Prunes and defaults a value as the request decoder does; `strict` are the duplicate fields found in the source text.
fn decode(
    ctx: &mut Context<'_>,
    serving: &Serving,
    version: &Version,
    value: Value,
    mut strict: Vec<StrictError>,
    missing_kind: &dyn Fn() -> String,
    options: &WriteOptions,
) -> Result<Value, DecodeFailure> {
    let value = body::or_empty(value);
    let kind = value.str_at(&["kind"]).unwrap_or_default().to_owned();
    let api_version = value.str_at(&["apiVersion"]).unwrap_or_default().to_owned();
    let version_name = body::parse_group_version(&api_version).map(|(_, v)| v.to_owned()).unwrap_or_default();
    if kind.is_empty() {
        // The lenient decoder reports a missing kind after defaulting, the strict decoder before.
        let known = (options.field_validation == FieldValidation::Ignore).then(|| {
            let v = if version_name.is_empty() { version.name.clone() } else { version_name };
            (serving.kind.clone(), v)
        });
        return Err(DecodeFailure::Unreadable(missing_kind(), known));
    }
    let stages = serving.stages_for(&api_version, version);
    let decoded = pipeline::decode(stages, value, ObjectOrigin::Request).map_err(|error| {
        ctx.trace.undecodable_field = error.field.map(Into::into);
        DecodeFailure::Unreadable(error.message, Some((kind.clone(), version_name.clone())))
    })?;
    let mut object = decoded.object;
    let defaulted = pipeline::default(stages, &mut object)?;
    ctx.trace.defaulted = defaulted.into_iter().map(|d| Defaulted { path: d.path, value: d.value }).collect();
    if options.field_validation.is_enabled() {
        strict.extend(decoded.unknown.iter().map(|path| StrictError::DroppedField(path.clone())));
    }
    ctx.trace.pruned = decoded.unknown;
    match ctx.strict_errors(strict, options) {
        Ok(()) => Ok(object),
        Err(error) => {
            let version_name = (!api_version.is_empty()).then_some(version_name);
            Err(DecodeFailure::Strict(error, (kind, version_name)))
        }
    }
}

/// Checks that the apiVersion of the body equals that of the URL.
pub(super) fn check_group_version(object: &Value, serving: &Serving, version: &Version) -> Result<(), Refusal> {
    let have = object.str_at(&["apiVersion"]).unwrap_or_default();
    let have = if have == "/" { "" } else { have };
    let wanted = serving.api_version(version);
    if have == wanted {
        return Ok(());
    }
    Err(Refusal::bad_request(format!(
        "the API version in the data ({have}) does not match the expected API version ({wanted})"
    )))
}

/// Decodes the patched object as the request decoder does. Errors name the field `patch` and quote the object.
pub(super) fn patched_object(
    ctx: &mut Context<'_>,
    serving: &Serving,
    version: &Version,
    patched: PatchedObject<'_>,
    strict: Vec<StrictError>,
    options: &WriteOptions,
) -> Result<Value, Refusal> {
    let (object, text) = patched.into_parts();
    let missing = || format!("Object 'Kind' is missing in '{}'", text());
    let typed =
        body::interpret(&object, None, ctx.release()).map_err(|error| DecodeFailure::Unreadable(error.into(), None));
    let result = typed.and_then(|_| decode(ctx, serving, version, object, strict, &missing, options));
    result.map_err(|failure| match failure {
        DecodeFailure::Unreadable(error, _) => patch::refuse(&text(), error),
        DecodeFailure::Strict(error, _) => patch::refuse(&text(), error.to_string()),
        DecodeFailure::Unfinished(spent) => spent.into(),
    })
}

/// Rejects an object whose apiVersion a patch removed (`runtime.ObjectTyper.ObjectKinds`).
pub(super) fn check_type(object: &Value) -> Result<(), Refusal> {
    match object.str_at(&["apiVersion"]) {
        Some(version) if !version.is_empty() && !version.ends_with('/') => Ok(()),
        _ => Err(Refusal::internal(NO_API_VERSION)),
    }
}
