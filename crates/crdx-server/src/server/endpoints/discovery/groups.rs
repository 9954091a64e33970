//! The API groups, versions and resources in discovery order.

use crate::crd;
use crate::server::digest;
use crate::server::endpoints::actions::{BINDINGS, actions_of};
use crate::server::endpoints::reviews::{self, REVIEWS, Review};
use crate::server::strategy::resources::Resources;
use crate::server::strategy::serving::Serving;
use crdx_value::group_version::GroupVersionKind;
use crdx_value::group_version::rank;
use crdx_value::sort::{sort_by, sort_by_key};
use std::collections::BTreeMap;
use std::sync::Arc;

/// An API group.
pub(super) struct Group {
    /// The name of the group.
    pub name: String,
    /// The versions, preferred version first.
    pub versions: Vec<GroupVersion>,
}

pub(super) struct GroupVersion {
    /// The name of the version.
    pub name: String,
    /// The resources, sorted by name.
    pub resources: Vec<DiscoveredResource>,
}

pub(super) struct DiscoveredResource {
    /// The plural.
    pub name: String,
    pub singular: String,
    /// True if the resource is namespaced.
    pub namespaced: bool,
    pub kind: GroupVersionKind,
    /// The supported verbs.
    pub verbs: &'static [&'static str],
    pub short_names: Vec<String>,
    pub categories: Vec<String>,
    /// The hash of the storage version; empty if the storage version is not served.
    pub storage_version_hash: String,
    /// The subresources and their kinds.
    pub subresources: Vec<(&'static str, GroupVersionKind)>,
}

/// The supported verbs of a subresource.
pub(super) fn subresource_verbs(name: &str) -> &'static [&'static str] {
    match name {
        "finalize" => &["update"],
        "binding" | "eviction" | "token" => &["create"],
        _ => &["get", "patch", "update"],
    }
}

