//! Label selectors of objects as text.

use crdx_value::Value;
use crdx_value::sort::sort_by;

/// The label selector in the specification of an object, as text (`metav1.LabelSelectorAsSelector`).
pub fn of_object(object: &Value) -> Option<String> {
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
    sort_by(&mut terms, |a, b| a.0.cmp(&b.0));
    Some(terms.into_iter().map(|(_, term)| term).collect::<Vec<_>>().join(","))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::json::read;

    #[test]
    fn selectors_are_written_as_text() {
        let of = |text: &str| of_object(&read(text.as_bytes()).unwrap());
        let expressions = r#"[{"key":"c","operator":"In","values":["y","x"]},{"key":"a","operator":"DoesNotExist"}]"#;
        assert_eq!(
            of(&format!(r#"{{"spec":{{"selector":{{"matchLabels":{{"b":"1"}},"matchExpressions":{expressions}}}}}}}"#)),
            Some("!a,b=1,c in (x,y)".to_owned())
        );
        assert_eq!(of(r#"{"spec":{"selector":{"a":"1"}}}"#), Some("a=1".to_owned()));
        assert_eq!(of(r#"{"spec":{}}"#), None);
    }
}
