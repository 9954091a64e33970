//! Deployments.

use crate::apps::STATUS_FEATURES;
use crate::declared_kind::DeclaredKind;
use crate::features::Features;
use crate::printer::{AGE, CONTAINERS, IMAGES, NAMED, READY_OF_REPLICAS, column, int, wide};
use crdx_server::server::{Behaviour, PrinterColumn, label_selector_of};
use crdx_value::release::Minor;

/// The strategy.
pub(crate) static DEPLOYMENT: DeclaredKind = DeclaredKind {
    behaviour: Behaviour {
        counted_metadata: Some("annotations"),
        relaxes_prefix_since: Minor::ALWAYS,
        status_keeps: &[&["spec"], &["metadata", "labels"]],
        ..Behaviour::GENERATION
    },
    columns: Some(COLUMNS),
    features: Features { template: Some(&["spec", "template"]), status: STATUS_FEATURES, ..Features::NONE },
    ..DeclaredKind::MOST
};

static COLUMNS: &[PrinterColumn] = &[
    NAMED,
    READY_OF_REPLICAS,
    column("Up-to-date", "", |o, _| int(o, &["status", "updatedReplicas"]).into()),
    column("Available", "", |o, _| int(o, &["status", "availableReplicas"]).into()),
    AGE,
    CONTAINERS,
    IMAGES,
    wide("Selector", "", |o, _| label_selector_of(o).unwrap_or_default().into()),
];
