//! `matchConstraints` and `matchResources` (`validateMatchResources`).

use super::selector;
use super::values::{Spec, list, mixes_wildcard, present, texts, typed, typed_list};
use crdx_value::Value;
use crdx_value::field::{
    BadValue, ErrorList, FieldError, FieldPath,
    names::{self, NameForm},
};
use crdx_value::release::Release;
use std::collections::BTreeSet;

const MATCH_POLICIES: [&str; 2] = ["Equivalent", "Exact"];
const OPERATIONS: [&str; 5] = ["*", "CONNECT", "CREATE", "DELETE", "UPDATE"];
/// The operations that mutating policies may match; deleted objects cannot be changed.
const MUTATING_OPERATIONS: [&str; 4] = ["*", "CONNECT", "CREATE", "UPDATE"];
const SCOPES: [&str; 3] = ["*", "Cluster", "Namespaced"];

/// Validates `spec.matchConstraints`, which must have rules, because they determine the types of objects.
pub(crate) fn validate_constraints(policy: Spec<'_>, errors: &mut ErrorList) {
    let path = policy.path.child("matchConstraints");
    let Some(value) = present(policy.value, "matchConstraints") else {
        errors.push(FieldError::required(&path, ""));
        return;
    };
    validate(Spec { value, path: &path, ..policy }, errors);
    if list(value, "resourceRules").is_empty() {
        errors.push(FieldError::required(&path.child("resourceRules"), ""));
    }
}

/// Validates match resources.
pub fn validate(resources: Spec<'_>, errors: &mut ErrorList) {
    let Spec { value, path, release } = resources;
    resources.one_of("matchPolicy", &MATCH_POLICIES, errors);
    for key in ["namespaceSelector", "objectSelector"] {
        let path = path.child(key);
        match present(value, key) {
            None => errors.push(FieldError::required(&path, "")),
            Some(value) => selector::validate(Spec { value, path: &path, release }, errors),
        }
    }
    for key in ["resourceRules", "excludeResourceRules"] {
        let path = path.child(key);
        for (index, value) in list(value, key).iter().enumerate() {
            validate_rule(Spec { value, path: &path.index(index), release }, errors);
        }
    }
}

/// Validates the operations in match resources of a mutating policy or binding.
pub(crate) fn validate_mutating_operations(
    value: &Value,
    path: &FieldPath<'_>,
    release: Release,
    errors: &mut ErrorList,
) {
    // The server omits the indices.
    let rules = path.child("resourceRules");
    let path = rules.child("operations");
    for operation in list(value, "resourceRules").iter().flat_map(|rule| texts(rule, "operations")) {
        if !MUTATING_OPERATIONS.contains(&operation) {
            errors.push(FieldError::not_supported(&path, typed(operation, release), &MUTATING_OPERATIONS));
        }
    }
}

/// `validateNamedRuleWithOperations`; `validateRuleWithOperations` of webhooks has no resource names.
pub fn validate_rule(rule: Spec<'_>, errors: &mut ErrorList) {
    let Spec { value, path, release } = rule;
    let names_path = path.child("resourceNames");
    let mut seen = BTreeSet::new();
    for (index, name) in texts(value, "resourceNames").into_iter().enumerate() {
        let path = names_path.index(index);
        errors.extend(
            names::path_segment(name, NameForm::Whole)
                .into_iter()
                .map(|detail| FieldError::invalid(&path, name, detail)),
        );
        if !seen.insert(name) {
            errors.push(FieldError::duplicate(&path, name));
        }
    }
    let operations = texts(value, "operations");
    let operations_path = path.child("operations");
    if operations.is_empty() {
        errors.push(FieldError::required(&operations_path, ""));
    }
    if mixes_wildcard(&operations) {
        let detail = "if '*' is present, must not specify other operations";
        let bad_value = typed_list(&operations, "OperationType", release);
        errors.push(FieldError::invalid(&operations_path, bad_value, detail));
    }
    for (index, operation) in operations.into_iter().enumerate() {
        if !OPERATIONS.contains(&operation) {
            let path = operations_path.index(index);
            errors.push(FieldError::not_supported(&path, typed(operation, release), &OPERATIONS));
        }
    }
    list_with_wildcard(rule, "apiGroups", "API groups", errors);
    list_with_wildcard(rule, "apiVersions", "API versions", errors);
    let versions = path.child("apiVersions");
    for (index, _) in texts(value, "apiVersions").iter().enumerate().filter(|(_, version)| version.is_empty()) {
        errors.push(FieldError::required(&versions.index(index), ""));
    }
    validate_resources(&texts(value, "resources"), &path.child("resources"), release, errors);
    if let Some(scope) = present(value, "scope").and_then(Value::as_str)
        && !SCOPES.contains(&scope)
    {
        errors.push(FieldError::not_supported(&path.child("scope"), typed(scope, release), &SCOPES));
    }
}

/// Validates a list that must not be empty, and in which `*` must be the only item.
fn list_with_wildcard(rule: Spec<'_>, key: &str, what: &str, errors: &mut ErrorList) {
    let items = texts(rule.value, key);
    let path = rule.path.child(key);
    if items.is_empty() {
        errors.push(FieldError::required(&path, ""));
    }
    if mixes_wildcard(&items) {
        let bad_value = BadValue::strings(items, rule.release);
        errors.push(FieldError::invalid(&path, bad_value, format!("if '*' is present, must not specify other {what}")));
    }
}

fn validate_resources(resources: &[&str], path: &FieldPath<'_>, release: Release, errors: &mut ErrorList) {
    if resources.is_empty() {
        errors.push(FieldError::required(path, ""));
    }
    let (mut with_all_subresources, mut of_all_resources) = (BTreeSet::new(), BTreeSet::new());
    // The server only checks the last entry without a subresource.
    let mut last_is_plain = false;
    for (index, entry) in resources.iter().enumerate() {
        let path = path.index(index);
        if entry.is_empty() {
            errors.push(FieldError::required(&path, ""));
            continue;
        }
        let Some((resource, subresource)) = entry.split_once('/') else {
            last_is_plain = *entry != "*";
            continue;
        };
        if with_all_subresources.contains(resource) {
            let detail = format!("if '{resource}/*' is present, must not specify {entry}");
            errors.push(FieldError::invalid(&path, *entry, detail));
        }
        if of_all_resources.contains(subresource) {
            let detail = format!("if '*/{subresource}' is present, must not specify {entry}");
            errors.push(FieldError::invalid(&path, *entry, detail));
        }
        if subresource == "*" {
            with_all_subresources.insert(resource);
        }
        if resource == "*" {
            of_all_resources.insert(subresource);
        }
    }
    let all = || BadValue::strings(resources.iter().copied(), release);
    if resources.len() > 1 && resources.contains(&"*/*") {
        errors.push(FieldError::invalid(path, all(), "if '*/*' is present, must not specify other resources"));
    }
    if resources.contains(&"*") && last_is_plain {
        let detail = "if '*' is present, must not specify other resources without subresources";
        errors.push(FieldError::invalid(path, all(), detail));
    }
}
