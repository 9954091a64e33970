//! The cluster IPs and node ports that a Service names, on which the answer depends.

use crate::report::Diagnostic;
use crate::simulation::identity::FieldLocator;
use crate::simulation::known_cluster::KnownCluster;
use crdx_server::cluster_state::{SERVICE_CIDRS, SERVICES, Wanted};
use crdx_value::Value;
use std::ops::RangeInclusive;

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

/// Reports the objects on which the answer to a Service with a given address or port depends, and which cannot be read.
pub(super) fn report_unreadable(service: &Value, cluster: &KnownCluster) {
    if !named(service).is_empty() {
        for of in [SERVICE_CIDRS, SERVICES] {
            cluster.report_unreadable(&Wanted::new(of, "", None));
        }
    }
}
