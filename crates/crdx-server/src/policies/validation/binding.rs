//! Bindings (`validateValidatingAdmissionPolicyBindingSpec`, `validateMutatingAdmissionPolicyBindingSpec`).

use super::values::{Spec, present, text, texts, typed, typed_list};
use super::{params, resources};
use crdx_value::Value;
use crdx_value::field::{
    ErrorList, FieldError,
    names::{self, NameForm},
};
use crdx_value::release::{V1_32, V1_37};
use std::collections::BTreeSet;

const ACTIONS: [&str; 3] = ["Audit", "Deny", "Warn"];

/// Validates a `ValidatingAdmissionPolicyBinding`.
pub(crate) fn validate_validating(spec: Spec<'_>, old: Option<&Value>, errors: &mut ErrorList) {
    validate(spec, errors);
    validate_actions(spec, old, errors);
}

/// Validates a `MutatingAdmissionPolicyBinding`.
pub(crate) fn validate_mutating(spec: Spec<'_>, errors: &mut ErrorList) {
    validate(spec, errors);
    if let Some(value) = present(spec.value, "matchResources") {
        let path = spec.path.child("matchResources");
        resources::validate_mutating_operations(value, &path, spec.release, errors);
    }
}

fn validate(spec: Spec<'_>, errors: &mut ErrorList) {
    let Spec { value, path, release } = spec;
    let policy_name = text(value, "policyName");
    let name_path = path.child("policyName");
    if policy_name.is_empty() {
        errors.push(FieldError::required(&name_path, ""));
    } else {
        let problems = names::name_is_subdomain(policy_name, NameForm::Whole);
        errors.extend(problems.into_iter().map(|detail| FieldError::invalid(&name_path, policy_name, detail)));
    }
    if let Some(value) = present(value, "paramRef") {
        params::validate_ref(Spec { value, path: &path.child("paramRef"), release }, errors);
    }
    if let Some(value) = present(value, "matchResources") {
        // Older servers misspell the field.
        let name = if release.since(V1_32) { "matchResources" } else { "matchResouces" };
        resources::validate(Spec { value, path: &path.child(name), release }, errors);
    }
}

fn validate_actions(spec: Spec<'_>, old: Option<&Value>, errors: &mut ErrorList) {
    let path = spec.path.child("validationActions");
    let actions = texts(spec.value, "validationActions");
    let mut seen = BTreeSet::new();
    for (index, action) in actions.iter().enumerate() {
        let path = path.index(index);
        if !ACTIONS.contains(action) {
            errors.push(FieldError::not_supported(&path, typed(action, spec.release), &ACTIONS));
        }
        if !seen.insert(*action) {
            errors.push(FieldError::duplicate(&path, typed(action, spec.release)));
        }
    }
    if seen.contains("Deny") && seen.contains("Warn") {
        let detail = "must not contain both Deny and Warn (repeating the same validation failure information in the API \
                   response and headers serves no purpose)";
        let bad_value = typed_list(&actions, "ValidationAction", spec.release);
        errors.push(FieldError::invalid(&path, bad_value, detail));
    }
    if seen.is_empty() {
        // Validation by the tags of the type, which tolerates unchanged values.
        let by_tags = spec.release.since(V1_37);
        if !by_tags {
            errors.push(FieldError::required(&path, "at least one validation action is required"));
        } else if old.is_none_or(|old| !texts(old, "validationActions").is_empty()) {
            errors.push(FieldError::required(&path, ""));
        }
    }
}
