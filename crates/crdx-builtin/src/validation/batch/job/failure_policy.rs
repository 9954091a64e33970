//! Pod failure policies (`validatePodFailurePolicy`).

use super::{condition_type, quoted};
use crate::validation::field_value::{Errors, FieldValue};
use crdx_value::field::{BadValue, FieldError};
use std::collections::HashSet;

const MAX_RULES: usize = 20;
const MAX_EXIT_CODES: usize = 255;
const MAX_CONDITIONS: usize = 20;
const ACTIONS: &[&str] = &["Count", "FailIndex", "FailJob", "Ignore"];
const OPERATORS: &[&str] = &["In", "NotIn"];
const STATUSES: &[&str] = &["False", "True", "Unknown"];

/// Validates the policy, if there is one.
pub fn validate(errors: &mut Errors, spec: &FieldValue<'_, '_>) {
    let (policy, template) = (spec.child("podFailurePolicy"), spec.child("template"));
    let (rules, pod) = (policy.child("rules"), template.child("spec"));
    if rules.len() > MAX_RULES {
        errors.too_many(&rules, rules.len(), MAX_RULES as i64);
    }
    let mut names = HashSet::new();
    for list in ["containers", "initContainers"] {
        names.extend(
            pod.child(list).items().map(|container| container.child("name").value.as_str().unwrap_or_default()),
        );
    }
    let has_limit = spec.child("backoffLimitPerIndex").is_set();
    for rule in rules.items() {
        validate_rule(errors, &rule, has_limit, &names);
    }
}

fn validate_rule(errors: &mut Errors, rule: &FieldValue<'_, '_>, has_limit: bool, names: &HashSet<&str>) {
    let (action, codes, conditions) = (rule.child("action"), rule.child("onExitCodes"), rule.child("onPodConditions"));
    match action.text() {
        "" => errors.required(&action, &quoted(ACTIONS)),
        "FailIndex" => {
            if !has_limit {
                errors.invalid(&action, "requires the backoffLimitPerIndex to be set");
            }
        }
        _ => errors.supported(&action, ACTIONS),
    }
    if codes.is_set() {
        exit_codes(errors, &codes, names);
    }
    if conditions.len() > MAX_CONDITIONS {
        errors.too_many(&conditions, conditions.len(), MAX_CONDITIONS as i64);
    }
    for pattern in conditions.items() {
        condition_type(errors, &pattern.child("type"));
        let status = pattern.child("status");
        match status.text() {
            "" => errors.required(&status, &quoted(STATUSES)),
            _ => errors.supported(&status, STATUSES),
        }
    }
    let detail = match (codes.is_set(), conditions.len() > 0) {
        (true, true) => "specifying both OnExitCodes and OnPodConditions is not supported",
        (false, false) => "specifying one of OnExitCodes and OnPodConditions is required",
        _ => return,
    };
    errors.invalid_value(&rule.path, BadValue::Omitted, detail);
}

/// `validatePodFailurePolicyRuleOnExitCodes`
fn exit_codes(errors: &mut Errors, codes: &FieldValue<'_, '_>, names: &HashSet<&str>) {
    let (operator, name, values) = (codes.child("operator"), codes.child("containerName"), codes.child("values"));
    match operator.text() {
        "" => errors.required(&operator, &quoted(OPERATORS)),
        _ => errors.supported(&operator, OPERATORS),
    }
    if name.is_set() && !names.contains(name.text()) {
        errors.invalid(&name, "must be one of the container or initContainer names in the pod template");
    }
    match values.len() {
        0 => errors.invalid_typed(&values, "[]int32", "at least one value is required"),
        1..=MAX_EXIT_CODES => {}
        count => errors.too_many(&values, count, MAX_EXIT_CODES as i64),
    }
    let (mut seen, mut previous, mut is_ordered) = (HashSet::new(), i64::MIN, true);
    for value in values.items() {
        let code = value.int().unwrap_or_default();
        if operator.text() == "In" && code == 0 {
            errors.invalid(&value, "must not be 0 for the In operator");
        }
        if !seen.insert(code) {
            errors.list.push(FieldError::duplicate(&value.path, code));
        }
        is_ordered &= previous <= code;
        previous = code;
    }
    if !is_ordered {
        errors.invalid_typed(&values, "[]int32", "must be ordered");
    }
}
