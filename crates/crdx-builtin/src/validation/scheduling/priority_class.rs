//! `PriorityClass`es.

use crate::priority;
use crate::validation::field_value::{Errors, FieldValue};
use crate::validation::immutable;
use crdx_value::Value;
use crdx_value::field::ROOT;
use crdx_value::release::V1_38;

const HIGHEST_USER_PRIORITY: i64 = 1_000_000_000;

/// `ValidatePriorityClass` and `ValidatePriorityClassUpdate`
pub fn validate(errors: &mut Errors, object: &FieldValue<'_, '_>, old: Option<&Value>) {
    let (value, policy) = (object.child("value"), object.child("preemptionPolicy"));
    if let Some(old) = old {
        let old = FieldValue::new(Some(old), ROOT);
        let number = value.int().unwrap_or_default();
        if number != old.child("value").int().unwrap_or_default() {
            if errors.release.since(V1_38) {
                errors.invalid_value(&value.path, number, immutable::IMMUTABLE);
            } else {
                errors.forbidden(&value, "may not be changed in an update.");
            }
        }
        return immutable::typed(errors, &policy, &old.child("preemptionPolicy"), "*string");
    }
    let metadata = object.child("metadata");
    let name = metadata.child("name");
    let number = value.int().unwrap_or_default();
    if name.text().starts_with("system-") {
        if let Some(reason) = system_class_error(name.text(), number, object.child("globalDefault").bool()) {
            let detail =
                format!("priority class names with 'system-' prefix are reserved for system use only. error: {reason}");
            errors.forbidden(&name, &detail);
        }
    } else if number > HIGHEST_USER_PRIORITY {
        let detail = format!("maximum allowed value of a user defined priority is {HIGHEST_USER_PRIORITY}");
        errors.forbidden(&value, &detail);
    }
    if policy.is_set() {
        errors.one_of(&policy, &["PreemptLowerPriority", "Never"]);
    }
}

/// `IsKnownSystemPriorityClass`
fn system_class_error(name: &str, value: i64, is_default: bool) -> Option<String> {
    let Some(expected) = priority::system_value(name) else {
        return Some(format!("{name} is not a known system priority class"));
    };
    if expected != value {
        Some(format!("value of {name} PriorityClass must be {expected}"))
    } else if is_default {
        Some(format!("globalDefault of {name} PriorityClass must be false"))
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use crate::validation::tests::updated;

    #[test]
    fn an_empty_preemption_policy_is_a_change() {
        let update = |new: &str| updated("scheduling.k8s.io/v1", "PriorityClass", r#"{"value":1}"#, new, "1.37");
        let expected = ["preemptionPolicy: Invalid value: \"\": field is immutable"];
        assert_eq!(update(r#"{"value":1,"preemptionPolicy":""}"#), expected);
    }

    #[test]
    fn a_changed_value_is_an_immutable_field_since_1_38() {
        let update =
            |release| updated("scheduling.k8s.io/v1", "PriorityClass", r#"{"value":1}"#, r#"{"value":2}"#, release);
        assert_eq!(update("1.37"), ["value: Forbidden: may not be changed in an update."]);
        assert_eq!(update("1.38"), ["value: Invalid value: 2: field is immutable"]);
    }
}
