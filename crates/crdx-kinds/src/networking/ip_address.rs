//! `IPAddress`es.

use crate::declared_kind::DeclaredKind;
use crate::printer::{NAMED, column, text};
use crdx_server::pipeline::metadata::NameRule;
use crdx_server::server::{Behaviour, PrinterColumn};
use crdx_value::Value;

/// The strategy.
pub(crate) static IP_ADDRESS: DeclaredKind = DeclaredKind {
    behaviour: Behaviour { name: NameRule::IpAddress, ..Behaviour::MOST },
    columns: Some(COLUMNS),
    ..DeclaredKind::MOST
};

static COLUMNS: &[PrinterColumn] = &[NAMED, column("ParentRef", "", |o, _| parent(o).into())];

fn parent(object: &Value) -> String {
    let Some(parent) = object.at(&["spec", "parentRef"]) else { return "<none>".to_owned() };
    let (group, namespace) = (text(parent, &["group"]), text(parent, &["namespace"]));
    let dot = if group.is_empty() { "" } else { "." };
    let slash = if namespace.is_empty() { "" } else { "/" };
    let resource = format!("{}{dot}{group}", text(parent, &["resource"])).to_lowercase();
    format!("{resource}{slash}{namespace}/{}", text(parent, &["name"]))
}
