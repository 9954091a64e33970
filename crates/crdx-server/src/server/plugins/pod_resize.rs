//! `NodeDeclaredFeatureValidator` and `PodResizeValidator`: the Nodes of Pods that are resized
//! ([`crdx_builtin::pod_resize`]).

use crate::server::admission::{Attributes, Operation, Plugin, Report};
use crate::server::http::calls::Calls;
use crate::server::http::status::{Cause, Refusal};
use crate::server::strategy::resources::Resources;
use crdx_builtin::pod_resize;
use crdx_value::Value;
use crdx_value::release::V1_36;
use std::sync::Arc;

/// Both plugins, which follow each other.
#[derive(Debug)]
pub(super) struct PodResize {
    resources: Arc<Resources>,
}

impl PodResize {
    /// Creates the plugin; `None` if the server has no Nodes. The plugins exist since 1.36, where the gate
    /// `NodeDeclaredFeatures` is enabled, too.
    pub fn new(resources: &Arc<Resources>) -> Option<Self> {
        let applies = resources.allocations.is_some() && resources.settings.release.since(V1_36);
        applies.then(|| Self { resources: Arc::clone(resources) })
    }
}

impl Plugin for PodResize {
    fn handles(&self, operation: Operation) -> bool {
        operation == Operation::Update
    }

    fn mutates(&self) -> bool {
        false
    }

    fn validate(
        &self,
        attributes: &Attributes<'_>,
        object: Option<&Value>,
        _: &Calls,
        _: &mut Report,
    ) -> Result<(), Refusal> {
        let Attributes { resource, subresource, old_object, .. } = *attributes;
        if (resource.group, resource.resource, subresource) != ("", "pods", "resize") {
            return Ok(());
        }
        let (Some(pod), Some(old)) = (object, old_object) else { return Ok(()) };
        let Some(name) = pod_resize::node_name(pod, old) else { return Ok(()) };
        let node = self.resources.get("nodes.").and_then(|nodes| Some(nodes.objects.get(name)?.raw()));
        let Some(refused) = pod_resize::refusal(pod, old, name, node.as_deref()) else { return Ok(()) };
        let mut refusal = attributes.forbidden(&refused.reason);
        if let Some(details) = refusal.details.as_mut().filter(|_| !refused.cause.is_empty()) {
            details.causes.push(Cause { reason: refused.cause.to_owned(), ..Cause::default() });
        }
        Err(refusal)
    }
}
