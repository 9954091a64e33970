//! `PriorityClass`es, `RuntimeClass`es and Leases (`pkg/apis/scheduling`, `pkg/apis/node` and `pkg/apis/coordination`).

use super::field_value::{Errors, FieldValue};
use super::{formats, immutable, resources, tolerations};
use crate::field::{BadValue, FieldError, ROOT, names};
use crate::value::{Value, json};
use std::collections::{BTreeSet, HashSet};

const HIGHEST_USER_PRIORITY: i64 = 1_000_000_000;
/// The classes of the system, with their values.
const SYSTEM_CLASSES: &[(&str, i64)] =
    &[("system-node-critical", 2_000_001_000), ("system-cluster-critical", 2_000_000_000)];

/// `ValidatePriorityClass` and `ValidatePriorityClassUpdate`
pub fn priority_class(errors: &mut Errors, object: &FieldValue<'_, '_>, old: Option<&Value>) {
    let (value, policy) = (object.child("value"), object.child("preemptionPolicy"));
    if let Some(old) = old {
        let old = FieldValue::new(Some(old), ROOT);
        if value.int().unwrap_or_default() != old.child("value").int().unwrap_or_default() {
            errors.forbidden(&value, "may not be changed in an update.");
        }
        return immutable::field(errors, &policy, &old.child("preemptionPolicy"));
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
    let Some((_, expected)) = SYSTEM_CLASSES.iter().find(|(known, _)| *known == name) else {
        return Some(format!("{name} is not a known system priority class"));
    };
    if *expected != value {
        Some(format!("value of {name} PriorityClass must be {expected}"))
    } else if is_default {
        Some(format!("globalDefault of {name} PriorityClass must be false"))
    } else {
        None
    }
}

/// `ValidateRuntimeClass` and `ValidateRuntimeClassUpdate`
pub fn runtime_class(errors: &mut Errors, object: &FieldValue<'_, '_>, old: Option<&Value>) {
    let handler = object.child("handler");
    if let Some(old) = old {
        return immutable::field(errors, &handler, &FieldValue::new(old.get("handler"), ROOT));
    }
    if errors.require_text(&handler) {
        errors.messages(&handler, names::name_is_label(handler.text(), false));
    }
    let overhead = object.child("overhead");
    if overhead.is_set() {
        // The server validates the overhead as limits.
        let limits = Value::Object([("limits".to_owned(), overhead.child("podFixed").value.clone())].into());
        let requirements = FieldValue { value: &limits, path: overhead.path };
        resources::requirements(errors, &requirements, resources::Owner::Container, &BTreeSet::new(), false);
    }
    let scheduling = object.child("scheduling");
    formats::labels(errors, &scheduling.child("nodeSelector"));
    let list = scheduling.child("tolerations");
    tolerations::validate(errors, &list);
    let mut seen = HashSet::new();
    for toleration in list.items() {
        let key = ["key", "operator", "value", "effect"]
            .map(|name| toleration.child(name).value.as_str().unwrap_or_default().to_owned());
        if !seen.insert(key) {
            let bad = BadValue::Raw(json::to_string(toleration.value));
            errors.list.push(FieldError::duplicate(&toleration.path, bad));
        }
    }
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

/// Kinds of which only the metadata are validated.
pub fn metadata_only(_: &mut Errors, _: &FieldValue<'_, '_>, _: Option<&Value>) {}
