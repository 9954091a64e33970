//! Decodes objects (`unstructuredSchemaCoercer.apply` in
//! `apiextensions-apiserver/pkg/apiserver/customresource_handler.go`).

use super::unknown::Unknown;
use super::{DecodeError, Decoded, ObjectOrigin, ResourceVersion, coerce, nulls, object_meta, prune};
use crdx_value::field::ROOT;
pub use crdx_value::group_version::parse as parse_group_version;
use crdx_value::{Map, Value, print};

/// Decodes an object. The schema applies if the object's group, kind and version are those of `rv`. An object of
/// another version of the same group and kind is pruned completely, as the server does for an unknown version; callers
/// pass the `rv` of the object's own version if there is one. For objects of other kinds, only the metadata is decoded.
///
/// # Errors
/// Returns Go's message if the object cannot be decoded.
pub fn decode(rv: &ResourceVersion, mut object: Value, source: ObjectOrigin) -> Result<Decoded, DecodeError> {
    let Value::Object(members) = &mut object else {
        let message = format!("expected an object, got {}", print::type_name(&object));
        return Err(DecodeError { message, field: None });
    };
    let kind = text_member(members, "kind")?.unwrap_or_default().to_owned();
    let api_version = text_member(members, "apiVersion")?.unwrap_or_default().to_owned();
    let wanted = matches!(source, ObjectOrigin::Request | ObjectOrigin::ReportedConversion);
    let mut dropped = Vec::new();
    let mut metadata = match members.remove("metadata") {
        None => None,
        Some(v) if source == ObjectOrigin::Storage => Some(object_meta::normalize_dropping(v)?),
        Some(v) => {
            let normal = object_meta::normalize(v)?;
            dropped.extend(normal.unknown.into_iter().map(|field| format!("metadata.{field}")));
            Some(normal.metadata)
        }
    };
    let (group, version) = parse_group_version(&api_version)
        .map_err(|message| DecodeError { message: message.into(), field: Some("apiVersion".to_owned()) })?;
    if group == rv.facts.group && kind == rv.facts.kind {
        let node = if version == rv.facts.version { rv.root() } else { None };
        if !rv.facts.preserve_unknown_fields {
            let mut unknown = Unknown::new(wanted);
            prune::prune(&mut object, node, true, &mut unknown);
            dropped.extend(unknown.sorted());
            if let Some(node) = node {
                nulls::drop_nulls(&mut object, node);
            }
        }
        if let Some(node) = node {
            let mut unknown = Unknown::new(wanted);
            coerce::coerce(&mut object, node, false, source == ObjectOrigin::Storage, &ROOT, &mut unknown, rv.release)
                .map_err(|e| DecodeError { message: e.to_string(), field: Some(e.field) })?;
            dropped.extend(unknown.sorted());
        }
        if source == ObjectOrigin::Storage
            && let Some(metadata) = &mut metadata
        {
            // Objects stored by very old versions have no generation.
            metadata.entry("generation".to_owned()).or_insert(Value::Int(1));
        }
    }
    if let (Value::Object(members), Some(metadata)) = (&mut object, metadata) {
        members.insert("metadata".to_owned(), Value::Object(metadata));
    }
    if !wanted {
        dropped.clear();
    }
    Ok(Decoded { object, unknown: dropped })
}

/// `unstructured.NestedString` for a single key.
fn text_member<'a>(members: &'a Map, key: &str) -> Result<Option<&'a str>, DecodeError> {
    match members.get(key) {
        None => Ok(None),
        Some(Value::String(s)) => Ok(Some(s)),
        Some(v) => {
            let (shown, found) = (print::format_v(v), print::type_name(v));
            let message = format!(".{key} accessor error: {shown} is of the type {found}, expected string");
            Err(DecodeError { message, field: Some(key.to_owned()) })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipeline::testing::{json, version};

    #[test]
    fn unknown_fields_come_metadata_first() {
        let rv =
            version(r#"{"type":"object","properties":{"a":{"type":"object","x-kubernetes-embedded-resource":true}}}"#);
        let object = r#"{"apiVersion":"example.com/v1","kind":"Foo","metadata":{"zz":1},"z":1,
            "spec":{"b":1,"a":{"metadata":{"y":1}}}}"#;
        let d = decode(&rv, json(object), ObjectOrigin::Request).unwrap();
        assert_eq!(d.unknown, ["metadata.zz", "spec.b", "z", "spec.a.metadata.y"]);
        assert_eq!(
            d.object,
            json(r#"{"apiVersion":"example.com/v1","kind":"Foo","metadata":{},"spec":{"a":{"metadata":{}}}}"#)
        );
        let stored = decode(&rv, json(object), ObjectOrigin::Storage).unwrap();
        assert_eq!(stored.unknown, [""; 0]);
        assert_eq!(stored.object.at(&["metadata", "generation"]), Some(&Value::Int(1)));
    }

    #[test]
    fn other_kinds_are_unchanged_and_other_versions_are_pruned_completely() {
        let rv = version(r#"{"type":"object"}"#);
        let decoded = |text| decode(&rv, json(text), ObjectOrigin::Request).map(|d| d.object).map_err(|e| e.message);
        let other = r#"{"apiVersion":"example.com/v1","kind":"Bar","spec":{"b":1}}"#;
        assert_eq!(decoded(other), Ok(json(other)));
        assert_eq!(
            decoded(r#"{"apiVersion":"example.com/v2","kind":"Foo","spec":{"b":1}}"#),
            Ok(json(r#"{"apiVersion":"example.com/v2","kind":"Foo"}"#))
        );
        assert_eq!(
            decoded(r#"{"apiVersion":["a",1.5],"kind":"Foo"}"#),
            Err(".apiVersion accessor error: [a 1.5] is of the type []interface {}, expected string".to_owned())
        );
        assert_eq!(decoded(r#"{"apiVersion":"a/b/c"}"#), Err("unexpected GroupVersion string: a/b/c".to_owned()));
    }
}
