//! What the cluster serves, and which resource a word on the command line means.

use super::{Connection, Error};
use crate::cluster::connection::segment;
use crate::value::Value;

/// Aggregated discovery first, which is one answer instead of one per group and version.
const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json;q=0.9";

/// A resource that is served.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Resource {
    /// The API group.
    pub group: String,
    /// The version; of several the one the server prefers comes first.
    pub version: String,
    /// The plural name.
    pub plural: String,
    /// The singular name.
    pub singular: String,
    /// The kind.
    pub kind: String,
    /// The short names.
    pub short_names: Vec<String>,
    /// Whether its objects live in namespaces.
    pub namespaced: bool,
}

impl Resource {
    /// The path of its objects, in one namespace or in all.
    pub fn path(&self, namespace: Option<&str>) -> String {
        let (group, version, plural) = (segment(&self.group), segment(&self.version), segment(&self.plural));
        match namespace.filter(|_| self.namespaced) {
            Some(ns) => format!("/apis/{group}/{version}/namespaces/{}/{plural}", segment(ns)),
            None => format!("/apis/{group}/{version}/{plural}"),
        }
    }
    /// The path of one object.
    pub fn object_path(&self, namespace: Option<&str>, name: &str) -> String {
        format!("{}/{}", self.path(namespace), segment(name))
    }
}

impl Connection {
    /// Everything that is served under `/apis`, in the server's order.
    pub fn resources(&self) -> Result<Vec<Resource>, Error> {
        let groups = self.get("/apis", AGGREGATED)?.unwrap_or_default();
        if groups.str_at(&["kind"]) == Some("APIGroupDiscoveryList") {
            return Ok(aggregated(&groups));
        }
        let mut found = Vec::new();
        for group in items(&groups, "groups") {
            let name = group.str_at(&["name"]).unwrap_or_default();
            for version in versions(group) {
                found.extend(self.resources_of(name, version)?);
            }
        }
        Ok(found)
    }

    /// The resources of one group and version.
    pub(super) fn resources_of(&self, group: &str, version: &str) -> Result<Vec<Resource>, Error> {
        let path = format!("/apis/{}/{}", segment(group), segment(version));
        let list = self.get(&path, "application/json")?.unwrap_or_default();
        Ok(plain(&list, group, version))
    }

    /// The served versions of a group, the preferred one first.
    pub(super) fn versions_of(&self, group: &str) -> Result<Vec<String>, Error> {
        let found = self.get(&format!("/apis/{}", segment(group)), "application/json")?.unwrap_or_default();
        Ok(versions(&found).into_iter().map(str::to_owned).collect())
    }
}

/// The resource that `word` means: a plural or singular name or a kind in any case, then a short name; each may be
/// followed by `.GROUP` or `.VERSION.GROUP`, or the first part of a group's name. Of several, the first one the server lists.
pub fn find<'a>(resources: &'a [Resource], word: &str) -> Option<&'a Resource> {
    let lower = word.to_lowercase();
    let (name, group) = lower.split_once('.').map_or((lower.as_str(), None), |(name, group)| (name, Some(group)));
    let in_group = |r: &&Resource| match group {
        None => true,
        Some(group) => {
            let versioned = group.strip_prefix(r.version.as_str()).and_then(|rest| rest.strip_prefix('.'));
            r.group == group || versioned == Some(r.group.as_str())
        }
    };
    let in_prefix = |r: &&Resource| group.is_some_and(|group| r.group.starts_with(group));
    let full = |r: &&Resource| r.plural == name || r.singular == name || r.kind.to_lowercase() == name;
    let short = |r: &&Resource| r.short_names.iter().any(|s| s == name);
    let pick = |place: &dyn Fn(&&Resource) -> bool, called: &dyn Fn(&&Resource) -> bool| {
        resources.iter().find(|r| place(r) && called(r))
    };
    pick(&in_group, &full)
        .or_else(|| pick(&in_group, &short))
        .or_else(|| pick(&in_prefix, &full))
        .or_else(|| pick(&in_prefix, &short))
}

