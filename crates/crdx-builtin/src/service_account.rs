//! The service account of a Pod: the plugin `ServiceAccount` looks for it (`plugin/pkg/admission/serviceaccount` in
//! `k8s.io/kubernetes`).

use crdx_value::Value;

/// The service account that a controller creates in every namespace.
pub const DEFAULT: &str = "default";

/// The name of the service account of a Pod.
pub fn name(pod: &Value) -> &str {
    let own = |field: &str| pod.str_at(&["spec", field]).filter(|name| !name.is_empty());
    own("serviceAccountName").or_else(|| own("serviceAccount")).unwrap_or(DEFAULT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::json::read;

    #[test]
    fn a_pod_names_its_service_account() {
        let name_of = |spec: &str| name(&read(format!(r#"{{"spec":{spec}}}"#).as_bytes()).unwrap()).to_owned();
        assert_eq!(name_of("{}"), "default");
        assert_eq!(name_of(r#"{"serviceAccountName":"a","serviceAccount":"b"}"#), "a");
        assert_eq!(name_of(r#"{"serviceAccount":"b"}"#), "b");
    }
}
