//! Decodes a Scale, which is a typed object: wrong types and other kinds are rejected.
//!
//! For any mistake in the body of a PUT, the server reports only that it does not know the type.

use crate::apply::raw::{self, Raw};
use crate::pipeline::object_meta;
use crate::server::http::body;
use crate::server::http::context::Context;
use crate::server::http::negotiate::Input;
use crate::server::http::options::WriteOptions;
use crate::server::http::protobuf::DefaultType;
use crate::server::http::status::Refusal;
use crate::server::registry::patch;
use crate::server::registry::patched_object::PatchedObject;
use crdx_text::strict::StrictError;
use crdx_value::GoError;
use crdx_value::json::go_kind;
use crdx_value::release::Release;
use crdx_value::{Value, quote};

const TYPE: DefaultType<'_> = DefaultType { api_version: "autoscaling/v1", kind: "Scale" };

/// Decodes the Scale of a PUT.
pub(super) fn request_scale(ctx: &mut Context<'_>, input: Input, options: &WriteOptions) -> Result<Value, Refusal> {
    let read = body::object(&ctx.request.body, input, options.field_validation, TYPE, ctx.release());
    let read = read.map_err(body::unreadable::Unreadable::into_text).and_then(|document| {
        let mut document = document.with_declared_type();
        let read = check(body::or_empty(document.value), None, ctx.release())?;
        document.strict.extend(read.unknown);
        ctx.strict_errors(document.strict, options).map_err(|error| error.to_string())?;
        Ok(read.scale)
    });
    let scheme = ctx.release().scheme();
    read.map_err(|_| Refusal::bad_request(format!("no kind is registered for the type v1.Scale in scheme {scheme}")))
}

/// Decodes the Scale that results from a patch.
pub(super) fn patched_scale(
    ctx: &mut Context<'_>,
    patched: PatchedObject<'_>,
    mut strict: Vec<StrictError>,
    options: &WriteOptions,
) -> Result<Value, Refusal> {
    let echo = patched.text();
    let source = Raw::read(&echo);
    let check = |object: Value| check(object, source.as_ref(), ctx.release());
    let read =
        body::interpret(&patched.object, None, ctx.release()).and_then(|_| check(patched.object)).and_then(|read| {
            if options.field_validation.is_enabled() {
                strict.extend(read.unknown);
            }
            ctx.strict_errors(strict, options).map_err(|error| error.to_string())?;
            Ok(read.scale)
        });
    read.map_err(|text| patch::refuse(&echo, text))
}

struct Read {
    scale: Value,
    unknown: Vec<StrictError>,
}

/// Checks the type, which must be autoscaling/v1 Scale or missing, and the types of the fields. `source` has the numbers of
/// a patch as they were written.
fn check(mut scale: Value, source: Option<&Raw>, release: Release) -> Result<Read, GoError> {
    let kind = scale.str_at(&["kind"]).unwrap_or_default();
    let api_version = scale.str_at(&["apiVersion"]).unwrap_or_default();
    let kind = if kind.is_empty() { "Scale" } else { kind };
    let api_version = if api_version.is_empty() { "autoscaling/v1" } else { api_version };
    if (kind, api_version) != ("Scale", "autoscaling/v1") {
        return Err(format!(
            "no kind {} is registered for version {} in scheme {}",
            quote::go_quote(kind),
            quote::go_quote(api_version),
            release.scheme()
        )
        .into());
    }
    let mut unknown = Vec::new();
    fields(&scale, "", &["kind", "apiVersion", "metadata", "spec", "status"], &mut unknown);
    // In the order of the text, in which the server decodes them.
    if let Some(metadata) = part(&scale, "metadata", "v1.ObjectMeta")? {
        integer(metadata, source, "ObjectMeta", "metadata", &GENERATION)?;
        integer(metadata, source, "ObjectMeta", "metadata", &GRACE_PERIOD)?;
        let read = object_meta::normalize(metadata.clone()).map_err(|error| in_metadata(&error.message))?;
        unknown.extend(read.unknown.into_iter().map(|path| StrictError::UnknownField(format!("metadata.{path}"))));
    }
    if let Some(spec) = part(&scale, "spec", "v1.ScaleSpec")? {
        integer(spec, source, "ScaleSpec", "spec", &REPLICAS)?;
        fields(spec, "spec.", &["replicas"], &mut unknown);
    }
    if let Some(status) = part(&scale, "status", "v1.ScaleStatus")? {
        integer(status, source, "ScaleStatus", "status", &REPLICAS)?;
        text(status, "ScaleStatus", "status", "selector")?;
        fields(status, "status.", &["replicas", "selector"], &mut unknown);
    }
    if let Some(spec) = scale.get_mut("spec").and_then(Value::as_object_mut) {
        spec.retain(|key, value| key == "replicas" && !value.is_null());
    }
    unknown.sort_by_cached_key(ToString::to_string);
    Ok(Read { scale, unknown })
}

