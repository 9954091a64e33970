//! Unaggregated discovery: `APIVersions`, `APIGroupList`, `APIGroup` and `APIResourceList`.

use crate::server::endpoints::discovery::groups::{DiscoveredResource, Group, GroupVersion, subresource_verbs};
use crdx_value::group_version::{GroupVersionKind, api_version};
use crdx_value::{Map, Value, object};

/// `/api`
pub(super) fn core_versions(core: Option<&Group>) -> Value {
    let versions: Vec<&str> = core.iter().flat_map(|g| &g.versions).map(|v| v.name.as_str()).collect();
    object([
        ("kind", "APIVersions".into()),
        ("versions", texts(&versions)),
        ("serverAddressByClientCIDRs", Value::Null),
    ])
}

/// `/apis`
pub(super) fn group_list(groups: &[Group]) -> Value {
    object([
        ("kind", Value::from("APIGroupList")),
        ("apiVersion", "v1".into()),
        ("groups", groups.iter().map(|g| group(g, false)).collect::<Vec<_>>().into()),
    ])
}

/// `/apis/GROUP`. The groups of a list have no apiVersion and kind.
pub(super) fn group(group: &Group, typed: bool) -> Value {
    let version = |v: &GroupVersion| {
        object([("groupVersion", format!("{}/{}", group.name, v.name)), ("version", v.name.clone())])
    };
    let mut out = Map::new();
    if typed {
        out.insert("kind".to_owned(), "APIGroup".into());
        out.insert("apiVersion".to_owned(), "v1".into());
    }
    out.insert("name".to_owned(), group.name.as_str().into());
    out.insert("versions".to_owned(), group.versions.iter().map(version).collect::<Vec<_>>().into());
    if let Some(preferred) = group.versions.first() {
        out.insert("preferredVersion".to_owned(), version(preferred));
    }
    Value::Object(out)
}

/// `/apis/GROUP/VERSION`
pub(super) fn resource_list(group: &str, version: &GroupVersion) -> Value {
    let resources = version.resources.iter().flat_map(|r| {
        std::iter::once(resource(r)).chain(r.subresources.iter().map(|(name, kind)| subresource(r, name, kind)))
    });
    object([
        ("kind", Value::from("APIResourceList")),
        ("apiVersion", "v1".into()),
        ("groupVersion", api_version(group, &version.name).into()),
        ("resources", resources.collect::<Vec<_>>().into()),
    ])
}

fn resource(r: &DiscoveredResource) -> Value {
    let mut out = entry(&r.name, &r.singular, r.namespaced, &r.kind.kind, r.verbs);
    for (key, items) in [("shortNames", &r.short_names), ("categories", &r.categories)] {
        if !items.is_empty() {
            out.insert(key.to_owned(), texts(items));
        }
    }
    if !r.storage_version_hash.is_empty() {
        out.insert("storageVersionHash".to_owned(), r.storage_version_hash.as_str().into());
    }
    Value::Object(out)
}

fn subresource(of: &DiscoveredResource, name: &str, kind: &GroupVersionKind) -> Value {
    let mut out = entry(&format!("{}/{name}", of.name), "", of.namespaced, &kind.kind, subresource_verbs(name));
    // The group and version are present only for kinds of another group.
    if kind.group != of.kind.group {
        out.insert("group".to_owned(), kind.group.as_str().into());
        out.insert("version".to_owned(), kind.version.as_str().into());
    }
    Value::Object(out)
}

fn entry(name: &str, singular: &str, namespaced: bool, kind: &str, verbs: &[&str]) -> Map {
    let verbs = verbs.iter().map(|v| Value::from(*v)).collect::<Vec<_>>();
    [
        ("name", Value::from(name)),
        ("singularName", singular.into()),
        ("namespaced", namespaced.into()),
        ("kind", kind.into()),
        ("verbs", verbs.into()),
    ]
    .into_iter()
    .map(|(key, v)| (key.to_owned(), v))
    .collect()
}

/// Converts strings to a JSON array.
pub(super) fn texts<T: AsRef<str>>(items: &[T]) -> Value {
    Value::Array(items.iter().map(|item| Value::from(item.as_ref())).collect())
}
