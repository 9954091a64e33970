//! Pods (`ValidatePodCreate` and `ValidatePodUpdate`).

mod ephemeral_containers;
mod gated;
mod resize;

use crate::quality_of_service;
use crate::validation::core::pod_spec;
use crate::validation::core::pod_spec::{PodOptions, PodSpecOwner, annotations as pod_annotations, containers};
use crate::validation::core::tolerations;
use crate::validation::field_value::{Errors, FieldValue, range};
use crate::validation::{difference, internal};
use crdx_types::empties::Empties;
use crdx_value::field::{ErrorList, FieldError, FieldPath, ROOT};
use crdx_value::release::{Release, V1_32, V1_37, V1_38};
use crdx_value::{Value, json};
use std::collections::HashSet;

/// The fields that an update may change, as the server lists them.
const MUTABLE: &str = "`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";
/// The other fields, which the message names since 1.38.
const MUTABLE_WITH_GATES: &str = ",`spec.schedulingGates` (only deletions of existing scheduling gates),`spec.nodeSelector` (only additions, and only while the pod has scheduling gates),`spec.affinity.nodeAffinity` (only while the pod has scheduling gates)";

/// Validates a Pod that a request changed only in its ephemeral containers. `empties` are those of the whole request.
pub fn validate_ephemeral_containers(
    object: &Value,
    empties: Option<&Empties>,
    old: &Value,
    release: Release,
) -> ErrorList {
    validate_part(&[&["spec", "ephemeralContainers"]], object, empties, release, |errors, object| {
        ephemeral_containers::validate(errors, object, old);
    })
}

/// Validates a Pod that a request changed only in its resources and the resize policies of its containers. `empties` are
/// those of the whole request.
pub fn validate_resize(object: &Value, empties: Option<&Empties>, old: &Value, release: Release) -> ErrorList {
    validate_part(resize::PATHS, object, empties, release, |errors, object| resize::validate(errors, object, old))
}

/// Validates the annotations of a Pod to which a `Binding` added some; `old` are those before.
pub fn validate_bound_annotations(pod: &Value, old: &Value, release: Release) -> ErrorList {
    let mut errors = Errors::new(release);
    let pod = FieldValue::new(Some(pod), ROOT);
    let metadata = pod.child("metadata");
    let annotations = metadata.child("annotations");
    pod_annotations::validate_update(&mut errors, &annotations, old);
    pod_annotations::validate(&mut errors, &annotations, &pod.child("spec"), &PodOptions::default());
    errors.list.finish()
}

fn validate_part(
    paths: &[&[&str]],
    object: &Value,
    empties: Option<&Empties>,
    release: Release,
    validate: impl FnOnce(&mut Errors, &FieldValue<'_, '_>),
) -> ErrorList {
    let mut errors = Errors::new(release);
    let empties = empties.map(|empties| empties.only(paths));
    validate(&mut errors, &FieldValue::with_empties(Some(object), ROOT, empties.as_ref()));
    errors.list.finish()
}

/// Validates a Pod.
pub fn validate(errors: &mut Errors, object: &FieldValue<'_, '_>, old: Option<&Value>) {
    let (metadata, spec) = (object.child("metadata"), object.child("spec"));
    metadata_and_spec(errors, object, &options(old, errors.release));
    match old {
        None => create(errors, &metadata, &spec),
        Some(old) => update(errors, object, old),
    }
}

fn options(old: Option<&Value>, release: Release) -> PodOptions {
    let part = |name| old.and_then(|old| old.get(name));
    PodOptions::for_update(PodSpecOwner::Pod, part("spec"), part("metadata"), release)
}

/// Returns true for the copy of a static Pod, which its node manages.
fn is_mirror(pod: &Value) -> bool {
    pod.at(&["metadata", "annotations", pod_annotations::MIRROR]).is_some()
}

/// Forbids the whole object (`field.NewPath("")`).
fn forbid_whole(errors: &mut Errors, reason: &str) {
    errors.list.push(FieldError::forbidden(&FieldPath::new(""), reason));
}

/// Like [`forbid_whole`], instead of all errors so far.
fn only(errors: &mut Errors, reason: &str) {
    errors.list.clear();
    forbid_whole(errors, reason);
}

