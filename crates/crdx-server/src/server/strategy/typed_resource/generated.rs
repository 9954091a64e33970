//! Fields that the API server and its admission plugins add to new objects: `generateSelector` of Jobs, the quality of
//! service of Pods, and the plugins `DefaultTolerationSeconds`, `TaintNodesByCondition` and
//! `StorageObjectInUseProtection` (`plugin/pkg/admission`), which depend on the object alone.

use super::copy::copy;
use crate::server::metadata;
use crate::server::strategy::built_in_kind::BuiltInKind;
use crdx_builtin::quality_of_service;
use crdx_types::empties::Empties;
use crdx_value::release::Release;
use crdx_value::time::Timestamp;
use crdx_value::{Map, Value, object, time};

const NOT_READY: &str = "node.kubernetes.io/not-ready";
const UNREACHABLE: &str = "node.kubernetes.io/unreachable";
const NO_EXECUTE: &str = "NoExecute";
/// The labels of a Job's Pods with its name, and those with its UID.
const NAME_LABELS: [&str; 2] = ["batch.kubernetes.io/job-name", "job-name"];
const UID_LABELS: [&str; 2] = [CONTROLLER_UID, "controller-uid"];
const CONTROLLER_UID: &str = "batch.kubernetes.io/controller-uid";

/// Changes a new object as the admission plugins do; `empties` are its empty lists and maps.
pub(super) fn admit(kind: &BuiltInKind, object: &mut Value, empties: Option<&Empties>) {
    match kind.endpoint.kind.as_str() {
        "Pod" => {
            add_tolerations(object);
            restore_overhead(object, empties);
        }
        "Node" => add_taint(object),
        "PersistentVolume" => add_finalizer(object, "kubernetes.io/pv-protection"),
        "PersistentVolumeClaim" => add_finalizer(object, "kubernetes.io/pvc-protection"),
        "VolumeAttributesClass" => add_finalizer(object, "kubernetes.io/vac-protection"),
        _ => {}
    }
}

/// Completes a new object that has a name and a UID. A Job may share its labels with its template.
pub(super) fn create(
    kind: &BuiltInKind,
    object: &mut Value,
    (now, release): (Timestamp, Release),
    shares_labels: bool,
) {
    match kind.endpoint.kind.as_str() {
        "Pod" => {
            set_priority(object);
            object.insert_at(&["status", "qosClass"], quality_of_service::of(object, release).into());
        }
        "PersistentVolume" => {
            object.insert_at(&["status", "lastPhaseTransitionTime"], time::format(now).into());
        }
        "Job" if object.at(&["spec", "manualSelector"]) != Some(&Value::Bool(true)) => {
            generate_selector(object);
            if shares_labels {
                let labels = object.at(&["spec", "template", "metadata", "labels"]).cloned();
                metadata::set(object, "labels", labels);
            }
            // The labels of a Job without labels are those of its template.
            *object = kind.complete(object);
        }
        _ => {}
    }
}

/// Sets the defaults that are the current time (`SetDefaults_DeviceTaint`).
pub(super) fn default_times(kind: &BuiltInKind, object: &mut Value, now: Timestamp) {
    let set = |taint: &mut Value| {
        if taint.get("timeAdded").is_none() {
            taint.insert_at(&["timeAdded"], time::format(now).into());
        }
    };
    let at = |value: &mut Value, path: &[&str], act: &dyn Fn(&mut Value)| {
        let found = path.iter().try_fold(value, |value, key| value.get_mut(key));
        found.into_iter().for_each(act);
    };
    let each = |value: &mut Value, act: &dyn Fn(&mut Value)| {
        if let Value::Array(items) = value {
            items.iter_mut().for_each(act);
        }
    };
    match kind.endpoint.kind.as_str() {
        "DeviceTaintRule" => at(object, &["spec", "taint"], &set),
        "ResourceSlice" => at(object, &["spec", "devices"], &|devices| {
            each(devices, &|device| at(device, &["taints"], &|taints| each(taints, &set)));
        }),
        _ => {}
    }
}

