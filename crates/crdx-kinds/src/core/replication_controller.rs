//! `ReplicationController`s.

use crate::declared_kind::DeclaredKind;
use crate::features::Features;
use crate::printer::{AGE, CONTAINERS, CURRENT, DESIRED, IMAGES, NAMED, READY, labels_or_none, wide};
use crdx_server::pipeline::metadata::NameRule;
use crdx_server::server::behaviour;
use crdx_server::server::{Behaviour, FieldLabel, PrinterColumn};
use crdx_value::release::V1_35;

/// The strategy.
pub(crate) static REPLICATION_CONTROLLER: DeclaredKind = DeclaredKind {
    behaviour: Behaviour {
        name: NameRule::LongName,
        relaxes_prefix_since: V1_35,
        fields: Some(&[
            behaviour::NAMESPACE,
            FieldLabel { label: "status.replicas", paths: &[&["status", "replicas"]], absent: "0" },
        ]),
        ..Behaviour::GENERATION
    },
    columns: Some(COLUMNS),
    features: Features { template: Some(&["spec", "template"]), ..Features::NONE },
    ..DeclaredKind::MOST
};

static COLUMNS: &[PrinterColumn] = &[
    NAMED,
    DESIRED,
    CURRENT,
    READY,
    AGE,
    CONTAINERS,
    IMAGES,
    wide("Selector", "", |o, _| labels_or_none(o, &["spec", "selector"]).into()),
];
