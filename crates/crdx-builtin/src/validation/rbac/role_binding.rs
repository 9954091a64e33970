//! `RoleBinding`s, and what they have in common with `ClusterRoleBinding`s.

use crate::validation::field_value::{Errors, FieldValue};
use crate::validation::rbac::role::RoleScope;
use crate::validation::{formats, immutable};
use crdx_value::Value;
use crdx_value::field::{
    FieldError, ROOT,
    names::{self, NameForm},
};
use crdx_value::release::{V1_37, V1_38};

const GROUP: &str = "rbac.authorization.k8s.io";

/// `ValidateRoleBinding` and `ValidateRoleBindingUpdate`
pub(crate) fn validate(errors: &mut Errors, object: &FieldValue<'_, '_>, old: Option<&Value>) {
    binding(errors, object, old, &["Role", "ClusterRole"], RoleScope::Namespace);
}

pub(crate) fn binding(
    errors: &mut Errors,
    object: &FieldValue<'_, '_>,
    old: Option<&Value>,
    kinds: &[&str],
    scope: RoleScope,
) {
    let role = object.child("roleRef");
    errors.supported(&role.child("apiGroup"), &[GROUP]);
    errors.supported(&role.child("kind"), kinds);
    let name = role.child("name");
    if errors.require_text(&name) {
        errors.messages(&name, names::path_segment(name.text(), NameForm::Whole));
    }
    for subject in object.child("subjects").items() {
        validate_subject(errors, &subject, scope);
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
fn validate_subject(errors: &mut Errors, subject: &FieldValue<'_, '_>, scope: RoleScope) {
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
            if scope == RoleScope::Cluster {
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
    use crate::validation::tests::updated;

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
}
