//! The resource quotas of the namespace of an object, in the cluster: the admission plugin `ResourceQuota`. Each object is compared
//! with what is used now, as in a dry run: the inputs do not add up.

use super::context::SimulationContext;
use crate::cluster;
use crate::report::{Answer, ObjectReport};
use crdx_builtin::quotas::{self, Write};
use crdx_value::Value;

/// Returns the answer to a write that a quota refuses. The namespace and the name are those of the item.
pub(super) fn refusal(context: SimulationContext<'_>, item: &ObjectReport, write: Write<'_>) -> Option<Answer> {
    let cluster = context.configured_cluster().filter(|_| write.is_charged())?;
    let namespace = item.identity.namespace.as_deref()?;
    let (version, plural) = ("v1".to_owned(), "resourcequotas".to_owned());
    let resource = cluster::Resource { version, plural, namespaced: true, ..cluster::Resource::default() };
    let list = match cluster.list(&resource.path(Some(namespace))) {
        Ok(list) => list,
        Err(error) => {
            cluster.record_unreadable("resourcequotas", &error);
            return None;
        }
    };
    let all = list.get("items").and_then(Value::as_array).unwrap_or_default();
    let reason = quotas::refusal(all, write)?;
    Some(Answer::forbidden(write.resource, &item.identity.name, &reason))
}
