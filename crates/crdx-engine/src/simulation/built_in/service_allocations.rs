//! The ranges and the Services of the cluster on which the answer to a Service with a given cluster IP or node port depends.

use super::service_families::RANGES;
use crate::cluster::items;
use crate::report::Diagnostic;
use crate::simulation::context::SimulationContext;
use crate::simulation::identity::FieldLocator;
use crdx_server::cluster_state::SERVICE_CIDRS;
use crdx_server::server::Server;
use crdx_types::service_families::ServiceRange;
use crdx_value::Value;
use std::ops::RangeInclusive;

const SERVICES: &str = "/api/v1/services";
/// The default of `--service-node-port-range`.
const NODE_PORTS: RangeInclusive<i64> = 30_000..=32_767;
/// The type of a warning about a node port that few clusters allocate.
const NODE_PORT_RANGE: &str = "NodePortRange";

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

/// Warns about node ports outside of the range of the server, or of the default one if it is not known: dry runs do not check it.
pub(super) fn unusual_node_ports(
    service: &Value,
    known: Option<(u16, u16)>,
    locator: &dyn FieldLocator,
) -> Vec<Diagnostic> {
    let range = known.map_or(NODE_PORTS, |(first, last)| first.into()..=last.into());
    let ports = service.at(&["spec", "ports"]).and_then(Value::as_array).unwrap_or_default();
    let numbers = ports.iter().enumerate().filter_map(|(at, port)| Some((at, port.get("nodePort")?.as_int()?)));
    let unusual = numbers.filter(|(_, number)| *number != 0 && !range.contains(number));
    let condition = match known {
        Some((first, last)) => format!("its --service-node-port-range is {first}-{last}"),
        None => {
            format!("unless its --service-node-port-range has it (default {}-{})", NODE_PORTS.start(), NODE_PORTS.end())
        }
    };
    let warning = |(at, number): (usize, i64)| {
        let path = format!("spec.ports[{at}].nodePort");
        Diagnostic {
            kind: NODE_PORT_RANGE.to_owned(),
            message: format!("{path}: the API server rejects {number}, {condition}"),
            location: Some(locator.field(&path)),
            help: Some("choose a port of the range, or leave nodePort out to let the server choose".to_owned()),
            field: Some(path),
            ..Diagnostic::default()
        }
    };
    unusual.map(warning).collect()
}

/// Tells the server that validates Services what the cluster has, if a Service names an address or a port.
pub(super) fn read(context: SimulationContext<'_>, server: &Server, service: &Value) {
    if named(service).is_empty() {
        return;
    }
    let live =
        context.configured_cluster().and_then(|cluster| cluster.list_if_readable(RANGES, SERVICE_CIDRS.resource));
    let given = context.given.objects(SERVICE_CIDRS, "").map(|range| &**range);
    let all = given.chain(live.iter().flat_map(|list| items(list)));
    let ranges: Vec<ServiceRange> = all.flat_map(ServiceRange::of_service_cidr).collect();
    // Clusters before 1.33 have no such objects.
    if !ranges.is_empty() {
        server.set_service_ranges(ranges);
    }
    let Some(cluster) = context.configured_cluster() else { return };
    if let Some(list) = cluster.list_if_readable(SERVICES, "services") {
        server.set_other_services(items(&list).iter());
    }
}