/// A part of a Scale, which must be an object.
fn part<'v>(scale: &'v Value, key: &str, type_: &str) -> Result<Option<&'v Value>, GoError> {
    match scale.get(key) {
        Some(value) if !matches!(value, Value::Object(_) | Value::Null) => {
            Err(format!("json: cannot unmarshal {} into Go struct field Scale.{key} of type {type_}", go_kind(value))
                .into())
        }
        found => Ok(found),
    }
}

/// The message for a field of the metadata of a Scale, whose path includes the field `metadata`.
fn in_metadata(message: &str) -> String {
    let field = "into Go struct field ";
    match message.split_once(field).and_then(|(before, path)| Some((before, path.split_once('.')?))) {
        Some((before, (structure, path))) => format!("{before}{field}{structure}.metadata.{path}"),
        None => message.to_owned(),
    }
}

fn fields(value: &Value, prefix: &str, known: &[&str], unknown: &mut Vec<StrictError>) {
    let keys = value.as_object().into_iter().flat_map(crdx_value::Map::keys);
    unknown.extend(
        keys.filter(|k| !known.contains(&k.as_str())).map(|k| StrictError::UnknownField(format!("{prefix}{k}"))),
    );
}

/// An integer field and its type in Go.
struct Integer {
    key: &'static str,
    type_: &'static str,
    is_in_range: fn(i64) -> bool,
}

const REPLICAS: Integer = Integer { key: "replicas", type_: "int32", is_in_range: |i| i32::try_from(i).is_ok() };
const GENERATION: Integer = Integer { key: "generation", type_: "int64", is_in_range: |_| true };
const GRACE_PERIOD: Integer = Integer { key: "deletionGracePeriodSeconds", type_: "int64", is_in_range: |_| true };

/// Checks an integer in a part of a Scale.
fn integer(value: &Value, source: Option<&Raw>, of: &str, part: &str, field: &Integer) -> Result<(), GoError> {
    let Integer { key, type_, is_in_range } = field;
    let shown = match value.get(key) {
        None | Some(Value::Null) => return Ok(()),
        Some(Value::Int(i)) if is_in_range(*i) => return Ok(()),
        Some(number @ (Value::Int(_) | Value::Float(_))) => {
            let source = source.and_then(|source| source.get(part)?.get(key));
            format!("number {}", raw::text(number, source))
        }
        Some(other) => go_kind(other).to_owned(),
    };
    Err(format!("json: cannot unmarshal {shown} into Go struct field {of}.{part}.{key} of type {type_}").into())
}

fn text(value: &Value, type_: &str, part: &str, key: &str) -> Result<(), GoError> {
    match value.get(key) {
        None | Some(Value::Null | Value::String(_)) => Ok(()),
        Some(other) => Err(format!(
            "json: cannot unmarshal {} into Go struct field {type_}.{part}.{key} of type string",
            go_kind(other)
        )
        .into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<StrictError>, GoError> {
        check(crdx_text::json::read(text.as_bytes()).unwrap(), None, Release::NEWEST).map(|r| r.unknown)
    }

    #[test]
    fn types_are_checked_and_unknown_fields_named() {
        assert_eq!(
            read(r#"{"spec":{"replicas":2,"x":1},"y":2}"#),
            Ok(["spec.x", "y"].map(|path| StrictError::UnknownField(path.to_owned())).to_vec())
        );
        assert_eq!(
            read(r#"{"spec":{"replicas":"x"}}"#).unwrap_err(),
            "json: cannot unmarshal string into Go struct field ScaleSpec.spec.replicas of type int32".into()
        );
        for (metadata, error) in [
            (r#""generation":1.5"#, "number 1.5 into Go struct field ObjectMeta.metadata.generation of type int64"),
            (r#""uid":5"#, "number into Go struct field ObjectMeta.metadata.uid of type types.UID"),
            (
                r#""ownerReferences":[{"kind":5}]"#,
                "number into Go struct field OwnerReference.metadata.ownerReferences.kind of type string",
            ),
            (r#""labels":[]"#, "array into Go struct field ObjectMeta.metadata.labels of type map[string]string"),
        ] {
            let text = format!(r#"{{"metadata":{{{metadata}}}}}"#);
            assert_eq!(read(&text).unwrap_err(), format!("json: cannot unmarshal {error}").into());
        }
        assert!(read(r#"{"metadata":{"deletionTimestamp":"2020"}}"#).is_err());
        assert_eq!(
            read(r#"{"metadata":{"ownerReferences":[{"x":1}],"y":2}}"#),
            Ok(["metadata.ownerReferences[0].x", "metadata.y"]
                .map(|path| StrictError::UnknownField(path.to_owned()))
                .to_vec())
        );
        assert_eq!(
            read(r#"{"apiVersion":"v1"}"#).unwrap_err(),
            "no kind \"Scale\" is registered for version \"v1\" in scheme \"pkg/runtime/scheme.go:111\"".into()
        );
    }
}
