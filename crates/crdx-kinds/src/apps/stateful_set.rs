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
    use crdx_value::release::{FeatureGates, Release};

    #[test]
    fn a_field_is_kept_with_its_gate() {
        let set = json::read(br#"{"spec":{"updateStrategy":{"rollingUpdate":{"maxUnavailable":1}}}}"#).unwrap();
        let keeps = |release: Release| {
            let mut new = set.clone();
            STATEFUL_SET.features.drop_disabled(&mut new, None, release);
            new == set
        };
        let release = |minor: u16| Release::new(minor).unwrap();
        assert_eq!([34, 36, 37].map(release).map(keeps), [false, false, true]);
        let mut gates = FeatureGates::default();
        gates.set("MaxUnavailableStatefulSet", true);
        assert!(keeps(release(36).with_gates(&gates).unwrap()));
        assert!(!keeps(release(37).emulating(Minor(36)).unwrap()));
    }
}
