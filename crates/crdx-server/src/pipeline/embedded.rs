//! Validates apiVersion, kind and metadata of embedded resources
//! (`apiextensions-apiserver/pkg/apiserver/schema/objectmeta/validation.go`).

use super::compiled::SchemaNode;
use super::metadata::{self, Metadata, MetadataValidation, NameRule};
use super::{decode, object_meta};
use crdx_value::field::names;
use crdx_value::field::{BadValue, ErrorList, FieldError, FieldPath};
use crdx_value::release::{Release, V1_34};
use crdx_value::{Map, Value};

/// Validates the embedded resources in `v`, and `v` itself if it is the root of a resource.
pub fn validate(v: &Value, node: &SchemaNode, is_root: bool, path: &FieldPath<'_>, release: Release) -> ErrorList {
    let mut errors = ErrorList::new();
    visit(v, node, is_root, (path, release), &mut errors);
    errors
}

fn visit(
    v: &Value,
    node: &SchemaNode,
    is_root: bool,
    (path, release): (&FieldPath<'_>, Release),
    errors: &mut ErrorList,
) {
    if !node.has.embedded && !is_root {
        return;
    }
    match v {
        Value::Object(members) => {
            if node.embedded || is_root {
                resource(members, path, release, errors);
            }
            let mut properties = node.properties_in_order();
            for (key, v) in members {
                if let Some(property) = properties.find(key) {
                    visit(v, property, false, (&path.child(key), release), errors);
                } else if let Some(additional) = node.additional_schema() {
                    visit(v, additional, false, (&path.key(key), release), errors);
                }
            }
        }
        Value::Array(items) => {
            if let Some(node) = &node.items {
                for (i, item) in items.iter().enumerate() {
                    visit(item, node, false, (&path.index(i), release), errors);
                }
            }
        }
        _ => {}
    }
}

fn resource(members: &Map, path: &FieldPath<'_>, release: Release, errors: &mut ErrorList) {
    for key in ["apiVersion", "kind"] {
        let field_path = path.child(key);
        let text = match members.get(key) {
            None => {
                let detail = if release.since(V1_34) { "" } else { "must not be empty" };
                errors.push(FieldError::required(&field_path, detail));
                continue;
            }
            Some(Value::String(s)) => s,
            Some(v) => {
                errors.push(FieldError::invalid(&field_path, BadValue::new(v, release), "must be a string"));
                continue;
            }
        };
        if text.is_empty() {
            errors.push(FieldError::invalid(&field_path, "", "must not be empty"));
        } else if key == "kind" {
            let messages = names::dns1035_label(text.to_lowercase().as_bytes());
            if !messages.is_empty() {
                let detail = format!("may have mixed case, but should otherwise match: {}", messages.join(","));
                errors.push(FieldError::invalid(&field_path, text.as_str(), detail));
            }
        } else if let Err(detail) = decode::parse_group_version(text) {
            errors.push(FieldError::invalid(&field_path, text.as_str(), detail));
        }
    }
    let Some(v) = members.get("metadata") else { return };
    let field_path = path.child("metadata");
    match object_meta::normalize(v.clone()) {
        Err(error) => errors.push(FieldError::invalid(&field_path, BadValue::new(v, release), error.message)),
        Ok(normal) => {
            let m = Metadata::new(&normal.metadata);
            // The name is optional, so a missing name is replaced by a valid one.
            let name = Some(m.text("name")).filter(|n| !n.is_empty()).unwrap_or("fakename");
            let namespaced = !m.text("namespace").is_empty();
            let found = metadata::validate_named(
                m,
                name,
                namespaced,
                NameRule::PathSegment,
                &field_path,
                release,
                MetadataValidation::declared(release),
            );
            errors.extend(metadata::without_duplicates(found, release));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipeline::testing::{json, node, texts};
    use crdx_value::field::ROOT;

    #[test]
    fn embedded_resources_need_a_type() {
        let n = node(r#"{"properties":{"l":{"items":{"x-kubernetes-embedded-resource":true}}}}"#);
        let errors = |v: &str| texts(&validate(&json(&format!(r#"{{"l":[{v}]}}"#)), &n, false, &ROOT, Release::NEWEST));
        assert_eq!(errors(r#"{"apiVersion":"v1","kind":"K","metadata":{"namespace":"a"}}"#), [""; 0]);
        assert_eq!(errors("{}"), ["l[0].apiVersion: Required value", "l[0].kind: Required value"]);
        assert_eq!(
            errors(r#"{"apiVersion":"a/b/c","kind":""}"#),
            [
                r#"l[0].apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c"#,
                r#"l[0].kind: Invalid value: "": must not be empty"#,
            ]
        );
        assert_eq!(
            errors(r#"{"apiVersion":"v1","kind":"K","metadata":{"name":".."}}"#),
            [r#"l[0].metadata.name: Invalid value: "..": may not be '..'"#]
        );
    }
}
