//! Status, generation and the fields that a write may not change (`PrepareForCreate` and `PrepareForUpdate` in
//! `pkg/registry/*/*/strategy.go`).

use super::copy::copy;
use super::{app_armor, disabled_fields, emptied, kind_fields, pod_parts, pod_resources, pods, volume_claims};
use crate::server::metadata;
use crate::server::registry::rest::set_generation;
use crate::server::strategy::built_in_kind::BuiltInKind;
use crate::server::strategy::built_in_kind::behaviour::{GenerationRule, InitialStatus};
use crate::server::strategy::subresource::Subresource;
use crdx_types::defaults::TEMPLATE_GENERATION;
use crdx_types::empties::Empties;
use crdx_value::release::{Release, V1_36};
use crdx_value::time::Timestamp;
use crdx_value::{Map, Value};

/// The request whose object is prepared.
#[derive(Clone, Copy)]
pub(super) struct Request<'r> {
    pub release: Release,
    pub now: Timestamp,
    /// The empty lists and maps of its object.
    pub empties: Option<&'r Empties>,
    /// True if fields other than the status and the generation are changed, as a server with generated fields does.
    pub changes_fields: bool,
}

/// Prepares a new object.
pub(super) fn create(kind: &BuiltInKind, new: &mut Value, request: Request<'_>) {
    let Request { release, now, changes_fields, .. } = request;
    let behaviour = kind.behaviour;
    if !keeps_status(kind, release)
        && behaviour.status != InitialStatus::Kept
        && let Some(members) = new.as_object_mut()
        && members.remove("status").is_some()
        && let Some(status) = kind.initial_status()
    {
        members.insert("status".to_owned(), status.clone());
    }
    // Other kinds keep the generation of the request.
    if release.since(behaviour.generation_since) && behaviour.generation != GenerationRule::OnlyUpdates {
        set_generation(new, 1);
    }
    if changes_fields {
        disabled_fields::drop_disabled(&kind.endpoint.kind, new, None, release);
        prepare_fields(&kind.endpoint.kind, new, None);
        if kind.endpoint.kind == "Pod" {
            pods::create(kind, new, (release, now));
        }
    }
    match kind.endpoint.kind.as_str() {
        "Pod" => app_armor::synchronize(new, release),
        "DaemonSet" => {
            let given = template_generation(new).and_then(|text| text.parse::<i64>().ok()).unwrap_or_default();
            set_template_generation(new, given.max(1));
        }
        "LimitRange" if metadata::text(new, "name").is_empty() => {
            // The server generates a name with the form of a UID.
            let name = metadata::text(new, "uid").to_owned();
            metadata::set_text(new, "name", &name);
        }
        _ => {}
    }
}

/// Prepares the fields that a single kind changes on creates and updates.
fn prepare_fields(kind: &str, new: &mut Value, old: Option<&Value>) {
    match kind {
        "EndpointSlice" => kind_fields::drop_topology(new, old),
        "PersistentVolumeClaim" => volume_claims::prepare(new, old),
        "PodDisruptionBudget" => kind_fields::drop_old_requirement(new, old),
        "ServiceAccount" => kind_fields::clean_secret_references(new),
        _ => {}
    }
}

/// Returns true if the status is written with the specification, as that of `ServiceCIDR`s is before 1.36.
fn keeps_status(kind: &BuiltInKind, release: Release) -> bool {
    kind.endpoint.kind == "ServiceCIDR" && !release.since(V1_36)
}

/// The annotation with the generation of a `DaemonSet`'s template.
fn template_generation(object: &Value) -> Option<&str> {
    metadata::get(object, "annotations")?.str_at(&[TEMPLATE_GENERATION])
}

/// Sets the generation of a `DaemonSet`'s template.
fn set_template_generation(object: &mut Value, generation: i64) {
    let annotations = metadata::get(object, "annotations").and_then(Value::as_object).cloned();
    let mut annotations = annotations.unwrap_or_default();
    annotations.insert(TEMPLATE_GENERATION.to_owned(), generation.to_string().into());
    metadata::set(object, "annotations", Some(Value::Object(annotations)));
}

/// The generation of the template of an existing `DaemonSet`.
fn old_template_generation(kind: &BuiltInKind, old: &Value) -> Option<i64> {
    let text = template_generation(old).filter(|_| kind.endpoint.kind == "DaemonSet")?;
    Some(text.parse().unwrap_or_default())
}

