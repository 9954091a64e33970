//! From what was read to what is worked with (`unstructuredSchemaCoercer.apply` in
//! `apiextensions-apiserver/pkg/apiserver/customresource_handler.go`).

use super::unknown::Unknown;
use super::{DecodeError, Decoded, ResourceVersion, Source, coerce, nulls, object_meta, prune};
use crate::field::ROOT;
use crate::value::{Map, Value, print};

/// Reads an object. The schema applies when the object's group, kind and version are those of `rv`. Of another version of
/// the same group and kind everything is pruned, as the server does with a version it does not know: callers bring the
/// `rv` of the object's own version if there is one. Objects of other kinds only have their metadata read.
pub fn decode(rv: &ResourceVersion, mut object: Value, source: Source) -> Result<Decoded, DecodeError> {
    let Value::Object(members) = &mut object else {
        return Err(DecodeError(format!("expected an object, got {}", print::type_name(&object))));
    };
    let kind = text_member(members, "kind")?.unwrap_or_default().to_owned();
    let api_version = text_member(members, "apiVersion")?.unwrap_or_default().to_owned();
    let mut told = Vec::new();
    let mut metadata = match members.remove("metadata") {
        None => None,
        Some(v) if source == Source::Storage => Some(object_meta::normalize_dropping(v).map_err(DecodeError)?),
        Some(v) => {
            let normal = object_meta::normalize(v).map_err(DecodeError)?;
            told.extend(normal.unknown.into_iter().map(|field| format!("metadata.{field}")));
            Some(normal.metadata)
        }
    };
    let (group, version) = parse_group_version(&api_version).map_err(DecodeError)?;
    if group == rv.facts.group && kind == rv.facts.kind {
        let node = rv.root.as_ref().filter(|_| version == rv.facts.version);
        let wanted = source == Source::Request;
        if !rv.facts.preserve_unknown_fields {
            let mut unknown = Unknown::new(wanted);
            prune::prune(&mut object, node, true, &mut unknown);
            told.extend(unknown.sorted());
            if let Some(node) = node {
                nulls::drop_nulls(&mut object, node);
            }
        }
        if let Some(node) = node {
            let mut unknown = Unknown::new(wanted);
            coerce::coerce(&mut object, node, false, source == Source::Storage, &ROOT, &mut unknown)
                .map_err(|e| DecodeError(e.to_string()))?;
            told.extend(unknown.sorted());
        }
        if source == Source::Storage
            && let Some(metadata) = &mut metadata
        {
            // Very old objects have none.
            metadata.entry("generation".to_owned()).or_insert(Value::Int(1));
        }
    }
    if let (Value::Object(members), Some(metadata)) = (&mut object, metadata) {
        members.insert("metadata".to_owned(), Value::Object(metadata));
    }
    if source != Source::Request {
        told.clear();
    }
    Ok(Decoded { object, unknown: told })
}

/// `unstructured.NestedString` of one key.
fn text_member<'a>(members: &'a Map, key: &str) -> Result<Option<&'a str>, DecodeError> {
    match members.get(key) {
        None => Ok(None),
        Some(Value::String(s)) => Ok(Some(s)),
        Some(v) => Err(DecodeError(format!(
            ".{key} accessor error: {} is of the type {}, expected string",
            print::format_v(v),
            print::type_name(v)
        ))),
    }
}

/// `schema.ParseGroupVersion`: group and version, both empty for the empty text.
pub fn parse_group_version(text: &str) -> Result<(&str, &str), String> {
    if text == "/" {
        return Ok(("", ""));
    }
    match text.split_once('/') {
        None => Ok(("", text)),
        Some((_, version)) if version.contains('/') => Err(format!("unexpected GroupVersion string: {text}")),
        Some(parts) => Ok(parts),
    }
}
