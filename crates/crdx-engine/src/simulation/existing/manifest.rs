//! Old objects that are manifests, such as those of an earlier commit. The command of the new manifest applied them, so it removes
//! the fields that only they have, as `kubectl apply`, Flux and Argo CD do.

use crdx_server::apply::field_manager::LAST_APPLIED;
use crdx_value::Value;

/// The metadata that only a server writes. Manifests of generators have a null as `creationTimestamp`.
const WRITTEN: [&str; 6] =
    ["uid", "resourceVersion", "creationTimestamp", "generation", "deletionTimestamp", "managedFields"];

/// Returns true if no server wrote an object: it has neither metadata of a server, nor kubectl's annotation, nor a status.
pub fn is_manifest(object: &Value) -> bool {
    let has_status = object.get("status").and_then(Value::as_object).is_some_and(|status| !status.is_empty());
    !has_status && is_manifest_of_crd(object)
}

/// Like [`is_manifest`], but ignores the status, which generators write into CRDs.
pub fn is_manifest_of_crd(crd: &Value) -> bool {
    let has = |path: &[&str]| crd.at(path).is_some_and(|value| !value.is_null());
    let is_written = || WRITTEN.iter().any(|field| has(&["metadata", field]));
    !is_written() && !has(&["metadata", "annotations", LAST_APPLIED])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::json;

    fn is_manifest_of(members: &str) -> bool {
        is_manifest(&json::read(format!("{{{members}}}").as_bytes()).unwrap())
    }

    #[test]
    fn an_object_without_what_a_server_writes_is_a_manifest() {
        assert!(is_manifest_of(
            r#""metadata":{"name":"a","creationTimestamp":null,"annotations":{"a":"b"}},"status":{}"#
        ));
        assert!(is_manifest_of(r#""kind":"A""#));
    }

    #[test]
    fn an_object_that_was_read_from_a_cluster_is_no_manifest() {
        for members in [
            r#""metadata":{"uid":"u"}"#,
            r#""metadata":{"creationTimestamp":"2026-01-02T03:04:05Z"}"#,
            r#""metadata":{"managedFields":[]}"#,
            r#""metadata":{"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{}"}}"#,
            r#""status":{"replicas":1}"#,
        ] {
            assert!(!is_manifest_of(members), "{members}");
        }
    }
}