/// Prepares an update; the caller has set the generation to the old one.
pub(super) fn update(kind: &BuiltInKind, new: &mut Value, old: &Value, request: Request<'_>) {
    let Request { release, empties, changes_fields, .. } = request;
    if !keeps_status(kind, release) {
        copy(new, old, &["status"]);
    }
    // Their strategies compare the objects before they drop fields.
    let compares_first =
        matches!(kind.endpoint.kind.as_str(), "EndpointSlice" | "PodDisruptionBudget" | "ResourceSlice");
    if compares_first {
        count_generation(kind, new, old, release, false);
    }
    if changes_fields {
        update_fields(&kind.endpoint.kind, new, old, request);
    }
    // A Service that is no load balancer any more has no address of one.
    if kind.endpoint.kind == "Service"
        && new.str_at(&["spec", "type"]) != Some("LoadBalancer")
        && let Some(status) = new.get_mut("status").and_then(Value::as_object_mut)
    {
        status.insert("loadBalancer".to_owned(), Value::Object(Map::new()));
    }
    if let Some(before) = old_template_generation(kind, old) {
        let path = ["spec", "template"];
        let changed = i64::from(new.at(&path) != old.at(&path));
        set_template_generation(new, before.wrapping_add(changed));
    }
    if !compares_first {
        let is_emptied = empties.is_some_and(|empties| emptied::has_emptied(&kind.endpoint.kind, new, empties));
        count_generation(kind, new, old, release, is_emptied);
    }
}

/// Prepares a write of a part of a Pod; the caller has set the generation to the old one.
pub(super) fn update_part(
    kind: &BuiltInKind,
    new: &mut Value,
    old: &Value,
    (part, request): (Subresource, Request<'_>),
) {
    let release = request.release;
    if part == Subresource::Resize {
        pod_parts::keep_resources(new, old, release);
    } else {
        pod_parts::keep_ephemeral_containers(new, old, release);
    }
    if request.changes_fields {
        update_fields(&kind.endpoint.kind, new, old, request);
        if part == Subresource::Resize {
            pod_resources::prepare(new, release);
        }
    }
    count_generation(kind, new, old, release, false);
}

/// Prepares the fields of an update except its status and its generation.
fn update_fields(kind: &str, new: &mut Value, old: &Value, request: Request<'_>) {
    match kind {
        "DeviceTaintRule" => kind_fields::set_taint_time(new, old, request.now),
        "Pod" => pods::update(new, old, request.release),
        _ => {}
    }
    disabled_fields::drop_disabled(kind, new, Some(old), request.release);
    prepare_fields(kind, new, Some(old));
}

/// Increments the generation of an object that changes, or has empty lists that count as changes.
fn count_generation(kind: &BuiltInKind, new: &mut Value, old: &Value, release: Release, is_emptied: bool) {
    let counts =
        release.since(kind.behaviour.generation_since) && kind.behaviour.generation != GenerationRule::Constant;
    if counts && (is_emptied || is_changed(kind, new, old)) {
        set_generation(new, metadata::generation(old).wrapping_add(1));
    }
}

/// Returns true if anything except metadata changes, or the field of the metadata that counts.
fn is_changed(kind: &BuiltInKind, new: &Value, old: &Value) -> bool {
    let differs = |field| metadata::get(new, field) != metadata::get(old, field);
    !kind.is_same(new, old) || kind.behaviour.counted_metadata.is_some_and(differs)
}

/// Prepares a status update: restores what it does not write.
pub(super) fn update_status(kind: &BuiltInKind, new: &mut Value, old: &Value) {
    let managed = metadata::get(new, "managedFields").cloned();
    for path in kind.behaviour.status_keeps {
        copy(new, old, path);
    }
    let resets_metadata = kind.behaviour.status_keeps.contains(&&["metadata"][..]);
    if resets_metadata {
        metadata::set(new, "managedFields", managed);
    }
    // The annotation is a field of the specification in the stored form.
    if let Some(before) = old_template_generation(kind, old) {
        set_template_generation(new, before);
    }
    // Other top-level fields are part of the specification.
    let fields = old.as_object().into_iter().chain(new.as_object()).flat_map(Map::keys).cloned();
    for key in fields.collect::<Vec<_>>() {
        if !matches!(key.as_str(), "metadata" | "spec" | "status") {
            copy(new, old, &[&key]);
        }
    }
}

/// The grace period of a pod's deletion in seconds (`CheckGracefulDelete` in `pkg/registry/core/pod/strategy.go`).
pub(super) fn grace_period_of_pod(pod: &Value, requested: Option<i64>) -> i64 {
    let is_scheduled = pod.str_at(&["spec", "nodeName"]).is_some_and(|node| !node.is_empty());
    let is_terminated = matches!(pod.str_at(&["status", "phase"]), Some("Failed" | "Succeeded"));
    if !is_scheduled || is_terminated {
        return 0;
    }
    let own = || pod.at(&["spec", "terminationGracePeriodSeconds"]).and_then(Value::as_int).unwrap_or_default();
    let period = requested.unwrap_or_else(own);
    if period < 0 { 1 } else { period }
}
