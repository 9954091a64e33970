//! Ingresses.

use crate::declared_kind::DeclaredKind;
use crate::printer::{AGE, MOST, NAMED, column, list, or, text};
use crdx_server::server::{Behaviour, PrinterColumn};
use crdx_value::Value;

/// The strategy.
pub(crate) static INGRESS: DeclaredKind =
    DeclaredKind { behaviour: Behaviour::GENERATION, columns: Some(COLUMNS), ..DeclaredKind::MOST };

static COLUMNS: &[PrinterColumn] = &[
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
