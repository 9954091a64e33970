//! `PersistentVolumeClaim`s.

use crate::core::persistent_volume::FEATURES;
use crate::declared_kind::DeclaredKind;
use crate::features::{Feature, Features, feature};
use crdx_server::server::{Behaviour, InitialStatus, KindRequest, KindStrategy};
use crdx_value::Value;
use crdx_value::release::Gate;
use printer::COLUMNS;

mod data_sources;
mod printer;

/// The strategy.
#[derive(Debug)]
pub(crate) struct PersistentVolumeClaim;

/// The facts about the kind.
static FACTS: DeclaredKind = DeclaredKind {
    behaviour: Behaviour { status: InitialStatus::Phase("Pending"), ..Behaviour::RETURNED },
    columns: Some(COLUMNS),
    features: Features { fields: FEATURES, status: STATUS_FEATURES, ..Features::NONE },
    ..DeclaredKind::MOST
};

impl KindStrategy for PersistentVolumeClaim {
    fn facts(&self) -> Option<&dyn KindStrategy> {
        Some(&FACTS)
    }

    fn prepare_create(&self, object: &mut Value, request: &KindRequest<'_>) {
        FACTS.prepare_create(object, request);
        if request.generates_fields {
            data_sources::prepare(object, None, request.release);
        }
    }

    fn prepare_update(&self, object: &mut Value, old: &Value, request: &KindRequest<'_>) {
        FACTS.prepare_update(object, old, request);
        if request.generates_fields {
            data_sources::prepare(object, Some(old), request.release);
        }
    }
}

const STATUS_FEATURES: &[Feature] = &[
    feature(&[Gate::RecoverVolumeExpansionFailure], &[&["status", "allocatedResources"]]),
    feature(&[Gate::RecoverVolumeExpansionFailure], &[&["status", "allocatedResourceStatuses"]]),
    feature(&[Gate::VolumeAttributesClass], &[&["status", "currentVolumeAttributesClassName"]]),
    feature(&[Gate::VolumeAttributesClass], &[&["status", "modifyVolumeStatus"]]),
    feature(&[Gate::CSIVolumeHealth], &[&["status", "healthStatus"]]),
];
