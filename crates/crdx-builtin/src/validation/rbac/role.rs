//! Roles.

use crate::validation::field_value::{Errors, FieldValue};
use crdx_value::Value;
use crdx_value::release::V1_37;

/// `ValidateRole`
pub fn validate(errors: &mut Errors, object: &FieldValue<'_, '_>, _: Option<&Value>) {
    for rule in object.child("rules").items() {
        policy_rule(errors, &rule, RoleScope::Namespace);
    }
}

/// The scope of a role or binding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RoleScope {
    Namespace,
    Cluster,
}

/// `ValidatePolicyRule`
pub(crate) fn policy_rule(errors: &mut Errors, rule: &FieldValue<'_, '_>, scope: RoleScope) {
    let (verbs, urls) = (rule.child("verbs"), rule.child("nonResourceURLs"));
    if verbs.len() == 0 {
        // The rule that the types declare is enforced since 1.37.
        let detail = if errors.release.since(V1_37) { "" } else { "verbs must contain at least one value" };
        errors.required(&verbs, detail);
    }
    let (groups, resources) = (rule.child("apiGroups"), rule.child("resources"));
    if urls.len() > 0 {
        if scope == RoleScope::Namespace {
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

#[cfg(test)]
mod tests {
    use crate::validation::tests::created;

    #[test]
    fn missing_verbs_are_worded_by_release() {
        let create =
            |release| created("rbac.authorization.k8s.io/v1", "Role", r#"{"rules":[{"resources":["a"]}]}"#, release);
        assert_eq!(create("1.36")[0], "rules[0].verbs: Required value: verbs must contain at least one value");
        assert_eq!(create("1.37")[0], "rules[0].verbs: Required value");
    }
}
