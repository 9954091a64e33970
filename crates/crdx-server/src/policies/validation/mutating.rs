//! `MutatingAdmissionPolicy` (`validateMutatingAdmissionPolicySpec`).

use super::conditions::{validate_conditions, validate_variables};
use super::expressions::{Compiler, ExpressionParameters, StoredExpressions, check};
use super::validating::FAILURE_POLICIES;
use super::values::{Spec, list, present, text, typed};
use super::{params, resources};
use crate::policies::environment::Declarations;
use crdx_cel::types::Type;
use crdx_cel::value::message::{JSON_PATCH, OBJECT};
use crdx_value::Value;
use crdx_value::field::{ErrorList, FieldError};

const PATCH_TYPES: [&str; 2] = ["ApplyConfiguration", "JSONPatch"];
const REINVOCATION_POLICIES: [&str; 2] = ["IfNeeded", "Never"];

/// Validates a policy.
pub fn validate(spec: Spec<'_>, old: Option<&Value>, errors: &mut ErrorList) {
    let param_kind = present(spec.value, "paramKind");
    let stored = StoredExpressions::from_spec(old);
    let mut compiler = Compiler::new(true, param_kind.is_some(), spec.release);
    spec.one_of("failurePolicy", &FAILURE_POLICIES, errors);
    if let Some(value) = param_kind {
        params::validate_kind(Spec { value, path: &spec.path.child("paramKind"), ..spec }, errors);
    }
    resources::validate_constraints(spec, errors);
    if let Some(value) = present(spec.value, "matchConstraints") {
        let path = spec.path.child("matchConstraints");
        resources::validate_mutating_operations(value, &path, spec.release, errors);
    }
    validate_conditions(spec, old, &compiler, &stored, errors);
    validate_variables(spec, &mut compiler, &stored, errors);
    let mutations = list(spec.value, "mutations");
    let path = spec.path.child("mutations");
    if mutations.is_empty() {
        errors.push(FieldError::required(&path, "mutations must contain at least one item"));
    }
    for (index, value) in mutations.iter().enumerate() {
        validate_mutation(Spec { value, path: &path.index(index), ..spec }, &compiler, &stored, errors);
    }
    let path = spec.path.child("reinvocationPolicy");
    match text(spec.value, "reinvocationPolicy") {
        "" => errors.push(FieldError::required(&path, "")),
        policy if REINVOCATION_POLICIES.contains(&policy) => {}
        policy => errors.push(FieldError::not_supported(&path, typed(policy, spec.release), &REINVOCATION_POLICIES)),
    }
}

fn validate_mutation(mutation: Spec<'_>, compiler: &Compiler, stored: &StoredExpressions<'_>, errors: &mut ErrorList) {
    let Spec { value, path, release } = mutation;
    let patch_type = text(value, "patchType");
    let (own, other, type_) = match patch_type {
        "ApplyConfiguration" => ("applyConfiguration", "jsonPatch", Type::Object(OBJECT.into())),
        "JSONPatch" => ("jsonPatch", "applyConfiguration", Type::list(Type::Object(JSON_PATCH.into()))),
        "" => {
            errors.push(FieldError::required(&path.child("patchType"), ""));
            return;
        }
        _ => {
            let path = path.child("patchType");
            errors.push(FieldError::not_supported(&path, typed(patch_type, release), &PATCH_TYPES));
            return;
        }
    };
    let own_path = path.child(own);
    match present(value, own) {
        None => {
            errors.push(FieldError::required(&own_path, format!("must be specified when patchType is {patch_type}")));
        }
        Some(part) => {
            let source = text(part, "expression");
            let path = own_path.child("expression");
            let trimmed = source.trim();
            if trimmed.is_empty() {
                errors.push(FieldError::required(&path, ""));
            } else {
                let expression = ExpressionParameters {
                    source: trimmed,
                    shown: trimmed,
                    stored: stored.apply_configurations.contains(source),
                    declarations: Declarations { patch_types: true, ..compiler.declarations() },
                    types: &[type_],
                };
                check(&compiler.environments, &path, &expression, errors);
            }
        }
    }
    if present(value, other).is_some() {
        let detail = format!("must not be specified when patchType is {patch_type}");
        errors.push(FieldError::invalid(&path.child(other), format!("{{{other}}}"), detail));
    }
}
