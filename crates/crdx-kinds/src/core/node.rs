//! Nodes.

use crate::admission::{append, items};
use crate::declared_kind::DeclaredKind;
use crate::features::{Feature, Features, feature};
use crdx_server::server::{Behaviour, FieldLabel, InitialStatus, KindRequest, KindStrategy, PrinterColumn};
use crdx_types::empties::Empties;
use crdx_value::release::Gate;
use crdx_value::{Value, object};
use printer::COLUMNS;

mod printer;

/// The strategy.
#[derive(Debug)]
pub(crate) struct Node;

/// The facts about the kind.
static FACTS: DeclaredKind = DeclaredKind {
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

impl KindStrategy for Node {
    fn behaviour(&self) -> &Behaviour {
        &FACTS.behaviour
    }

    fn columns(&self) -> Option<&'static [PrinterColumn]> {
        FACTS.columns
    }

    fn prepare_create(&self, object: &mut Value, request: &KindRequest<'_>) {
        FACTS.prepare_create(object, request);
    }

    fn prepare_update(&self, object: &mut Value, old: &Value, request: &KindRequest<'_>) {
        FACTS.prepare_update(object, old, request);
    }

    fn prepare_status(&self, object: &mut Value, old: &Value, request: &KindRequest<'_>) {
        FACTS.prepare_status(object, old, request);
    }

    fn admit_create(&self, object: &mut Value, _: Option<&Empties>) {
        add_taint(object);
    }
}

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

const NOT_READY: &str = "node.kubernetes.io/not-ready";

/// `TaintNodesByCondition`
fn add_taint(node: &mut Value) {
    let path = ["spec", "taints"];
    let taint = object([("effect", "NoSchedule"), ("key", NOT_READY)]);
    let is_same =
        |other: &Value| ["key", "effect"].iter().all(|field| other.str_at(&[field]) == taint.str_at(&[field]));
    if !items(node, &path).iter().any(is_same) {
        append(node, &path, taint);
    }
}
