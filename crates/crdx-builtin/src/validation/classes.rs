//! `PriorityClass`es, `RuntimeClass`es and Leases (`pkg/apis/scheduling`, `pkg/apis/node` and `pkg/apis/coordination`).

use super::field_value::{Errors, FieldValue};
use super::{formats, immutable, resources, tolerations};
use crate::priority;
use crdx_value::Value;
use crdx_value::field::{FieldError, ROOT, names};
use crdx_value::release::{Release, V1_35, V1_36, V1_37};
use std::collections::HashSet;

const HIGHEST_USER_PRIORITY: i64 = 1_000_000_000;

/// `ValidatePriorityClass` and `ValidatePriorityClassUpdate`
pub fn priority_class(errors: &mut Errors, object: &FieldValue<'_, '_>, old: Option<&Value>) {
    let (value, policy) = (object.child("value"), object.child("preemptionPolicy"));
    if let Some(old) = old {
        let old = FieldValue::new(Some(old), ROOT);
        if value.int().unwrap_or_default() != old.child("value").int().unwrap_or_default() {
            errors.forbidden(&value, "may not be changed in an update.");
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

/// `ValidateRuntimeClass` and `ValidateRuntimeClassUpdate`
pub(crate) fn runtime_class(errors: &mut Errors, object: &FieldValue<'_, '_>, old: Option<&Value>) {
    let handler = object.child("handler");
    let changes = old.is_some_and(|old| old.str_at(&["handler"]).unwrap_or_default() != handler.text());
    if let Some(old) = old {
        immutable::declared(errors, &handler, &FieldValue::new(old.get("handler"), ROOT), "string");
    }
    if handler.text().is_empty() && errors.release.since(V1_36) {
        errors.required(&handler, "");
    } else {
        errors.messages(&handler, handler_errors(handler.text(), changes, errors.release));
    }
    let overhead = object.child("overhead");
    if overhead.is_set() {
        resources::overhead(errors, &overhead, overhead.child("podFixed").value, false);
    }
    let scheduling = object.child("scheduling");
    formats::labels(errors, &scheduling.child("nodeSelector"));
    let list = scheduling.child("tolerations");
    // Before 1.35, the errors of tolerations had the name of the list twice.
    let path = if errors.release.since(V1_35) { list.path } else { list.path.child("tolerations") };
    tolerations::validate(errors, &FieldValue { path, ..list });
    let mut seen = HashSet::new();
    for toleration in list.items() {
        let key = ["key", "operator", "value", "effect"]
            .map(|name| toleration.child(name).value.as_str().unwrap_or_default().to_owned());
        if !seen.insert(key) {
            let bad = errors.typed(&toleration, "core.Toleration");
            errors.list.push(FieldError::duplicate(&toleration.path, bad));
        }
    }
}

/// The errors of a handler. Since 1.37, generated code validates it (`ShortName`), which measures the length in bytes; it
/// stops after the error about a handler that `changes`.
fn handler_errors(handler: &str, changes: bool, release: Release) -> Vec<String> {
    let messages = names::name_is_label(handler, false);
    if changes || !release.since(V1_37) {
        return messages;
    }
    messages.into_iter().map(|message| message.replace("63 characters", "63 bytes")).collect()
}

/// `ValidateLease` and `ValidateLeaseUpdate`
pub fn lease(errors: &mut Errors, object: &FieldValue<'_, '_>, _: Option<&Value>) {
    let spec = object.child("spec");
    let (duration, transitions) = (spec.child("leaseDurationSeconds"), spec.child("leaseTransitions"));
    if duration.int().is_some_and(|seconds| seconds <= 0) {
        errors.invalid(&duration, "must be greater than 0");
    }
    if transitions.int().is_some_and(|count| count < 0) {
        errors.invalid(&transitions, "must be greater than or equal to 0");
    }
}

/// Kinds that have nothing to validate besides their metadata.
pub(crate) fn metadata_only(_: &mut Errors, _: &FieldValue<'_, '_>, _: Option<&Value>) {}

#[cfg(test)]
mod tests {
    use crate::validation::tests::{created, updated};

    #[test]
    fn handlers_are_validated_by_generated_code_since_1_37() {
        let class = |handler: &str| format!(r#"{{"handler":"{handler}"}}"#);
        let create = |handler: &str, release| created("node.k8s.io/v1", "RuntimeClass", &class(handler), release);
        let long = "a".repeat(64);
        assert_eq!(
            create(&long, "1.37"),
            [format!("handler: Invalid value: \"{long}\": must be no more than 63 bytes")]
        );
        assert_eq!(
            create(&long, "1.36"),
            [format!("handler: Invalid value: \"{long}\": must be no more than 63 characters")]
        );
        assert_eq!(create("", "1.36"), ["handler: Required value"]);
        assert!(create("", "1.35")[0].starts_with("handler: Invalid value: \"\": a lowercase RFC 1123 label"));
        let update = |new: &str, release| updated("node.k8s.io/v1", "RuntimeClass", &class("a"), &class(new), release);
        assert_eq!(update("", "1.37"), ["handler: Invalid value: null: field is immutable", "handler: Required value"]);
        assert_eq!(update("b", "1.36"), ["handler: Invalid value: \"b\": field is immutable"]);
        assert_eq!(update("A", "1.31").len(), 2);
        assert_eq!(
            update(&long, "1.37"),
            [
                "handler: Invalid value: null: field is immutable".to_owned(),
                format!("handler: Invalid value: \"{long}\": must be no more than 63 characters")
            ]
        );
    }

    #[test]
    fn the_path_of_tolerations_depends_on_the_release() {
        let class = r#"{"handler":"h","scheduling":{"tolerations":[{"key":"a b","operator":"Exists"}]}}"#;
        let errors = |release| created("node.k8s.io/v1", "RuntimeClass", class, release);
        assert!(errors("1.34")[0].starts_with("scheduling.tolerations.tolerations[0].key: Invalid value"));
        assert!(errors("1.35")[0].starts_with("scheduling.tolerations[0].key: Invalid value"));
    }

    #[test]
    fn an_empty_preemption_policy_is_a_change() {
        let update = |new: &str| updated("scheduling.k8s.io/v1", "PriorityClass", r#"{"value":1}"#, new, "1.37");
        let expected = ["preemptionPolicy: Invalid value: \"\": field is immutable"];
        assert_eq!(update(r#"{"value":1,"preemptionPolicy":""}"#), expected);
    }
}
