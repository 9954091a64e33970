//! The API groups of Kubernetes itself.

use crate::table;

/// The groups that are not in the table, because their types are in other Go modules.
const OTHER_GROUPS: &[&str] = &["admission.k8s.io", "apiextensions.k8s.io", "extensions", "imagepolicy.k8s.io"];

/// Returns true if `group` belongs to Kubernetes itself. Only whole names count, because `gateway.networking.k8s.io`
/// and others are groups of CRDs.
pub fn is_built_in(group: &str) -> bool {
    OTHER_GROUPS.contains(&group) || table::table().has_group(group)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_compared_whole() {
        assert!(
            is_built_in("")
                && is_built_in("apps")
                && is_built_in("networking.k8s.io")
                && is_built_in("extensions")
                && is_built_in("policy")
        );
        assert!(is_built_in("apiregistration.k8s.io"));
        assert!(
            !is_built_in("gateway.networking.k8s.io")
                && !is_built_in("snapshot.storage.k8s.io")
                && !is_built_in("example.com")
        );
    }
}
