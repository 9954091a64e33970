//! Access of administrators to devices, which a claim may only request in a namespace with a label
//! (`pkg/registry/resource/utils.go` in `k8s.io/kubernetes`).

use crdx_value::Value;
use crdx_value::field::{FieldError, FieldPath};

const LABEL: &str = "resource.kubernetes.io/admin-access";

/// Returns the index of the first request of a claim or template for the access of an administrator
/// (`AuthorizedForAdmin`).
fn request(kind: &str, object: &Value) -> Option<usize> {
    let path: &[&str] = match kind {
        "ResourceClaim" => &["spec", "devices", "requests"],
        "ResourceClaimTemplate" => &["spec", "spec", "devices", "requests"],
        _ => return None,
    };
    position(object, path, &["exactly", "adminAccess"])
}

/// Returns true if a namespace has the label.
fn is_allowed(namespace: &Value) -> bool {
    namespace.str_at(&["metadata", "labels", LABEL]) == Some("true")
}

/// The error of a new claim or template that requests the access in a namespace without the label. Its path is that of a
/// claim for templates, too.
pub fn refusal(kind: &str, object: &Value, namespace: Option<&Value>) -> Option<FieldError> {
    let at = request(kind, object)?;
    let requests = FieldPath::new("spec");
    let requests = requests.child("devices");
    error(&requests.child("requests").index(at), namespace)
}

/// The error of the status of a claim with a device that is allocated with the access in a namespace without the label,
/// unless the old status has one, too (`AuthorizedForAdminStatus`).
pub fn status_refusal(new: &Value, old: &Value, namespace: Option<&Value>) -> Option<FieldError> {
    let result = |claim| position(claim, &["status", "allocation", "devices", "results"], &["adminAccess"]);
    if result(old).is_some() {
        return None;
    }
    let at = result(new)?;
    let status = FieldPath::new("status");
    let allocation = status.child("allocation");
    error(&allocation.child("devices").child("results").index(at), namespace)
}

fn error(item: &FieldPath<'_>, namespace: Option<&Value>) -> Option<FieldError> {
    if namespace.is_some_and(is_allowed) {
        return None;
    }
    let detail = format!("admin access to devices requires the `{LABEL}: true` label on the containing namespace");
    Some(FieldError::forbidden(&item.child("adminAccess"), detail))
}

fn position(object: &Value, list: &[&str], field: &[&str]) -> Option<usize> {
    let items = object.at(list).and_then(Value::as_array)?;
    items.iter().position(|item| item.at(field) == Some(&Value::Bool(true)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::json;

    fn read(text: &str) -> Value {
        json::read(text.as_bytes()).unwrap()
    }

    const CLAIM: &str = r#"{"spec":{"devices":{"requests":[{"exactly":{}},{"exactly":{"adminAccess":true}}]}}}"#;

    fn namespace(value: &str) -> Value {
        read(&format!(r#"{{"metadata":{{"labels":{{"resource.kubernetes.io/admin-access":"{value}"}}}}}}"#))
    }

    #[test]
    fn a_claim_needs_the_label_of_its_namespace() {
        let refused = |namespace: &Value| refusal("ResourceClaim", &read(CLAIM), Some(namespace));
        let error = refused(&namespace("True")).unwrap().to_string();
        assert!(error.starts_with("spec.devices.requests[1].adminAccess: Forbidden: admin access"), "{error}");
        assert!(refused(&namespace("true")).is_none());
    }

    #[test]
    fn a_template_has_the_path_of_a_claim() {
        let template = read(&format!(r#"{{"spec":{CLAIM}}}"#));
        let error = refusal("ResourceClaimTemplate", &template, None).unwrap().to_string();
        assert!(error.starts_with("spec.devices.requests[1].adminAccess: "), "{error}");
    }

    #[test]
    fn a_claim_without_the_access_needs_no_label() {
        assert_eq!(request("ResourceClaim", &read(r#"{"spec":{"devices":{"requests":[{"exactly":{}}]}}}"#)), None);
    }

    #[test]
    fn a_status_keeps_the_access_that_it_had() {
        let claim = read(r#"{"status":{"allocation":{"devices":{"results":[{"adminAccess":true}]}}}}"#);
        let error = status_refusal(&claim, &read("{}"), None).unwrap().to_string();
        assert!(error.starts_with("status.allocation.devices.results[0].adminAccess: Forbidden"), "{error}");
        assert!(status_refusal(&claim, &claim, None).is_none());
    }
}
