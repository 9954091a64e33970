//! `PodDisruptionBudget`s (`pkg/apis/policy/validation`).

use crate::validation::field_value::{Errors, FieldValue};
use crate::validation::{
    int_or_percent,
    selectors::{self, LabelValues},
};
use crdx_value::Value;
use crdx_value::field::ROOT;

/// `ValidatePodDisruptionBudget`
pub fn validate(errors: &mut Errors, object: &FieldValue<'_, '_>, old: Option<&Value>) {
    let spec = object.child("spec");
    let (available, unavailable) = (spec.child("minAvailable"), spec.child("maxUnavailable"));
    if available.is_set() && unavailable.is_set() {
        let detail = "minAvailable and maxUnavailable cannot be both set";
        errors.invalid_typed(&spec, "policy.PodDisruptionBudgetSpec", detail);
    }
    for field in [&available, &unavailable] {
        if field.is_set() {
            int_or_percent::validate(errors, field);
            int_or_percent::at_most_100(errors, field);
        }
    }
    let old = FieldValue::new(old, ROOT);
    let allows_invalid = selectors::has_invalid_value(&old.child("spec").child("selector"), errors);
    selectors::label_selector(errors, &spec.child("selector"), LabelValues::allow_invalid_if(allows_invalid));
    let policy = spec.child("unhealthyPodEvictionPolicy");
    if policy.is_set() {
        errors.supported(&policy, &["AlwaysAllow", "IfHealthyBudget"]);
    }
}

#[cfg(test)]
mod tests {
    use crate::validation::tests::created;

    #[test]
    fn the_specification_and_percentages_are_shown_with_their_types() {
        let both = r#"{"spec":{"minAvailable":1,"maxUnavailable":"2%","selector":{}}}"#;
        assert_eq!(
            created("policy/v1", "PodDisruptionBudget", both, "1.37"),
            [
                r#"spec: Invalid value: {"MinAvailable":1,"Selector":{},"MaxUnavailable":"2%","UnhealthyPodEvictionPolicy":null}: minAvailable and maxUnavailable cannot be both set"#
            ]
        );
        let percent = r#"{"spec":{"minAvailable":"101%"}}"#;
        assert_eq!(
            created("policy/v1", "PodDisruptionBudget", percent, "1.31"),
            [
                r#"spec.minAvailable: Invalid value: intstr.IntOrString{Type:1, IntVal:0, StrVal:"101%"}: must not be greater than 100%"#
            ]
        );
    }
}
