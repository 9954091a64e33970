//! The columns of network objects.

use super::{AGE, NAMED, Printed, column, int, label_selector, list, or, text};
use crdx_value::{Value, json};

/// The number of items that a cell shows.
const MOST: usize = 3;

pub(super) static INGRESSES: &[Printed] = &[
    NAMED,
    column(
        "Class",
        "The name of the IngressClass resource that should be used for additional configuration",
        |o, _| o.str_at(&["spec", "ingressClassName"]).unwrap_or("<none>").into(),
    ),
    column("Hosts", "Hosts that incoming requests are matched against before the ingress rule", |o, _| hosts(o).into()),
    column("Address", "Address is a list containing ingress points for the load-balancer", |o, _| addresses(o).into()),
    column("Ports", "Ports of TLS configurations that open", |o, _| {
        if list(o, &["spec", "tls"]).is_empty() { "80".into() } else { "80, 443".into() }
    }),
    AGE,
];

pub(super) static INGRESS_CLASSES: &[Printed] = &[
    Printed {
        format: "name",
        ..column("Name", super::NAME, |o, _| {
            let is_default = text(o, &["metadata", "annotations", "ingressclass.kubernetes.io/is-default-class"]);
            let suffix = if is_default == "true" { " (default)" } else { "" };
            format!("{}{suffix}", text(o, &["metadata", "name"])).into()
        })
    },
    column("Controller", "Controller that is responsible for handling this class", |o, _| {
        text(o, &["spec", "controller"]).into()
    }),
    column("Parameters", "A reference to a resource with additional parameters", |o, _| parameters(o).into()),
    AGE,
];

pub(super) static NETWORK_POLICIES: &[Printed] =
    &[NAMED, column("Pod-Selector", "", |o, _| label_selector(o, &["spec", "podSelector"]).into()), AGE];

pub(super) static ENDPOINTS: &[Printed] = &[NAMED, column("Endpoints", "", |o, _| endpoints(o).into()), AGE];

pub(super) static ENDPOINT_SLICES: &[Printed] = &[
    NAMED,
    column("AddressType", "", |o, _| text(o, &["addressType"]).into()),
    column("Ports", "", |o, _| {
        let ports = list(o, &["ports"]).iter();
        first_of(ports.map(|port| port.get("port").map_or_else(|| port_name(port), json::to_string))).into()
    }),
    column("Endpoints", "", |o, _| {
        let endpoints = list(o, &["endpoints"]).iter();
        let addresses = endpoints.flat_map(|endpoint| list(endpoint, &["addresses"]));
        first_of(addresses.map(|address| address.as_str().unwrap_or_default().to_owned())).into()
    }),
    AGE,
];

pub(super) static IP_ADDRESSES: &[Printed] = &[NAMED, column("ParentRef", "", |o, _| parent(o).into())];

pub(super) static SERVICE_CIDRS: &[Printed] = &[
    NAMED,
    column("CIDRs", "", |o, _| {
        list(o, &["spec", "cidrs"]).iter().filter_map(Value::as_str).collect::<Vec<_>>().join(",").into()
    }),
    AGE,
];

/// `formatHosts`
fn hosts(object: &Value) -> String {
    let rules = list(object, &["spec", "rules"]);
    let (mut shown, mut more) = (Vec::new(), false);
    for rule in rules {
        more |= shown.len() == MOST;
        let host = text(rule, &["host"]);
        if !more && !host.is_empty() {
            shown.push(host);
        }
    }
    let text = shown.join(",");
    if more { format!("{text} + {} more...", rules.len() - MOST) } else { or(&text, "*").to_owned() }
}

fn addresses(object: &Value) -> String {
    let ingress = list(object, &["status", "loadBalancer", "ingress"]).iter();
    let mut all: Vec<&str> =
        ingress.map(|i| or(text(i, &["ip"]), text(i, &["hostname"]))).filter(|text| !text.is_empty()).collect();
    all.sort_unstable();
    all.dedup();
    all.join(",")
}

fn parameters(object: &Value) -> String {
    let Some(parameters) = object.at(&["spec", "parameters"]) else { return "<none>".to_owned() };
    let group = parameters.str_at(&["apiGroup"]).map_or_else(String::new, |group| format!(".{group}"));
    format!("{}{group}/{}", text(parameters, &["kind"]), text(parameters, &["name"]))
}

/// `formatEndpoints`
fn endpoints(object: &Value) -> String {
    let subsets = list(object, &["subsets"]);
    if subsets.is_empty() {
        return "<none>".to_owned();
    }
    let (mut shown, mut count) = (Vec::new(), 0);
    for subset in subsets {
        let addresses = list(subset, &["addresses"]);
        let ports = list(subset, &["ports"]);
        let ports: Vec<Option<i64>> =
            if ports.is_empty() { vec![None] } else { ports.iter().map(|port| Some(int(port, &["port"]))).collect() };
        for port in ports {
            count += addresses.len();
            let room = MOST - shown.len();
            shown.extend(addresses.iter().take(room).map(|address| {
                let ip = text(address, &["ip"]);
                match port {
                    Some(port) if ip.contains(':') => format!("[{ip}]:{port}"),
                    Some(port) => format!("{ip}:{port}"),
                    None => ip.to_owned(),
                }
            }));
        }
    }
    let text = shown.join(",");
    if count > MOST { format!("{text} + {} more...", count - MOST) } else { text }
}

/// `listWithMoreString`
fn first_of(items: impl Iterator<Item = String>) -> String {
    let all: Vec<String> = items.collect();
    let text = all.iter().take(MOST).map(String::as_str).collect::<Vec<_>>().join(",");
    if all.len() > MOST { format!("{text} + {} more...", all.len() - MOST) } else { or(&text, "<unset>").to_owned() }
}

fn port_name(port: &Value) -> String {
    port.str_at(&["name"]).unwrap_or("*").to_owned()
}

fn parent(object: &Value) -> String {
    let Some(parent) = object.at(&["spec", "parentRef"]) else { return "<none>".to_owned() };
    let (group, namespace) = (text(parent, &["group"]), text(parent, &["namespace"]));
    let dot = if group.is_empty() { "" } else { "." };
    let slash = if namespace.is_empty() { "" } else { "/" };
    let resource = format!("{}{dot}{group}", text(parent, &["resource"])).to_lowercase();
    format!("{resource}{slash}{namespace}/{}", text(parent, &["name"]))
}
