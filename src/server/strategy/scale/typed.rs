//! Decodes a Scale, which is a typed object: wrong types and other kinds are rejected.
//!
//! For any mistake in the body of a PUT, the server reports only that it does not know the type.

use crate::apply::raw::{self, Raw};
use crate::release::Release;
use crate::server::http::body;
use crate::server::http::context::Context;
use crate::server::http::negotiate::Input;
use crate::server::http::options::WriteOptions;
use crate::server::http::status::Refusal;
use crate::server::registry::metadata::MEMBERS;
use crate::server::registry::patch;
use crate::server::registry::patched_object::PatchedObject;
use crate::text::strict::StrictError;
use crate::value::json::go_kind;
use crate::value::{Value, quote};

/// Decodes the Scale of a PUT.
pub(super) fn request_scale(ctx: &mut Context<'_>, input: Input, options: &WriteOptions) -> Result<Value, Refusal> {
    let read = body::object(&ctx.request.body, input, options.field_validation);
    let read = read.map_err(body::unreadable::Unreadable::into_text).and_then(|mut document| {
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
    let check = |patched: PatchedObject<'_>| check(patched.object, patched.source, ctx.release());
    let read = body::interpret(&patched.object).and_then(|()| check(patched)).and_then(|read| {
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
/// a merge patch as they were written.
fn check(mut scale: Value, source: Option<&Raw>, release: Release) -> Result<Read, String> {
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
        ));
    }
    let mut unknown = Vec::new();
    fields(&scale, "", &["kind", "apiVersion", "metadata", "spec", "status"], &mut unknown);
    for (part, type_) in [("metadata", "v1.ObjectMeta"), ("spec", "v1.ScaleSpec"), ("status", "v1.ScaleStatus")] {
        if let Some(value) = scale.get(part)
            && !matches!(value, Value::Object(_) | Value::Null)
        {
            return Err(format!(
                "json: cannot unmarshal {} into Go struct field Scale.{part} of type {type_}",
                go_kind(value)
            ));
        }
    }
    if let Some(spec) = scale.get("spec") {
        int32(spec, source, "ScaleSpec", "spec")?;
        fields(spec, "spec.", &["replicas"], &mut unknown);
    }
    if let Some(status) = scale.get("status") {
        int32(status, source, "ScaleStatus", "status")?;
        text(status, "ScaleStatus", "status", "selector")?;
        fields(status, "status.", &["replicas", "selector"], &mut unknown);
    }
    if let Some(metadata) = scale.get("metadata") {
        for key in TEXTS {
            text(metadata, "ObjectMeta", "metadata", key)?;
        }
        for key in ["labels", "annotations"] {
            let values = metadata.get(key).and_then(Value::as_object).into_iter().flat_map(|m| m.values());
            if let Some(value) = values.into_iter().find(|v| !matches!(v, Value::String(_) | Value::Null)) {
                return Err(format!(
                    "json: cannot unmarshal {} into Go struct field ObjectMeta.metadata.{key} of type string",
                    go_kind(value)
                ));
            }
        }
        fields(metadata, "metadata.", &MEMBERS, &mut unknown);
    }
    if let Some(spec) = scale.get_mut("spec").and_then(Value::as_object_mut) {
        spec.retain(|key, value| key == "replicas" && !value.is_null());
    }
    unknown.sort_by_cached_key(ToString::to_string);
    Ok(Read { scale, unknown })
}

const TEXTS: [&str; 6] = ["name", "generateName", "namespace", "selfLink", "uid", "resourceVersion"];
fn fields(value: &Value, prefix: &str, known: &[&str], unknown: &mut Vec<StrictError>) {
    let keys = value.as_object().into_iter().flat_map(|m| m.keys());
    unknown.extend(
        keys.filter(|k| !known.contains(&k.as_str())).map(|k| StrictError::UnknownField(format!("{prefix}{k}"))),
    );
}

/// Checks the number of replicas in a part of a Scale.
fn int32(value: &Value, source: Option<&Raw>, type_: &str, part: &str) -> Result<(), String> {
    let key = "replicas";
    let shown = match value.get(key) {
        None | Some(Value::Null) => return Ok(()),
        Some(Value::Int(i)) if i32::try_from(*i).is_ok() => return Ok(()),
        Some(number @ (Value::Int(_) | Value::Float(_))) => {
            let source = source.and_then(|source| source.get(part)?.get(key));
            format!("number {}", raw::text(number, source))
        }
        Some(other) => go_kind(other).to_owned(),
    };
    Err(format!("json: cannot unmarshal {shown} into Go struct field {type_}.{part}.{key} of type int32"))
}

fn text(value: &Value, type_: &str, part: &str, key: &str) -> Result<(), String> {
    match value.get(key) {
        None | Some(Value::Null | Value::String(_)) => Ok(()),
        Some(other) => Err(format!(
            "json: cannot unmarshal {} into Go struct field {type_}.{part}.{key} of type string",
            go_kind(other)
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<StrictError>, String> {
        check(crate::text::json::read(text.as_bytes()).unwrap(), None, Release::NEWEST).map(|r| r.unknown)
    }

    #[test]
    fn types_are_checked_and_unknown_fields_named() {
        assert_eq!(
            read(r#"{"spec":{"replicas":2,"x":1},"y":2}"#),
            Ok(["spec.x", "y"].map(|path| StrictError::UnknownField(path.to_owned())).to_vec())
        );
        assert_eq!(
            read(r#"{"spec":{"replicas":"x"}}"#).unwrap_err(),
            "json: cannot unmarshal string into Go struct field ScaleSpec.spec.replicas of type int32"
        );
        assert_eq!(
            read(r#"{"apiVersion":"v1"}"#).unwrap_err(),
            "no kind \"Scale\" is registered for version \"v1\" in scheme \"pkg/runtime/scheme.go:111\""
        );
    }
}
