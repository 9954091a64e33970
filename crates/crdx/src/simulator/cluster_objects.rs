//! The objects of the cluster on which the answers to requests for other objects depend, such as Namespaces, limit ranges and
//! classes. Files and a live cluster are read in the same way.

use crate::cluster::{Resource, items};
use crdx_value::{Map, Value, group_version};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A kind of such objects; all of them are read in the version v1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ClusterKind {
    pub(crate) group: &'static str,
    pub(crate) plural: &'static str,
    kind: &'static str,
    namespaced: bool,
}

const fn kind(group: &'static str, plural: &'static str, kind: &'static str, namespaced: bool) -> ClusterKind {
    ClusterKind { group, plural, kind, namespaced }
}

pub(crate) const NAMESPACES: ClusterKind = kind("", "namespaces", "Namespace", false);
pub(crate) const LIMIT_RANGES: ClusterKind = kind("", "limitranges", "LimitRange", true);
pub(crate) const RESOURCE_QUOTAS: ClusterKind = kind("", "resourcequotas", "ResourceQuota", true);
pub(crate) const INGRESS_CLASSES: ClusterKind = kind("networking.k8s.io", "ingressclasses", "IngressClass", false);
pub(crate) const PRIORITY_CLASSES: ClusterKind = kind("scheduling.k8s.io", "priorityclasses", "PriorityClass", false);
pub(crate) const RUNTIME_CLASSES: ClusterKind = kind("node.k8s.io", "runtimeclasses", "RuntimeClass", false);
pub(crate) const SERVICE_CIDRS: ClusterKind = kind("networking.k8s.io", "servicecidrs", "ServiceCIDR", false);
pub(crate) const STORAGE_CLASSES: ClusterKind = kind("storage.k8s.io", "storageclasses", "StorageClass", false);
const ALL: [ClusterKind; 8] = [
    NAMESPACES,
    LIMIT_RANGES,
    RESOURCE_QUOTAS,
    INGRESS_CLASSES,
    PRIORITY_CLASSES,
    RUNTIME_CLASSES,
    SERVICE_CIDRS,
    STORAGE_CLASSES,
];

impl ClusterKind {
    fn of(object: &Value) -> Option<Self> {
        let (group, version) = group_version::split(object.str_at(&["apiVersion"])?);
        let kind = object.str_at(&["kind"])?;
        ALL.into_iter().find(|own| version == "v1" && (own.group, own.kind) == (group, kind))
    }

    /// The path of its list, in one namespace if it is namespaced.
    pub(crate) fn path(self, namespace: Option<&str>) -> String {
        let Self { group, plural, namespaced, .. } = self;
        let word = str::to_owned;
        Resource { group: word(group), version: word("v1"), plural: word(plural), namespaced, ..Resource::default() }
            .path(namespace)
    }
}

type ByName = BTreeMap<String, Arc<Value>>;

/// The objects of these kinds that files give: those of `--old` and of `--policies`.
#[derive(Clone, Debug, Default)]
pub struct GivenObjects {
    objects: BTreeMap<(ClusterKind, String), ByName>,
    /// The namespaces whose limit ranges are given with policies.
    limited: BTreeSet<String>,
}

impl GivenObjects {
    /// Adds an object if it is of one of the kinds, in place of one with the same name; returns true for such an object.
    /// `default` is the default namespace.
    pub fn add(&mut self, object: &Value, default: &str) -> bool {
        let Some(kind) = ClusterKind::of(object) else { return false };
        let text = |key: &str| object.str_at(&["metadata", key]).filter(|text| !text.is_empty());
        let Some(name) = text("name") else { return true };
        let namespace = if kind.namespaced { text("namespace").unwrap_or(default) } else { "" };
        let mut object = object.clone();
        if kind == NAMESPACES {
            set_name_label(&mut object, name);
        }
        self.objects.entry((kind, namespace.to_owned())).or_default().insert(name.to_owned(), Arc::new(object));
        true
    }

    /// Adds the objects that are given with policies, in place of those with the same names.
    pub fn extend(&mut self, of_policies: &Self) {
        for (key, others) in &of_policies.objects {
            if key.0 == LIMIT_RANGES {
                self.limited.insert(key.1.clone());
            }
            let named = others.iter().map(|(name, object)| (name.clone(), Arc::clone(object)));
            self.objects.entry(key.clone()).or_default().extend(named);
        }
    }

    /// Returns the Namespace with a name.
    pub(crate) fn namespace(&self, name: &str) -> Option<&Arc<Value>> {
        self.of(NAMESPACES, None)?.get(name)
    }

    /// Returns true if the limit ranges of a namespace are known: files define it, or give its limit ranges with policies.
    pub(crate) fn tells_limits(&self, namespace: &str) -> bool {
        self.namespace(namespace).is_some() || self.limited.contains(namespace)
    }

    /// Returns the Namespaces.
    pub fn namespaces(&self) -> impl Iterator<Item = &Value> {
        self.of(NAMESPACES, None).into_iter().flat_map(BTreeMap::values).map(|namespace| &**namespace)
    }

