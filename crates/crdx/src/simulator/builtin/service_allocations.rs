//! The ranges and the Services of the cluster on which the answer to a Service with a given cluster IP or node port depends.

use super::service_families::{RANGES, items};
use crate::simulator::built_in_server::WriteOptions;
use crate::simulator::context::SimulationContext;
use crdx_types::service_families::ServiceRange;
use crdx_value::Value;

const SERVICES: &str = "/api/v1/services";

/// The cluster IPs and node ports that a Service names, as text.
pub fn named(service: &Value) -> Vec<String> {
    let Some(spec) = service.get("spec").filter(|spec| spec.str_at(&["type"]) != Some("ExternalName")) else {
        return Vec::new();
    };
    let list = |field: &str| spec.get(field).and_then(Value::as_array).unwrap_or_default();
    let addresses =
        spec.get("clusterIP").filter(|_| list("clusterIPs").is_empty()).into_iter().chain(list("clusterIPs"));
    let addresses = addresses.filter_map(Value::as_str).filter(|address| !matches!(*address, "" | "None"));
    let ports = list("ports").iter().filter_map(|port| port.get("nodePort")).chain(spec.get("healthCheckNodePort"));
    let ports = ports.filter_map(Value::as_int).filter(|port| *port != 0);
    addresses.map(str::to_owned).chain(ports.map(|port| port.to_string())).collect()
}

/// Tells the server that validates Services what the cluster has, if a Service names an address or a port.
pub(super) fn read(context: SimulationContext<'_>, options: WriteOptions<'_>, service: &Value) {
    let cluster = context.updates.existing.cluster().filter(|cluster| cluster.is_configured());
    let Some(cluster) = cluster.filter(|_| !named(service).is_empty()) else { return };
    match cluster.list(RANGES) {
        Ok(list) => {
            let ranges: Vec<ServiceRange> = items(&list).flat_map(ServiceRange::of_service_cidr).collect();
            // Clusters before 1.33 have no such objects.
            if !ranges.is_empty() {
                context.built_in.set_service_ranges(options, ranges);
            }
        }
        Err(error) => cluster.record_unreadable("servicecidrs", &error),
    }
    match cluster.list(SERVICES) {
        Ok(list) => context.built_in.set_other_services(options, items(&list)),
        Err(error) => cluster.record_unreadable("services", &error),
    }
}
