//! The API groups that Kubernetes 1.37 itself serves (`k8s.io/api` and the aggregator): their kinds are no custom
//! resources. Whole names only, for `gateway.networking.k8s.io` and its like are CRDs.

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

/// `GROUP/VERSION KIND` of every kind that a release from 1.30 to 1.37 serves or defines, sorted, one a line. Written by
/// `scripts/builtin-kinds.py`.
const KINDS: &str = include_str!("builtin-kinds.txt");

/// Whether some release from 1.30 to 1.37 has the kind.
pub fn has(api_version: &str, kind: &str) -> bool {
    KINDS.lines().any(|line| line.split_once(' ') == Some((api_version, kind)))
}

/// What to do about a kind of a built-in group that no release has.
pub fn help(group: &str, kind: &str) -> String {
    let of_group = || {
        let kinds = KINDS.lines().filter_map(|line| line.split_once(' '));
        kinds.filter(|(version, _)| version.split_once('/').map_or("", |(g, _)| g) == group)
    };
    let mut found: Vec<&str> = of_group().filter(|(_, known)| *known == kind).map(|(version, _)| version).collect();
    if !found.is_empty() {
        return format!("write {kind} with apiVersion {}", found.join(" or "));
    }
    found = of_group().map(|(_, known)| known).collect();
    found.sort_unstable();
    found.dedup();
    format!("check the spelling of apiVersion and kind; the kinds here are {}", found.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_those_of_some_release() {
        assert!(KINDS.lines().is_sorted());
        assert!(
            has("apps/v1", "Deployment") && has("v1", "ConfigMap") && has("resource.k8s.io/v1alpha2", "ResourceClass")
        );
        assert!(
            !has("apps/v1", "Deploymint") && !has("extensions/v1beta1", "Ingress") && !has("apps/v2", "Deployment")
        );
        assert_eq!(help("apps", "Deployment"), "write Deployment with apiVersion apps/v1");
        let kinds = "ControllerRevision, DaemonSet, Deployment, ReplicaSet, StatefulSet";
        let expected = format!("check the spelling of apiVersion and kind; the kinds here are {kinds}");
        assert_eq!(help("apps", "Deploymint"), expected);
    }

    #[test]
    fn groups_are_compared_whole() {
        assert!(GROUPS.is_sorted());
        assert!(owns("") && owns("apps") && owns("networking.k8s.io"));
        assert!(!owns("gateway.networking.k8s.io") && !owns("snapshot.storage.k8s.io") && !owns("example.com"));
    }
}
