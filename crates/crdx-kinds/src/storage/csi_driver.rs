//! `CSIDriver`s.

use crate::declared_kind::DeclaredKind;
use crate::features::{Feature, Features, feature};
use crate::printer::{AGE, NAMED, column, list, or, text};
use crate::storage::flag;
use crdx_server::server::{Behaviour, GenerationRule, PrinterColumn};
use crdx_value::Value;
use crdx_value::release::{Gate, Minor};

/// The strategy.
pub(crate) static CSI_DRIVER: DeclaredKind = DeclaredKind {
    behaviour: Behaviour {
        returns_deleted: true,
        needs_revision: true,
        generation: GenerationRule::OnlyUpdates,
        relaxes_prefix_since: Minor::ALWAYS,
        ..Behaviour::GENERATION
    },
    columns: Some(COLUMNS),
    features: Features { fields: FEATURES, ..Features::NONE },
    ..DeclaredKind::MOST
};

const FEATURES: &[Feature] = &[
    feature(&[Gate::MutableCSINodeAllocatableCount], &[&["spec", "nodeAllocatableUpdatePeriodSeconds"]]),
    feature(&[Gate::CSIServiceAccountTokenSecrets], &[&["spec", "serviceAccountTokenInSecrets"]]),
    feature(&[Gate::VolumeLimitScaling], &[&["spec", "preventPodSchedulingIfMissing"]]),
];

static COLUMNS: &[PrinterColumn] = &[
    NAMED,
    column("AttachRequired", "", |o, _| flag(o, &["spec", "attachRequired"], true)),
    column("PodInfoOnMount", "", |o, _| flag(o, &["spec", "podInfoOnMount"], false)),
    column("StorageCapacity", "", |o, _| flag(o, &["spec", "storageCapacity"], false)),
    column("TokenRequests", "", |o, _| match o.at(&["spec", "tokenRequests"]).and_then(Value::as_array) {
        Some(requests) => {
            requests.iter().map(|request| text(request, &["audience"])).collect::<Vec<_>>().join(",").into()
        }
        None => "<unset>".into(),
    }),
    column("RequiresRepublish", "", |o, _| flag(o, &["spec", "requiresRepublish"], false)),
    column("Modes", "", |o, _| {
        let modes = list(o, &["spec", "volumeLifecycleModes"]).iter().filter_map(Value::as_str);
        or(&modes.collect::<Vec<_>>().join(","), "<none>").into()
    }),
    AGE,
];
