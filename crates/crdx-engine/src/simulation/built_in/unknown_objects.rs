//! Objects of the cluster that are not known, and for which it may refuse an object that is accepted here.

use crate::report::{ASK_THE_CLUSTER, ObjectReport, Verdict};
use crate::simulation::context::SimulationContext;
use crate::simulation::known_cluster::KnownCluster;
use crdx_server::cluster_state::{NAMESPACES, PRIORITY_CLASSES, STORAGE_CLASSES, Wanted};

/// Leaves the verdict on an accepted object open if it depends on `unknown` objects.
pub(in crate::simulation) fn leave_open(
    item: &mut ObjectReport,
    context: SimulationContext<'_>,
    unknown: &[Wanted],
    cluster: &KnownCluster,
) {
    let Some(wanted) = unknown.first().filter(|_| item.verdict == Verdict::Accepted) else { return };
    let given = format!("give the class among the inputs; {ASK_THE_CLUSTER}");
    let (reason, help) = match (wanted.of(), &wanted.name) {
        (PRIORITY_CLASSES, _) => {
            ("its priority must be that of the default PriorityClass".to_owned(), ASK_THE_CLUSTER.to_owned())
        }
        (STORAGE_CLASSES, Some(name)) => (format!("the claim grows if the StorageClass {name} allows it"), given),
        (NAMESPACES, _) => {
            let reason = "the access of administrators to devices needs a label of the namespace".to_owned();
            (reason, format!("give the Namespace among the inputs; {ASK_THE_CLUSTER}"))
        }
        (of, _) => (format!("it depends on {}", of.resource), ASK_THE_CLUSTER.to_owned()),
    };
    let why = match cluster.error(wanted) {
        Some(error) if wanted.of() == STORAGE_CLASSES => error,
        _ if context.configured_cluster().is_some() => "it could not be read".to_owned(),
        _ => "no cluster was asked".to_owned(),
    };
    item.verdict = Verdict::CannotTell;
    item.reason = format!("{reason}: {why}");
    item.help = Some(help);
}
