//! Decodes the object of a request into its Go type (`create.go`, `update.go`, `transformDecodeError`).

use crate::server::http::body;
use crate::server::http::context::Context;
use crate::server::http::negotiate::Input;
use crate::server::http::options::WriteOptions;
use crate::server::http::protobuf::{self, DefaultType};
use crate::server::http::request::Body;
use crate::server::http::status::Refusal;
use crate::server::registry::patch;
use crate::server::registry::patched_object::PatchedObject;
use crate::server::strategy::built_in_kind::BuiltInKind;
use crdx_text as text;
use crdx_text::strict::StrictError;
use crdx_types::encode::Encoded;
use crdx_types::{Endpoint, Strict, decode};
use crdx_value::GoError;
use crdx_value::{Map, Value, json};
use std::borrow::Cow;

/// Decodes and defaults the body of a write.
pub(in crate::server) fn request_object(
    ctx: &mut Context<'_>,
    kind: &BuiltInKind,
    input: Input,
    options: &WriteOptions,
) -> Result<Value, Refusal> {
    let encoded = decoded_object(ctx, kind, input, options)?;
    Ok(kind.default_request(encoded.object, encoded.empties.as_ref()))
}

/// Decodes the body of a write, and encodes it as its Go type does.
pub(in crate::server) fn decoded_object(
    ctx: &mut Context<'_>,
    kind: &BuiltInKind,
    input: Input,
    options: &WriteOptions,
) -> Result<Encoded, Refusal> {
    let request = ctx.request;
    let (text, mut strict): (Cow<'_, [u8]>, Vec<StrictError>) = match (ctx.object.take(), &request.body, input) {
        (Some(object), ..) if request.is_encoded => {
            return Ok(Encoded { object, empties: request.empties.clone(), conforms: true });
        }
        (Some(value), ..) => {
            // Almost all objects need no text.
            let encoded = kind.encoded(&value);
            if encoded.conforms {
                return Ok(encoded);
            }
            (json::to_string(&value).into_bytes().into(), Vec::new())
        }
        (None, Body::Bytes(bytes), Input::Yaml) => {
            let read = text::yaml::read_strict(bytes).map_err(|error| unrecognized(kind, bytes, &error.message))?;
            let strict = read.error().into_iter().collect();
            (json::to_string(&read.value).into_bytes().into(), strict)
        }
        (None, Body::Bytes(bytes), Input::Protobuf) => {
            let read = protobuf_object(kind, bytes).map_err(|error| unrecognized(kind, bytes, error.as_str()))?;
            (json::to_string(&read).into_bytes().into(), Vec::new())
        }
        _ => (body::bytes(&request.body)?, Vec::new()),
    };
    let refuse = |refusal: decode::BadRequest| Refusal::bad_request(refusal.message);
    let value = text::json::read(&text);
    let decode = if value.is_ok() { decode::decode_valid } else { decode::decode };
    let decoded = decode(kind.types, &kind.endpoint, &text).map_err(|mut refusal| {
        ctx.trace.undecodable_field = refusal.path.take().map(Into::into);
        refuse(refusal)
    })?;
    strict.extend(decoded.strict.iter().map(Strict::error));
    ctx.trace.pruned = decoded.strict.iter().filter(|error| !error.duplicate).map(|error| error.path.clone()).collect();
    ctx.strict_errors(strict, options).map_err(|error| refuse(decoded.refusal(error.to_string())))?;
    let accepts = kind.accepted.contains(&decoded.api_version.as_str());
    if let Some(refusal) = decoded.leniently().filter(|_| !accepts) {
        return Err(refuse(refusal));
    }
    let value = value.map_err(|error| unrecognized(kind, &text, &error.message))?;
    Ok(kind.encoded(&value))
}

/// Decodes a Protobuf body. Of another kind only the type is returned, which the error response needs.
fn protobuf_object(kind: &BuiltInKind, bytes: &[u8]) -> Result<Value, GoError> {
    let own = kind.api_version();
    let envelope = protobuf::open(bytes, DefaultType { api_version: &own, kind: &kind.endpoint.kind })?;
    let accepts = envelope.api_version == own || kind.accepted.contains(&envelope.api_version.as_str());
    let is_own = accepts && envelope.kind == kind.endpoint.kind;
    let mut object = if is_own {
        kind.read_protobuf(envelope.raw).map_err(|error| GoError::from(error.to_string()))?
    } else {
        Value::Object(Map::new())
    };
    if let Some(members) = object.as_object_mut() {
        members.extend(envelope.types());
    }
    Ok(object)
}

/// The refusal of an object that cannot be converted (`transformDecodeError`).
pub(super) fn not_handled(kind: &BuiltInKind, error: &str) -> Refusal {
    let Endpoint { version, kind, .. } = &kind.endpoint;
    Refusal::bad_request(format!("{kind} in version {version:?} cannot be handled as a {kind}: {error}"))
}

fn unrecognized(kind: &BuiltInKind, text: &[u8], error: &str) -> Refusal {
    let (kind, summary) = (&kind.endpoint.kind, body::summary(text));
    Refusal::bad_request(format!("the object provided is unrecognized (must be of type {kind}): {error} ({summary})"))
}

/// Decodes the patched object as the request decoder does. Errors name the field `patch` and quote the object.
pub(in crate::server) fn patched_object(
    ctx: &mut Context<'_>,
    kind: &BuiltInKind,
    patched: PatchedObject<'_>,
    strict: Vec<StrictError>,
    options: &WriteOptions,
) -> Result<Value, Refusal> {
    decoded_patch(ctx, kind, patched, strict, options).map(|object| kind.complete_request(&object))
}

/// Decodes the patched object, without encoding it as its Go type does.
pub(super) fn decoded_patch(
    ctx: &mut Context<'_>,
    kind: &BuiltInKind,
    patched: PatchedObject<'_>,
    mut strict: Vec<StrictError>,
    options: &WriteOptions,
) -> Result<Value, Refusal> {
    let echo = patched.text();
    body::interpret(&patched.object, None, ctx.release()).map_err(|error| patch::refuse(&echo, error))?;
    if patched.object.str_at(&["apiVersion"]).is_none_or(str::is_empty) {
        // Without an apiVersion, the server decodes into its internal type, which has no field with these names.
        let keys = patched.object.as_object().into_iter().flat_map(Map::keys);
        let unknown = keys.filter(|key| !matches!(key.as_str(), "apiVersion" | "kind"));
        if options.field_validation.is_enabled() {
            strict.extend(unknown.map(|key| StrictError::DroppedField(key.clone())));
        }
        ctx.strict_errors(strict, options).map_err(|error| patch::refuse(&echo, error.to_string()))?;
        return Ok(Value::Object(Map::new()));
    }
    let decoded = decode::decode(kind.types, &kind.endpoint, echo.as_bytes());
    let decoded = decoded.map_err(|refusal| patch::refuse(&echo, refusal.error))?;
    if options.field_validation.is_enabled() {
        // Duplicate keys in the values of a JSON patch have been found before.
        let found: Vec<_> = decoded.strict.iter().map(Strict::error).filter(|error| !strict.contains(error)).collect();
        strict.extend(found);
    }
    ctx.strict_errors(strict, options).map_err(|error| patch::refuse(&echo, error.to_string()))?;
    match kind.strategy.conversion_error(&patched.object) {
        Some(error) => Err(patch::refuse(&echo, error)),
        None => Ok(patched.object),
    }
}