/// Changes an update of a Pod as the admission plugins do, and keeps what they added to the existing Pod.
pub(super) fn update(kind: &BuiltInKind, object: &mut Value, old: &Value) {
    if kind.endpoint.kind != "Pod" {
        return;
    }
    add_tolerations(object);
    for path in [["spec", "priority"], ["spec", "preemptionPolicy"]] {
        if object.at(&path).is_none() {
            copy(object, old, &path);
        }
    }
}

/// The priority of a Pod without class, if the plugin `Priority` has set none, as for an existing Pod, which is stored
/// without admission.
fn set_priority(pod: &mut Value) {
    if pod.str_at(&["spec", "priorityClassName"]).is_some_and(|name| !name.is_empty()) {
        return;
    }
    let spec = [("priority", Value::Int(0)), ("preemptionPolicy", "PreemptLowerPriority".into())];
    for (field, value) in spec {
        if pod.at(&["spec", field]).is_none() {
            pod.insert_at(&["spec", field], value);
        }
    }
}

/// Restores an empty overhead, which the encoded form omits and which the plugin `RuntimeClass` refuses.
fn restore_overhead(pod: &mut Value, empties: Option<&Empties>) {
    let path = ["spec", "overhead"];
    let empty = path.into_iter().try_fold(empties, |empties, name| Some(empties?.child(name))).flatten();
    if empty.and_then(Empties::text).is_some() {
        pod.insert_at(&path, Value::Object(Map::new()));
    }
}

/// `DefaultTolerationSeconds`
fn add_tolerations(pod: &mut Value) {
    let path = ["spec", "tolerations"];
    for key in [NOT_READY, UNREACHABLE] {
        let matches = |toleration: &Value, field, text| {
            let found = toleration.str_at(&[field]).unwrap_or_default();
            found.is_empty() || found == text
        };
        let tolerates = |toleration| matches(toleration, "key", key) && matches(toleration, "effect", NO_EXECUTE);
        if !list(pod, &path).iter().any(tolerates) {
            let toleration = object([
                ("effect", Value::from(NO_EXECUTE)),
                ("key", key.into()),
                ("operator", "Exists".into()),
                ("tolerationSeconds", Value::Int(300)),
            ]);
            append(pod, &path, toleration);
        }
    }
}

/// `TaintNodesByCondition`
fn add_taint(node: &mut Value) {
    let path = ["spec", "taints"];
    let taint = object([("effect", "NoSchedule"), ("key", NOT_READY)]);
    let is_same =
        |other: &Value| ["key", "effect"].iter().all(|field| other.str_at(&[field]) == taint.str_at(&[field]));
    if !list(node, &path).iter().any(is_same) {
        append(node, &path, taint);
    }
}

/// `StorageObjectInUseProtection`
fn add_finalizer(object: &mut Value, finalizer: &str) {
    let path = ["metadata", "finalizers"];
    if !list(object, &path).iter().any(|other| other.as_str() == Some(finalizer)) {
        append(object, &path, finalizer.into());
    }
}

fn list<'o>(object: &'o Value, path: &[&str]) -> &'o [Value] {
    object.at(path).and_then(Value::as_array).unwrap_or_default()
}

fn append(object: &mut Value, path: &[&str], item: Value) {
    let mut items = list(object, path).to_vec();
    items.push(item);
    object.insert_at(path, items.into());
}

/// `generateSelector` in `pkg/registry/batch/job/strategy.go`
fn generate_selector(job: &mut Value) {
    let (name, uid) = (metadata::text(job, "name").to_owned(), metadata::text(job, "uid").to_owned());
    let names = NAME_LABELS.map(|label| (label, &name));
    let uids = UID_LABELS.map(|label| (label, &uid));
    let mut add = |path: &[&str], label: &str, value: &str| {
        let path = [path, &[label]].concat();
        if job.at(&path).is_none() {
            job.insert_at(&path, value.into());
        }
    };
    for (label, value) in names.into_iter().chain(uids) {
        add(&["spec", "template", "metadata", "labels"], label, value);
    }
    add(&["spec", "selector", "matchLabels"], CONTROLLER_UID, &uid);
}
