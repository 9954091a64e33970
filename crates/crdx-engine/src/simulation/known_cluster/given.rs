//! The objects of the cluster on which the answers to requests for other objects depend, such as Namespaces, limit ranges and
//! classes, as far as files give them.

use crdx_server::cluster_state::{
    GroupVersionResource, INGRESS_CLASSES, LIMIT_RANGES, Listed, NAMESPACES, PRIORITY_CLASSES, RESOURCE_QUOTAS,
    RUNTIME_CLASSES, SERVICE_CIDRS, STORAGE_CLASSES,
};
use crdx_value::{Map, Value, group_version};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A kind of such objects; all of them are read in the version v1.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClusterKind {
    pub(crate) resource: GroupVersionResource<'static>,
    kind: &'static str,
    namespaced: bool,
}

const fn kind(resource: GroupVersionResource<'static>, kind: &'static str, namespaced: bool) -> ClusterKind {
    ClusterKind { resource, kind, namespaced }
}

const ALL: [ClusterKind; 8] = [
    kind(NAMESPACES, "Namespace", false),
    kind(LIMIT_RANGES, "LimitRange", true),
    kind(RESOURCE_QUOTAS, "ResourceQuota", true),
    kind(INGRESS_CLASSES, "IngressClass", false),
    kind(PRIORITY_CLASSES, "PriorityClass", false),
    kind(RUNTIME_CLASSES, "RuntimeClass", false),
    kind(SERVICE_CIDRS, "ServiceCIDR", false),
    kind(STORAGE_CLASSES, "StorageClass", false),
];

impl ClusterKind {
    /// Returns the kind of an object.
    pub(crate) fn of(object: &Value) -> Option<Self> {
        let (group, version) = group_version::split(object.str_at(&["apiVersion"])?);
        let kind = object.str_at(&["kind"])?;
        ALL.into_iter().find(|own| version == "v1" && (own.resource.group, own.kind) == (group, kind))
    }

    /// Returns the kind of the objects of a resource.
    pub(crate) fn of_resource(of: GroupVersionResource<'_>) -> Option<Self> {
        ALL.into_iter().find(|own| own.resource == of)
    }
}

/// The objects of one resource by namespace and name.
type ByName = BTreeMap<String, BTreeMap<String, Arc<Value>>>;

/// The objects of these kinds that files give: those of `--old` and of `--policies`.
#[derive(Clone, Debug, Default)]
pub struct GivenObjects {
    objects: BTreeMap<GroupVersionResource<'static>, ByName>,
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
        if kind.resource == NAMESPACES {
            complete_namespace(&mut object, name);
        }
        let objects = self.objects.entry(kind.resource).or_default().entry(namespace.to_owned()).or_default();
        objects.insert(name.to_owned(), Arc::new(object));
        true
    }

    /// Adds the objects that are given with policies, in place of those with the same names.
    pub fn extend(&mut self, of_policies: &Self) {
        for (of, others) in &of_policies.objects {
            for (namespace, others) in others {
                if *of == LIMIT_RANGES {
                    self.limited.insert(namespace.clone());
                }
                let objects = self.objects.entry(*of).or_default().entry(namespace.clone()).or_default();
                objects.extend(others.iter().map(|(name, object)| (name.clone(), Arc::clone(object))));
            }
        }
    }

    /// Returns true if there are no objects.
    pub fn is_empty(&self) -> bool {
        self.objects.is_empty()
    }

    fn of(&self, of: GroupVersionResource<'_>) -> Option<&ByName> {
        self.objects.iter().find(|(own, _)| **own == of).map(|(_, objects)| objects)
    }

    /// Returns an object.
    pub(crate) fn object(&self, of: GroupVersionResource<'_>, namespace: &str, name: &str) -> Option<&Arc<Value>> {
        self.of(of)?.get(namespace)?.get(name)
    }

    /// Returns the objects of a resource in a namespace.
    pub(crate) fn objects(&self, of: GroupVersionResource<'_>, namespace: &str) -> impl Iterator<Item = &Arc<Value>> {
        let objects = self.of(of).and_then(|all| all.get(namespace));
        objects.into_iter().flat_map(BTreeMap::values)
    }

    /// Returns true if the limit ranges of a namespace are known: files define it, or give its limit ranges with policies.
    pub(crate) fn tells_limits(&self, namespace: &str) -> bool {
        self.object(NAMESPACES, "", namespace).is_some() || self.limited.contains(namespace)
    }

    /// Returns the classes that Pods may name.
    pub fn classes_of_pods(&self) -> impl Iterator<Item = &Value> {
        let kinds = [PRIORITY_CLASSES, RUNTIME_CLASSES].into_iter();
        kinds.flat_map(|of| self.objects(of, "")).map(|class| &**class)
    }
}

