//! The `StorageClass` of a claim that grows: the admission plugin `PersistentVolumeClaimResize` looks for it.

use super::created::Created;
use super::reject_with;
use crate::cluster::items;
use crate::report::{ASK_THE_CLUSTER, Answer, ObjectReport, Verdict};
use crate::simulator::cluster_objects::STORAGE_CLASSES;
use crate::simulator::context::SimulationContext;
use crdx_builtin::volume_resize::{self, Growth, NOT_RESIZABLE};
use crdx_value::Value;

/// Rejects the accepted update of a claim that may not grow, or leaves it open if its class is not known.
pub(super) fn check(
    item: &mut ObjectReport,
    context: SimulationContext<'_>,
    (old, new): (&Value, &Value),
    earlier: &Created,
) {
    match volume_resize::growth(new, old) {
        Growth::None => {}
        Growth::Refused(reason) => refuse(item, reason),
        Growth::OfClass(name) if earlier.growing_classes.contains(name) => {}
        Growth::OfClass(name) => match allows(context, name) {
            Ok(true) => {}
            Ok(false) => refuse(item, NOT_RESIZABLE),
            Err(reason) => {
                item.verdict = Verdict::CannotTell;
                item.reason = format!("the claim grows if the StorageClass {name} allows it: {reason}");
                item.help = Some(format!("give the class among the inputs; {ASK_THE_CLUSTER}"));
            }
        },
    }
}

/// Returns true if there is a class and it allows claims to grow.
///
/// # Errors
/// Returns the reason why that is not known.
fn allows(context: SimulationContext<'_>, name: &str) -> Result<bool, String> {
    let is_it = |class: &&Value| class.str_at(&["metadata", "name"]) == Some(name);
    if let Some(class) = context.given.with_list(STORAGE_CLASSES, None, None).iter().find(is_it) {
        return Ok(volume_resize::allows_growth(class));
    }
    let cluster = context.configured_cluster().ok_or_else(|| "no cluster was asked".to_owned())?;
    let list = cluster.list(&STORAGE_CLASSES.path(None)).map_err(|error| error.message)?;
    Ok(items(&list).iter().find(is_it).is_some_and(volume_resize::allows_growth))
}

fn refuse(item: &mut ObjectReport, reason: &str) {
    let answer = Answer::forbidden("persistentvolumeclaims", &item.identity.name, reason);
    reject_with(item, answer);
}
