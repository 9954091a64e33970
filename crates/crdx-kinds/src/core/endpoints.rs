//! Endpoints.

use crate::declared_kind::DeclaredKind;
use crate::printer::{AGE, MOST, NAMED, column, int, list, text};
use crdx_server::server::{Behaviour, PrinterColumn};
use crdx_value::Value;

/// The strategy.
pub(crate) static ENDPOINTS: DeclaredKind = DeclaredKind {
    behaviour: Behaviour { creates_on_update: true, ..Behaviour::MOST },
    columns: Some(COLUMNS),
    ..DeclaredKind::MOST
};

static COLUMNS: &[PrinterColumn] = &[NAMED, column("Endpoints", "", |o, _| endpoints(o).into()), AGE];

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
