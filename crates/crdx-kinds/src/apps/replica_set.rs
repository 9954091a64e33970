//! `ReplicaSet`s.

use crate::apps::STATUS_FEATURES;
use crate::declared_kind::DeclaredKind;
use crate::features::Features;
use crate::printer::{AGE, CONTAINERS, CURRENT, DESIRED, IMAGES, NAMED, READY, label_selector, wide};
use crdx_server::server::{Behaviour, PrinterColumn};
use crdx_value::release::V1_34;

/// The strategy.
pub(crate) static REPLICA_SET: DeclaredKind = DeclaredKind {
    behaviour: Behaviour { relaxes_prefix_since: V1_34, ..Behaviour::GENERATION },
    columns: Some(COLUMNS),
    features: Features { template: Some(&["spec", "template"]), status: STATUS_FEATURES, ..Features::NONE },
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
    wide("Selector", "", |o, _| label_selector(o, &["spec", "selector"]).into()),
];
