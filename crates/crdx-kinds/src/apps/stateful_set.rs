//! `StatefulSet`s.

use crate::declared_kind::DeclaredKind;
use crate::features::{Feature, Features, feature};
use crate::printer::{AGE, CONTAINERS, IMAGES, NAMED, READY_OF_REPLICAS};
use crdx_server::pipeline::metadata::NameRule;
use crdx_server::server::{Behaviour, PrinterColumn};
use crdx_value::release::{Gate, Minor};

/// The strategy.
pub(crate) static STATEFUL_SET: DeclaredKind = DeclaredKind {
    behaviour: Behaviour { name: NameRule::Label, relaxes_prefix_since: Minor::ALWAYS, ..Behaviour::GENERATION },
    columns: Some(COLUMNS),
    features: Features { template: Some(&["spec", "template"]), fields: FEATURES, ..Features::NONE },
    ..DeclaredKind::MOST
};

const FEATURES: &[Feature] =
    &[feature(&[Gate::MaxUnavailableStatefulSet], &[&["spec", "updateStrategy", "rollingUpdate", "maxUnavailable"]])];

static COLUMNS: &[PrinterColumn] = &[NAMED, READY_OF_REPLICAS, AGE, CONTAINERS, IMAGES];

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::json;

    #[test]
    fn a_gate_may_be_disabled_again() {
        let set = json::read(br#"{"spec":{"updateStrategy":{"rollingUpdate":{"maxUnavailable":1}}}}"#).unwrap();
        for (release, keeps) in [("1.34", false), ("1.35", true), ("1.36", false), ("1.37", true)] {
            let mut new = set.clone();
            STATEFUL_SET.features.drop_disabled(&mut new, None, release.parse().unwrap());
            assert_eq!(new == set, keeps, "{release}");
        }
    }
}
