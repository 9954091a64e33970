//! The resource quotas of the namespace of an object: the admission plugin `ResourceQuota`. Each object is compared
//! with what is used now, as in a dry run: the inputs do not add up.

use super::cluster_objects::RESOURCE_QUOTAS;
use super::context::SimulationContext;
use crate::report::{Answer, ObjectReport};
use crdx_builtin::quotas::{self, Write};

/// Returns the answer to a write that a quota refuses. The namespace and the name are those of the item.
pub(super) fn refusal(context: SimulationContext<'_>, item: &ObjectReport, write: Write<'_>) -> Option<Answer> {
    if !write.is_charged() {
        return None;
    }
    let namespace = item.identity.namespace.as_deref()?;
    let reason = quotas::refusal(context.list(RESOURCE_QUOTAS, Some(namespace)).iter(), write)?;
    Some(Answer::forbidden(write.resource, &item.identity.name, &reason))
}
