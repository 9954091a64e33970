//! The annotations of Pods and templates (`ValidatePodSpecificAnnotations`), and fields that must agree with them.

use super::{PodOptions, each_container};
use crate::validation::core::tolerations;
use crate::validation::field_value::{Errors, FieldValue};
use crate::validation::formats;
use crdx_text::json;
use crdx_value::Value;
use crdx_value::field::{FieldError, FieldPath, ROOT};
use crdx_value::quote::go_quote;

/// The annotation of the copy of a static Pod.
pub(crate) const MIRROR: &str = "kubernetes.io/config.mirror";
const TOLERATIONS: &str = "scheduler.alpha.kubernetes.io/tolerations";
const DELETION_COST: &str = "controller.kubernetes.io/pod-deletion-cost";
const SECCOMP_POD: &str = "seccomp.security.alpha.kubernetes.io/pod";
const SECCOMP_CONTAINER: &str = "container.seccomp.security.alpha.kubernetes.io/";
const APP_ARMOR: &str = "container.apparmor.security.beta.kubernetes.io/";
const LOCALHOST: &str = "localhost/";

/// Validates the annotations; `path` is that of the annotations.
pub fn validate(
    errors: &mut Errors,
    annotations: &FieldValue<'_, '_>,
    spec: &FieldValue<'_, '_>,
    options: &PodOptions,
) {
    let get = |key: &str| annotations.value.get(key).and_then(Value::as_str);
    if let Some(value) = get(MIRROR).filter(|_| spec.child("nodeName").text().is_empty()) {
        let detail = "must set spec.nodeName if mirror pod annotation is set";
        errors.invalid_value(&annotations.path.key(MIRROR), value, detail);
    }
    if let Some(text) = get(TOLERATIONS).filter(|text| !text.is_empty()) {
        // The text of an error of Go's JSON decoder is not simulated.
        if let Ok(list) = json::read(text.as_bytes()) {
            let path = annotations.path.child(TOLERATIONS);
            tolerations::validate(errors, &FieldValue::new(Some(&list), path));
        }
    }
    if !options.allows_invalid_deletion_cost && deletion_cost_of(annotations.value).is_err() {
        let value = get(DELETION_COST).unwrap_or_default();
        errors.invalid_value(&annotations.path.key(DELETION_COST), value, "must be a 32bit integer");
    }
    for (key, value) in annotations.entries() {
        if key == SECCOMP_POD || key.starts_with(SECCOMP_CONTAINER) {
            seccomp(errors, &FieldValue { path: annotations.path.child(key), ..value });
        } else if let Some(container) = key.strip_prefix(APP_ARMOR) {
            app_armor(errors, &value, container, spec);
        }
    }
}

/// The cost of deleting a Pod (`GetDeletionCostFromPodAnnotations`).
///
/// # Errors
/// Returns an error for an annotation that is no int32.
pub(crate) fn deletion_cost(metadata: Option<&Value>) -> Result<i32, InvalidCost> {
    deletion_cost_of(metadata.and_then(|metadata| metadata.get("annotations")).unwrap_or(&Value::Null))
}

/// The annotation is no int32.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the cost of deletion is no 32-bit integer")]
pub(crate) struct InvalidCost;

fn deletion_cost_of(annotations: &Value) -> Result<i32, InvalidCost> {
    let Some(text) = annotations.get(DELETION_COST).and_then(Value::as_str) else { return Ok(0) };
    let starts = text == "0" || text.starts_with(|c: char| matches!(c, '-' | '1'..='9'));
    text.parse().ok().filter(|_| starts).ok_or(InvalidCost)
}

/// `ValidateSeccompProfile`
fn seccomp(errors: &mut Errors, annotation: &FieldValue<'_, '_>) {
    match annotation.text() {
        "runtime/default" | "docker/default" | "unconfined" => {}
        text => match text.strip_prefix(LOCALHOST) {
            Some(profile) => {
                let profile = Value::from(profile);
                formats::relative_path(errors, &FieldValue::new(Some(&profile), annotation.path));
            }
            None => errors.invalid(annotation, "must be a valid seccomp profile"),
        },
    }
}

