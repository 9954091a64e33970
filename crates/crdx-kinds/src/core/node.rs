//! Nodes.

use crate::declared_kind::DeclaredKind;
use crate::features::{Feature, Features, feature};
use crdx_server::server::{Behaviour, FieldLabel, InitialStatus};
use crdx_value::release::{Minor, V1_31, V1_33, V1_36};
use printer::COLUMNS;

mod printer;

/// The strategy.
pub(crate) static NODE: DeclaredKind = DeclaredKind {
    behaviour: Behaviour {
        status: InitialStatus::Kept,
        fields: Some(&[FieldLabel {
            label: "spec.unschedulable",
            paths: &[&["spec", "unschedulable"]],
            absent: "false",
        }]),
        ..Behaviour::MOST
    },
    columns: Some(COLUMNS),
    features: Features { fields: FEATURES, status: STATUS_FEATURES, ..Features::NONE },
    ..DeclaredKind::MOST
};

const FEATURES: &[Feature] = &[
    feature(Minor::NEVER, &[&["spec", "configSource"]]),
    feature(Minor::NEVER, &[&["status", "config"]]),
    Feature { used: &[], ..feature(V1_31, &[&["status", "runtimeHandlers"]]) },
    feature(V1_33, &[&["status", "features"]]),
    feature(V1_36, &[&["status", "declaredFeatures"]]),
    feature(Minor::NEVER, &[&["spec", "podPreemptionPolicy"]]),
];

const STATUS_FEATURES: &[Feature] = &[feature(Minor::NEVER, &[&["status", "config"]])];
