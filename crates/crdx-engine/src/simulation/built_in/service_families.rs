//! The address families on which the answer to a Service depends.

use crate::report::{ASK_THE_CLUSTER, ObjectReport, Verdict};
use crate::simulation::known_cluster::KnownCluster;
use crdx_kinds::{ServiceNetwork, needs_other_families};
use crdx_server::cluster_state::ClusterState;
use crdx_value::Value;
use crdx_value::release::Release;

const RANGES: &str = "/apis/networking.k8s.io/v1/servicecidrs";
/// Said where a cluster with IPv6 may accept a Service.
const ASSUMED: &str = "a cluster whose Services have IPv4 addresses only is assumed; --old with the ServiceCIDR kubernetes of the cluster tells others";

/// Completes the item of a new Service that is rejected for families which the cluster may have.
pub(super) fn explain(item: &mut ObjectReport, service: &Value, cluster: &KnownCluster, release: Release) {
    if item.verdict != Verdict::Rejected {
        return;
    }
    // The server has read what it needs to answer.
    let Ok(network) = ServiceNetwork::read(&|of, namespace| cluster.list(of, namespace)) else { return };
    if network.has_all_families || !needs_other_families(service, network.families, release) {
        return;
    }
    if !cluster.is_live() {
        for error in &mut item.errors {
            error.help.get_or_insert_with(|| ASSUMED.to_owned());
        }
        return;
    }
    let reason = "whether the cluster has the address families that the Service asks for cannot be read";
    (item.verdict, item.reason) = (Verdict::CannotTell, reason.to_owned());
    item.help = Some(format!("{RANGES} tells it, where it is served; {ASK_THE_CLUSTER}"));
    (item.errors, item.answer) = (Vec::new(), None);
}
