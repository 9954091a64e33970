//! Conditions, and the kinds whose status is validated by its conditions.

use super::nonnegative;
use crate::validation::field_value::{Errors, FieldValue};
use crate::validation::formats;
use crdx_value::field::names::no_match;
use crdx_value::field::{BadValue, FieldError};
use crdx_value::release::{V1_34, V1_37, V1_38};
use crdx_value::{Value, json};
use std::collections::HashSet;
use std::fmt::Write as _;

/// The values of the status of a condition, sorted.
const STATUSES: &[&str] = &["False", "True", "Unknown"];
const MAX_REASON: usize = 1 << 10;
const MAX_MESSAGE: usize = 32 << 10;
const MAX_TAINT_RULE_CONDITIONS: usize = 8;

/// `ValidatePodDisruptionBudgetStatusUpdate`
pub(super) fn disruption_budget(errors: &mut Errors, object: &FieldValue<'_, '_>, _: &FieldValue<'_, '_>) {
    let status = object.child("status");
    conditions(errors, &status.child("conditions"));
    nonnegative(errors, &status, &["disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods"]);
}

/// `ValidateDeviceTaintRuleStatusUpdate`
pub(super) fn taint_rule(errors: &mut Errors, object: &FieldValue<'_, '_>, _: &FieldValue<'_, '_>) {
    let status = object.child("status");
    let list = status.child("conditions");
    conditions(errors, &list);
    if list.len() > MAX_TAINT_RULE_CONDITIONS {
        errors.too_many(&list, list.len(), MAX_TAINT_RULE_CONDITIONS as i64);
    }
}

/// `ValidateAPIServiceStatusUpdate`
pub(super) fn api_service(errors: &mut Errors, object: &FieldValue<'_, '_>, _: &FieldValue<'_, '_>) {
    for condition in object.child("status").child("conditions").items() {
        errors.supported(&condition.child("status"), &["True", "False", "Unknown"]);
    }
}

/// `ValidateConditions` of `k8s.io/apimachinery/pkg/apis/meta/v1/validation`
pub(super) fn conditions(errors: &mut Errors, list: &FieldValue<'_, '_>) {
    // Since 1.38, generated code reports most of these errors (`Validate_Condition`).
    let (is_newest, is_declared) = (errors.release.since(V1_37), errors.release.since(V1_38));
    let mut seen = HashSet::new();
    for condition in list.items() {
        let type_ = condition.child("type");
        if !seen.insert(type_.text()) {
            errors.list.push(if is_declared {
                FieldError::duplicate(&condition.path, BadValue::Raw(shown(&condition)))
            } else {
                FieldError::duplicate(&if is_newest { condition.path } else { type_.path }, type_.text())
            });
        }
        self::condition(errors, &condition);
    }
}

/// A condition as Go writes it in JSON.
fn shown(condition: &FieldValue<'_, '_>) -> String {
    let text = |name| Value::from(condition.child(name).text());
    let mut out = String::from("{");
    for name in ["type", "status", "observedGeneration", "lastTransitionTime", "reason", "message"] {
        let value = match name {
            "observedGeneration" => match condition.child(name).int() {
                Some(0) | None => continue,
                Some(generation) => Value::Int(generation),
            },
            "lastTransitionTime" => condition.child(name).value.clone(),
            _ => text(name),
        };
        let comma = if out.len() > 1 { "," } else { "" };
        let _ = write!(out, "{comma}\"{name}\":{}", json::to_string(&value));
    }
    out.push('}');
    out
}

