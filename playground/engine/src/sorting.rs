//! Which pane the documents of dropped files belong to.

use crdx_text::documents::Chunks;
use crdx_value::{Value, group_version, object};

/// The text of each pane. The first object is that of the request; others are only counted.
pub fn answer(texts: &[String]) -> Value {
    let (mut definitions, mut policies, mut objects) = (Vec::new(), Vec::new(), Vec::new());
    for text in texts {
        for chunk in Chunks::new(text.as_bytes()).map_while(Result::ok) {
            let content = crdx_text::lossy(&chunk.text);
            // A document that cannot be read is an object: its pane shows the reason.
            let value = chunk.read().map(|contents| contents.value);
            if matches!(value, Ok(Value::Null)) {
                continue;
            }
            let value = value.unwrap_or_default();
            let text = |key: &str| value.str_at(&[key]).unwrap_or_default();
            let pane = match (group_version::group(text("apiVersion")), text("kind")) {
                ("apiextensions.k8s.io", _) => &mut definitions,
                ("admissionregistration.k8s.io", _) | ("", "Namespace" | "ConfigMap") => &mut policies,
                _ => &mut objects,
            };
            pane.push(content.trim_matches('\n').to_owned() + "\n");
        }
    }
    let left_out = objects.len().saturating_sub(1) as i64;
    object([
        ("crd", definitions.join("---\n").into()),
        ("policies", policies.join("---\n").into()),
        ("object", objects.into_iter().next().unwrap_or_default().into()),
        ("leftOut", Value::Int(left_out)),
    ])
}
