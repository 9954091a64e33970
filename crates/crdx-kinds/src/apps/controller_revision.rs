//! `ControllerRevision`s.

use crate::declared_kind::DeclaredKind;
use crate::printer::{AGE, NAMED, column, list, text};
use crdx_server::server::{Behaviour, PrinterColumn};
use crdx_value::{Value, json};

/// The strategy.
pub(crate) static CONTROLLER_REVISION: DeclaredKind =
    DeclaredKind { behaviour: Behaviour::MOST, columns: Some(COLUMNS), ..DeclaredKind::MOST };

static COLUMNS: &[PrinterColumn] = &[
    NAMED,
    column("Controller", "", |o, _| controller(o).into()),
    column("Revision", "", |o, _| o.get("revision").map(json::to_string).unwrap_or_default().into()),
    AGE,
];

/// The controller that owns an object, as `formatResourceName` writes it.
fn controller(object: &Value) -> String {
    let owners = list(object, &["metadata", "ownerReferences"]).iter();
    let is_controller = |owner: &&Value| owner.get("controller").and_then(Value::as_bool) == Some(true);
    let Some(owner) = owners.into_iter().find(is_controller) else { return "<none>".to_owned() };
    let group = text(owner, &["apiVersion"]).split_once('/').map_or("", |(group, _)| group);
    let kind = text(owner, &["kind"]).to_lowercase();
    let dot = if group.is_empty() { "" } else { "." };
    format!("{kind}{dot}{group}/{}", text(owner, &["name"]))
}
