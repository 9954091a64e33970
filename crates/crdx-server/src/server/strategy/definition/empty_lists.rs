//! The empty lists in the schemas of an applied CRD. Its encoded form omits them, but validation tells an empty list from an
//! absent one: `enum: []` at the root of a schema is refused if the CRD has a status subresource.

use crdx_value::Value;

/// Adds the empty lists of `merged` to the schemas of `definition`, which is the same CRD in its encoded form.
pub(super) fn restore(definition: &mut Value, merged: &Value) {
    let of_merged = merged.at(&["spec", "versions"]).and_then(Value::as_array).unwrap_or_default();
    let versions = definition.get_mut("spec").and_then(|spec| spec.get_mut("versions"));
    let Some(Value::Array(versions)) = versions else { return };
    for (version, of_merged) in versions.iter_mut().zip(of_merged) {
        if let (Some(schema), Some(of_merged)) = (version.get_mut("schema"), of_merged.get("schema")) {
            restore_below(schema, of_merged);
        }
    }
}

fn restore_below(encoded: &mut Value, merged: &Value) {
    match (encoded, merged) {
        (Value::Object(encoded), Value::Object(merged)) => {
            for (key, of_merged) in merged {
                match (encoded.get_mut(key), of_merged) {
                    (Some(member), _) => restore_below(member, of_merged),
                    (None, Value::Array(items)) if items.is_empty() => {
                        encoded.insert(key.clone(), of_merged.clone());
                    }
                    (None, _) => {}
                }
            }
        }
        (Value::Array(encoded), Value::Array(merged)) => {
            encoded.iter_mut().zip(merged).for_each(|(encoded, merged)| restore_below(encoded, merged));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use crate::server::{Method, Request, Server};
    use crdx_value::release::Release;

    /// Answers of a real server.
    #[test]
    fn an_applied_schema_has_the_empty_lists_of_the_request() {
        let apply = |name: &str, schema: &str| {
            let server = Server::new(Release::NEWEST, 1);
            let body = format!(
                r#"{{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{{"name":"{name}s.x.example.com"}},
                "spec":{{"group":"x.example.com","scope":"Namespaced","names":{{"plural":"{name}s","kind":"A"}},"versions":[{{"name":"v1",
                "served":true,"storage":true,"subresources":{{"status":{{}}}},"schema":{{"openAPIV3Schema":{schema}}}}}]}}}}"#
            );
            let path =
                format!("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{name}s.x.example.com?fieldManager=m");
            let mut request = Request::new(Method::Patch, &path, body.as_str());
            request.content_type = Some("application/apply-patch+yaml".to_owned());
            let response = server.handle(&request);
            (response.code, response.body.message().to_owned())
        };
        let (code, message) = apply("a", r#"{"type":"object","enum":[]}"#);
        assert!(code == 422 && message.contains(r#""Enum":[],"#), "{message}");
        assert!(message.contains("fields are allowed at the root of the schema if the status subresource is enabled"));
        let below = r#"{"type":"object","properties":{"a":{"type":"string","enum":[]}}}"#;
        assert_eq!(apply("b", below), (201, String::new()));
    }
}
