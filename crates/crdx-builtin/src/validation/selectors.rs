//! Label selectors (`k8s.io/apimachinery/pkg/apis/meta/v1/validation` and `pkg/labels`).

use crate::validation::field_value::{Errors, FieldValue};
use crate::validation::formats;
use crdx_value::Value;
use crdx_value::field::names;

/// The values that a requirement may have (`AllowInvalidLabelValueInSelector`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LabelValues {
    Validate,
    AllowInvalid,
}

impl LabelValues {
    pub fn allow_invalid_if(condition: bool) -> Self {
        if condition { Self::AllowInvalid } else { Self::Validate }
    }
}

/// `ValidateLabelSelector`, if the selector is present.
pub(crate) fn label_selector(errors: &mut Errors, selector: &FieldValue<'_, '_>, label_values: LabelValues) {
    if !selector.is_set() {
        return;
    }
    formats::labels(errors, &selector.child("matchLabels"));
    for requirement in selector.child("matchExpressions").items() {
        label_selector_requirement(errors, &requirement, label_values);
    }
}

/// `ValidateLabelSelectorRequirement`
fn label_selector_requirement(errors: &mut Errors, requirement: &FieldValue<'_, '_>, label_values: LabelValues) {
    let (operator, values) = (requirement.child("operator"), requirement.child("values"));
    match operator.text() {
        "In" | "NotIn" if values.len() == 0 => {
            errors.required(&values, "must be specified when `operator` is 'In' or 'NotIn'");
        }
        "Exists" | "DoesNotExist" if values.len() > 0 => {
            errors.forbidden(&values, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
        }
        "In" | "NotIn" | "Exists" | "DoesNotExist" => {}
        _ => errors.invalid_value(&operator.path, operator.text(), "not a valid selector operator"),
    }
    formats::qualified_name(errors, &requirement.child("key"));
    if label_values == LabelValues::Validate {
        for value in values.items() {
            errors.messages(&value, names::label_value(value.text(), errors.release));
        }
    }
}

/// Returns true if a requirement has a value that is no label value.
pub(crate) fn has_invalid_value(selector: &FieldValue<'_, '_>, errors: &Errors) -> bool {
    let expressions = selector.child("matchExpressions");
    expressions.items().any(|requirement| {
        requirement.child("values").texts().any(|value| !names::label_value(value, errors.release).is_empty())
    })
}

/// Returns true if a selector that was validated selects nothing in particular (`labels.Selector.Empty`).
pub fn is_empty(selector: &FieldValue<'_, '_>) -> bool {
    selector.child("matchLabels").len() + selector.child("matchExpressions").len() == 0
}

/// Returns true if `LabelSelectorAsSelector` accepts the selector.
pub fn is_valid(selector: &FieldValue<'_, '_>, errors: &Errors) -> bool {
    let mut found = Errors::new(errors.release);
    label_selector(&mut found, selector, LabelValues::Validate);
    found.list.is_empty()
}

/// Returns true if a valid selector selects the labels.
pub fn selects(selector: &FieldValue<'_, '_>, labels: &Value) -> bool {
    let label = |key: &str| labels.get(key).and_then(Value::as_str);
    selector.child("matchLabels").entries().all(|(key, value)| label(key) == Some(value.text()))
        && selector.child("matchExpressions").items().all(|requirement| {
            let found = label(requirement.child("key").text());
            let is_listed = || requirement.child("values").texts().any(|value| Some(value) == found);
            match requirement.child("operator").text() {
                "In" => is_listed(),
                "NotIn" => !is_listed(),
                "Exists" => found.is_some(),
                _ => found.is_none(),
            }
        })
}
