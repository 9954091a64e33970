//! `rbac.authorization.k8s.io` (`pkg/apis/rbac/validation`).

use super::field_value::{Errors, FieldValue};
use super::{formats, immutable, selectors};
use crate::field::{BadValue, FieldError, ROOT, names};
use crate::release::{V1_34, V1_36};
use crate::value::{Value, quote::go_quote};

const GROUP: &str = "rbac.authorization.k8s.io";

/// `ValidateRole`
pub fn role(errors: &mut Errors, object: &FieldValue<'_, '_>, _: Option<&Value>) {
    for rule in object.child("rules").items() {
        policy_rule(errors, &rule, true);
    }
}

/// `ValidateClusterRole`
pub fn cluster_role(errors: &mut Errors, object: &FieldValue<'_, '_>, old: Option<&Value>) {
    for rule in object.child("rules").items() {
        policy_rule(errors, &rule, false);
    }
    let aggregation = object.child("aggregationRule");
    if !aggregation.is_set() {
        return;
    }
    let list = aggregation.child("clusterRoleSelectors");
    if list.len() == 0 {
        errors.required(&list, "at least one clusterRoleSelector required if aggregationRule is non-nil");
    }
    let old = FieldValue::new(old, ROOT);
    let old_aggregation = old.child("aggregationRule");
    let allows_invalid =
        old_aggregation.child("clusterRoleSelectors").items().any(|s| selectors::has_invalid_value(&s, errors));
    for selector in list.items() {
        selectors::label_selector(errors, &selector, allows_invalid);
        if !selectors::is_valid(&selector, errors) {
            errors.invalid_value(&selector.path, BadValue::Raw("null".to_owned()), "invalid label selector.");
        }
    }
}

/// `ValidatePolicyRule`
fn policy_rule(errors: &mut Errors, rule: &FieldValue<'_, '_>, is_namespaced: bool) {
    let (verbs, urls) = (rule.child("verbs"), rule.child("nonResourceURLs"));
    if verbs.len() == 0 {
        // Declared in the types since 1.36.
        let detail = if errors.release.since(V1_36) { "" } else { "verbs must contain at least one value" };
        errors.required(&verbs, detail);
    }
    let (groups, resources) = (rule.child("apiGroups"), rule.child("resources"));
    if urls.len() > 0 {
        if is_namespaced {
            errors.invalid(&urls, "namespaced rules cannot apply to non-resource URLs");
        }
        if groups.len() + resources.len() + rule.child("resourceNames").len() > 0 {
            errors.invalid(&urls, "rules cannot apply to both regular resources and non-resource URLs");
        }
        return;
    }
    if groups.len() == 0 {
        errors.required(&groups, "resource rules must supply at least one api group");
    }
    if resources.len() == 0 {
        errors.required(&resources, "resource rules must supply at least one resource");
    }
}

/// `ValidateRoleBinding` and `ValidateRoleBindingUpdate`
pub fn role_binding(errors: &mut Errors, object: &FieldValue<'_, '_>, old: Option<&Value>) {
    binding(errors, object, old, &["Role", "ClusterRole"], true);
}

/// `ValidateClusterRoleBinding` and `ValidateClusterRoleBindingUpdate`
pub fn cluster_role_binding(errors: &mut Errors, object: &FieldValue<'_, '_>, old: Option<&Value>) {
    binding(errors, object, old, &["ClusterRole"], false);
}

fn binding(errors: &mut Errors, object: &FieldValue<'_, '_>, old: Option<&Value>, kinds: &[&str], is_namespaced: bool) {
    let role = object.child("roleRef");
    errors.supported(&role.child("apiGroup"), &[GROUP]);
    errors.supported(&role.child("kind"), kinds);
    let name = role.child("name");
    if errors.require_text(&name) {
        errors.messages(&name, names::path_segment(name.text(), false));
    }
    for subject in object.child("subjects").items() {
        validate_subject(errors, &subject, is_namespaced);
    }
    let Some(old) = old else { return };
    let old = FieldValue::new(Some(old), ROOT);
    if !immutable::is_equal(role.value, old.child("roleRef").value) {
        errors.invalid_value(&role.path, internal_role(&role, errors.release.since(V1_34)), immutable::IMMUTABLE);
    }
}

/// The reference as its internal type, as JSON since 1.34 and in Go syntax before.
fn internal_role(role: &FieldValue<'_, '_>, as_json: bool) -> BadValue {
    let text = |name| go_quote(role.child(name).value.as_str().unwrap_or_default());
    let (group, kind, name) = (text("apiGroup"), text("kind"), text("name"));
    BadValue::Raw(if as_json {
        format!(r#"{{"APIGroup":{group},"Kind":{kind},"Name":{name}}}"#)
    } else {
        format!("rbac.RoleRef{{APIGroup:{group}, Kind:{kind}, Name:{name}}}")
    })
}

/// `ValidateRoleBindingSubject`
fn validate_subject(errors: &mut Errors, subject: &FieldValue<'_, '_>, is_namespaced: bool) {
    let (name, group, kind) = (subject.child("name"), subject.child("apiGroup"), subject.child("kind"));
    errors.require_text(&name);
    match kind.text() {
        "ServiceAccount" => {
            if !name.text().is_empty() {
                formats::object_name(errors, &name);
            }
            if !group.text().is_empty() {
                errors.not_supported(&group, &[""]);
            }
            if !is_namespaced {
                errors.require_text(&subject.child("namespace"));
            }
        }
        "User" | "Group" => errors.supported(&group, &[GROUP]),
        other => {
            errors.list.push(FieldError::not_supported(&kind.path, other, &["ServiceAccount", "User", "Group"]));
        }
    }
}