/// Replaces the objects of a list that have the names of others.
pub(crate) fn replace(listed: &mut Listed, others: Vec<Arc<Value>>) {
    if others.is_empty() {
        return;
    }
    let name = |object: &Value| object.str_at(&["metadata", "name"]).unwrap_or_default().to_owned();
    let names: BTreeSet<String> = others.iter().map(|other| name(other)).collect();
    listed.objects.retain(|object| !names.contains(&name(object)));
    listed.objects.extend(others);
}

/// Sets what every Namespace has on a server: a label with its name, a finalizer and a phase.
fn complete_namespace(namespace: &mut Value, name: &str) {
    const LABEL: &str = "kubernetes.io/metadata.name";
    let Some(metadata) = namespace.get_mut("metadata").and_then(Value::as_object_mut) else { return };
    let mut labels = metadata.get("labels").and_then(Value::as_object).cloned().unwrap_or_else(Map::new);
    labels.insert(LABEL.to_owned(), name.into());
    metadata.insert("labels".to_owned(), Value::Object(labels));
    if namespace.at(&["spec", "finalizers"]).is_none() {
        namespace.insert_at(&["spec", "finalizers"], Value::Array(vec!["kubernetes".into()]));
    }
    if namespace.at(&["status", "phase"]).is_none() {
        namespace.insert_at(&["status", "phase"], "Active".into());
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

    fn values(list: &Listed) -> Vec<i64> {
        list.objects.iter().filter_map(|class| class.get("value")?.as_int()).collect()
    }

    #[test]
    fn an_object_of_a_file_replaces_that_of_the_cluster() {
        let class = |name: &str, value: u32| {
            format!(
                r#"{{"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{{"name":"{name}"}},"value":{value}}}"#
            )
        };
        let mut given = given(&[&class("a", 1), &class("b", 2)]);
        let of_cluster = |name: &str, value| Arc::new(read(class(name, value).as_bytes()).unwrap());
        let mut listed = Listed { objects: vec![of_cluster("b", 3), of_cluster("c", 4)], is_complete: true };
        let files = |given: &GivenObjects| given.objects(PRIORITY_CLASSES, "").cloned().collect();
        replace(&mut listed, files(&given));
        assert_eq!(values(&listed), [4, 1, 2]);
        given.extend(&self::given(&[&class("a", 5)]));
        assert_eq!(values(&Listed { objects: files(&given), is_complete: false }), [5, 2]);
    }

    #[test]
    fn objects_without_a_namespace_are_in_the_default_one() {
        let range = r#"{"apiVersion":"v1","kind":"LimitRange","metadata":{"name":"r"}}"#;
        let given = given(&[range]);
        let count = |namespace| given.objects(LIMIT_RANGES, namespace).count();
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
        let labels =
            given.object(NAMESPACES, "", "a").and_then(|namespace| namespace.at(&["metadata", "labels"])).unwrap();
        assert_eq!(labels.str_at(&["kubernetes.io/metadata.name"]), Some("a"));
    }
}