fn items<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value.get(key).and_then(Value::as_array).unwrap_or_default()
}

fn text(value: &Value, key: &str) -> String {
    value.str_at(&[key]).unwrap_or_default().to_owned()
}

fn texts(value: &Value, key: &str) -> Vec<String> {
    items(value, key).iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// The versions of an `APIGroup`, the preferred one first.
fn versions(group: &Value) -> Vec<&str> {
    let preferred = group.str_at(&["preferredVersion", "version"]);
    let all = items(group, "versions").iter().filter_map(|v| v.str_at(&["version"]));
    preferred.into_iter().chain(all.filter(|v| Some(*v) != preferred)).collect()
}

/// An `APIGroupDiscoveryList`; its versions stand in order of preference.
fn aggregated(list: &Value) -> Vec<Resource> {
    let mut found = Vec::new();
    for group in items(list, "items") {
        let name = group.str_at(&["metadata", "name"]).unwrap_or_default();
        for version in items(group, "versions") {
            found.extend(items(version, "resources").iter().map(|r| Resource {
                group: name.to_owned(),
                version: text(version, "version"),
                plural: text(r, "resource"),
                singular: text(r, "singularResource"),
                kind: r.str_at(&["responseKind", "kind"]).unwrap_or_default().to_owned(),
                short_names: texts(r, "shortNames"),
                namespaced: r.str_at(&["scope"]) == Some("Namespaced"),
            }));
        }
    }
    found
}

/// An `APIResourceList`, subresources left out.
fn plain(list: &Value, group: &str, version: &str) -> Vec<Resource> {
    let resources = items(list, "resources").iter().filter(|r| !text(r, "name").contains('/'));
    resources
        .map(|r| Resource {
            group: group.to_owned(),
            version: version.to_owned(),
            plural: text(r, "name"),
            singular: text(r, "singularName"),
            kind: text(r, "kind"),
            short_names: texts(r, "shortNames"),
            namespaced: r.get("namespaced").and_then(Value::as_bool).unwrap_or(false),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resource(group: &str, version: &str, plural: &str, short: &[&str]) -> Resource {
        Resource {
            group: group.to_owned(),
            version: version.to_owned(),
            plural: plural.to_owned(),
            singular: plural.trim_end_matches('s').to_owned(),
            kind: plural.trim_end_matches('s').to_uppercase(),
            short_names: short.iter().map(|s| (*s).to_owned()).collect(),
            namespaced: true,
        }
    }

    #[test]
    fn a_resource_answers_to_all_its_names() {
        let all = [
            resource("a.example.com", "v1", "widgets", &["w"]),
            resource("b.example.com", "v2", "widgets", &["ww"]),
            resource("b.example.com", "v1", "ws", &[]),
        ];
        let group = |word| find(&all, word).map(|r| (r.group.as_str(), r.plural.as_str()));
        assert_eq!(group("Widget"), Some(("a.example.com", "widgets")));
        assert_eq!(group("widgets.b.example.com"), Some(("b.example.com", "widgets")));
        assert_eq!(group("widgets.v2.b.example.com"), Some(("b.example.com", "widgets")));
        assert_eq!(group("widgets.b"), Some(("b.example.com", "widgets")));
        assert_eq!(group("ww"), Some(("b.example.com", "widgets")));
        // A full name goes before a short one.
        assert_eq!(group("w"), Some(("b.example.com", "ws")));
        assert_eq!(group("gadgets"), None);
        assert_eq!(group("widgets.c"), None);
    }

    #[test]
    fn paths_are_the_servers() {
        let widgets = resource("a.example.com", "v1", "widgets", &[]);
        assert_eq!(widgets.object_path(Some("ns"), "x"), "/apis/a.example.com/v1/namespaces/ns/widgets/x");
        assert_eq!(widgets.path(None), "/apis/a.example.com/v1/widgets");
    }
}
