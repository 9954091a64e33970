//! The columns of `PersistentVolumeClaim`s.

use crate::core::persistent_volume::{access_modes, attributes_class, class, phase, quantity, volume_mode};
use crate::printer::{AGE, NAMED, column, text, wide};
use crdx_server::server::PrinterColumn;
use crdx_value::Value;

pub(super) static COLUMNS: &[PrinterColumn] = &[
    NAMED,
    column("Status", "", |o, _| phase(o).into()),
    column("Volume", "", |o, _| text(o, &["spec", "volumeName"]).into()),
    column("Capacity", "", |o, _| {
        if is_bound(o) { quantity(o, &["status", "capacity", "storage"]) } else { "" }.into()
    }),
    column("Access Modes", "", |o, _| {
        if is_bound(o) { access_modes(o, &["status", "accessModes"]).into() } else { "".into() }
    }),
    column("StorageClass", "StorageClass of the pvc", |o, _| class(o).into()),
    column("VolumeAttributesClass", "VolumeAttributesClass of the pvc", |o, _| attributes_class(o).into()),
    AGE,
    wide("VolumeMode", "", |o, _| volume_mode(o).into()),
];

fn is_bound(claim: &Value) -> bool {
    !text(claim, &["spec", "volumeName"]).is_empty()
}
