//! The service account of a new Pod: the admission plugin `ServiceAccount` looks for it (`plugin/pkg/admission/serviceaccount`
//! in `k8s.io/kubernetes`).

use crate::cluster::{Cluster, Resource, items};
use crdx_builtin::mirror_pod;
use crdx_value::{Value, quote};

const ACCOUNTS: &str = "serviceaccounts";
/// The service account that a controller creates in every namespace.
pub const DEFAULT: &str = "default";

/// The name of the service account of a Pod.
pub fn name(pod: &Value) -> &str {
    let own = |field: &str| pod.str_at(&["spec", field]).filter(|name| !name.is_empty());
    own("serviceAccountName").or_else(|| own("serviceAccount")).unwrap_or(DEFAULT)
}

/// Returns the reason to refuse a new Pod whose service account does not exist, and a mirror Pod that names one.
pub fn refusal(cluster: &dyn Cluster, pod: &Value, namespace: &str) -> Option<String> {
    let mirror_refusal = mirror_pod::refusal(pod).map(str::to_owned);
    if mirror_refusal.is_none() && mirror_pod::is_mirror(pod) {
        return None;
    }
    let list = cluster.list_if_readable(&Resource::of_core(ACCOUNTS).path(Some(namespace)), ACCOUNTS)?;
    let exists = |name: &str| items(&list).iter().any(|account| account.str_at(&["metadata", "name"]) == Some(name));
    // Clusters without the controller of service accounts, such as those of envtest, do not enable the plugin.
    if !exists(DEFAULT) {
        return None;
    }
    if mirror_refusal.is_some() || exists(name(pod)) {
        return mirror_refusal;
    }
    let account = name(pod);
    Some(format!(
        "error looking up service account {namespace}/{account}: serviceaccount {} not found",
        quote::go_quote(account)
    ))
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