/// `validatePodMetadataAndSpec`
fn metadata_and_spec(errors: &mut Errors, object: &FieldValue<'_, '_>, options: &PodOptions) {
    let (metadata, spec) = (object.child("metadata"), object.child("spec"));
    pod_annotations::validate(errors, &metadata.child("annotations"), &spec, options);
    pod_spec::validate(errors, &spec, Some(metadata.value), options);
    if spec.child("serviceAccountName").text().is_empty() {
        for volume in spec.child("volumes").items() {
            let projected = volume.child("projected");
            for source in projected.child("sources").items() {
                let detail = "must not be specified when serviceAccountName is not set";
                errors.forbid_if_set(&source.child("serviceAccountToken"), detail);
            }
        }
    }
    if errors.release.since(V1_37) {
        errors.nonnegative(&spec.child("terminationGracePeriodSeconds"));
    }
    for list in ["containers", "initContainers"] {
        for container in spec.child(list).items() {
            containers::image_without_spaces(errors, &container);
        }
    }
}

fn create(errors: &mut Errors, metadata: &FieldValue<'_, '_>, spec: &FieldValue<'_, '_>) {
    let (ephemeral, node) = (spec.child("ephemeralContainers"), spec.child("nodeName"));
    if ephemeral.len() > 0 {
        errors.forbidden(&ephemeral, "cannot be set on create");
    }
    if !node.text().is_empty() && spec.child("schedulingGates").len() > 0 {
        errors.forbidden(&node, "cannot be set until all schedulingGates have been cleared");
    }
    pod_annotations::agree_with_fields(errors, metadata.child("annotations").value, spec);
}

fn update(errors: &mut Errors, object: &FieldValue<'_, '_>, old: &Value) {
    let (metadata, spec) = (&object.child("metadata"), &object.child("spec"));
    let old_annotations = old.at(&["metadata", "annotations"]).unwrap_or(&Value::Null);
    pod_annotations::validate_update(errors, &metadata.child("annotations"), old_annotations);
    let old_spec = FieldValue::new(old.get("spec"), ROOT);
    for list in ["containers", "initContainers"] {
        if !containers::validate_update(errors, &spec.child(list), &old_spec.child(list)) {
            return;
        }
    }
    if !deadline(errors, &spec.child("activeDeadlineSeconds"), old_spec.child("activeDeadlineSeconds").int()) {
        return;
    }
    only_added_tolerations(errors, &spec.child("tolerations"), &old_spec.child("tolerations"));
    only_deleted_gates(errors, &spec.child("schedulingGates"), &old_spec.child("schedulingGates"));
    // Since 1.32, only writes of the status compare the class.
    if !errors.release.since(V1_32) {
        quality_of_service_is_same(errors, object, old);
    }
    let mut merged = with_mutable_fields(spec.value, old_spec.value);
    if old_spec.child("schedulingGates").len() > 0 {
        gated::validate(errors, spec, &old_spec, &mut merged);
    }
    if !internal::is_equal("core.PodSpec", &merged, old_spec.value, errors.release) {
        // The server copies these lists, so that they are nil if they are empty.
        let mut empties = spec.empties.cloned().unwrap_or_default();
        for list in ["containers", "initContainers", "schedulingGates", "tolerations"] {
            empties.clear(&[list]);
        }
        pod_spec::clear_volumes(&mut empties, &[], errors.release);
        let merged = FieldValue::with_empties(Some(&merged), ROOT, Some(&empties));
        let difference = difference::of("core.PodSpec", &old_spec, &merged, errors.release);
        let gated = if errors.release.since(V1_38) { MUTABLE_WITH_GATES } else { "" };
        errors.forbidden(spec, &format!("pod updates may not change fields other than {MUTABLE}{gated}\n{difference}"));
    }
}

/// Reports resources of another class than that of the existing Pod.
fn quality_of_service_is_same(errors: &mut Errors, object: &FieldValue<'_, '_>, old: &Value) {
    let release = errors.release;
    let class = old.str_at(&["status", "qosClass"]).filter(|class| !class.is_empty());
    if class.unwrap_or_else(|| quality_of_service::of(old, release)) != quality_of_service::of(object.value, release) {
        let shown = object.value.str_at(&["status", "qosClass"]).unwrap_or_default();
        errors.invalid_value(&object.child("metadata").path, shown, "Pod QoS is immutable");
    }
}

/// Validates a change of the deadline. Returns false if the validation ends here.
fn deadline(errors: &mut Errors, new: &FieldValue<'_, '_>, old: Option<i64>) -> bool {
    let max = i64::from(i32::MAX);
    match (new.int(), old) {
        (Some(seconds), _) if !(0..=max).contains(&seconds) => errors.invalid(new, range(0, max)),
        (Some(seconds), Some(old)) if old < seconds => {
            errors.invalid(new, "must be less than or equal to previous value");
        }
        (None, Some(_)) => {
            errors.invalid(new, "must not update from a positive integer to nil value");
            return true;
        }
        _ => return true,
    }
    false
}

