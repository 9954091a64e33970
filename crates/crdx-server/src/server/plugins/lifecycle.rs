//! `NamespaceLifecycle` (`admission/plugin/namespace/lifecycle/admission.go`): rejects creates in a namespace that does
//! not exist or is being deleted, and the deletion of namespaces that a cluster needs.

use crate::cluster_state::{self, Lookup};
use crate::server::admission::{AdmissionReport, Attributes, Mutation, Operation, Plugin, Reinvocation};
use crate::server::http::calls::Calls;
use crate::server::http::status::{Cause, Refusal};
use crate::server::plugins::cluster::ClusterView;
use crate::server::scope::{GroupResource, NAMESPACES, RequestScope};
use crate::server::strategy::namespace::finalized;
use crate::server::strategy::namespace_rule::Namespaces;
use crate::server::strategy::resources::Resources;
use crdx_value::Value;
use std::sync::Arc;

/// The `NamespaceLifecycle` plugin.
#[derive(Debug)]
pub(super) struct NamespaceLifecycle {
    resources: Arc<Resources>,
}

impl NamespaceLifecycle {
    /// Creates the plugin; `None` if the server accepts every namespace.
    pub fn new(resources: &Arc<Resources>) -> Option<Self> {
        let knows_namespaces = resources.namespaces.is_some() || resources.is_partial();
        knows_namespaces.then(|| Self { resources: Arc::clone(resources) })
    }

    /// Returns true if objects may be created in a namespace that does not exist.
    fn needs_no_namespace(&self) -> bool {
        match self.resources.namespaces {
            Some(Namespaces::OnDemand) => true,
            // The given state of the cluster decides.
            Some(Namespaces::Unchecked) | None => !self.resources.is_partial(),
            Some(Namespaces::Created | Namespaces::Finalized | Namespaces::Controlled) => false,
        }
    }
}

impl Plugin for NamespaceLifecycle {
    fn handles(&self, operation: Operation, _: RequestScope<'_>) -> bool {
        matches!(operation, Operation::Create | Operation::Delete)
    }

    fn mutates(&self) -> bool {
        false
    }

    fn mutate(
        &self,
        attributes: &Attributes<'_>,
        _: &mut Value,
        calls: &Calls,
        _: &mut AdmissionReport,
        _: &mut Reinvocation,
    ) -> Result<Mutation, Refusal> {
        let (Attributes { operation, namespace, name, .. }, of) = (*attributes, attributes.group_resource());
        // The answer to a review of access must not depend on the namespace.
        let is_exempt = of == NAMESPACES || of.group == "authorization.k8s.io";
        if operation != Operation::Create || namespace.is_empty() || is_exempt {
            return Ok(Mutation::Unchanged);
        }
        match ClusterView::new(&self.resources, attributes.given, calls).object(
            cluster_state::NAMESPACES,
            "",
            namespace,
        )? {
            Lookup::Found(found) if cluster_state::is_terminating(&found) => Err(terminating(namespace, of, name)),
            Lookup::Absent if !self.needs_no_namespace() => Err(Refusal::not_found(NAMESPACES, namespace)),
            Lookup::Found(_) | Lookup::Absent | Lookup::Unknown => Ok(Mutation::Unchanged),
        }
    }

    fn validate(
        &self,
        attributes: &Attributes<'_>,
        _: Option<&Value>,
        _: &Calls,
        _: &mut AdmissionReport,
    ) -> Result<(), Refusal> {
        let Attributes { operation, resource, name, .. } = *attributes;
        if operation == Operation::Delete
            && self.resources.namespaces.is_some_and(Namespaces::has_finalizers)
            && finalized::is_undeletable(resource.group, resource.resource, name)
        {
            return Err(Refusal::forbidden(NAMESPACES, name, "this namespace may not be deleted"));
        }
        Ok(())
    }
}

/// The refusal of a create in a namespace that is being deleted.
fn terminating(namespace: &str, of: GroupResource<'_>, name: &str) -> Refusal {
    let reason = format!("unable to create new content in namespace {namespace} because it is being terminated");
    let mut refusal = Refusal::forbidden(of, name, &reason);
    if let Some(details) = &mut refusal.details {
        details.causes.push(Cause {
            reason: "NamespaceTerminating".to_owned(),
            message: format!("namespace {namespace} is being terminated"),
            field: "metadata.namespace".to_owned(),
        });
    }
    refusal
}
