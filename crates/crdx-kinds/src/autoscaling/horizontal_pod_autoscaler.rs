//! `HorizontalPodAutoscaler`s.

use crate::declared_kind::DeclaredKind;
use crate::features::{Feature, Features, feature};
use conversion::{NewAutoscaler, OldAutoscaler};
use crdx_server::server::{Behaviour, Conversion, KindStrategy};
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
    fn facts(&self) -> Option<&dyn KindStrategy> {
        Some(&FACTS)
    }

    fn conversion(&self, _: &str, is_newest: bool) -> Option<&'static dyn Conversion> {
        Some(if is_newest { &NewAutoscaler } else { &OldAutoscaler })
    }
}

const FEATURES: &[Feature] =
    &[feature(&[Gate::HPAConfigurableTolerance], &[&["spec", "behavior", "scaleDown|scaleUp", "tolerance"]])];
