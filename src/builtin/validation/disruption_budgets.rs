//! `PodDisruptionBudget`s (`pkg/apis/policy/validation`).

use super::field_value::{Errors, FieldValue};
use super::{int_or_percent, selectors};
use crate::field::{BadValue, ROOT};
use crate::value::{Map, Value};

/// `ValidatePodDisruptionBudget`
pub fn budget(errors: &mut Errors, object: &FieldValue<'_, '_>, old: Option<&Value>) {
    let spec = object.child("spec");
    let (available, unavailable) = (spec.child("minAvailable"), spec.child("maxUnavailable"));
    if available.is_set() && unavailable.is_set() {
        let bad = BadValue::of(&internal(&spec), errors.release);
        errors.invalid_value(&spec.path, bad, "minAvailable and maxUnavailable cannot be both set");
    }
    for field in [&available, &unavailable] {
        if field.is_set() {
            int_or_percent::validate(errors, field);
            int_or_percent::at_most_100(errors, field);
        }
    }
    let old = FieldValue::new(old, ROOT);
    let allows_invalid = selectors::has_invalid_value(&old.child("spec").child("selector"), errors);
    selectors::label_selector(errors, &spec.child("selector"), allows_invalid);
    let policy = spec.child("unhealthyPodEvictionPolicy");
    if policy.is_set() {
        errors.supported(&policy, &["AlwaysAllow", "IfHealthyBudget"]);
    }
}

/// The specification with the names of its internal type.
fn internal(spec: &FieldValue<'_, '_>) -> Value {
    let names = [
        ("MinAvailable", "minAvailable"),
        ("Selector", "selector"),
        ("MaxUnavailable", "maxUnavailable"),
        ("UnhealthyPodEvictionPolicy", "unhealthyPodEvictionPolicy"),
    ];
    Value::Object(
        names.map(|(shown, name)| (shown.to_owned(), spec.child(name).value.clone())).into_iter().collect::<Map>(),
    )
}