/// `ValidateCondition`
fn condition(errors: &mut Errors, condition: &FieldValue<'_, '_>) {
    let is_newest = errors.release.since(V1_37);
    let [type_, status, reason] = ["type", "status", "reason"].map(|name| condition.child(name));
    if is_newest && type_.text().is_empty() {
        errors.required(&type_, if errors.release.since(V1_38) { "" } else { "is required" });
    } else {
        formats::qualified_name(errors, &type_);
    }
    if !is_newest || errors.require_text(&status) {
        errors.supported(&status, STATUSES);
    }
    let generation = condition.child("observedGeneration");
    if generation.int().is_some_and(|generation| generation < 0) {
        let zero = if errors.release.since(V1_38) { "0" } else { "zero" };
        errors.invalid(&generation, format!("must be greater than or equal to {zero}"));
    }
    let detail = if errors.release.since(V1_34) { "" } else { "must be set" };
    let time = condition.child("lastTransitionTime");
    if !time.is_set() {
        errors.required(&time, detail);
    }
    if reason.text().is_empty() {
        errors.required(&reason, detail);
    } else {
        if !is_reason(reason.text()) {
            let rule = "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', and must end with an alphanumeric character or '_'";
            let examples = ["my_name", "MY_NAME", "MyName", "ReasonA,ReasonB", "ReasonA:ReasonB"];
            errors.invalid(&reason, no_match(rule, "[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?", &examples));
        }
        if reason.text().len() > MAX_REASON {
            errors.too_long(&reason, MAX_REASON as i64);
        }
    }
    let message = condition.child("message");
    if message.text().len() > MAX_MESSAGE {
        errors.too_long(&message, MAX_MESSAGE as i64);
    }
}

/// `^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$`
fn is_reason(text: &str) -> bool {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.ends_with(is_word)
        && text.chars().all(|c| is_word(c) || matches!(c, ',' | ':'))
}

#[cfg(test)]
mod tests {
    use crate::validation::statuses::tests::errors;

    const BUDGET: (&str, &str) = ("policy", "PodDisruptionBudget");

    fn status(condition: &str) -> String {
        format!(r#"{{"status":{{"conditions":[{{{condition}}}]}}}}"#)
    }

    #[test]
    fn conditions_are_complete() {
        let ready = r#""type":"a.b/Ready","status":"True","reason":"A_b","lastTransitionTime":"2026-01-02T03:04:05Z""#;
        assert_eq!(errors(BUDGET, "{}", &status(ready), "1.37"), [""; 0]);
        assert_eq!(
            errors(BUDGET, "{}", &status(""), "1.37"),
            [
                "status.conditions[0].type: Required value: is required",
                "status.conditions[0].status: Required value",
                "status.conditions[0].lastTransitionTime: Required value",
                "status.conditions[0].reason: Required value",
            ]
        );
        let older = errors(BUDGET, "{}", &status(""), "1.33");
        assert!(older.contains(&"status.conditions[0].reason: Required value: must be set".to_owned()), "{older:?}");
        let wrong = ready.replace("A_b", "A-").replace("True", "Maybe");
        let found = errors(BUDGET, "{}", &status(&wrong), "1.37");
        assert!(found[0].ends_with(r#"supported values: "False", "True", "Unknown""#) && found.len() == 2, "{found:?}");
    }

    #[test]
    fn types_of_conditions_are_unique() {
        let two = r#"{"status":{"conditions":[{"type":"A","status":"True"},{"type":"A","status":"x"}]}}"#;
        let whole = r#"status.conditions[1]: Duplicate value: {"type":"A","status":"x","lastTransitionTime":null,"reason":"","message":""}"#;
        assert!(errors(BUDGET, "{}", two, "1.38").contains(&whole.to_owned()));
        let missing = errors(BUDGET, "{}", &status(""), "1.38");
        assert_eq!(missing[0], "status.conditions[0].type: Required value");
        let duplicate = r#"status.conditions[1].type: Duplicate value: "A""#;
        assert_eq!(errors(("flowcontrol.apiserver.k8s.io", "FlowSchema"), "{}", two, "1.37"), [duplicate]);
        assert!(errors(BUDGET, "{}", two, "1.36").contains(&duplicate.to_owned()));
        assert_eq!(
            errors(("apiregistration.k8s.io", "APIService"), "{}", two, "1.37"),
            [r#"status.conditions[1].status: Unsupported value: "x": supported values: "True", "False", "Unknown""#]
        );
    }
}
