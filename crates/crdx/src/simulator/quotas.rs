//! The resource quotas of the namespace of an object, in the cluster: the admission plugin `ResourceQuota`. Each object is compared
//! with what is used now, as in a dry run: the inputs do not add up.

use super::context::SimulationContext;
use crate::cluster::{Resource, items};
use crate::report::{Answer, ObjectReport};
use crdx_builtin::quotas::{self, Write};

const QUOTAS: &str = "resourcequotas";

/// Returns the answer to a write that a quota refuses. The namespace and the name are those of the item.
pub(super) fn refusal(context: SimulationContext<'_>, item: &ObjectReport, write: Write<'_>) -> Option<Answer> {
    let cluster = context.configured_cluster().filter(|_| write.is_charged())?;
    let namespace = item.identity.namespace.as_deref()?;
    let path = Resource::of_core(QUOTAS).path(Some(namespace));
    let list = cluster.list_if_readable(&path, QUOTAS)?;
    let reason = quotas::refusal(items(&list), write)?;
    Some(Answer::forbidden(write.resource, &item.identity.name, &reason))
}