/// `validateOnlyAddedTolerations`
fn only_added_tolerations(errors: &mut Errors, new: &FieldValue<'_, '_>, old: &FieldValue<'_, '_>) {
    let without_seconds = |toleration: &Value| {
        let mut toleration = toleration.clone();
        if let Some(members) = toleration.as_object_mut() {
            members.remove("tolerationSeconds");
        }
        json::to_string(&toleration)
    };
    let known: HashSet<String> = new.items().map(|toleration| without_seconds(toleration.value)).collect();
    if old.items().any(|toleration| !known.contains(&without_seconds(toleration.value))) {
        return errors.forbidden(new, "existing toleration can not be modified except its tolerationSeconds");
    }
    tolerations::validate(errors, new);
}

/// `validateOnlyDeletedSchedulingGates`
fn only_deleted_gates(errors: &mut Errors, new: &FieldValue<'_, '_>, old: &FieldValue<'_, '_>) {
    let known: HashSet<&str> = old.items().map(|gate| gate.child("name").text()).collect();
    for gate in new.items() {
        let name = gate.child("name");
        if !known.contains(name.text()) {
            let detail = format!("only deletion is allowed, but found new scheduling gate '{}'", name.text());
            errors.forbidden(&name, &detail);
        }
    }
}

/// The new specification, with the fields that an update may change as in the existing one.
fn with_mutable_fields(new: &Value, old: &Value) -> Value {
    let mut merged = new.clone();
    for list in ["containers", "initContainers"] {
        let images: Vec<Option<Value>> = old
            .get(list)
            .and_then(Value::as_array)
            .unwrap_or_default()
            .iter()
            .map(|c| c.get("image").cloned())
            .collect();
        if let Some(Value::Array(containers)) = merged.get_mut(list) {
            for (container, image) in containers.iter_mut().zip(images) {
                set(container, "image", image);
            }
        }
    }
    for field in ["activeDeadlineSeconds", "schedulingGates", "tolerations"] {
        set(&mut merged, field, old.get(field).cloned());
    }
    let period = |spec: &Value| spec.get("terminationGracePeriodSeconds").and_then(Value::as_int);
    if period(old).is_some_and(|seconds| seconds < 0) && period(&merged) == Some(1) {
        set(&mut merged, "terminationGracePeriodSeconds", old.get("terminationGracePeriodSeconds").cloned());
    }
    merged
}

fn set(object: &mut Value, field: &str, value: Option<Value>) {
    let Some(members) = object.as_object_mut() else { return };
    match value {
        Some(value) => {
            members.insert(field.to_owned(), value);
        }
        None => {
            members.remove(field);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::validation::tests::updated;

    fn pod(rest: &str) -> String {
        format!(r#"{{"spec":{{"containers":[{{"name":"c","image":"i"{rest}}}]}}}}"#)
    }

    #[test]
    fn forbidden_changes_are_shown_as_a_unified_diff() {
        let update = |new: &str| updated("v1", "Pod", &pod(""), &pod(new), "1.37");
        let errors = update(r#","command":["x"]"#);
        let end = "(allow it to be set to 1 if it was previously negative)\n@@ -5,7 +5,9 @@\n   {\n    \"Name\": \"c\",\n    \"Image\": \"i\",\n-   \"Command\": null,\n+   \"Command\": [\n+    \"x\"\n+   ],\n    \"Args\": null,\n    \"WorkingDir\": \"\",\n    \"Ports\": null,\n";
        assert!(errors.len() == 1 && errors[0].ends_with(end), "{errors:?}");
        // A list that stays empty is shown with the change, but is none itself.
        assert_eq!(update(r#","args":[]"#), Vec::<String>::new());
        let errors = update(r#","command":["x"],"args":[]"#);
        assert!(
            errors[0].contains("-   \"Args\": null,\n+   \"Command\": [\n+    \"x\"\n+   ],\n+   \"Args\": [],\n"),
            "{errors:?}"
        );
    }
    #[test]
    fn the_quality_of_service_is_immutable_before_1_32() {
        let old = pod("").replacen('{', r#"{"status":{"qosClass":"BestEffort"},"#, 1);
        let new = old.replace(r#""image":"i""#, r#""image":"i","resources":{"requests":{"cpu":"1"}}"#);
        let update = |new: &str, release| updated("v1", "Pod", &old, new, release);
        let message = r#"metadata: Invalid value: "BestEffort": Pod QoS is immutable"#;
        assert_eq!(update(&new, "1.31")[0], message);
        assert!(!update(&new, "1.32").contains(&message.to_owned()));
        assert_eq!(update(&old, "1.31"), [""; 0]);
    }
}
