//! The API groups that Kubernetes 1.37 itself serves (`k8s.io/api` and the aggregator): their kinds are no custom
//! resources. Whole names only, for `gateway.networking.k8s.io` and its like are CRDs. Versions and kinds do not matter:
//! the server lets no CRD into these groups that the built-in kinds would not hide, and old versions (`extensions/v1beta1`)
//! still stand in many files.

/// Sorted.
const GROUPS: &[&str] = &[
    "",
    "admission.k8s.io",
    "admissionregistration.k8s.io",
    "apiregistration.k8s.io",
    "apps",
    "authentication.k8s.io",
    "authorization.k8s.io",
    "autoscaling",
    "batch",
    "certificates.k8s.io",
    "coordination.k8s.io",
    "discovery.k8s.io",
    "events.k8s.io",
    "extensions",
    "flowcontrol.apiserver.k8s.io",
    "imagepolicy.k8s.io",
    "internal.apiserver.k8s.io",
    "lifecycle.k8s.io",
    "networking.k8s.io",
    "node.k8s.io",
    "policy",
    "rbac.authorization.k8s.io",
    "resource.k8s.io",
    "scheduling.k8s.io",
    "storage.k8s.io",
    "storagemigration.k8s.io",
];

/// Whether Kubernetes itself owns `group`.
pub fn owns(group: &str) -> bool {
    GROUPS.binary_search(&group).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_compared_whole() {
        assert!(GROUPS.is_sorted());
        assert!(owns("") && owns("apps") && owns("networking.k8s.io"));
        assert!(!owns("gateway.networking.k8s.io") && !owns("snapshot.storage.k8s.io") && !owns("example.com"));
    }
}
