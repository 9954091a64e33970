//! The resources that the cluster serves, and how a TYPE on the command line is resolved to one.

use super::{Connection, Error, JSON, Resource};
use crdx_text::json;
use crdx_value::lock::lock;
use crdx_value::{Value, object};
use std::sync::Arc;
use std::time::Duration;

/// Prefers aggregated discovery: one answer instead of one per group and version.
pub const AGGREGATED: &str =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json;q=0.9";
/// The maximum age of cached discovery. A resource that is missing from the cache is always looked up in the cluster.
const KEPT: Duration = Duration::from_mins(10);
const ENTRY: &str = "resources";
/// The limit for the versions of groups that a server without aggregated discovery may have; each is a request.
const MAX_VERSIONS: usize = 5000;

/// The resources of the cluster that were discovered so far.
#[derive(Clone, Debug)]
pub struct Discovered {
    resources: Arc<Vec<Resource>>,
    /// True if they were read in this run rather than from the cache.
    fresh: bool,
}

impl Connection {
    /// All resources in the server's order, from the cache if it is recent.
    pub fn resources(&self) -> Result<Arc<Vec<Resource>>, Error> {
        Ok(self.discovered(false)?.resources)
    }

    /// Resolves `word` as [`find`] does. A miss in the cache is looked up in the cluster.
    pub fn resource(&self, word: &str) -> Result<Option<Resource>, Error> {
        self.search(|resources| find(resources, word).cloned())
    }

    /// The first resource that matches. A miss in the cache is looked up in the cluster.
    pub fn resource_where(&self, fits: impl Fn(&Resource) -> bool) -> Result<Option<Resource>, Error> {
        self.search(|resources| resources.iter().find(|r| fits(r)).cloned())
    }

    fn search(&self, pick: impl Fn(&[Resource]) -> Option<Resource>) -> Result<Option<Resource>, Error> {
        let known = self.discovered(false)?;
        match pick(&known.resources) {
            None if !known.fresh => Ok(pick(&self.discovered(true)?.resources)),
            found => Ok(found),
        }
    }

    fn discovered(&self, anew: bool) -> Result<Discovered, Error> {
        if let Some(profile) = self.profile() {
            return Ok(Discovered { resources: profile.resources(), fresh: true });
        }
        let mut discovered = lock(&self.discovered);
        if let Some(known) = discovered.as_ref().filter(|known| known.fresh || !anew) {
            return Ok(known.clone());
        }
        let cached = if anew { None } else { self.cache.read(ENTRY, KEPT).and_then(|text| read(&text)) };
        let fresh = cached.is_none();
        let resources = cached.map_or_else(|| self.discover(), Ok)?;
        if fresh {
            self.cache.write(ENTRY, write(&resources).as_bytes());
        }
        Ok(discovered.insert(Discovered { resources: Arc::new(resources), fresh }).clone())
    }

    fn discover(&self) -> Result<Vec<Resource>, Error> {
        let roots = ["/api", "/apis"].map(|root| self.ask(root, AGGREGATED));
        let mut found = Vec::new();
        for root in roots {
            let groups = root.wait()?.unwrap_or_default();
            if groups.str_at(&["kind"]) == Some("APIGroupDiscoveryList") {
                found.extend(aggregated(&groups));
                continue;
            }
            // Servers before 1.26 have one document per version.
            let core = texts(&groups, "versions").into_iter().map(|version| (String::new(), version));
            let named = items(&groups, "groups").iter().flat_map(|group| {
                versions(group).into_iter().map(move |version| (text(group, "name"), version.to_owned()))
            });
            let all: Vec<(String, String)> = core.chain(named).collect();
            if all.len() > MAX_VERSIONS {
                let help = Some("check --server and the proxy: no API server has so many".to_owned());
                let message = format!("the cluster lists more than {MAX_VERSIONS} versions of API groups");
                return Err(Error { help, ..Error::new(message) });
            }
            let pending: Vec<_> = all.iter().map(|(group, version)| self.ask(&root_of(group, version), JSON)).collect();
            for ((group, version), pending) in all.iter().zip(pending) {
                found.extend(plain(&pending.wait()?.unwrap_or_default(), group, version));
            }
        }
        Ok(found)
    }
}

fn root_of(group: &str, version: &str) -> String {
    let resource = Resource { group: group.to_owned(), version: version.to_owned(), ..Resource::default() };
    resource.path(None).trim_end_matches('/').to_owned()
}

/// Serializes the resources for the cache.
fn write(resources: &[Resource]) -> String {
    let each: Vec<Value> = resources.iter().map(Resource::to_value).collect();
    crdx_value::json::to_string(&object([("resources", Value::from(each))]))
}

/// Reads what [`write`] wrote; `None` for anything else.
fn read(bytes: &[u8]) -> Option<Vec<Resource>> {
    let cached = json::read(bytes).ok()?;
    cached.get("resources")?.as_array()?.iter().map(Resource::from_value).collect()
}

/// Resolves a TYPE: a plural or singular name or a kind in any case, then a short name; each may be
/// followed by `.GROUP`, `.VERSION.GROUP` or a prefix of the group. Of several matches, the first one the server lists wins.
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
    let pick = |in_scope: &dyn Fn(&&Resource) -> bool, called: &dyn Fn(&&Resource) -> bool| {
        resources.iter().find(|r| in_scope(r) && called(r))
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

/// Reads an `APIGroupDiscoveryList`, whose versions are in order of preference.
pub fn aggregated(list: &Value) -> Vec<Resource> {
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
                categories: texts(r, "categories"),
                verbs: texts(r, "verbs"),
                namespaced: r.str_at(&["scope"]) == Some("Namespaced"),
            }));
        }
    }
    found
}

/// Reads an `APIResourceList` without its subresources.
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
            categories: texts(r, "categories"),
            verbs: texts(r, "verbs"),
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
            categories: vec!["all".to_owned()],
            verbs: vec!["get".to_owned(), "list".to_owned()],
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
        // A plural name takes precedence over a short name.
        assert_eq!(group("w"), Some(("b.example.com", "ws")));
        assert_eq!(group("gadgets"), None);
        assert_eq!(group("widgets.c"), None);
    }

    #[test]
    fn paths_are_the_servers() {
        let widgets = resource("a.example.com", "v1", "widgets", &[]);
        assert_eq!(widgets.object_path(Some("ns"), "x"), "/apis/a.example.com/v1/namespaces/ns/widgets/x");
        assert_eq!(widgets.path(None), "/apis/a.example.com/v1/widgets");
        assert_eq!(resource("", "v1", "pods", &[]).path(Some("x")), "/api/v1/namespaces/x/pods");
        assert_eq!(root_of("", "v1"), "/api/v1");
    }

    #[test]
    fn a_damaged_cache_entry_is_ignored() {
        let all = vec![resource("a.example.com", "v1", "widgets", &["w"]), resource("", "v1", "pods", &[])];
        let text = write(&all);
        assert_eq!(read(text.as_bytes()), Some(all));
        let cut = text.strip_suffix("]}").unwrap();
        for broken in ["", "{}", "[1]", "{\"resources\":[{}]}", cut] {
            assert_eq!(read(broken.as_bytes()), None, "{broken}");
        }
    }
}
