//! `rbac.authorization.k8s.io` (`pkg/apis/rbac/validation`).

use super::field_value::{Errors, FieldValue};
use super::{formats, immutable, selectors};
use crdx_value::Value;
use crdx_value::field::{FieldError, ROOT, names};
use crdx_value::release::{V1_37, V1_38};

const GROUP: &str = "rbac.authorization.k8s.io";

/// `ValidateRole`
pub fn role(errors: &mut Errors, object: &FieldValue<'_, '_>, _: Option<&Value>) {
    for rule in object.child("rules").items() {
        policy_rule(errors, &rule, true);
    }
}

/// `ValidateClusterRole`
pub(crate) fn cluster_role(errors: &mut Errors, object: &FieldValue<'_, '_>, old: Option<&Value>) {
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
            // The selector that could not be made of it, which is nil.
            let nil = FieldValue::new(None, selector.path);
            errors.invalid(&nil, "invalid label selector.");
        }
    }
}

/// `ValidatePolicyRule`
fn policy_rule(errors: &mut Errors, rule: &FieldValue<'_, '_>, is_namespaced: bool) {
    let (verbs, urls) = (rule.child("verbs"), rule.child("nonResourceURLs"));
    if verbs.len() == 0 {
        // The rule that the types declare is enforced since 1.37.
        let detail = if errors.release.since(V1_37) { "" } else { "verbs must contain at least one value" };
        errors.required(&verbs, detail);
    }
    let (groups, resources) = (rule.child("apiGroups"), rule.child("resources"));
    if urls.len() > 0 {
        if is_namespaced {
            errors.invalid_typed(&urls, "[]string", "namespaced rules cannot apply to non-resource URLs");
        }
        if groups.len() + resources.len() + rule.child("resourceNames").len() > 0 {
            errors.invalid_typed(
                &urls,
                "[]string",
                "rules cannot apply to both regular resources and non-resource URLs",
            );
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
pub(crate) fn role_binding(errors: &mut Errors, object: &FieldValue<'_, '_>, old: Option<&Value>) {
    binding(errors, object, old, &["Role", "ClusterRole"], true);
}

/// `ValidateClusterRoleBinding` and `ValidateClusterRoleBindingUpdate`
pub(crate) fn cluster_role_binding(errors: &mut Errors, object: &FieldValue<'_, '_>, old: Option<&Value>) {
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
    if errors.release.since(V1_37) {
        immutable::declared_since(errors, &role, &old.child("roleRef"), "rbac.RoleRef", V1_38);
    } else if !immutable::is_equal(role.value, old.child("roleRef").value) {
        errors.invalid_typed(&role, "rbac.RoleRef", "cannot change roleRef");
    }
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

#[cfg(test)]
mod tests {
    use crate::validation::tests::{created, updated};

    #[test]
    fn a_changed_role_is_worded_by_release() {
        let binding = |name: &str| {
            format!(r#"{{"roleRef":{{"apiGroup":"rbac.authorization.k8s.io","kind":"Role","name":"{name}"}}}}"#)
        };
        let update = |release| {
            updated("rbac.authorization.k8s.io/v1", "RoleBinding", &binding("a"), &binding("b"), release).remove(0)
        };
        let json = r#"roleRef: Invalid value: {"APIGroup":"rbac.authorization.k8s.io","Kind":"Role","Name":"b"}: "#;
        assert_eq!(update("1.38"), "roleRef: Invalid value: null: field is immutable");
        assert_eq!(update("1.37"), format!("{json}field is immutable"));
        assert_eq!(update("1.36"), format!("{json}cannot change roleRef"));
        let go = r#"roleRef: Invalid value: rbac.RoleRef{APIGroup:"rbac.authorization.k8s.io", Kind:"Role", Name:"b"}: cannot change roleRef"#;
        assert_eq!(update("1.33"), go);
    }

    #[test]
    fn urls_are_shown_with_their_type() {
        let role = r#"{"rules":[{"verbs":["get"],"nonResourceURLs":["/a"],"resources":["b"]}]}"#;
        let errors = created("rbac.authorization.k8s.io/v1", "ClusterRole", role, "1.31");
        assert!(errors[0].starts_with("rules[0].nonResourceURLs: Invalid value: []string{\"/a\"}: "), "{errors:?}");
    }
    #[test]
    fn missing_verbs_are_worded_by_release() {
        let create =
            |release| created("rbac.authorization.k8s.io/v1", "Role", r#"{"rules":[{"resources":["a"]}]}"#, release);
        assert_eq!(create("1.36")[0], "rules[0].verbs: Required value: verbs must contain at least one value");
        assert_eq!(create("1.37")[0], "rules[0].verbs: Required value");
    }
}
