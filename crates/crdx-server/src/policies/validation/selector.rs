//! Label selectors (`apimachinery/pkg/apis/meta/v1/validation`, `ValidateLabelSelector`).

use super::values::{Spec, list, text, texts, typed};
use crdx_value::Value;
use crdx_value::field::{ErrorList, FieldError, FieldPath, names};
use crdx_value::release::Release;

const OPERATORS: [&str; 4] = ["In", "NotIn", "Exists", "DoesNotExist"];

/// Validates a selector; labels are validated in the order of their keys.
pub fn validate(selector: Spec<'_>, errors: &mut ErrorList) {
    let Spec { value, path, release } = selector;
    let labels = path.child("matchLabels");
    for (key, value) in value.get("matchLabels").and_then(Value::as_object).into_iter().flatten() {
        label_name(&labels, key, release, errors);
        label_value(&labels, value.as_str().unwrap_or_default(), release, errors);
    }
    let expressions = path.child("matchExpressions");
    for (index, value) in list(value, "matchExpressions").iter().enumerate() {
        requirement(Spec { value, path: &expressions.index(index), release }, errors);
    }
}

fn requirement(requirement: Spec<'_>, errors: &mut ErrorList) {
    let Spec { value, path, release } = requirement;
    let operator = text(value, "operator");
    if !OPERATORS.contains(&operator) {
        let path = path.child("operator");
        errors.push(FieldError::invalid(&path, typed(operator, release), "not a valid selector operator"));
    }
    requirement_with_any_operator(requirement, errors);
}

/// Validates a requirement with `AllowUnknownOperatorInRequirement`.
pub(crate) fn requirement_with_any_operator(requirement: Spec<'_>, errors: &mut ErrorList) {
    let Spec { value, path, release } = requirement;
    let values = texts(value, "values");
    let values_path = path.child("values");
    values_of_operator(requirement, errors);
    label_name(&path.child("key"), text(value, "key"), release, errors);
    for (index, value) in values.into_iter().enumerate() {
        label_value(&values_path.index(index), value, release, errors);
    }
}

/// Validates whether the requirement of a label or field selector has values.
pub(crate) fn values_of_operator(requirement: Spec<'_>, errors: &mut ErrorList) {
    let Spec { value, path, .. } = requirement;
    let (values, path) = (list(value, "values"), path.child("values"));
    match text(value, "operator") {
        "In" | "NotIn" if values.is_empty() => {
            errors.push(FieldError::required(&path, "must be specified when `operator` is 'In' or 'NotIn'"));
        }
        "Exists" | "DoesNotExist" if !values.is_empty() => {
            let detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
            errors.push(FieldError::forbidden(&path, detail));
        }
        _ => {}
    }
}

fn label_name(path: &FieldPath<'_>, name: &str, release: Release, errors: &mut ErrorList) {
    errors
        .extend(names::qualified_name(name, release).into_iter().map(|detail| FieldError::invalid(path, name, detail)));
}

fn label_value(path: &FieldPath<'_>, value: &str, release: Release, errors: &mut ErrorList) {
    errors
        .extend(names::label_value(value, release).into_iter().map(|detail| FieldError::invalid(path, value, detail)));
}
