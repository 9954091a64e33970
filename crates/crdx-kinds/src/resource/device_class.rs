//! `DeviceClass`es.

use crate::declared_kind::DeclaredKind;
use crate::features::{Feature, Features, feature};
use crdx_server::pipeline::metadata::NameRule;
use crdx_server::server::Behaviour;
use crdx_value::release::{Gate, V1_35};

/// The strategy.
pub(crate) static DEVICE_CLASS: DeclaredKind = DeclaredKind {
    behaviour: Behaviour {
        returns_deleted: true,
        name: NameRule::LongName,
        relaxes_prefix_since: V1_35,
        ..Behaviour::GENERATION
    },
    features: Features { fields: FEATURES, ..Features::NONE },
    ..DeclaredKind::MOST
};

const FEATURES: &[Feature] = &[feature(&[Gate::DRAExtendedResource], &[&["spec", "extendedResourceName"]])];
