//! `PodTemplate`s.

use crate::declared_kind::DeclaredKind;
use crate::features::Features;
use crate::printer::{NAMED, column, containers, labels_or_none};
use crdx_server::server::{Behaviour, PrinterColumn};
use crdx_value::Value;
use crdx_value::release::Minor;

/// The strategy.
pub(crate) static POD_TEMPLATE: DeclaredKind = DeclaredKind {
    behaviour: Behaviour { returns_deleted: true, relaxes_prefix_since: Minor::ALWAYS, ..Behaviour::GENERATION },
    columns: Some(COLUMNS),
    features: Features { template: Some(&["template"]), ..Features::NONE },
    ..DeclaredKind::MOST
};

static COLUMNS: &[PrinterColumn] = &[
    NAMED,
    column("Containers", "Names of each container in the template.", |o, _| of_template(o, "name").into()),
    column("Images", "Images referenced by each container in the template.", |o, _| of_template(o, "image").into()),
    column("Pod Labels", "The labels for the pod template.", |o, _| {
        labels_or_none(o, &["template", "metadata", "labels"]).into()
    }),
];

fn of_template(object: &Value, key: &str) -> String {
    containers(object, &["template", "spec", "containers"], key)
}
