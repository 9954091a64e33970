//! `ResourceQuota`s (`ValidateResourceQuotaSpec`).

use super::field_value::{Errors, FieldValue};
use super::immutable::IMMUTABLE;
use super::resources;
use crate::field::{BadValue, ROOT};
use crate::value::{Map, Value};
use std::collections::BTreeSet;

const SCOPES: &[&str] = &[
    "Terminating",
    "NotTerminating",
    "BestEffort",
    "NotBestEffort",
    "PriorityClass",
    "VolumeAttributesClass",
    "CrossNamespacePodAffinity",
];
const CONFLICTS: [[&str; 2]; 2] = [["BestEffort", "NotBestEffort"], ["Terminating", "NotTerminating"]];
const COMPUTE_RESOURCES: &[&str] =
    &["pods", "cpu", "memory", "limits.cpu", "limits.memory", "requests.cpu", "requests.memory"];
const EXISTS_ONLY: &str = "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity";

/// `ValidateResourceQuota` and `ValidateResourceQuotaUpdate`
pub fn quota(errors: &mut Errors, object: &FieldValue<'_, '_>, old: Option<&Value>) {
    let spec = object.child("spec");
    let hard = spec.child("hard");
    for (name, quantity) in hard.entries() {
        resources::resource_name(errors, &quantity, name);
        if !name.contains('/') && !resources::is_quota_resource(name) {
            errors.invalid_value(&quantity.path, name, "must be a standard resource for quota");
        }
        resources::quantity_of(errors, &quantity, name);
    }
    let limited: BTreeSet<&str> = hard.entries().map(|(name, _)| name).collect();
    scopes(errors, &spec.child("scopes"), &limited);
    scope_selector(errors, &spec, &limited);
    let Some(old) = old else { return };
    let (scopes, old_spec) = (spec.child("scopes"), FieldValue::new(old.get("spec"), ROOT));
    let set = |list: &FieldValue<'_, '_>| list.texts().map(str::to_owned).collect::<BTreeSet<_>>();
    if set(&scopes) != set(&old_spec.child("scopes")) {
        errors.invalid(&scopes, IMMUTABLE);
    }
}

/// `IsResourceQuotaScopeValidForResource`
fn applies(scope: &str, resource: &str) -> bool {
    match scope {
        "BestEffort" => resource == "pods",
        "VolumeAttributesClass" => matches!(resource, "persistentvolumeclaims" | "requests.storage"),
        _ if SCOPES.contains(&scope) => COMPUTE_RESOURCES.contains(&resource),
        _ => true,
    }
}

/// The number of limited resources to which a scope does not apply.
fn count_unsupported(scope: &str, limited: &BTreeSet<&str>) -> usize {
    limited.iter().filter(|name| resources::is_quota_resource(name) && !applies(scope, name)).count()
}

/// `validateResourceQuotaScopes`
fn scopes(errors: &mut Errors, scopes: &FieldValue<'_, '_>, limited: &BTreeSet<&str>) {
    for scope in scopes.texts() {
        if !SCOPES.contains(&scope) {
            errors.invalid(scopes, "unsupported scope");
        }
        for _ in 0..count_unsupported(scope, limited) {
            errors.invalid(scopes, "unsupported scope applied to resource");
        }
    }
    let all: BTreeSet<&str> = scopes.texts().collect();
    for _ in CONFLICTS.iter().filter(|pair| pair.iter().all(|scope| all.contains(scope))) {
        errors.invalid(scopes, "conflicting scopes");
    }
}

/// `validateScopedResourceSelectorRequirement`. The server reports all errors at the list.
fn scope_selector(errors: &mut Errors, spec: &FieldValue<'_, '_>, limited: &BTreeSet<&str>) {
    let selector = spec.child("scopeSelector");
    let list = selector.child("matchExpressions");
    let mut all = BTreeSet::new();
    for requirement in list.items() {
        let (scope, operator, values) =
            (requirement.child("scopeName"), requirement.child("operator"), requirement.child("values"));
        if !SCOPES.contains(&scope.text()) {
            errors.invalid_value(&list.path.child("scopeName"), scope.text(), "unsupported scope");
        }
        for _ in 0..count_unsupported(scope.text(), limited) {
            let bad = BadValue::of(&internal(&selector), errors.release);
            errors.invalid_value(&list.path, bad, "unsupported scope applied to resource");
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
                errors.invalid(&field, detail);
            }
            "In" | "NotIn" | "Exists" | "DoesNotExist" => {}
            other => errors.invalid_value(&list.path.child("operator"), other, "not a valid selector operator"),
        }
        all.insert(scope.text());
    }
    let scopes = spec.child("scopes");
    for _ in CONFLICTS.iter().filter(|pair| pair.iter().all(|scope| all.contains(scope))) {
        let field = FieldValue { path: list.path, ..scopes };
        errors.invalid(&field, "conflicting scopes");
    }
}

/// A selector with the names of its internal type.
fn internal(selector: &FieldValue<'_, '_>) -> Value {
    let requirement = |requirement: FieldValue<'_, '_>| {
        let names = [("ScopeName", "scopeName"), ("Operator", "operator"), ("Values", "values")];
        Value::Object(
            names.map(|(shown, name)| (shown.to_owned(), requirement.child(name).value.clone())).into_iter().collect(),
        )
    };
    let items: Vec<Value> = selector.child("matchExpressions").items().map(requirement).collect();
    Value::Object(Map::from([("MatchExpressions".to_owned(), items.into())]))
}
