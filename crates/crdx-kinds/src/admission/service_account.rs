//! `ServiceAccount` (`plugin/pkg/admission/serviceaccount/admission.go` in `k8s.io/kubernetes`), as far as it refuses new Pods.

use crdx_builtin::{mirror_pod, service_account};
use crdx_server::cluster_state::{Lookup, SERVICE_ACCOUNTS};
use crdx_server::server::{AdmissionPlugin, AdmissionRequest, KindPlugin, Mutation, Refusal};
use crdx_value::Value;
use crdx_value::quote::go_quote;

/// The plugin.
pub(crate) static SERVICE_ACCOUNT: KindPlugin = KindPlugin {
    targets: &[("", "pods", "")],
    mutate: Some(mutate),
    ..KindPlugin::new(AdmissionPlugin::ServiceAccount)
};

fn mutate(request: &mut AdmissionRequest<'_>, pod: &mut Value) -> Result<Mutation, Refusal> {
    let of_mirror = mirror_pod::refusal(pod);
    if of_mirror.is_none() && mirror_pod::is_mirror(pod) {
        return Ok(Mutation::Unchanged);
    }
    let (namespace, name) = (request.namespace, service_account::name(pod));
    let account = request.object(SERVICE_ACCOUNTS, namespace, name)?;
    // Clusters without the controller of service accounts, such as those of envtest, do not enable the plugin.
    if account == Lookup::Absent
        && request.object(SERVICE_ACCOUNTS, namespace, service_account::DEFAULT)? == Lookup::Absent
    {
        return Ok(Mutation::Unchanged);
    }
    let reason = match (of_mirror, account) {
        (Some(reason), _) => reason.to_owned(),
        (None, Lookup::Absent) => {
            format!("error looking up service account {namespace}/{name}: serviceaccount {} not found", go_quote(name))
        }
        (None, Lookup::Found(_) | Lookup::Unknown) => return Ok(Mutation::Unchanged),
    };
    Err(request.forbidden_object(pod, &reason))
}

#[cfg(test)]
mod tests {
    use crate::tests::code_and_body;
    use crdx_server::cluster_state::{
        ClusterState, GroupVersionResource, Listed, Lookup, SERVICE_ACCOUNTS, Unread, Wanted,
    };
    use crdx_server::server::{AdmissionPlugins, Method, Request};
    use crdx_value::Value;
    use crdx_value::release::Release;
    use std::sync::Arc;

    /// A cluster with these service accounts in every namespace; `None` if they are not read yet.
    #[derive(Debug)]
    struct Accounts(Option<&'static [&'static str]>);

    impl ClusterState for Accounts {
        fn object(&self, of: GroupVersionResource<'_>, _: &str, name: &str) -> Result<Lookup<Arc<Value>>, Unread> {
            if of != SERVICE_ACCOUNTS {
                return Ok(Lookup::Unknown);
            }
            let exists = self.0.ok_or(Unread)?.contains(&name);
            Ok(if exists { Lookup::Found(Arc::default()) } else { Lookup::Absent })
        }

        fn list(&self, _: GroupVersionResource<'_>, _: &str) -> Result<Listed, Unread> {
            Ok(Listed::default())
        }
    }

    /// The code and the message of the answer to a new Pod with the service account `a`, and what has to be read before.
    fn answer(accounts: Option<&'static [&'static str]>) -> (u16, String, Vec<Wanted>) {
        let builder = crate::builder(Release::NEWEST, 0).with_built_in_kinds();
        let builder = builder.with_admission_plugins(AdmissionPlugins::all());
        let builder = builder.with_namespaces(crdx_server::server::Namespaces::Unchecked, &[]);
        let server = builder.with_cluster_state(Arc::new(Accounts(accounts))).build();
        let pod =
            r#"{"metadata":{"name":"p"},"spec":{"serviceAccountName":"a","containers":[{"name":"c","image":"i"}]}}"#;
        let mut response = server.handle(&Request::new(Method::Post, "/api/v1/namespaces/default/pods", pod));
        let unread = response.trace.take_unread();
        let (code, body) = code_and_body(response);
        (code, body.str_at(&["message"]).unwrap_or_default().to_owned(), unread)
    }

    #[test]
    fn a_pod_needs_its_service_account() {
        let message =
            r#"pods "p" is forbidden: error looking up service account default/a: serviceaccount "a" not found"#;
        assert_eq!(answer(Some(&["default"])), (403, message.to_owned(), Vec::new()));
        assert_eq!(answer(Some(&["default", "a"])).0, 201);
    }

    #[test]
    fn a_cluster_without_service_accounts_does_not_enable_the_plugin() {
        assert_eq!(answer(Some(&[])).0, 201);
    }

    #[test]
    fn an_account_that_is_not_read_yet_ends_the_attempt() {
        let (code, _, unread) = answer(None);
        assert_eq!((code, unread), (500, vec![Wanted::new(SERVICE_ACCOUNTS, "default", Some("a"))]));
    }
}
