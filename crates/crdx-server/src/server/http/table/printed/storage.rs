//! The columns of storage objects.

use super::{AGE, NAMED, Printed, column, list, text, wide};
use crdx_value::Value;

const CLASS_ANNOTATION: &str = "volume.beta.kubernetes.io/storage-class";

pub(super) static VOLUMES: &[Printed] = &[
    NAMED,
    column("Capacity", "", |o, _| quantity(o, &["spec", "capacity", "storage"]).into()),
    column("Access Modes", "", |o, _| access_modes(o, &["spec", "accessModes"]).into()),
    column("Reclaim Policy", "", |o, _| text(o, &["spec", "persistentVolumeReclaimPolicy"]).into()),
    column("Status", "", |o, _| phase(o).into()),
    column("Claim", "", |o, _| match o.at(&["spec", "claimRef"]) {
        Some(claim) => format!("{}/{}", text(claim, &["namespace"]), text(claim, &["name"])).into(),
        None => "".into(),
    }),
    column("StorageClass", "StorageClass of the pv", |o, _| class(o).into()),
    column("VolumeAttributesClass", "VolumeAttributesClass of the pv", |o, _| attributes_class(o).into()),
    column("Reason", "", |o, _| text(o, &["status", "reason"]).into()),
    AGE,
    wide("VolumeMode", "", |o, _| volume_mode(o).into()),
];

pub(super) static CLAIMS: &[Printed] = &[
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

pub(super) static CSI_NODES: &[Printed] = &[
    NAMED,
    column("Drivers", "Drivers indicates the number of CSI drivers registered on the node", |o, _| {
        (list(o, &["spec", "drivers"]).len() as i64).into()
    }),
    AGE,
];

pub(super) static VOLUME_ATTACHMENTS: &[Printed] = &[
    NAMED,
    column("Attacher", "", |o, _| text(o, &["spec", "attacher"]).into()),
    column("PV", "", |o, _| text(o, &["spec", "source", "persistentVolumeName"]).into()),
    column("Node", "", |o, _| text(o, &["spec", "nodeName"]).into()),
    column("Attached", "", |o, _| flag(o, &["status", "attached"], false)),
    AGE,
];

pub(super) static CSI_DRIVERS: &[Printed] = &[
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
        super::or(&modes.collect::<Vec<_>>().join(","), "<none>").into()
    }),
    AGE,
];

fn flag(object: &Value, path: &[&str], otherwise: bool) -> Value {
    object.at(path).and_then(Value::as_bool).unwrap_or(otherwise).into()
}

fn is_bound(claim: &Value) -> bool {
    !text(claim, &["spec", "volumeName"]).is_empty()
}

fn phase(object: &Value) -> &str {
    if object.at(&["metadata", "deletionTimestamp"]).is_some() {
        "Terminating"
    } else {
        text(object, &["status", "phase"])
    }
}

fn class(object: &Value) -> &str {
    let annotated = object.str_at(&["metadata", "annotations", CLASS_ANNOTATION]);
    annotated.unwrap_or_else(|| text(object, &["spec", "storageClassName"]))
}

fn attributes_class(object: &Value) -> &str {
    object.str_at(&["spec", "volumeAttributesClassName"]).unwrap_or("<unset>")
}

fn volume_mode(object: &Value) -> &str {
    object.str_at(&["spec", "volumeMode"]).unwrap_or("<unset>")
}

fn quantity<'v>(object: &'v Value, path: &[&str]) -> &'v str {
    object.str_at(path).unwrap_or("0")
}

/// `GetAccessModesAsString`
fn access_modes(object: &Value, path: &[&str]) -> String {
    const SHORT: [(&str, &str); 4] =
        [("ReadWriteOnce", "RWO"), ("ReadOnlyMany", "ROX"), ("ReadWriteMany", "RWX"), ("ReadWriteOncePod", "RWOP")];
    let modes = list(object, path);
    let has = |name: &str| modes.iter().any(|mode| mode.as_str() == Some(name));
    SHORT.into_iter().filter(|(name, _)| has(name)).map(|(_, short)| short).collect::<Vec<_>>().join(",")
}
