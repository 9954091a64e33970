//! Topology spread constraints (`validateTopologySpreadConstraints`), and the label keys that affinity terms have, too.

use super::PodOptions;
use crate::validation::field_value::{Errors, FieldValue};
use crate::validation::{
    formats,
    selectors::{self, LabelValues},
};
use crdx_value::field::FieldError;
use crdx_value::release::{V1_31, V1_34};
use std::collections::{HashMap, HashSet};

const NO_SELECTOR: &str = "must not be specified when labelSelector is not set";
const IN_SELECTOR: &str = "exists in both matchLabelKeys and labelSelector";

/// Validates the constraints.
pub fn validate(errors: &mut Errors, list: &FieldValue<'_, '_>, options: &PodOptions) {
    let kind = |constraint: &FieldValue<'_, '_>| {
        let text = |name: &'static str| constraint.child(name).value.as_str().unwrap_or_default().to_owned();
        (text("topologyKey"), text("whenUnsatisfiable"))
    };
    let mut count: HashMap<_, usize> = HashMap::new();
    for constraint in list.items() {
        *count.entry(kind(&constraint)).or_default() += 1;
    }
    for constraint in list.items() {
        errors.positive(&constraint.child("maxSkew"));
        let (key, action) = (constraint.child("topologyKey"), constraint.child("whenUnsatisfiable"));
        if key.text().is_empty() {
            errors.required(&key, "can not be empty");
        }
        errors.supported(&action, &["DoNotSchedule", "ScheduleAnyway"]);
        // All but the last one of equal constraints are duplicates.
        let later = count.entry(kind(&constraint)).or_default();
        *later = later.saturating_sub(1);
        if *later > 0 {
            let bad = format!("{{{}, {}}}", key.text(), action.text());
            errors.list.push(FieldError::duplicate(&constraint.path.child("{topologyKey, whenUnsatisfiable}"), bad));
        }
        min_domains(errors, &constraint.child("minDomains"), action.text());
        for policy in ["nodeAffinityPolicy", "nodeTaintsPolicy"].map(|name| constraint.child(name)) {
            if policy.is_set() {
                errors.supported(&policy, &["Honor", "Ignore"]);
            }
        }
        if errors.release.since(V1_34) {
            label_keys(errors, &constraint);
        } else {
            label_keys_before_1_34(errors, &constraint);
        }
        if !options.allows_invalid_spread_selectors {
            selectors::label_selector(errors, &constraint.child("labelSelector"), LabelValues::Validate);
        }
    }
}

/// `validateMinDomains`
fn min_domains(errors: &mut Errors, min_domains: &FieldValue<'_, '_>, action: &str) {
    if min_domains.is_set() {
        errors.positive(min_domains);
        if action != "DoNotSchedule" {
            let detail = format!("can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {action}");
            errors.invalid(min_domains, detail);
        }
    }
}

/// `ValidateMatchLabelKeysAndMismatchLabelKeys`
pub(crate) fn label_keys(errors: &mut Errors, term: &FieldValue<'_, '_>) {
    // Before 1.31, the server drops these fields of affinity terms.
    if !errors.release.since(V1_31) {
        return;
    }
    let selector = term.child("labelSelector");
    let (matching, mismatching) = (term.child("matchLabelKeys"), term.child("mismatchLabelKeys"));
    for keys in [&matching, &mismatching] {
        if keys.len() > 0 && !selector.is_set() {
            errors.forbidden(keys, NO_SELECTOR);
            continue;
        }
        for key in keys.items() {
            formats::qualified_name(errors, &key);
        }
    }
    let positions: HashMap<&str, usize> = matching.texts().enumerate().map(|(at, key)| (key, at)).collect();
    let mut selected: HashSet<&str> = selector.child("matchLabels").entries().map(|(key, _)| key).collect();
    for expression in selector.child("matchExpressions").items() {
        let key = expression.child("key").text();
        if let Some(at) = positions.get(key).filter(|_| selected.contains(key)) {
            errors.invalid_value(&term.path.index(*at), key, IN_SELECTOR);
        }
        selected.insert(key);
    }
    let mismatching: HashSet<&str> = mismatching.texts().collect();
    for key in matching.items().filter(|key| mismatching.contains(key.text())) {
        errors.invalid(&key, "exists in both matchLabelKeys and mismatchLabelKeys");
    }
}

/// `ValidateMatchLabelKeysInTopologySpread`
fn label_keys_before_1_34(errors: &mut Errors, constraint: &FieldValue<'_, '_>) {
    let (keys, selector) = (constraint.child("matchLabelKeys"), constraint.child("labelSelector"));
    if keys.len() == 0 {
        return;
    }
    if !selector.is_set() {
        errors.forbidden(&keys, NO_SELECTOR);
    }
    let expressions = selector.child("matchExpressions");
    let mut selected: HashSet<&str> = selector.child("matchLabels").entries().map(|(key, _)| key).collect();
    selected.extend(expressions.items().map(|expression| expression.child("key").text()));
    for key in keys.items() {
        formats::qualified_name(errors, &key);
        if selected.contains(key.text()) {
            errors.invalid(&key, IN_SELECTOR);
        }
    }
}
