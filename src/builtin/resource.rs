//! The resources of built-in kinds: their plurals, and the versions that a policy treats as equivalent.

use super::table::table;

/// The plural of a built-in kind (`meta.UnsafeGuessKindToResource`, which all of them follow).
pub fn plural(kind: &str) -> String {
    let singular = kind.to_ascii_lowercase();
    if singular == "endpoints" {
        return singular;
    }
    match singular.strip_suffix('y') {
        Some(stem) => format!("{stem}ies"),
        _ if singular.ends_with('s') => format!("{singular}es"),
        _ => format!("{singular}s"),
    }
}

/// A kind in a version that serves a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BuiltIn {
    /// The group, empty for the core group.
    pub group: &'static str,
    /// The version.
    pub version: &'static str,
    /// The kind.
    pub kind: &'static str,
}

/// The versions in which a release serves the objects of a resource: those of its group; events are in two groups.
pub fn versions(group: &str, plural_name: &str, release: u32) -> Vec<BuiltIn> {
    let groups: Vec<&str> = match (group, plural_name) {
        ("" | "events.k8s.io", "events") => vec!["", "events.k8s.io"],
        _ => vec![group],
    };
    let table = table();
    let mut all = Vec::new();
    for group in groups {
        for kind in table.kinds(group, release).into_iter().filter(|kind| plural(kind) == plural_name) {
            all.extend(table.versions(group, kind, release).into_iter().map(|api_version| {
                let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
                BuiltIn { group, version, kind }
            }));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plurals_follow_the_kind() {
        for (kind, expected) in [
            ("Pod", "pods"),
            ("NetworkPolicy", "networkpolicies"),
            ("Ingress", "ingresses"),
            ("StorageClass", "storageclasses"),
            ("Endpoints", "endpoints"),
            ("IPAddress", "ipaddresses"),
            ("ServiceCIDR", "servicecidrs"),
        ] {
            assert_eq!(plural(kind), expected);
        }
    }

    #[test]
    fn resources_are_served_in_several_versions() {
        let of = |group: &str, plural: &str| {
            let all = versions(group, plural, 37);
            all.iter().map(|found| format!("{}/{} {}", found.group, found.version, found.kind)).collect::<Vec<_>>()
        };
        let autoscaler = ["autoscaling/v1 HorizontalPodAutoscaler", "autoscaling/v2 HorizontalPodAutoscaler"];
        assert_eq!(of("autoscaling", "horizontalpodautoscalers"), autoscaler);
        assert_eq!(of("", "events"), ["/v1 Event", "events.k8s.io/v1 Event"]);
        assert_eq!(of("apps", "deployments"), ["apps/v1 Deployment"]);
        assert!(of("example.com", "widgets").is_empty());
    }
}
