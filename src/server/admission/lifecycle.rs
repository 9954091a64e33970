//! `NamespaceLifecycle` (`admission/plugin/namespace/lifecycle/admission.go`): rejects creates in a namespace that does
//! not exist or is being deleted.

use super::cluster::is_terminating;
use super::{Attributes, Cluster, Mutation, Operation, Plugin, Reinvocation, Report};
use crate::server::http::status::{GroupResource, Refusal};
use crate::server::strategy::namespace::{Namespaces, RESOURCE};
use crate::value::Value;

/// The `NamespaceLifecycle` plugin. It runs before all others, so it rejects a request before other plugins mutate the
/// object.
#[derive(Debug)]
pub(in crate::server) struct NamespaceLifecycle;

impl Plugin for NamespaceLifecycle {
    fn handles(&self, operation: Operation) -> bool {
        operation == Operation::Create
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
            Some(found) if is_terminating(&found) => {
                let why =
                    format!("unable to create new content in namespace {namespace} because it is being terminated");
                Err(Refusal::forbidden(of, name, &why))
            }
            None if cluster.namespaces() == Some(Namespaces::Created) => Err(Refusal::not_found(RESOURCE, namespace)),
            _ => Ok(Mutation::Unchanged),
        }
    }
}
