//! `IngressClass`es.

use crate::declared_kind::DeclaredKind;
use crate::printer::{AGE, column, text};
use crdx_server::server::{Behaviour, NAME_COLUMN, PrinterColumn};
use crdx_value::Value;

/// The strategy.
pub(crate) static INGRESS_CLASS: DeclaredKind =
    DeclaredKind { behaviour: Behaviour::GENERATION, columns: Some(COLUMNS), ..DeclaredKind::MOST };

static COLUMNS: &[PrinterColumn] = &[
    PrinterColumn {
        format: "name",
        ..column("Name", NAME_COLUMN, |o, _| {
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

fn parameters(object: &Value) -> String {
    let Some(parameters) = object.at(&["spec", "parameters"]) else { return "<none>".to_owned() };
    let group = parameters.str_at(&["apiGroup"]).map_or_else(String::new, |group| format!(".{group}"));
    format!("{}{group}/{}", text(parameters, &["kind"]), text(parameters, &["name"]))
}
