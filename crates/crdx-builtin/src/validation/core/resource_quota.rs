//! `ResourceQuota`s (`ValidateResourceQuotaSpec`).

use crate::validation::core::resources;
use crate::validation::field_value::{Errors, FieldValue};
use crate::validation::immutable::IMMUTABLE;
use crdx_value::Value;
use crdx_value::field::ROOT;
use crdx_value::release::V1_38;
use std::collections::{BTreeMap, BTreeSet};

const SCOPES: &[&str] = &[
    "Terminating",
    "NotTerminating",
    "BestEffort",
    "NotBestEffort",
    "PriorityClass",
    "VolumeAttributesClass",
    "CrossNamespacePodAffinity",
];
/// The type of a list of scopes.
const SCOPE_LIST: &str = "[]core.ResourceQuotaScope";
const CONFLICTS: [[&str; 2]; 2] = [["BestEffort", "NotBestEffort"], ["Terminating", "NotTerminating"]];
const COMPUTE_RESOURCES: &[&str] =
    &["pods", "cpu", "memory", "limits.cpu", "limits.memory", "requests.cpu", "requests.memory"];
const EXISTS_ONLY: &str = "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity";

/// `ValidateResourceQuota` and `ValidateResourceQuotaUpdate`
pub fn validate(errors: &mut Errors, object: &FieldValue<'_, '_>, old: Option<&Value>) {
    let spec = object.child("spec");
    let hard = spec.child("hard");
    let stored = old.map(|old| FieldValue::new(old.at(&["spec", "hard"]), ROOT));
    quantities(errors, &hard, stored.as_slice());
    let limited: BTreeSet<&str> = hard.entries().map(|(name, _)| name).collect();
    scopes(errors, &spec.child("scopes"), &limited);
    scope_selector(errors, &spec, &limited);
    let Some(old) = old else { return };
    let (scopes, old_spec) = (spec.child("scopes"), FieldValue::new(old.get("spec"), ROOT));
    let set = |list: &FieldValue<'_, '_>| list.texts().map(str::to_owned).collect::<BTreeSet<_>>();
    if set(&scopes) != set(&old_spec.child("scopes")) {
        errors.invalid_typed(&scopes, SCOPE_LIST, IMMUTABLE);
    }
}

/// `ValidateResourceQuotaResourceName` and `ValidateResourceQuantityValue`, for each resource (since 1.38,
/// `validateResourceQuotaResourceList`, which accepts each quantity that is stored)
pub(crate) fn quantities(errors: &mut Errors, quantities: &FieldValue<'_, '_>, stored: &[FieldValue<'_, '_>]) {
    for (name, quantity) in quantities.entries() {
        resources::resource_name(errors, &quantity, name);
        if !name.contains('/') && !resources::is_quota_resource(name) {
            errors.invalid_stringer(&quantity.path, name, "must be a standard resource for quota");
        }
        let is_stored = |list: &FieldValue<'_, '_>| {
            list.child(name)
                .quantity(errors.release)
                .zip(quantity.quantity(errors.release))
                .is_some_and(|(old, new)| old == new)
        };
        if !errors.release.since(V1_38) || !stored.iter().any(is_stored) {
            resources::quantity_of(errors, &quantity, name);
        }
    }
}

/// `IsResourceQuotaScopeValidForResource`, which is true for scopes that are not in the list
fn applies(scope: &str, resource: &str) -> bool {
    match scope {
        "BestEffort" => resource == "pods",
        "VolumeAttributesClass" => matches!(resource, "persistentvolumeclaims" | "requests.storage"),
        _ if SCOPES.contains(&scope) => COMPUTE_RESOURCES.contains(&resource),
        _ => true,
    }
}

/// For each scope, the number of limited resources to which it does not apply.
fn unsupported<'l>(limited: &BTreeSet<&'l str>) -> BTreeMap<&'static str, usize> {
    let known: Vec<&'l str> = limited.iter().copied().filter(|name| resources::is_quota_resource(name)).collect();
    let count = |scope| known.iter().filter(|name| !applies(scope, name)).count();
    SCOPES.iter().map(|scope| (*scope, count(scope))).collect()
}

/// `validateResourceQuotaScopes`
fn scopes(errors: &mut Errors, scopes: &FieldValue<'_, '_>, limited: &BTreeSet<&str>) {
    let unsupported = unsupported(limited);
    for scope in scopes.texts() {
        if errors.list.is_full() {
            return;
        }
        if !SCOPES.contains(&scope) {
            errors.invalid_typed(scopes, SCOPE_LIST, "unsupported scope");
        }
        for _ in 0..unsupported.get(scope).copied().unwrap_or_default() {
            errors.invalid_typed(scopes, SCOPE_LIST, "unsupported scope applied to resource");
        }
    }
    let all: BTreeSet<&str> = scopes.texts().collect();
    for _ in CONFLICTS.iter().filter(|pair| pair.iter().all(|scope| all.contains(scope))) {
        errors.invalid_typed(scopes, SCOPE_LIST, "conflicting scopes");
    }
}