    /// Returns the classes that Pods may name.
    pub fn classes_of_pods(&self) -> impl Iterator<Item = &Value> {
        let kinds = [PRIORITY_CLASSES, RUNTIME_CLASSES].into_iter();
        kinds.filter_map(|kind| self.of(kind, None)).flat_map(BTreeMap::values).map(|class| &**class)
    }

    fn of(&self, kind: ClusterKind, namespace: Option<&str>) -> Option<&ByName> {
        self.objects.get(&(kind, namespace.unwrap_or_default().to_owned()))
    }

    /// Returns the objects of a kind together with the list of a cluster, if there is one.
    pub(crate) fn with_list(
        &self,
        kind: ClusterKind,
        namespace: Option<&str>,
        list: Option<Arc<Value>>,
    ) -> ObjectList<'_> {
        ObjectList { given: self.of(kind, namespace), list }
    }
}

/// Sets the label that every Namespace has on a server.
fn set_name_label(namespace: &mut Value, name: &str) {
    const LABEL: &str = "kubernetes.io/metadata.name";
    let Some(metadata) = namespace.get_mut("metadata").and_then(Value::as_object_mut) else { return };
    let mut labels = metadata.get("labels").and_then(Value::as_object).cloned().unwrap_or_else(Map::new);
    labels.insert(LABEL.to_owned(), name.into());
    metadata.insert("labels".to_owned(), Value::Object(labels));
}

/// The objects of a kind in one namespace or in the cluster.
#[derive(Debug)]
pub(crate) struct ObjectList<'a> {
    given: Option<&'a ByName>,
    list: Option<Arc<Value>>,
}

impl ObjectList<'_> {
    /// Returns the objects. Those of files replace those of the cluster.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Value> {
        let is_given = |object: &&Value| {
            self.given.is_some_and(|given| given.contains_key(object.str_at(&["metadata", "name"]).unwrap_or_default()))
        };
        let listed = self.list.iter().flat_map(|list| items(list)).filter(move |object| !is_given(object));
        self.given.into_iter().flat_map(BTreeMap::values).map(|object| &**object).chain(listed)
    }

    /// Returns true if there are no others.
    pub(crate) fn is_complete(&self) -> bool {
        self.list.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::json::read;

    fn given(objects: &[&str]) -> GivenObjects {
        let mut given = GivenObjects::default();
        for object in objects {
            assert!(given.add(&read(object.as_bytes()).unwrap(), "work"));
        }
        given
    }

    fn values(list: &ObjectList<'_>) -> Vec<i64> {
        list.iter().filter_map(|class| class.get("value")?.as_int()).collect()
    }

    #[test]
    fn an_object_of_a_file_replaces_that_of_the_cluster() {
        let class = |name: &str, value: u32| {
            format!(
                r#"{{"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{{"name":"{name}"}},"value":{value}}}"#
            )
        };
        let mut given = given(&[&class("a", 1), &class("b", 2)]);
        let list = format!(r#"{{"items":[{},{}]}}"#, class("b", 3), class("c", 4));
        let list = Arc::new(read(list.as_bytes()).unwrap());
        assert_eq!(values(&given.with_list(PRIORITY_CLASSES, None, Some(list))), [1, 2, 4]);
        given.extend(&self::given(&[&class("a", 5)]));
        let files = given.with_list(PRIORITY_CLASSES, None, None);
        assert_eq!((values(&files), files.is_complete()), (vec![5, 2], false));
    }

    #[test]
    fn objects_without_a_namespace_are_in_the_default_one() {
        let range = r#"{"apiVersion":"v1","kind":"LimitRange","metadata":{"name":"r"}}"#;
        let given = given(&[range]);
        let count = |namespace| given.with_list(LIMIT_RANGES, Some(namespace), None).iter().count();
        assert_eq!((count("work"), count("default")), (1, 0));
        let other = read(br#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"}}"#).unwrap();
        assert!(!GivenObjects::default().add(&other, "work"));
    }

    #[test]
    fn limits_are_known_with_their_namespace_or_from_policies() {
        let range = r#"{"apiVersion":"v1","kind":"LimitRange","metadata":{"name":"r"}}"#;
        let namespace = r#"{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"work"}}"#;
        assert!(!given(&[range]).tells_limits("work"));
        assert!(given(&[range, namespace]).tells_limits("work"));
        let mut existing = GivenObjects::default();
        existing.extend(&given(&[range]));
        assert!(existing.tells_limits("work") && !existing.tells_limits("other"));
    }

    #[test]
    fn every_namespace_has_the_label_with_its_name() {
        let given = given(&[r#"{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"a"}}"#]);
        let labels = given.namespace("a").and_then(|namespace| namespace.at(&["metadata", "labels"])).unwrap();
        assert_eq!(labels.str_at(&["kubernetes.io/metadata.name"]), Some("a"));
    }
}
