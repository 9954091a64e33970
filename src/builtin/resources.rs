//! The resources of built-in kinds, from `resources.txt`, which `scripts/builtin-types` generates from the discovery
//! documents in the sources of Kubernetes. It has the resources that can be read, in the versions that API servers serve
//! by default.
//!
//! A line has the group version, the resource, its singular, the kind, and words; it may end with the releases to which it
//! applies, as in [`super::table`].
//!
//! ```text
//! apps/v1 deployments deployment Deployment short=deploy categories=all scale status
//! v1 nodes node Node cluster short=no status
//! v1 componentstatuses componentstatus ComponentStatus cluster short=cs verbs=get,list
//! ```

use super::table::{split_releases, table};
use crate::value::group_version;

const TEXT: &str = include_str!("resources.txt");

/// A resource in one version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resource {
    /// The API group; empty for the core group.
    pub group: &'static str,
    /// The version.
    pub version: &'static str,
    /// The plural.
    pub plural: &'static str,
    /// The singular.
    pub singular: &'static str,
    /// The kind.
    pub kind: &'static str,
    /// True if the resource is namespaced.
    pub namespaced: bool,
    /// The short names.
    pub short_names: Vec<&'static str>,
    /// The categories.
    pub categories: Vec<&'static str>,
    /// True if the resource has the subresource `status`.
    pub status: bool,
    /// True if the resource has the subresource `scale`.
    pub scale: bool,
    /// True if objects can be written.
    pub writable: bool,
}

/// The resources of Kubernetes 1.`release`, sorted by group, version and name.
pub fn resources(release: u32) -> impl Iterator<Item = Resource> {
    let all = table().releases();
    let release = release.clamp(*all.start(), *all.end());
    let rows = TEXT.lines().filter(|line| !line.starts_with('#')).map(move |line| split_releases(line, &all));
    rows.filter(move |(_, releases)| releases.contains(&release)).map(|(line, _)| Resource::read(line))
}

impl Resource {
    fn read(line: &'static str) -> Self {
        let mut words = line.split(' ');
        let mut word = || words.next().unwrap_or_default();
        let (group, version) = group_version::split(word());
        let (plural, singular, kind) = (word(), word(), word());
        let (short_names, categories) = (Vec::new(), Vec::new());
        let (namespaced, status, scale, writable) = (true, false, false, true);
        let mut out = Self {
            group,
            version,
            plural,
            singular,
            kind,
            namespaced,
            short_names,
            categories,
            status,
            scale,
            writable,
        };
        for word in words {
            match word.split_once('=').unwrap_or((word, "")) {
                ("cluster", _) => out.namespaced = false,
                ("status", _) => out.status = true,
                ("scale", _) => out.scale = true,
                ("short", names) => out.short_names = names.split(',').collect(),
                ("categories", names) => out.categories = names.split(',').collect(),
                ("verbs", verbs) => out.writable = verbs.contains("create"),
                _ => {}
            }
        }
        out
    }
}

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
pub struct ServedKind {
    /// The group, empty for the core group.
    pub group: &'static str,
    /// The version.
    pub version: &'static str,
    /// The kind.
    pub kind: &'static str,
}

/// The versions in which a release serves the objects of a resource: those of its group; events are in two groups.
pub fn versions(group: &str, plural_name: &str, release: u32) -> Vec<ServedKind> {
    let groups: Vec<&str> = match (group, plural_name) {
        ("" | "events.k8s.io", "events") => vec!["", "events.k8s.io"],
        _ => vec![group],
    };
    let table = table();
    let mut all = Vec::new();
    for group in groups {
        for kind in table.kinds(group, release).into_iter().filter(|kind| plural(kind) == plural_name) {
            all.extend(table.versions(group, kind, release).into_iter().map(|api_version| {
                let (group, version) = group_version::split(api_version);
                ServedKind { group, version, kind }
            }));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resources_depend_on_the_release() {
        let find = |release, plural: &str| resources(release).find(|r| r.plural == plural);
        let deployments = find(37, "deployments").unwrap();
        assert_eq!((deployments.group, deployments.version, deployments.kind), ("apps", "v1", "Deployment"));
        assert_eq!((deployments.short_names.as_slice(), deployments.scale), (&["deploy"][..], true));
        let nodes = find(30, "nodes").unwrap();
        assert!(!nodes.namespaced && nodes.status && !nodes.scale && nodes.writable);
        assert!(find(30, "ipaddresses").is_none() && find(33, "ipaddresses").is_some());
        assert!(!find(37, "componentstatuses").unwrap().writable);
    }

    #[test]
    fn every_resource_has_a_type() {
        for release in table().releases() {
            for resource in resources(release) {
                let api_version = group_version::api_version(resource.group, resource.version);
                let row = table().kind(&api_version, resource.kind, release);
                let row = row.unwrap_or_else(|| panic!("1.{release}: {api_version} {}", resource.kind));
                assert!(row.served && row.cluster != resource.namespaced, "1.{release}: {} {row:?}", resource.plural);
            }
        }
    }

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
