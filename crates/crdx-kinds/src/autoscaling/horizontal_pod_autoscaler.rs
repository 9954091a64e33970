//! `HorizontalPodAutoscaler`s.

use crate::declared_kind::DeclaredKind;
use crate::features::{Feature, Features, feature};
use conversion::{NewAutoscaler, OldAutoscaler};
use crdx_server::server::{Behaviour, Conversion, KindRequest, KindStrategy, PrinterColumn};
use crdx_value::Value;
use crdx_value::release::{Gate, Minor};
use printer::AUTOSCALERS;

mod conversion;
mod printer;

/// The strategy.
#[derive(Debug)]
pub(crate) struct HorizontalPodAutoscaler;

/// The facts about the kind.
static FACTS: DeclaredKind = DeclaredKind {
    behaviour: Behaviour {
        generation_gate: Some(Gate::HPAGeneration),
        relaxes_prefix_since: Minor::ALWAYS,
        ..Behaviour::GENERATION
    },
    columns: Some(AUTOSCALERS),
    features: Features { fields: FEATURES, ..Features::NONE },
    ..DeclaredKind::MOST
};

impl KindStrategy for HorizontalPodAutoscaler {
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

    fn conversion(&self, _: &str, is_newest: bool) -> Option<&'static dyn Conversion> {
        Some(if is_newest { &NewAutoscaler } else { &OldAutoscaler })
    }
}

const FEATURES: &[Feature] =
    &[feature(&[Gate::HPAConfigurableTolerance], &[&["spec", "behavior", "scaleDown|scaleUp", "tolerance"]])];
