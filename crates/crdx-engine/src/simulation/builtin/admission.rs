//! Objects of built-in kinds on which admission policies decide, but whose request is not simulated.

use crate::report::{ASK_THE_CLUSTER, ObjectReport, Verdict};
use crate::simulation::context::SimulationContext;
use crate::simulation::existing::Found;

/// Leaves the verdict on a decoded object open if policies match it.
pub(crate) fn leave_undecided(item: &mut ObjectReport, context: SimulationContext<'_>, plural: &str, found: &Found) {
    let is_matched = context.admission.is_some_and(|admission| admission.may_match(item.identity.group(), plural));
    if !is_matched {
        return;
    }
    let reason = match found {
        Found::Error(error) => format!("it is not known whether it exists: {}", error.message),
        _ => "this request for it is not simulated".to_owned(),
    };
    item.verdict = Verdict::CannotTell;
    item.reason = format!("admission policies match it, and {reason}");
    item.help = Some(ASK_THE_CLUSTER.to_owned());
}
