//! The encoding of a CRD in etcd, which is `apiextensions.k8s.io/v1beta1` in every release
//! (`pkg/apis/apiextensions/v1/conversion.go` and `v1beta1`).

use crdx_value::{Map, Value};

/// The fields of versions that move to the spec if all versions have the same, and their names there.
const HOISTED: [(&str, &str); 4] = [
    ("schema", "validation"),
    ("subresources", "subresources"),
    ("additionalPrinterColumns", "additionalPrinterColumns"),
    ("selectableFields", "selectableFields"),
];

/// Converts a CRD to the version in which it is stored. The names of printer columns' paths have another case there, and
/// keep it here: the length is the same.
pub(super) fn stored(mut definition: Value) -> Value {
    if let Some(members) = definition.as_object_mut() {
        members.insert("apiVersion".to_owned(), "apiextensions.k8s.io/v1beta1".into());
        if let Some(spec) = members.get_mut("spec").and_then(Value::as_object_mut) {
            convert(spec);
        }
    }
    definition
}

fn convert(spec: &mut Map) {
    if let Some(Value::Array(versions)) = spec.get_mut("versions") {
        let first = versions.first().and_then(|version| version.get("name")).cloned();
        let mut hoisted = Vec::new();
        for (name, hoisted_name) in HOISTED {
            let mut values = versions.iter().map(|version| version.get(name));
            let shared = values.next().flatten();
            if !values.all(|value| value == shared) {
                continue;
            }
            hoisted.extend(shared.cloned().map(|value| (hoisted_name.to_owned(), value)));
            for version in versions.iter_mut().filter_map(Value::as_object_mut) {
                version.remove(name);
            }
        }
        spec.extend(first.map(|name| ("version".to_owned(), name)));
        spec.extend(hoisted);
    }
    spec.entry("preserveUnknownFields".to_owned()).or_insert(Value::Bool(false));
    let conversion = spec.get_mut("conversion").and_then(Value::as_object_mut);
    if let Some(conversion) = conversion
        && let Some(Value::Object(mut webhook)) = conversion.remove("webhook")
    {
        let config = webhook.remove("clientConfig").map(|config| ("webhookClientConfig".to_owned(), config));
        conversion.extend(config);
        conversion.extend(webhook);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::json;
    use crdx_value::json::to_string;

    #[test]
    fn shared_fields_move_to_the_spec() {
        let crd = r#"{"apiVersion":"apiextensions.k8s.io/v1","spec":{"conversion":{"strategy":"Webhook",
            "webhook":{"clientConfig":{"url":"u"},"conversionReviewVersions":["v1"]}},"versions":[
            {"name":"v1","schema":{"a":1},"subresources":{"status":{}}},
            {"name":"v2","schema":{"a":2},"subresources":{"status":{}}}]}}"#;
        let stored = stored(json::read(crd.as_bytes()).unwrap());
        assert_eq!(
            to_string(&stored),
            r#"{"apiVersion":"apiextensions.k8s.io/v1beta1","spec":{"conversion":{"conversionReviewVersions":["v1"],"strategy":"Webhook","webhookClientConfig":{"url":"u"}},"preserveUnknownFields":false,"subresources":{"status":{}},"version":"v1","versions":[{"name":"v1","schema":{"a":1}},{"name":"v2","schema":{"a":2}}]}}"#
        );
    }
}
