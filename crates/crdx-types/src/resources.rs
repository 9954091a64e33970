//! The resources of built-in kinds that API servers serve by default, from `resources.txt`. `scripts/builtin-types` generates
//! it from the sources of Kubernetes: the default resource configuration of each release, and the discovery documents.
//!
//! A line has the group version, the resource, its singular, the kind, and words; it may end with the releases to which it
//! applies, as in [`super::table`].
//!
//! ```text
//! apps/v1 deployments deployment Deployment short=deploy categories=all scale status
//! v1 nodes node Node cluster short=no status
//! v1 componentstatuses componentstatus ComponentStatus cluster short=cs verbs=get,list
//! v1 bindings binding Binding verbs=create
//! ```

use super::releases::{Releases, split_releases};
use super::table::table;
use crdx_value::group_version::{self, GroupVersionKind};
use std::collections::BTreeMap;
use std::sync::OnceLock;

const TEXT: &str = include_str!("resources.txt");

/// A resource in one version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiResource {
    /// The API group; empty for the core group.
    pub group: &'static str,
    pub version: &'static str,
    pub plural: &'static str,
    pub singular: &'static str,
    pub kind: &'static str,
    /// True if the resource is namespaced.
    pub namespaced: bool,
    pub short_names: Vec<&'static str>,
    pub categories: Vec<&'static str>,
    /// True if the resource has the subresource `status`.
    pub status: bool,
    /// True if the resource has the subresource `scale`.
    pub scale: bool,
    /// True if objects can be written.
    pub writable: bool,
    /// True if objects can be read. Those of other resources are not stored, such as reviews.
    pub readable: bool,
}

/// The group of CRDs, which are served by code of their own.
const DEFINITIONS: &str = "apiextensions.k8s.io";

/// The readable resources of Kubernetes 1.`release`, sorted by group, version and name; without those of CRDs.
pub fn resources(release: u32) -> impl Iterator<Item = ApiResource> {
    let all = table().releases();
    let release = release.clamp(*all.start(), *all.end());
    let rows = rows().filter(move |(_, releases)| releases.contains(&release)).map(|(line, _)| ApiResource::read(line));
    rows.filter(|resource| resource.readable && resource.group != DEFINITIONS)
}

/// All resources in the discovery documents of Kubernetes 1.`release`, sorted by group version.
pub fn discovered(release: u32) -> impl Iterator<Item = &'static ApiResource> {
    let rows = index().values().flatten().filter(move |(releases, _)| releases.contains(&release));
    rows.map(|(_, resource)| resource)
}

fn rows() -> impl Iterator<Item = (&'static str, Releases)> {
    let all = table().releases();
    TEXT.lines().filter(|line| !line.starts_with('#')).map(move |line| split_releases(line, &all))
}

/// All resources with their releases, by group version; indexed on first use.
fn index() -> &'static BTreeMap<&'static str, Vec<(Releases, ApiResource)>> {
    static INDEX: OnceLock<BTreeMap<&str, Vec<(Releases, ApiResource)>>> = OnceLock::new();
    INDEX.get_or_init(|| {
        let mut index: BTreeMap<&str, Vec<_>> = BTreeMap::new();
        for (line, releases) in rows() {
            let (group_version, _) = line.split_once(' ').unwrap_or_default();
            index.entry(group_version).or_default().push((releases, ApiResource::read(line)));
        }
        index
    })
}

/// The resources of a group in a release.
fn of_group(group: &str, release: u32) -> impl Iterator<Item = &'static ApiResource> {
    let versions = index().values().filter(move |rows| rows.first().is_some_and(|(_, row)| row.group == group));
    versions.flatten().filter(move |(releases, _)| releases.contains(&release)).map(|(_, resource)| resource)
}

/// The resource to which kubectl sends objects of a kind; `None` if the release does not serve it by default. kubectl also
/// finds kinds in lower case (`restmapper.NewDiscoveryRESTMapper`), which the server then rejects.
pub fn of_kind(group_version: &str, kind: &str, release: u32) -> Option<&'static ApiResource> {
    let rows = index().get(group_version)?.iter().filter(|(releases, _)| releases.contains(&release));
    let is_lower = !kind.bytes().any(|byte| byte.is_ascii_uppercase());
    let mut resources = rows.map(|(_, resource)| resource);
    resources.find(|r| r.kind == kind || is_lower && r.kind.eq_ignore_ascii_case(kind))
}

/// Returns true if a release serves any kind of a group version by default.
pub fn has_version(group_version: &str, release: u32) -> bool {
    index().get(group_version).is_some_and(|rows| rows.iter().any(|(releases, _)| releases.contains(&release)))
}

/// The versions of a group in which a release serves a kind by default.
pub fn versions_of_kind(group: &str, kind: &str, release: u32) -> Vec<String> {
    let resources = of_group(group, release).filter(|resource| resource.kind == kind);
    resources.map(|resource| group_version::api_version(resource.group, resource.version)).collect()
}