/// `ValidateAppArmorPodAnnotations`, for one annotation
fn app_armor(errors: &mut Errors, annotation: &FieldValue<'_, '_>, container: &str, spec: &FieldValue<'_, '_>) {
    let mut is_known = false;
    each_container(spec, |other| is_known |= other.child("name").text() == container);
    if !is_known {
        errors.invalid_value(&annotation.path, container, "container not found");
    }
    let profile = annotation.text();
    if !matches!(profile, "" | "runtime/default" | "unconfined") && !profile.starts_with(LOCALHOST) {
        errors.invalid(annotation, format!("invalid AppArmor profile name: {}", go_quote(profile)));
    }
}

/// `validateSeccompAnnotationsAndFields` and `validateAppArmorAnnotationsAndFieldsMatchOnCreate`
pub(crate) fn agree_with_fields(errors: &mut Errors, annotations: &Value, spec: &FieldValue<'_, '_>) {
    let get = |key: &str| annotations.get(key).and_then(Value::as_str);
    let pod_context = spec.child("securityContext");
    if let Some(annotation) = get(SECCOMP_POD) {
        compare(errors, annotation, &pod_context.child("seccompProfile"), None, "seccomp");
    }
    let pod_profile = pod_context.child("appArmorProfile");
    let is_windows = spec.value.str_at(&["os", "name"]) == Some("windows");
    each_container(spec, |container| {
        let (name, context) = (container.child("name").text(), container.child("securityContext"));
        if let Some(annotation) = get(&format!("{SECCOMP_CONTAINER}{name}")) {
            compare(errors, annotation, &context.child("seccompProfile"), None, "seccomp");
        }
        if let Some(annotation) = get(&format!("{APP_ARMOR}{name}")).filter(|_| !is_windows) {
            let own = context.child("appArmorProfile");
            let effective = if own.is_set() { None } else { Some(pod_profile.value) };
            compare(errors, annotation, &own, effective, "apparmor");
        }
    });
}

/// Reports an annotation that differs from the profile; `inherited` is the profile of the Pod, if it counts.
fn compare(errors: &mut Errors, annotation: &str, profile: &FieldValue<'_, '_>, inherited: Option<&Value>, kind: &str) {
    let effective = FieldValue::new(Some(inherited.unwrap_or(profile.value)), ROOT);
    if !effective.is_set() {
        return;
    }
    let localhost = effective.child("localhostProfile");
    let (is_type_equal, is_profile_equal) = match effective.child("type").text() {
        "Unconfined" => (annotation == "unconfined", true),
        "RuntimeDefault" => {
            (annotation == "runtime/default" || (kind == "seccomp" && annotation == "docker/default"), true)
        }
        "Localhost" => match annotation.strip_prefix(LOCALHOST) {
            Some(name) => (true, localhost.is_set() && localhost.text() == name),
            None => (false, true),
        },
        _ => return,
    };
    let mut forbid = |path: FieldPath<'_>, what: &str| {
        let detail = format!("{kind} {what} in annotation and field must match");
        errors.list.push(FieldError::forbidden(&path, detail));
    };
    if !is_type_equal {
        forbid(profile.path.child("type"), "type");
    } else if !is_profile_equal {
        forbid(profile.path.child("localhostProfile"), "profile");
    }
}

/// `ValidatePodSpecificAnnotationUpdates`
pub fn validate_update(errors: &mut Errors, new: &FieldValue<'_, '_>, old: &Value) {
    let is_fixed = |key: &str| {
        if key.starts_with(APP_ARMOR) {
            Some("AppArmor annotations")
        } else {
            (key == MIRROR).then_some("mirror pod annotation")
        }
    };
    let old_entries = FieldValue::new(Some(old), new.path);
    for (key, value) in old_entries.entries() {
        if let Some(what) = is_fixed(key).filter(|_| new.value.get(key) != Some(value.value)) {
            errors.forbidden(&value, &format!("may not remove or update {what}"));
        }
    }
    for (key, value) in new.entries() {
        if let Some(what) = is_fixed(key).filter(|_| old.get(key).is_none()) {
            errors.forbidden(&value, &format!("may not add {what}"));
        }
    }
}
