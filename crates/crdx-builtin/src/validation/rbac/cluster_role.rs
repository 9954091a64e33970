//! `ClusterRole`s.

use crate::validation::field_value::{Errors, FieldValue};
use crate::validation::rbac::role::{RoleScope, policy_rule};
use crate::validation::selectors::{self, LabelValues};
use crdx_value::Value;
use crdx_value::field::ROOT;

/// `ValidateClusterRole`
pub(crate) fn validate(errors: &mut Errors, object: &FieldValue<'_, '_>, old: Option<&Value>) {
    for rule in object.child("rules").items() {
        policy_rule(errors, &rule, RoleScope::Cluster);
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
        selectors::label_selector(errors, &selector, LabelValues::allow_invalid_if(allows_invalid));
        if !selectors::is_valid(&selector, errors) {
            // The selector that could not be made of it, which is nil.
            let nil = FieldValue::new(None, selector.path);
            errors.invalid(&nil, "invalid label selector.");
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::validation::tests::created;

    #[test]
    fn urls_are_shown_with_their_type() {
        let role = r#"{"rules":[{"verbs":["get"],"nonResourceURLs":["/a"],"resources":["b"]}]}"#;
        let errors = created("rbac.authorization.k8s.io/v1", "ClusterRole", role, "1.31");
        assert!(errors[0].starts_with("rules[0].nonResourceURLs: Invalid value: []string{\"/a\"}: "), "{errors:?}");
    }
}
