//! `LimitRanger`: the defaults and limits of the `LimitRange`s in a namespace ([`crdx_builtin::limit_ranger`]).

use crate::server::admission::{Attributes, Mutation, Operation, Plugin, Reinvocation, Report};
use crate::server::http::calls::Calls;
use crate::server::http::status::Refusal;
use crate::server::metadata;
use crate::server::plugins::cluster::Cluster;
use crate::server::scope::GroupResource;
use crate::server::strategy::resources::Resources;
use crdx_builtin::limit_ranger;
use crdx_value::Value;
use std::sync::Arc;

/// The `LimitRanger` plugin.
#[derive(Debug)]
pub(super) struct LimitRanger {
    resources: Arc<Resources>,
}

impl LimitRanger {
    /// Creates the plugin; `None` if the server has no `LimitRange`s.
    pub fn new(resources: &Arc<Resources>) -> Option<Self> {
        resources.get("limitranges.").is_some().then(|| Self { resources: Arc::clone(resources) })
    }

    /// The limit ranges that apply to a write. Pods cannot be changed, and objects that are being deleted have no limits.
    fn ranges(&self, attributes: &Attributes<'_>, calls: &Calls) -> Vec<Arc<Value>> {
        let Attributes { operation, resource, subresource, namespace, old_object, .. } = *attributes;
        let applies = match (resource.group, resource.resource) {
            ("", "pods") => operation == Operation::Create,
            ("", "persistentvolumeclaims") => true,
            _ => false,
        };
        if !applies || !subresource.is_empty() || old_object.is_some_and(metadata::is_deleting) {
            return Vec::new();
        }
        let cluster = Cluster::new(&self.resources, calls);
        let ranges = cluster.resource("", "v1", "limitranges");
        ranges.and_then(|ranges| cluster.list(&ranges, namespace).ok()).unwrap_or_default()
    }
}

impl Plugin for LimitRanger {
    fn handles(&self, operation: Operation) -> bool {
        operation != Operation::Delete
    }

    fn mutate(
        &self,
        attributes: &Attributes<'_>,
        object: &mut Value,
        calls: &Calls,
        _: &mut Report,
        _: &mut Reinvocation,
    ) -> Result<Mutation, Refusal> {
        let is_new_pod = attributes.operation == Operation::Create && attributes.resource.resource == "pods";
        if !is_new_pod {
            return Ok(Mutation::Unchanged);
        }
        let changes =
            self.ranges(attributes, calls).into_iter().filter(|range| limit_ranger::set_defaults(range, object));
        Ok(if changes.count() > 0 { Mutation::Changed } else { Mutation::Unchanged })
    }

    fn validate(
        &self,
        attributes: &Attributes<'_>,
        object: Option<&Value>,
        calls: &Calls,
        _: &mut Report,
    ) -> Result<(), Refusal> {
        let Some(object) = object else { return Ok(()) };
        for range in self.ranges(attributes, calls) {
            if let Some(reason) = limit_ranger::violation(&range, attributes.kind.kind, object) {
                let of = GroupResource { group: attributes.resource.group, resource: attributes.resource.resource };
                return Err(Refusal::forbidden(of, attributes.name, &reason));
            }
        }
        Ok(())
    }
}
