//! `PersistentVolume`s.

use crate::declared_kind::DeclaredKind;
use crate::features::{Feature, Features, feature};
use crate::printer::{AGE, NAMED, column, list, text, wide};
use crdx_server::server::{Behaviour, InitialStatus, KindRequest, KindStrategy, PrinterColumn};
use crdx_value::Value;
use crdx_value::release::Gate;
use crdx_value::time;
use crdx_value::time::Timestamp;

/// The strategy.
#[derive(Debug)]
pub(crate) struct PersistentVolume;

/// The facts about the kind.
static FACTS: DeclaredKind = DeclaredKind {
    behaviour: Behaviour { status: InitialStatus::Phase("Pending"), ..Behaviour::RETURNED },
    columns: Some(COLUMNS),
    features: Features { fields: FEATURES, ..Features::NONE },
    ..DeclaredKind::MOST
};

impl KindStrategy for PersistentVolume {
    fn facts(&self) -> Option<&dyn KindStrategy> {
        Some(&FACTS)
    }

    fn prepare_create(&self, object: &mut Value, request: &KindRequest<'_>) {
        FACTS.prepare_create(object, request);
        if request.generates_fields {
            object.insert_at(&["status", "lastPhaseTransitionTime"], time::format(request.now).into());
        }
    }

    fn prepare_status(&self, object: &mut Value, old: &Value, request: &KindRequest<'_>) {
        set_phase_time(object, old, request.now);
        FACTS.prepare_status(object, old, request);
    }
}

/// The features of volumes and claims.
pub(crate) const FEATURES: &[Feature] =
    &[feature(&[Gate::VolumeAttributesClass], &[&["spec", "volumeAttributesClassName"]])];

/// Sets the time of the last change of a volume's phase, unless the client does.
fn set_phase_time(new: &mut Value, old: &Value, now: Timestamp) {
    let (phase, time) = (["status", "phase"], ["status", "lastPhaseTransitionTime"]);
    let is_given = new.at(&time).is_some_and(|time| !time.is_null());
    let changes = new.str_at(&phase).unwrap_or_default() != old.str_at(&phase).unwrap_or_default();
    if !changes && !is_given {
        new.copy_at(old, &time);
    } else if changes
        && (!is_given || new.at(&time) == old.at(&time))
        && let Some(status) = new.get_mut("status").and_then(Value::as_object_mut)
    {
        status.insert("lastPhaseTransitionTime".to_owned(), time::format(now).into());
    }
}

static COLUMNS: &[PrinterColumn] = &[
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

pub(crate) fn phase(object: &Value) -> &str {
    if object.at(&["metadata", "deletionTimestamp"]).is_some() {
        "Terminating"
    } else {
        text(object, &["status", "phase"])
    }
}

pub(crate) fn class(object: &Value) -> &str {
    let annotated = object.str_at(&["metadata", "annotations", CLASS_ANNOTATION]);
    annotated.unwrap_or_else(|| text(object, &["spec", "storageClassName"]))
}

pub(crate) fn attributes_class(object: &Value) -> &str {
    object.str_at(&["spec", "volumeAttributesClassName"]).unwrap_or("<unset>")
}

pub(crate) fn volume_mode(object: &Value) -> &str {
    object.str_at(&["spec", "volumeMode"]).unwrap_or("<unset>")
}

pub(crate) fn quantity<'v>(object: &'v Value, path: &[&str]) -> &'v str {
    object.str_at(path).unwrap_or("0")
}

/// `GetAccessModesAsString`
pub(crate) fn access_modes(object: &Value, path: &[&str]) -> String {
    const SHORT: [(&str, &str); 4] =
        [("ReadWriteOnce", "RWO"), ("ReadOnlyMany", "ROX"), ("ReadWriteMany", "RWX"), ("ReadWriteOncePod", "RWOP")];
    let modes = list(object, path);
    let has = |name: &str| modes.iter().any(|mode| mode.as_str() == Some(name));
    SHORT.into_iter().filter(|(name, _)| has(name)).map(|(_, short)| short).collect::<Vec<_>>().join(",")
}

const CLASS_ANNOTATION: &str = "volume.beta.kubernetes.io/storage-class";

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::json;

    fn read(text: &str) -> Value {
        json::read(text.as_bytes()).unwrap()
    }

    #[test]
    fn a_new_phase_has_the_time_of_the_request() {
        let phase = |phase: &str, time: &str| read(&format!(r#"{{"status":{{"phase":"{phase}"{time}}}}}"#));
        let before = r#","lastPhaseTransitionTime":"2026-01-02T03:04:05Z""#;
        let mut new = phase("Bound", "");
        set_phase_time(&mut new, &phase("Bound", before), Timestamp::default());
        assert_eq!(new, phase("Bound", before));
        set_phase_time(&mut new, &phase("Pending", before), Timestamp::default());
        assert_ne!(new, phase("Bound", before));
    }
}
