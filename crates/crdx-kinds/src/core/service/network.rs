//! The address families and the ranges of the Services of a cluster, as far as they are known.

use crdx_server::cluster_state::{GroupVersionResource, Listed, SERVICE_CIDRS, SERVICES, Unread};
use crdx_types::service_families::{IpFamily, ServiceFamilies, ServiceRange};
use crdx_value::Value;
use std::net::IpAddr;
use std::sync::Arc;

/// Lists the objects of a resource in a namespace.
pub type List<'l> = dyn Fn(GroupVersionResource<'_>, &str) -> Result<Listed, Unread> + 'l;

/// The address families and the ranges of the Services of a cluster.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ServiceNetwork {
    /// The known families; IPv4 alone is assumed if none is known.
    pub families: ServiceFamilies,
    /// True if the cluster has no other families.
    pub has_all_families: bool,
    /// The ranges that have all cluster IPs; empty if they are not known.
    ranges: Vec<ServiceRange>,
}

impl ServiceNetwork {
    /// The network of the ranges of `--service-cluster-ip-range`, the primary one first.
    pub fn of_ranges(ranges: &[ServiceRange]) -> Self {
        let families = ServiceFamilies::of(ranges.iter().map(|range| range.family()));
        Self { families: families.unwrap_or_default(), has_all_families: families.is_some(), ranges: ranges.to_vec() }
    }

    /// Reads the network of a cluster from its `ServiceCIDR`s, or else, as before 1.33, from the Service of its API servers.
    ///
    /// # Errors
    /// Returns [`Unread`] if they have to be read first.
    pub fn read(list: &List<'_>) -> Result<Self, Unread> {
        let objects = list(SERVICE_CIDRS, "")?.objects;
        if let Some(families) = objects.iter().find_map(|object| ServiceFamilies::of_service_cidr(object)) {
            let ranges = objects.iter().flat_map(|object| ServiceRange::of_service_cidr(object)).collect();
            return Ok(Self { families, has_all_families: true, ranges });
        }
        // Without the one that API servers make of their flag, the others are not all ranges.
        let own = list(SERVICES, "default")?.objects;
        let families = own.iter().find_map(of_own_service).unwrap_or_default();
        Ok(Self { families, has_all_families: false, ranges: Vec::new() })
    }

    /// The range from which addresses of a family are allocated.
    pub(super) fn range(&self, family: IpFamily) -> ServiceRange {
        let known = self.ranges.iter().find(|range| range.family() == family);
        known.copied().unwrap_or_else(|| ServiceRange::default_of(family))
    }

    /// Returns true if the ranges are known and none of them has an address.
    pub(super) fn is_out_of_range(&self, address: IpAddr) -> bool {
        !self.ranges.is_empty() && !self.ranges.iter().any(|range| range.has(address))
    }
}

/// The families of a Service, if it is the one of the API servers.
fn of_own_service(service: &Arc<Value>) -> Option<ServiceFamilies> {
    let families = service.at(&["spec", "ipFamilies"])?.as_array()?;
    let is_own = service.str_at(&["metadata", "name"]) == Some("kubernetes");
    is_own.then(|| ServiceFamilies::of_names(families.iter().filter_map(Value::as_str))).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::json::read;

    const V4: IpFamily = IpFamily::V4;

    fn network(ranges: &[&str], services: &[&str]) -> ServiceNetwork {
        let objects = |texts: &[&str]| texts.iter().map(|text| Arc::new(read(text.as_bytes()).unwrap())).collect();
        let list = |of: GroupVersionResource<'_>, _: &str| {
            let objects = objects(if of == SERVICES { services } else { ranges });
            Ok(Listed { objects, is_complete: true })
        };
        ServiceNetwork::read(&list).unwrap()
    }

    #[test]
    fn the_families_are_those_of_the_first_range_object() {
        let own = r#"{"metadata":{"name":"kubernetes"},"spec":{"cidrs":["10.1.0.0/16","fd00::/112"]}}"#;
        let other = r#"{"metadata":{"name":"more"},"spec":{"cidrs":["10.2.0.0/16"]}}"#;
        let network = network(&[other, own], &[]);
        assert!(network.has_all_families && network.families.is_dual && network.families.primary == V4);
        let is_out = |address: &str| network.is_out_of_range(address.parse().unwrap());
        assert!(!is_out("10.2.3.4") && !is_out("fd00::7") && is_out("10.3.0.1"));
        assert!(!self::network(&[other], &[]).is_out_of_range("10.1.3.4".parse().unwrap()), "not all ranges are known");
    }

    #[test]
    fn before_ranges_are_served_the_service_of_the_api_servers_tells_a_family() {
        let own = r#"{"metadata":{"name":"kubernetes"},"spec":{"ipFamilies":["IPv6"]}}"#;
        let network = network(&[], &[r#"{"metadata":{"name":"a"},"spec":{"ipFamilies":["IPv4"]}}"#, own]);
        assert!(!network.has_all_families && network.families.primary == IpFamily::V6);
        assert!(!network.is_out_of_range("192.0.2.1".parse().unwrap()), "no range is known");
    }

    #[test]
    fn nothing_known_is_ipv4() {
        assert_eq!(network(&[], &[]), ServiceNetwork::default());
    }
}