/// The verbs of custom resources. Those of other resources are sorted.
const CUSTOM_VERBS: &[&str] = &["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"];
const TERMINATING_VERBS: &[&str] = &["delete", "deletecollection", "get", "list", "watch"];
const VERBS: &[&str] = &["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];
const NAMESPACE_VERBS: &[&str] = &["create", "delete", "get", "list", "patch", "update", "watch"];

/// All groups, sorted by name.
pub(super) fn groups(resources: &Resources, has_reviews: bool) -> Vec<Group> {
    let serving = resources.served();
    let served = |s: &&Arc<Serving>| s.crd.is_true("Established") && !s.group.is_empty();
    let mut established: Vec<&Arc<Serving>> = serving.values().filter(served).collect();
    sort_by(&mut established, |a, b| a.crd.name().cmp(b.crd.name()));
    let mut all = BTreeMap::from([(crd::GROUP.to_owned(), BTreeMap::from([("v1".to_owned(), vec![definitions()])]))]);
    for review in REVIEWS.iter().filter(|_| has_reviews) {
        let versions = all.entry(review.group.to_owned()).or_default();
        versions.entry(reviews::VERSION.to_owned()).or_default().push(of_review(review));
    }
    for serving in established {
        for version in serving.crd.spec.versions.iter().filter(|v| v.served) {
            let versions = all.entry(serving.group.clone()).or_default();
            versions.entry(version.name.clone()).or_default().push(resource(serving, &version.name));
        }
    }
    let ordered = all.into_iter().map(|(name, versions)| {
        let mut versions: Vec<GroupVersion> =
            versions.into_iter().map(|(name, resources)| GroupVersion { name, resources }).collect();
        sort_by(&mut versions, |a, b| rank(&b.name).cmp(&rank(&a.name)));
        Group { name, versions }
    });
    ordered.collect()
}

/// The core group, if the server has namespaces.
pub(super) fn core(resources: &Resources) -> Option<Group> {
    let served = resources.served();
    let mut of_core: Vec<_> = served.values().filter(|s| s.group.is_empty()).map(|s| resource(s, "v1")).collect();
    if served.get("pods.").is_some_and(|pods| !pods.typed.is_empty()) {
        let (kind, resource) = (BINDINGS.kind.2, BINDINGS.resource);
        of_core.push(created_only(resource, kind, true));
        sort_by(&mut of_core, |a, b| a.name.cmp(&b.name));
    }
    let versions = vec![GroupVersion { name: "v1".to_owned(), resources: of_core }];
    resources.namespaces.is_some().then(|| Group { name: String::new(), versions })
}

fn of_review(review: &Review) -> DiscoveredResource {
    created_only(review.plural, review.kind, review.namespaced)
}

/// A resource whose objects can only be created.
fn created_only(plural: &str, kind: &str, namespaced: bool) -> DiscoveredResource {
    DiscoveredResource {
        name: plural.to_owned(),
        singular: kind.to_lowercase(),
        namespaced,
        kind: GroupVersionKind { kind: kind.to_owned(), ..GroupVersionKind::default() },
        verbs: &["create"],
        short_names: Vec::new(),
        categories: Vec::new(),
        storage_version_hash: String::new(),
        subresources: Vec::new(),
    }
}

/// The resource of CRDs. The real server omits the group and version of its own kinds.
fn definitions() -> DiscoveredResource {
    let kind = GroupVersionKind { kind: "CustomResourceDefinition".to_owned(), ..GroupVersionKind::default() };
    DiscoveredResource {
        name: "customresourcedefinitions".to_owned(),
        singular: "customresourcedefinition".to_owned(),
        namespaced: false,
        kind: kind.clone(),
        verbs: VERBS,
        short_names: vec!["crd".to_owned(), "crds".to_owned()],
        categories: vec!["api-extensions".to_owned()],
        storage_version_hash: String::new(),
        subresources: vec![("status", kind)],
    }
}

fn resource(serving: &Serving, version: &str) -> DiscoveredResource {
    let crd = &serving.crd;
    let names = &crd.status.accepted_names;
    let kind = GroupVersionKind { group: serving.group.clone(), version: version.to_owned(), kind: names.kind.clone() };
    let declared = crd.spec.subresources(version);
    let mut subresources = Vec::new();
    if declared.is_some_and(|s| s.status) {
        subresources.push(("status", kind.clone()));
    }
    if serving.built_in.has_finalizers() {
        subresources.push(("finalize", kind.clone()));
    }
    if declared.is_some_and(|s| s.scale.is_some()) {
        let scale = GroupVersionKind { group: "autoscaling", version: "v1", kind: "Scale" }.map(str::to_owned);
        subresources.push(("scale", scale));
    }
    if !serving.typed.is_empty() {
        subresources.extend(serving.subresources().map(|subresource| (subresource.name(), kind.clone())));
        subresources.extend(actions_of(&serving.group, &serving.plural).map(|action| {
            let (group, version, kind) = action.kind;
            (action.name, GroupVersionKind { group, version, kind }.map(str::to_owned))
        }));
        sort_by_key(&mut subresources, |(name, _)| *name);
    }
    let storage = crd.spec.versions.iter().find(|v| v.storage && v.served);
    DiscoveredResource {
        name: names.plural.clone(),
        singular: names.singular.clone(),
        namespaced: serving.namespaced,
        kind,
        verbs: match serving.built_in.has_go_type() || !serving.typed.is_empty() {
            true if serving.built_in.deletes_collections() => VERBS,
            true => NAMESPACE_VERBS,
            false if crd.is_true("Terminating") => TERMINATING_VERBS,
            false => CUSTOM_VERBS,
        },
        short_names: names.short_names.clone(),
        categories: names.categories.clone(),
        storage_version_hash: storage
            .map(|v| digest::of_storage_version(&serving.group, &v.name, &crd.spec.names.kind))
            .unwrap_or_default(),
        subresources,
    }
}
