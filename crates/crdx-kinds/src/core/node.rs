//! Nodes.

use crate::declared_kind::DeclaredKind;
use crate::features::{Feature, Features, feature};
use crdx_server::server::{Behaviour, FieldLabel, InitialStatus};
use crdx_value::release::Gate;
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
    feature(&[], &[&["spec", "configSource"]]),
    feature(&[], &[&["status", "config"]]),
    Feature {
        used: &[],
        ..feature(&[Gate::RecursiveReadOnlyMounts, Gate::UserNamespacesSupport], &[&["status", "runtimeHandlers"]])
    },
    feature(&[Gate::SupplementalGroupsPolicy], &[&["status", "features"]]),
    feature(&[Gate::NodeDeclaredFeatures], &[&["status", "declaredFeatures"]]),
    feature(&[Gate::InPlacePodVerticalScalingSchedulerPreemption], &[&["spec", "podPreemptionPolicy"]]),
];

const STATUS_FEATURES: &[Feature] = &[feature(&[], &[&["status", "config"]])];
