//! Validates policies and bindings as the server does
//! (`kubernetes/pkg/apis/admissionregistration/validation/validation.go`).
//!
//! ```text
//! values         the fields of a decoded object, and their values in errors
//! selector       label selectors
//! resources      matchConstraints and matchResources
//! params         paramKind and paramRef
//! expressions    new and stored expressions
//! conditions     match conditions and variables
//! validating, mutating, binding, webhooks
//! ```
//!
//! Messages that differ between releases are taken from the sources of 1.31 and 1.32 (during their development) and of
//! 1.36. The releases between them were not verified.

mod binding;
mod conditions;
mod expressions;
mod mutating;
mod params;
mod resources;
mod selector;
mod validating;
mod values;
mod webhooks;

use crdx_value::Value;
use crdx_value::field::{ErrorList, FieldError, FieldPath};
use crdx_value::release::{Gate, Release, V1_36, V1_37};
pub(crate) use selector::{requirement_with_any_operator, values_of_operator};
pub(crate) use values::Spec;

/// The suffix of names that are reserved for policies in files of the server.
const STATIC_SUFFIX: &str = ".static.k8s.io";

/// Returns the errors of a policy or binding that is created or that replaces `old`; empty for objects of other kinds.
/// `object` must be decoded and defaulted. `metadata` is not validated here.
///
/// Paths are those of `admissionregistration.k8s.io/v1`. Creating a policy with `paramKind` also requires the
/// permission to read the params, which is not checked.
pub fn validate(object: &Value, old: Option<&Value>, release: Release) -> ErrorList {
    let root = FieldPath::new("spec");
    let name = object.str_at(&["metadata", "name"]).unwrap_or_default();
    let spec = Spec { value: values::spec(object), path: &root, release };
    let old_spec = old.map(values::spec);
    let mut errors = ErrorList::new();
    match object.str_at(&["kind"]).unwrap_or_default() {
        "ValidatingAdmissionPolicy" => validating::validate(name, spec, old_spec, &mut errors),
        "MutatingAdmissionPolicy" => mutating::validate(spec, old_spec, &mut errors),
        "ValidatingAdmissionPolicyBinding" => binding::validate_validating(spec, old_spec, &mut errors),
        "ValidatingWebhookConfiguration" | "MutatingWebhookConfiguration" => {
            webhooks::validate(object, old, release, &mut errors);
        }
        "MutatingAdmissionPolicyBinding" => binding::validate_mutating(spec, &mut errors),
        _ => {}
    }
    if old.is_none() && release.enables(Gate::ManifestBasedAdmissionControlConfig) && name.ends_with(STATIC_SUFFIX) {
        let metadata = FieldPath::new("metadata");
        let detail = format!(
            "names ending with \"{STATIC_SUFFIX}\" are reserved for static manifest-based configurations and cannot be managed \
             via the API"
        );
        errors.push(FieldError::invalid(&metadata.child("name"), name, detail));
    }
    errors
}

/// Returns the warnings about a policy, binding or webhook configuration that is accepted.
pub fn warnings(object: &Value, old: Option<&Value>, release: Release) -> Vec<String> {
    let name = object.str_at(&["metadata", "name"]).unwrap_or_default();
    let is_reserved = release.enables(Gate::ManifestBasedAdmissionControlConfig);
    let warns = release.since(V1_36) && (old.is_some() || !is_reserved);
    let mut warnings = Vec::new();
    if warns && name.ends_with(STATIC_SUFFIX) {
        warnings.push(format!(
            "metadata.name: names ending with \"{STATIC_SUFFIX}\" are reserved for static manifest-based configurations and \
             cannot be managed via the API"
        ));
    }
    // `ExcludeAdmissionWebhookVirtualResources`
    if release.since(V1_37) {
        warnings.extend(webhooks::ineffective_rules(object));
    }
    warnings
}

#[cfg(test)]
mod tests;
