//! Nodes.

use crate::admission::{append, items};
use crate::declared_kind::DeclaredKind;
use crate::features::{Feature, Features, feature};
use crdx_server::server::{Behaviour, FieldLabel, InitialStatus, KindStrategy};
use crdx_types::empties::Empties;
use crdx_value::release::{Minor, V1_31, V1_33, V1_36};
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
    fn facts(&self) -> Option<&dyn KindStrategy> {
        Some(&FACTS)
    }

    fn admit_create(&self, object: &mut Value, _: Option<&Empties>) {
        add_taint(object);
    }
}

const FEATURES: &[Feature] = &[
    feature(Minor::NEVER, &[&["spec", "configSource"]]),
    feature(Minor::NEVER, &[&["status", "config"]]),
    Feature { used: &[], ..feature(V1_31, &[&["status", "runtimeHandlers"]]) },
    feature(V1_33, &[&["status", "features"]]),
    feature(V1_36, &[&["status", "declaredFeatures"]]),
    feature(Minor::NEVER, &[&["spec", "podPreemptionPolicy"]]),
];

const STATUS_FEATURES: &[Feature] = &[feature(Minor::NEVER, &[&["status", "config"]])];

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
