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
