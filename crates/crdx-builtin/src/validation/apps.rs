//! `apps` (`pkg/apis/apps/validation`), and what its kinds with Pods have in common.

pub(crate) mod controller_revision;
pub(crate) mod daemon_set;
pub(crate) mod deployment;
pub(crate) mod replica_set;
pub(crate) mod stateful_set;

use crate::validation::core::pod_spec::PodOptions;
use crate::validation::core::pod_template;
use crate::validation::field_value::{Errors, FieldValue};
use crate::validation::{
    immutable,
    selectors::{self, LabelValues},
};
use crdx_value::Value;
use crdx_value::field::ROOT;

/// Reports a selector that changed.
pub(crate) fn selector_is_immutable(errors: &mut Errors, object: &FieldValue<'_, '_>, old: Option<&Value>) {
    if let Some(old) = old {
        let (new, old) = (object.child("spec"), FieldValue::new(Some(old), ROOT));
        let old_spec = old.child("spec");
        immutable::typed(errors, &new.child("selector"), &old_spec.child("selector"), immutable::SELECTOR);
    }
}

/// Validates a selector that must be present and not empty. Returns true if `LabelSelectorAsSelector` accepts it.
pub(crate) fn required_selector(errors: &mut Errors, selector: &FieldValue<'_, '_>, kind: &str, invalid: &str) -> bool {
    if selector.is_set() {
        selectors::label_selector(errors, selector, LabelValues::Validate);
        if selectors::is_empty(selector) {
            let detail = format!("empty selector is invalid for {kind}");
            errors.invalid_typed(selector, immutable::SELECTOR, detail);
        }
    } else {
        errors.required(selector, "");
    }
    let is_valid = selectors::is_valid(selector, errors);
    if !is_valid {
        errors.invalid_typed(selector, immutable::SELECTOR, invalid);
    }
    is_valid
}

/// `ValidatePodTemplateSpecForReplicaSet`
pub(crate) fn replica_set_template(errors: &mut Errors, spec: &FieldValue<'_, '_>, options: &PodOptions) {
    let (template, selector) = (spec.child("template"), spec.child("selector"));
    if !selector.is_set() || !selectors::is_empty(&selector) {
        pod_template::selected(errors, &template, &selector);
    }
    pod_template::validate(errors, &template, options);
    pod_template::never_ends(errors, &template, "ReplicaSet");
}
