//! `NamespaceLifecycle` (`admission/plugin/namespace/lifecycle/admission.go`): rejects creates in a namespace that does
//! not exist or is being deleted, and the deletion of namespaces that a cluster needs.

use super::cluster::is_terminating;
use super::{Attributes, Cluster, Mutation, Operation, Plugin, Reinvocation, Report};
use crate::server::http::namespace_state::terminating;
use crate::server::http::status::Refusal;
use crate::server::scope::{GroupResource, NAMESPACES};
use crate::server::strategy::namespace::{Namespaces, finalized};
use crdx_value::Value;

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
        if namespace.is_empty() || of == NAMESPACES {
            return Ok(Mutation::Unchanged);
        }
        match cluster.namespace(namespace) {
            Some(found) if is_terminating(&found) => Err(terminating(namespace, of, name)),
            None if matches!(cluster.namespaces(), Some(Namespaces::Created | Namespaces::Finalized)) => {
                Err(Refusal::not_found(NAMESPACES, namespace))
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
            return Err(Refusal::forbidden(NAMESPACES, name, "this namespace may not be deleted"));
        }
        Ok(())
    }
}
