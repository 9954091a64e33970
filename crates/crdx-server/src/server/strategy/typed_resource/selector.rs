//! Field selectors of built-in kinds.

use crate::server::http::selector::FieldSelector;
use crate::server::http::status::Refusal;
use crate::server::strategy::built_in_kind::BuiltInKind;
use crdx_value::release::Release;
use crdx_value::{Value, json, quote};
use std::borrow::Cow;

/// Rejects selectors on fields that the kind does not have (`ConvertFieldLabel`).
pub(super) fn check(kind: &BuiltInKind, fields: &FieldSelector, release: Release) -> Result<(), Refusal> {
    let behaviour = kind.behaviour;
    let known = behaviour.fields.filter(|_| release.since(behaviour.fields_since));
    for field in fields.fields().filter(|field| *field != "metadata.name") {
        let error = match known {
            None if field == "metadata.namespace" => continue,
            None => {
                let quoted = quote::go_quote(field);
                format!("{quoted} is not a known field selector: only \"metadata.name\", \"metadata.namespace\"")
            }
            Some(labels) if labels.iter().any(|label| label.label == field) => continue,
            Some(_) => format!("field label not supported: {field}"),
        };
        return Err(Refusal::bad_request(error));
    }
    Ok(())
}

/// The text of a field that selectors compare.
pub(super) fn value<'v>(kind: &BuiltInKind, object: &'v Value, label: &str) -> Cow<'v, str> {
    let at = |path: &[&str]| object.at(path).and_then(text).filter(|text| !text.is_empty());
    match label {
        "metadata.name" => at(&["metadata", "name"]).unwrap_or_default(),
        "metadata.namespace" => at(&["metadata", "namespace"]).unwrap_or_default(),
        _ => {
            let Some(field) = kind.behaviour.fields.into_iter().flatten().find(|field| field.label == label) else {
                return "".into();
            };
            field.paths.iter().find_map(|path| at(path)).unwrap_or_else(|| field.absent.to_owned().into())
        }
    }
}

fn text(value: &Value) -> Option<Cow<'_, str>> {
    match value {
        Value::String(text) => Some(text.as_str().into()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
        other => Some(json::to_string(other).into()),
    }
}
