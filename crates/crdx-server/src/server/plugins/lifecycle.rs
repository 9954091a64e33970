//! `NamespaceLifecycle` (`admission/plugin/namespace/lifecycle/admission.go`): rejects creates in a namespace that does
//! not exist or is being deleted, and the deletion of namespaces that a cluster needs.

use crate::server::admission::{Attributes, Mutation, Operation, Plugin, Reinvocation, Report};
use crate::server::http::calls::Calls;
use crate::server::http::namespace_state::terminating;
use crate::server::http::status::Refusal;
use crate::server::metadata;
use crate::server::scope::NAMESPACES;
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
    /// Creates the plugin.
    pub fn new(resources: &Arc<Resources>) -> Self {
        Self { resources: Arc::clone(resources) }
    }
}

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
        _: &Calls,
        _: &mut Report,
        _: &mut Reinvocation,
    ) -> Result<Mutation, Refusal> {
        let (Attributes { namespace, name, .. }, of) = (*attributes, attributes.group_resource());
        if namespace.is_empty() || of == NAMESPACES {
            return Ok(Mutation::Unchanged);
        }
        match self.resources.namespace(namespace) {
            Some(found) if metadata::is_deleting(&found) => Err(terminating(namespace, of, name)),
            None if self.resources.namespaces.is_some_and(Namespaces::must_exist) => {
                Err(Refusal::not_found(NAMESPACES, namespace))
            }
            _ => Ok(Mutation::Unchanged),
        }
    }

    fn validate(
        &self,
        attributes: &Attributes<'_>,
        _: Option<&Value>,
        _: &Calls,
        _: &mut Report,
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
