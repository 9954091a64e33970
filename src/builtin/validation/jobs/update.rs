//! Updates of Jobs (`ValidateJobSpecUpdate`).

use crate::builtin::validation::field_value::{Errors, FieldValue};
use crate::builtin::validation::immutable;
use crate::release::{V1_31, V1_32, V1_36};
use crate::value::Value;

/// Reports changes of fields that are immutable; `old` is the existing Job.
pub fn validate(errors: &mut Errors, spec: &FieldValue<'_, '_>, old_spec: &FieldValue<'_, '_>, old: &Value) {
    completions(errors, spec, old_spec);
    immutable::field(errors, &spec.child("selector"), &old_spec.child("selector"));
    template(errors, spec, old_spec, old);
    let release = errors.release;
    for (name, is_known) in [
        ("completionMode", true),
        ("podFailurePolicy", true),
        ("backoffLimitPerIndex", true),
        ("managedBy", release.since(V1_32)),
        ("successPolicy", release.since(V1_31)),
    ] {
        if is_known {
            immutable::field(errors, &spec.child(name), &old_spec.child(name));
        }
    }
}

/// `validateCompletions`
fn completions(errors: &mut Errors, spec: &FieldValue<'_, '_>, old: &FieldValue<'_, '_>) {
    let (new, old) = (spec.child("completions"), old.child("completions"));
    if spec.child("completionMode").text() != "Indexed" {
        return immutable::field(errors, &new, &old);
    }
    let changes = new.is_set() && new.value != old.value;
    if changes && new.value != spec.child("parallelism").value {
        errors.invalid(&new, "can only be modified in tandem with spec.parallelism");
    }
}

/// `validatePodTemplateUpdate`. A suspended Job that has not started may change how its Pods are scheduled.
fn template(errors: &mut Errors, spec: &FieldValue<'_, '_>, old_spec: &FieldValue<'_, '_>, old: &Value) {
    let is_suspended = old_spec.child("suspend").bool();
    let has_started = old.at(&["status", "startTime"]).is_some_and(|time| !time.is_null());
    let conditions = old.at(&["status", "conditions"]).and_then(Value::as_array).unwrap_or_default();
    let has_condition = conditions.iter().any(|condition| {
        condition.str_at(&["type"]) == Some("Suspended") && condition.str_at(&["status"]) == Some("True")
    });
    let is_active = old.at(&["status", "active"]).and_then(Value::as_int).unwrap_or_default() != 0;
    let is_mutable = is_suspended && (!has_started || has_condition) && !is_active;
    let changes_scheduling = if errors.release.since(V1_36) { is_mutable } else { is_suspended && !has_started };
    let (new, old) = (spec.child("template"), old_spec.child("template"));
    let mut old = old.value.clone();
    if changes_scheduling {
        copy_scheduling(new.value, &mut old);
    }
    if !errors.release.since(V1_36) || !is_mutable {
        immutable::field(errors, &new, &FieldValue { value: &old, ..new });
        return;
    }
    copy_resources(new.value, &mut old);
    // The server reports this field in one segment.
    let pod = FieldValue { path: spec.path.child("template.spec"), ..new.child("spec") };
    let old = FieldValue::new(old.get("spec"), pod.path);
    immutable::field(errors, &pod, &old);
}

fn copy_scheduling(new: &Value, old: &mut Value) {
    for path in [
        &["spec", "affinity", "nodeAffinity"][..],
        &["spec", "nodeSelector"],
        &["spec", "tolerations"],
        &["metadata", "annotations"],
        &["metadata", "labels"],
        &["spec", "schedulingGates"],
    ] {
        copy(new, old, path);
    }
}

fn copy_resources(new: &Value, old: &mut Value) {
    for list in ["containers", "initContainers"] {
        let containers = new.at(&["spec", list]).and_then(Value::as_array).unwrap_or_default();
        let Some(Value::Array(old_containers)) = old.get_mut("spec").and_then(|spec| spec.get_mut(list)) else {
            continue;
        };
        if containers.len() != old_containers.len() {
            continue;
        }
        for (new, old) in containers.iter().zip(old_containers) {
            if new.get("name") == old.get("name") {
                copy(new, old, &["resources"]);
            }
        }
    }
}

/// Copies the value at a path, or its absence.
pub fn copy(new: &Value, old: &mut Value, path: &[&str]) {
    let Some((last, parents)) = path.split_last() else { return };
    if let Some(value) = new.at(path) {
        old.insert_at(path, value.clone());
    } else {
        let parent = parents.iter().try_fold(old, |value, key| value.get_mut(key));
        if let Some(members) = parent.and_then(Value::as_object_mut) {
            members.remove(*last);
        }
    }
}
