//! `NamespaceLifecycle` (`admission/plugin/namespace/lifecycle/admission.go`): rejects creates in a namespace that does
//! not exist or is being deleted, and the deletion of namespaces that a cluster needs.

use super::cluster::is_terminating;
use super::{Attributes, Cluster, Mutation, Operation, Plugin, Reinvocation, Report};
use crate::server::http::status::{Cause, GroupResource, Refusal};
use crate::server::strategy::namespace::{Namespaces, RESOURCE, finalized};
use crdx_value::Value;

/// What the sender of a create knows of its namespace, for servers without Namespace objects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NamespaceState {
    /// The server decides; without Namespace objects, it accepts every namespace.
    #[default]
    Unspecified,
    /// The namespace does not exist.
    Missing,
    /// The namespace is being deleted.
    Terminating,
}

impl NamespaceState {
    /// Returns the code, the reason and the message of the refusal of a create of an object of a built-in kind.
    pub fn refusal(
        self,
        namespace: &str,
        (group, resource): (&str, &str),
        name: &str,
    ) -> Option<(u16, String, String)> {
        // The answer to a review of access must not depend on the namespace.
        if group == "authorization.k8s.io" {
            return None;
        }
        let refusal = self.check(namespace, GroupResource { group, resource }, name).err()?;
        Some((refusal.code, refusal.reason.as_str().to_owned(), refusal.message))
    }

    /// Rejects a create in a namespace that is known not to accept it.
    pub(in crate::server) fn check(self, namespace: &str, of: GroupResource<'_>, name: &str) -> Result<(), Refusal> {
        match self {
            _ if namespace.is_empty() => Ok(()),
            Self::Unspecified => Ok(()),
            Self::Missing => Err(Refusal::not_found(RESOURCE, namespace)),
            Self::Terminating => Err(terminating(namespace, of, name)),
        }
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

/// The `NamespaceLifecycle` plugin. It runs before all others, so it rejects a request before other plugins mutate the
/// object.
#[derive(Debug)]
pub(in crate::server) struct NamespaceLifecycle;

impl Plugin for NamespaceLifecycle {
    fn handles(&self, operation: Operation) -> bool {
        matches!(operation, Operation::Create | Operation::Delete)
    }

    fn mutates(&self) -> bool {
        false
    }

    fn mutate(
        &self,
        attributes: &Attributes<'_>,
        _: &mut Value,
        cluster: &Cluster<'_>,
        _: &mut Report,
        _: &mut Reinvocation,
    ) -> Result<Mutation, Refusal> {
        let Attributes { resource, namespace, name, .. } = *attributes;
        let of = GroupResource { group: resource.group, resource: resource.resource };
        if namespace.is_empty() || of == RESOURCE {
            return Ok(Mutation::Unchanged);
        }
        match cluster.namespace(namespace) {
            Some(found) if is_terminating(&found) => Err(terminating(namespace, of, name)),
            None if matches!(cluster.namespaces(), Some(Namespaces::Created | Namespaces::Finalized)) => {
                Err(Refusal::not_found(RESOURCE, namespace))
            }
            _ => Ok(Mutation::Unchanged),
        }
    }

    fn validate(
        &self,
        attributes: &Attributes<'_>,
        _: Option<&Value>,
        cluster: &Cluster<'_>,
        _: &mut Report,
    ) -> Result<(), Refusal> {
        let Attributes { operation, resource, name, .. } = *attributes;
        if operation == Operation::Delete
            && cluster.namespaces() == Some(Namespaces::Finalized)
            && finalized::is_undeletable(resource.group, resource.resource, name)
        {
            return Err(Refusal::forbidden(RESOURCE, name, "this namespace may not be deleted"));
        }
        Ok(())
    }
}
