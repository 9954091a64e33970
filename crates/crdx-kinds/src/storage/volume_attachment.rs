//! `VolumeAttachment`s.

use crate::declared_kind::DeclaredKind;
use crate::features::{Feature, Features, feature};
use crate::printer::{AGE, NAMED, column, text};
use crate::storage::flag;
use crdx_server::server::behaviour::ALL_BUT_STATUS;
use crdx_server::server::{Behaviour, PrinterColumn};
use crdx_value::release::Gate;

/// The strategy.
pub(crate) static VOLUME_ATTACHMENT: DeclaredKind = DeclaredKind {
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

const STATUS_FEATURES: &[Feature] = &[
    feature(&[Gate::MutableCSINodeAllocatableCount], &[&["status", "attachError", "errorCode"]]),
    feature(&[Gate::MutableCSINodeAllocatableCount], &[&["status", "detachError", "errorCode"]]),
];

static COLUMNS: &[PrinterColumn] = &[
    NAMED,
    column("Attacher", "", |o, _| text(o, &["spec", "attacher"]).into()),
    column("PV", "", |o, _| text(o, &["spec", "source", "persistentVolumeName"]).into()),
    column("Node", "", |o, _| text(o, &["spec", "nodeName"]).into()),
    column("Attached", "", |o, _| flag(o, &["status", "attached"], false)),
    AGE,
];
