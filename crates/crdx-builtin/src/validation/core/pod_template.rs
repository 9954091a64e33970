//! Pod templates (`ValidatePodTemplateSpec`), and what the kinds that create Pods require of them.

use crate::validation::core::pod_spec;
use crate::validation::core::pod_spec::{PodOptions, PodSpecOwner, annotations as pod_annotations};
use crate::validation::field_value::{Errors, FieldValue};
use crate::validation::{annotations, formats, selectors};
use crdx_value::Value;
use crdx_value::release::Release;

const MISMATCH: &str = "`selector` does not match template `labels`";

/// The options for a template; `old` is the existing one of an update.
pub fn options(old: Option<&Value>, release: Release) -> PodOptions {
    let part = |name| old.and_then(|old| old.get(name));
    PodOptions::for_update(PodSpecOwner::Template, part("spec"), part("metadata"), release)
}

/// Validates a template. The server reports errors about its metadata at fields of the template.
pub fn validate(errors: &mut Errors, template: &FieldValue<'_, '_>, options: &PodOptions) {
    let (metadata, spec) = (template.child("metadata"), template.child("spec"));
    metadata_of(errors, template, options);
    pod_spec::validate(errors, &spec, None, options);
    pod_annotations::agree_with_fields(errors, metadata.child("annotations").value, &spec);
    let ephemeral = spec.child("ephemeralContainers");
    if ephemeral.len() > 0 {
        errors.forbidden(&ephemeral, "ephemeral containers not allowed in pod template");
    }
}

/// Validates labels and annotations.
pub(crate) fn metadata_of(errors: &mut Errors, template: &FieldValue<'_, '_>, options: &PodOptions) {
    let metadata = template.child("metadata");
    let annotations = FieldValue { path: template.path.child("annotations"), ..metadata.child("annotations") };
    formats::labels(errors, &FieldValue { path: template.path.child("labels"), ..metadata.child("labels") });
    annotations::validate(errors, &annotations);
    pod_annotations::validate(errors, &annotations, &template.child("spec"), options);
}

/// Reports labels of a template that a valid selector does not select. An absent selector selects nothing.
pub fn selected(errors: &mut Errors, template: &FieldValue<'_, '_>, selector: &FieldValue<'_, '_>) {
    let metadata = template.child("metadata");
    let labels = metadata.child("labels");
    if !selector.is_set() || !selectors::selects(selector, labels.value) {
        errors.invalid_typed(&labels, "map[string]string", MISMATCH);
    }
}

/// Rejects Pods that end, in a template of the given kind.
pub(crate) fn never_ends(errors: &mut Errors, template: &FieldValue<'_, '_>, kind: &str) {
    let spec = template.child("spec");
    errors.supported(&spec.child("restartPolicy"), &["Always"]);
    let deadline = spec.child("activeDeadlineSeconds");
    errors.forbid_if_set(&deadline, &format!("activeDeadlineSeconds in {kind} is not Supported"));
}

/// `ValidatePodTemplateUpdate` and `ValidatePodTemplate`, for the kind `PodTemplate`
pub fn kind(errors: &mut Errors, object: &FieldValue<'_, '_>, old: Option<&Value>) {
    let options = options(old.and_then(|old| old.get("template")), errors.release);
    validate(errors, &object.child("template"), &options);
}

/// The options for `spec.template`; `old` is the existing object of an update.
pub(crate) fn template_options(errors: &Errors, old: Option<&Value>) -> PodOptions {
    options(old.and_then(|old| old.at(&["spec", "template"])), errors.release)
}