/// The kinds of a group that a release serves by default, sorted.
pub fn kinds(group: &str, release: u32) -> Vec<&'static str> {
    let mut kinds: Vec<_> = of_group(group, release).map(|resource| resource.kind).collect();
    kinds.sort_unstable();
    kinds.dedup();
    kinds
}

impl ApiResource {
    fn read(line: &'static str) -> Self {
        let mut words = line.split(' ');
        let mut word = || words.next().unwrap_or_default();
        let (group, version) = group_version::split(word());
        let (plural, singular, kind) = (word(), word(), word());
        let (short_names, categories) = (Vec::new(), Vec::new());
        let (namespaced, status, scale, writable, readable) = (true, false, false, true, true);
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
            readable,
        };
        for word in words {
            match word.split_once('=').unwrap_or((word, "")) {
                ("cluster", _) => out.namespaced = false,
                ("status", _) => out.status = true,
                ("scale", _) => out.scale = true,
                ("short", names) => out.short_names = names.split(',').collect(),
                ("categories", names) => out.categories = names.split(',').collect(),
                ("verbs", verbs) => {
                    out.writable = verbs.contains("create");
                    out.readable = verbs.contains("get");
                }
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
pub type ServedKind = GroupVersionKind<&'static str>;

/// The group whose resource stores the objects of a kind: events of both groups are the same objects.
pub fn stored_group<'a>(group: &'a str, kind: &str) -> &'a str {
    if (group, kind) == ("events.k8s.io", "Event") { "" } else { group }
}

/// The versions in which a release serves the objects of a resource by default: those of its group; events are in two
/// groups.
pub fn versions(group: &str, plural: &str, release: u32) -> Vec<ServedKind> {
    let groups: &[&str] = match (group, plural) {
        ("" | "events.k8s.io", "events") => &["", "events.k8s.io"],
        _ => &[group],
    };
    let resources = groups.iter().flat_map(|group| of_group(group, release)).filter(|r| r.plural == plural);
    resources.map(|r| ServedKind { group: r.group, version: r.version, kind: r.kind }).collect()
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
    fn kinds_are_served_by_the_default_configuration_of_the_release() {
        let served = |group_version: &str, kind: &str| -> Vec<u32> {
            table().releases().filter(|release| of_kind(group_version, kind, *release).is_some()).collect()
        };
        let admission = "admissionregistration.k8s.io";
        let all: Vec<u32> = table().releases().collect();
        let since = |release: u32| -> Vec<u32> { table().releases().filter(|later| *later >= release).collect() };
        assert_eq!(served(&format!("{admission}/v1beta1"), "MutatingAdmissionPolicy"), [0; 0]);
        assert_eq!(served(&format!("{admission}/v1"), "MutatingAdmissionPolicy"), since(36));
        assert_eq!(served(&format!("{admission}/v1"), "ValidatingAdmissionPolicy"), all);
        // A beta version that was enabled before such versions became opt-in.
        assert_eq!(served("flowcontrol.apiserver.k8s.io/v1beta3", "FlowSchema"), [30, 31]);
        assert_eq!(served("resource.k8s.io/v1", "DeviceClass"), since(34));
        assert_eq!(served("resource.k8s.io/v1beta1", "DeviceClass"), [0; 0]);
        // Not stored, but created.
        for (group_version, kind) in [
            ("v1", "Binding"),
            ("authentication.k8s.io/v1", "TokenReview"),
            ("apiregistration.k8s.io/v1", "APIService"),
        ] {
            assert_eq!(served(group_version, kind), all, "{kind}");
        }
        // Bodies of subresources, of other requests, and types of no request.
        for (group_version, kind) in
            [("policy/v1", "Eviction"), ("autoscaling/v1", "Scale"), ("v1", "PodExecOptions"), ("v1", "Status")]
        {
            assert_eq!(served(group_version, kind), [0; 0], "{kind}");
        }
        assert_eq!(of_kind("apps/v1", "deployment", 37).map(|resource| resource.kind), Some("Deployment"));
        assert_eq!(of_kind("apps/v1", "DEPLOYMENT", 37), None);
        assert_eq!(kinds("apps", 37), ["ControllerRevision", "DaemonSet", "Deployment", "ReplicaSet", "StatefulSet"]);
        assert_eq!(
            versions_of_kind("autoscaling", "HorizontalPodAutoscaler", 37),
            ["autoscaling/v1", "autoscaling/v2"]
        );
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
            for (group_version, rows) in index().iter().filter(|(gv, _)| !gv.starts_with("apiextensions")) {
                for (_, resource) in rows.iter().filter(|(releases, _)| releases.contains(&release)) {
                    let row = table().kind(group_version, resource.kind, release);
                    assert!(row.is_some_and(|row| row.served), "1.{release}: {group_version} {}", resource.kind);
                    assert_eq!(resource.plural, plural(resource.kind));
                }
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