/// `validateScopedResourceSelectorRequirement`. The server reports all errors at the list.
fn scope_selector(errors: &mut Errors, spec: &FieldValue<'_, '_>, limited: &BTreeSet<&str>) {
    let selector = spec.child("scopeSelector");
    let list = selector.child("matchExpressions");
    let unsupported = unsupported(limited);
    let mut all = BTreeSet::new();
    for requirement in list.items() {
        if errors.list.is_full() {
            return;
        }
        let (scope, operator, values) =
            (requirement.child("scopeName"), requirement.child("operator"), requirement.child("values"));
        if !SCOPES.contains(&scope.text()) {
            errors.invalid_value(&list.path.child("scopeName"), scope.text(), "unsupported scope");
        }
        for _ in 0..unsupported.get(scope.text()).copied().unwrap_or_default() {
            let field = FieldValue { path: list.path, ..selector };
            errors.invalid_typed(&field, "core.ScopeSelector", "unsupported scope applied to resource");
        }
        let takes_values = matches!(scope.text(), "PriorityClass" | "VolumeAttributesClass");
        if SCOPES.contains(&scope.text()) && !takes_values && operator.text() != "Exists" {
            errors.invalid_value(&list.path.child("operator"), operator.text(), EXISTS_ONLY);
        }
        let values_path = list.path.child("values");
        match operator.text() {
            "In" | "NotIn" if values.len() == 0 => {
                let field = FieldValue { path: values_path, ..values };
                let detail = "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector";
                errors.required(&field, detail);
            }
            "Exists" | "DoesNotExist" if values.len() > 0 => {
                let field = FieldValue { path: values_path, ..values };
                let detail = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector";
                errors.invalid_typed(&field, "[]string", detail);
            }
            "In" | "NotIn" | "Exists" | "DoesNotExist" => {}
            other => errors.invalid_value(&list.path.child("operator"), other, "not a valid selector operator"),
        }
        all.insert(scope.text());
    }
    let scopes = spec.child("scopes");
    for _ in CONFLICTS.iter().filter(|pair| pair.iter().all(|scope| all.contains(scope))) {
        let field = FieldValue { path: list.path, ..scopes };
        errors.invalid_typed(&field, SCOPE_LIST, "conflicting scopes");
    }
}

#[cfg(test)]
mod tests {
    use crate::validation::tests::{created, updated};
    use crdx_value::field::UNFINISHED;

    /// `validateResourceQuotaResourceList` in `pkg/apis/core/validation`
    #[test]
    fn stored_quantities_are_accepted_since_1_38() {
        let quota = |pods: &str| format!(r#"{{"spec":{{"hard":{{"pods":"{pods}"}}}}}}"#);
        let errors = |new: &str, release| updated("v1", "ResourceQuota", &quota("1500m"), &quota(new), release);
        let must_be_an_integer =
            |shown: &str| [format!(r#"spec.hard[pods]: Invalid value: "{shown}": must be an integer"#)];
        assert_eq!(errors("1500m", "1.37"), must_be_an_integer("1500m"));
        assert_eq!(errors("1500m", "1.38"), [""; 0]);
        assert_eq!(errors("1.5", "1.38"), [""; 0]);
        assert_eq!(errors("2500m", "1.38"), must_be_an_integer("2500m"));
    }

    #[test]
    fn selectors_are_shown_with_their_internal_type() {
        let quota = r#"{"spec":{"hard":{"services":"1"},"scopeSelector":{"matchExpressions":[{"scopeName":"PriorityClass","operator":"In","values":["high"]}]}}}"#;
        let errors = |release| created("v1", "ResourceQuota", quota, release);
        assert_eq!(
            errors("1.37"),
            [
                r#"spec.scopeSelector.matchExpressions: Invalid value: {"MatchExpressions":[{"ScopeName":"PriorityClass","Operator":"In","Values":["high"]}]}: unsupported scope applied to resource"#
            ]
        );
        assert!(errors("1.33")[0].contains("Invalid value: core.ScopeSelector{MatchExpressions:[]core.Scoped"));
    }

    #[test]
    fn errors_that_repeat_a_long_list_are_bounded() {
        let quota = |scopes: usize| format!(r#"{{"spec":{{"scopes":[{}]}}}}"#, vec![r#""x""#; scopes].join(","));
        let errors = |scopes| created("v1", "ResourceQuota", &quota(scopes), "1.37");
        assert_eq!(errors(300).len(), 300);
        assert_eq!(errors(12_500), [format!("<nil>: Timeout: {UNFINISHED}")]);
    }

    #[test]
    fn names_of_resources_have_no_quotes_before_1_34() {
        let quota = r#"{"spec":{"hard":{"x":"1"}}}"#;
        let first = |release| created("v1", "ResourceQuota", quota, release).remove(0);
        assert_eq!(
            first("1.33"),
            "spec.hard[x]: Invalid value: x: must be a standard resource type or fully qualified"
        );
        assert_eq!(
            first("1.34"),
            "spec.hard[x]: Invalid value: \"x\": must be a standard resource type or fully qualified"
        );
    }
}
