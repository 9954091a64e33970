//! `ServiceAccount` (`plugin/pkg/admission/serviceaccount/admission.go` in `k8s.io/kubernetes`), as far as it refuses new Pods.

use crate::cluster_state::{Lookup, SERVICE_ACCOUNTS};
use crate::server::admission::{Attributes, Mutation, Operation, Plugin, Reinvocation, Report};
use crate::server::http::calls::Calls;
use crate::server::http::status::Refusal;
use crate::server::plugins::cluster::Cluster;
use crate::server::strategy::resources::Resources;
use crdx_builtin::{mirror_pod, service_account};
use crdx_value::{Value, quote};
use std::sync::Arc;

/// The `ServiceAccount` plugin.
#[derive(Debug)]
pub(super) struct ServiceAccount {
    resources: Arc<Resources>,
}

impl ServiceAccount {
    /// Creates the plugin; `None` if the server has no built-in kinds.
    pub fn new(resources: &Arc<Resources>) -> Option<Self> {
        resources.serves_built_in_kinds.then(|| Self { resources: Arc::clone(resources) })
    }
}

impl Plugin for ServiceAccount {
    fn handles(&self, operation: Operation) -> bool {
        operation == Operation::Create
    }

    fn mutates(&self) -> bool {
        false
    }

    fn mutate(
        &self,
        attributes: &Attributes<'_>,
        pod: &mut Value,
        calls: &Calls,
        _: &mut Report,
        _: &mut Reinvocation,
    ) -> Result<Mutation, Refusal> {
        let of_mirror = mirror_pod::refusal(pod);
        if !attributes.is_for_pods() || of_mirror.is_none() && mirror_pod::is_mirror(pod) {
            return Ok(Mutation::Unchanged);
        }
        let (namespace, name) = (attributes.namespace, service_account::name(pod));
        let cluster = Cluster::new(&self.resources, attributes.given, calls);
        let account = cluster.object(SERVICE_ACCOUNTS, namespace, name)?;
        // Clusters without the controller of service accounts, such as those of envtest, do not enable the plugin.
        if account == Lookup::Absent
            && cluster.object(SERVICE_ACCOUNTS, namespace, service_account::DEFAULT)? == Lookup::Absent
        {
            return Ok(Mutation::Unchanged);
        }
        let reason = match (of_mirror, account) {
            (Some(reason), _) => reason.to_owned(),
            (None, Lookup::Absent) => format!(
                "error looking up service account {namespace}/{name}: serviceaccount {} not found",
                quote::go_quote(name)
            ),
            (None, Lookup::Found(_) | Lookup::Unknown) => return Ok(Mutation::Unchanged),
        };
        Err(attributes.forbidden_object(pod, &reason))
    }
}

#[cfg(test)]
mod tests {
    use crate::cluster_state::{ClusterState, GroupVersionResource, Listed, Lookup, SERVICE_ACCOUNTS, Unread, Wanted};
    use crate::server::fixture;
    use crate::server::{AdmissionPlugins, Method, Request, Server};
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
        let builder = Server::builder(Release::NEWEST, 0).with_built_in_kinds();
        let builder = builder.with_admission_plugins(AdmissionPlugins::all());
        let builder = builder.with_namespaces(crate::server::Namespaces::Unchecked, &[]);
        let server = builder.with_cluster_state(Arc::new(Accounts(accounts))).build();
        let pod =
            r#"{"metadata":{"name":"p"},"spec":{"serviceAccountName":"a","containers":[{"name":"c","image":"i"}]}}"#;
        let mut response = server.handle(&Request::new(Method::Post, "/api/v1/namespaces/default/pods", pod));
        let unread = response.trace.take_unread();
        let (code, body) = fixture::json(response);
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
