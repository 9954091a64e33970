//! `CSINode`s.

use crate::declared_kind::DeclaredKind;
use crate::features::{Feature, Features, feature};
use crate::printer::{AGE, NAMED, column, list};
use crdx_server::server::behaviour::ALL_BUT_STATUS;
use crdx_server::server::{Behaviour, PrinterColumn};
use crdx_value::release::Gate;

/// The strategy.
pub(crate) static CSI_NODE: DeclaredKind = DeclaredKind {
    behaviour: Behaviour {
        returns_deleted: true,
        needs_revision: true,
        status_keeps: ALL_BUT_STATUS,
        ..Behaviour::MOST
    },
    columns: Some(COLUMNS),
    features: Features { status: STATUS_FEATURES, ..Features::NONE },
    ..DeclaredKind::MOST
};

const STATUS_FEATURES: &[Feature] = &[feature(&[Gate::CSIVolumeHealth], &[&["status", "storageHealth"]])];

static COLUMNS: &[PrinterColumn] = &[
    NAMED,
    column("Drivers", "Drivers indicates the number of CSI drivers registered on the node", |o, _| {
        (list(o, &["spec", "drivers"]).len() as i64).into()
    }),
    AGE,
];
