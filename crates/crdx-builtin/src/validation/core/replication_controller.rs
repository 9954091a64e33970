//! `ReplicationController`s.

use crate::validation::core::pod_template;
use crate::validation::core::pod_template::template_options;
use crate::validation::field_value::{Errors, FieldValue};
use crdx_value::Value;

/// `ValidateReplicationController` and `ValidateReplicationControllerUpdate`
pub(crate) fn validate(errors: &mut Errors, object: &FieldValue<'_, '_>, old: Option<&Value>) {
    let (spec, options) = (object.child("spec"), template_options(errors, old));
    errors.nonnegative(&spec.child("minReadySeconds"));
    let (selector, replicas) = (spec.child("selector"), spec.child("replicas"));
    if selector.len() == 0 {
        errors.required(&selector, "");
    }
    if replicas.is_set() {
        errors.nonnegative(&replicas);
    } else {
        errors.required(&replicas, "");
    }
    let template = spec.child("template");
    if !template.is_set() {
        return errors.required(&template, "");
    }
    let metadata = template.child("metadata");
    let labels = metadata.child("labels");
    let is_selected = selector.entries().all(|(key, value)| labels.value.get(key) == Some(value.value));
    if !is_selected {
        errors.invalid_typed(&labels, "map[string]string", "`selector` does not match template `labels`");
    }
    pod_template::validate(errors, &template, &options);
    pod_template::never_ends(errors, &template, "ReplicationController");
}
