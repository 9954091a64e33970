//! The columns of Services.

use crate::printer::{AGE, NAMED, column, either, int, labels, list, or, text, wide};
use crdx_server::server::PrinterColumn;
use crdx_value::Value;

pub(super) static COLUMNS: &[PrinterColumn] = &[
    NAMED,
    column("Type", "", |o, _| text(o, &["spec", "type"]).into()),
    column("Cluster-IP", "", |o, _| {
        let first = list(o, &["spec", "clusterIPs"]).first().and_then(Value::as_str);
        first.unwrap_or("<none>").into()
    }),
    column("External-IP", "", |o, _| external_ip(o).into()),
    column("Port(s)", "", |o, _| ports(o).into()),
    AGE,
    wide("Selector", "", |o, _| or(&labels(o, &["spec", "selector"]), "<none>").into()),
];

/// `getServiceExternalIP`
fn external_ip(object: &Value) -> String {
    let external: Vec<&str> = list(object, &["spec", "externalIPs"]).iter().filter_map(Value::as_str).collect();
    match text(object, &["spec", "type"]) {
        "ClusterIP" | "NodePort" => or(&external.join(","), "<none>").to_owned(),
        "LoadBalancer" => {
            let ingress = list(object, &["status", "loadBalancer", "ingress"]).iter();
            let mut all: Vec<&str> =
                ingress.map(|i| either(i, &["ip"], &["hostname"])).filter(|text| !text.is_empty()).collect();
            all.sort_unstable();
            all.dedup();
            all.extend(external);
            or(&all.join(","), "<pending>").to_owned()
        }
        "ExternalName" => text(object, &["spec", "externalName"]).to_owned(),
        _ => "<unknown>".to_owned(),
    }
}

/// `makePortString`
fn ports(object: &Value) -> String {
    let ports = list(object, &["spec", "ports"]).iter().map(|port| {
        let (number, node, protocol) = (int(port, &["port"]), int(port, &["nodePort"]), text(port, &["protocol"]));
        if node > 0 { format!("{number}:{node}/{protocol}") } else { format!("{number}/{protocol}") }
    });
    or(&ports.collect::<Vec<_>>().join(","), "<none>").to_owned()
}
