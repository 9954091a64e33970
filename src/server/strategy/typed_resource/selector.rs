//! Field selectors, and the label selector of a Scale.

use crate::release::Release;
use crate::server::http::selector::FieldSelector;
use crate::server::http::status::Refusal;
use crate::server::strategy::built_in_kind::BuiltInKind;
use crate::value::{Value, json, quote};
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

/// The selector of an object with replicas, as text (`metav1.LabelSelectorAsSelector`).
pub(super) fn of_scale(object: &Value) -> Option<String> {
    let selector = object.at(&["spec", "selector"])?;
    let is_typed = selector.get("matchLabels").is_some() || selector.get("matchExpressions").is_some();
    let labels = if is_typed { selector.get("matchLabels") } else { Some(selector) };
    let mut terms: Vec<(String, String)> = Vec::new();
    for (key, value) in labels.and_then(Value::as_object).into_iter().flatten() {
        terms.push((key.clone(), format!("{key}={}", value.as_str().unwrap_or_default())));
    }
    let expressions = selector.get("matchExpressions").and_then(Value::as_array).unwrap_or_default();
    for expression in expressions {
        let key = expression.str_at(&["key"]).unwrap_or_default();
        let values = expression.get("values").and_then(Value::as_array).unwrap_or_default();
        let mut values: Vec<&str> = values.iter().filter_map(Value::as_str).collect();
        values.sort_unstable();
        let values = values.join(",");
        let term = match expression.str_at(&["operator"]) {
            Some("In") => format!("{key} in ({values})"),
            Some("NotIn") => format!("{key} notin ({values})"),
            Some("Exists") => key.to_owned(),
            Some("DoesNotExist") => format!("!{key}"),
            _ => continue,
        };
        terms.push((key.to_owned(), term));
    }
    terms.sort_by(|a, b| a.0.cmp(&b.0));
    Some(terms.into_iter().map(|(_, term)| term).collect::<Vec<_>>().join(","))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::json::read;

    #[test]
    fn selectors_are_written_as_text() {
        let of = |text: &str| of_scale(&read(text.as_bytes()).unwrap());
        let expressions = r#"[{"key":"c","operator":"In","values":["y","x"]},{"key":"a","operator":"DoesNotExist"}]"#;
        assert_eq!(
            of(&format!(r#"{{"spec":{{"selector":{{"matchLabels":{{"b":"1"}},"matchExpressions":{expressions}}}}}}}"#)),
            Some("!a,b=1,c in (x,y)".to_owned())
        );
        assert_eq!(of(r#"{"spec":{"selector":{"a":"1"}}}"#), Some("a=1".to_owned()));
        assert_eq!(of(r#"{"spec":{}}"#), None);
    }
}
