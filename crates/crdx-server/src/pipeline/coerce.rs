//! Coerces the metadata of embedded resources by decoding it into its Go type, like that of the object itself
//! (`apiextensions-apiserver/pkg/apiserver/schema/objectmeta/algorithm.go`).
//!
//! Values inside embedded metadata are not visited: their schema cannot require further coercion.

use super::compiled::SchemaNode;
use super::object_meta;
use super::unknown::Unknown;
use crdx_value::field::{BadValue, FieldError, FieldPath};
use crdx_value::release::Release;
use crdx_value::{Map, Value};

/// Coerces the metadata of embedded resources in `v`, and of `v` itself if it is the root of a resource.
///
/// If `drop_malformed`, malformed fields are dropped instead of reported.
pub(crate) fn coerce(
    v: &mut Value,
    node: &SchemaNode,
    is_root: bool,
    drop_malformed: bool,
    path: &FieldPath<'_>,
    unknown: &mut Unknown,
    release: Release,
) -> Result<(), FieldError> {
    if !node.has.embedded && !is_root {
        return Ok(());
    }
    match v {
        Value::Object(members) => {
            let is_resource = node.embedded || is_root;
            if is_resource {
                coerce_resource(members, drop_malformed, path, unknown, release)?;
            }
            let mut properties = node.properties_in_order();
            for (key, v) in members.iter_mut() {
                if is_resource && key == "metadata" {
                    continue;
                }
                if let Some(property) = properties.find(key) {
                    coerce(v, property, false, drop_malformed, &path.child(key), unknown, release)?;
                } else if let Some(additional) = node.additional_schema() {
                    coerce(v, additional, false, drop_malformed, &path.key(key), unknown, release)?;
                }
            }
        }
        Value::Array(items) => {
            if let Some(node) = &node.items {
                for (i, item) in items.iter_mut().enumerate() {
                    coerce(item, node, false, drop_malformed, &path.index(i), unknown, release)?;
                }
            }
        }
        _ => {}
    }
    Ok(())
}

fn coerce_resource(
    members: &mut Map,
    drop_malformed: bool,
    path: &FieldPath<'_>,
    unknown: &mut Unknown,
    release: Release,
) -> Result<(), FieldError> {
    for key in ["apiVersion", "kind"] {
        let Some(v) = members.get(key) else { continue };
        if v.as_str().is_none() {
            if !drop_malformed {
                return Err(FieldError::invalid(&path.child(key), BadValue::new(v, release), "must be a string"));
            }
            members.remove(key);
        }
    }
    let Some(metadata) = members.get_mut("metadata") else { return Ok(()) };
    if drop_malformed {
        // Metadata that is not an object is kept unchanged.
        if matches!(metadata, Value::Object(_) | Value::Null)
            && let Ok(normalized) = object_meta::normalize_dropping(std::mem::take(metadata))
        {
            *metadata = Value::Object(normalized);
        }
        return Ok(());
    }
    let field_path = path.child("metadata");
    let normal = object_meta::normalize(metadata.clone())
        .map_err(|error| FieldError::invalid(&field_path, BadValue::new(metadata, release), error.message))?;
    if unknown.wanted() {
        normal.unknown.iter().for_each(|field| unknown.record_path(format!("{field_path}.{field}")));
    }
    *metadata = Value::Object(normal.metadata);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipeline::testing::{json, node};
    use crdx_value::GoError;
    use crdx_value::field::ROOT;

    const SCHEMA: &str = r#"{"properties":{"m":{"additionalProperties":{"x-kubernetes-embedded-resource":true}}}}"#;

    fn coerced(v: &str, drop_malformed: bool) -> (Result<Value, GoError>, Vec<String>) {
        let mut v = json(v);
        let mut unknown = Unknown::new(true);
        let done = coerce(&mut v, &node(SCHEMA), false, drop_malformed, &ROOT, &mut unknown, Release::NEWEST);
        (done.map(|()| v).map_err(|e| e.to_string().into()), unknown.sorted())
    }

    #[test]
    fn embedded_metadata_loses_unknown_and_empty_fields() {
        let (v, unknown) = coerced(r#"{"m":{"k":{"metadata":{"name":"a","zz":1,"creationTimestamp":null}}}}"#, false);
        assert_eq!(v, Ok(json(r#"{"m":{"k":{"metadata":{"name":"a"}}}}"#)));
        assert_eq!(unknown, ["m[k].metadata.zz"]);
    }

    #[test]
    fn wrong_types_are_errors_in_requests_and_dropped_from_storage() {
        let kind = r#"{"m":{"k":{"kind":1}}}"#;
        assert_eq!(coerced(kind, false).0, Err("m[k].kind: Invalid value: 1: must be a string".into()));
        assert_eq!(coerced(kind, true).0, Ok(json(r#"{"m":{"k":{}}}"#)));
        let metadata = r#"{"m":{"k":{"metadata":{"name":1,"uid":"u"}}}}"#;
        assert_eq!(
            coerced(metadata, false).0,
            Err(r#"m[k].metadata: Invalid value: {"name":1,"uid":"u"}: json: cannot unmarshal number into Go struct field ObjectMeta.name of type string"#.into())
        );
        assert_eq!(coerced(metadata, true).0, Ok(json(r#"{"m":{"k":{"metadata":{"uid":"u"}}}}"#)));
    }
}
