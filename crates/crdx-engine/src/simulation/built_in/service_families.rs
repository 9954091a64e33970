//! The address families on which the answer to a Service depends.

use crate::cluster::{Cluster, Error, items};
use crate::report::{ASK_THE_CLUSTER, ObjectReport, Verdict};
use crate::simulation::context::SimulationContext;
use crdx_kinds::needs_other_families;
use crdx_server::cluster_state::SERVICE_CIDRS;
use crdx_types::service_families::ServiceFamilies;
use crdx_value::Value;
use crdx_value::release::Release;

pub(super) const RANGES: &str = "/apis/networking.k8s.io/v1/servicecidrs";
const SERVICES: &str = "/api/v1/namespaces/default/services";
/// Said where a cluster with IPv6 may accept a Service.
const ASSUMED: &str = "a cluster whose Services have IPv4 addresses only is assumed; --old with the ServiceCIDR kubernetes of the cluster tells others";

/// The address families of a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Families {
    /// Those of its ranges.
    Known(ServiceFamilies),
    /// The cluster may have more families than these.
    Partial(ServiceFamilies),
    /// There is no cluster; IPv4 alone is assumed.
    Offline,
}

impl Families {
    /// Reads the families from the files of existing objects, or from the cluster: from its `ServiceCIDR`s since 1.33, before
    /// from its own Service. That neither can be read is reported only if a verdict depends on it.
    pub fn read(context: SimulationContext<'_>) -> Self {
        let given = context.given.objects(SERVICE_CIDRS, "").find_map(|range| ServiceFamilies::of_service_cidr(range));
        if let Some(given) = given {
            return Self::Known(given);
        }
        let Some(cluster) = context.configured_cluster() else { return Self::Offline };
        let known = of_ranges(&**cluster).ok().flatten().map(Self::Known);
        let partial = || of_own_service(&**cluster).ok().flatten().map(Self::Partial);
        known.or_else(partial).unwrap_or(Self::Partial(ServiceFamilies::default()))
    }

    /// The families to simulate.
    pub fn simulated(self) -> ServiceFamilies {
        match self {
            Self::Known(families) | Self::Partial(families) => families,
            Self::Offline => ServiceFamilies::default(),
        }
    }

    /// Completes the item of a new Service that is rejected for families which a cluster may have.
    pub(super) fn explain(self, item: &mut ObjectReport, service: &Value, release: Release) {
        let is_open = || needs_other_families(service, self.simulated(), release);
        if item.verdict != Verdict::Rejected || matches!(self, Self::Known(_)) || !is_open() {
            return;
        }
        if self == Self::Offline {
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
}

/// The families of the ranges with which the API servers were started; `None` if the cluster does not serve them.
fn of_ranges(cluster: &dyn Cluster) -> Result<Option<ServiceFamilies>, Error> {
    let list = cluster.list(RANGES)?;
    Ok(items(&list).iter().find_map(ServiceFamilies::of_service_cidr))
}

/// The family of the cluster IP of the API servers.
fn of_own_service(cluster: &dyn Cluster) -> Result<Option<ServiceFamilies>, Error> {
    let list = cluster.list(SERVICES)?;
    let own = items(&list).iter().find(|service| service.str_at(&["metadata", "name"]) == Some("kubernetes"));
    let families = own.and_then(|service| service.at(&["spec", "ipFamilies"])?.as_array());
    Ok(families.and_then(|families| ServiceFamilies::of_names(families.iter().filter_map(Value::as_str))))
}
