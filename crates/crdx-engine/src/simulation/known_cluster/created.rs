//! The objects of earlier inputs on which the answer to a later one depends: Namespaces, limit ranges, service accounts and
//! classes of Pods and of volumes.

use super::given::ClusterKind;
use crdx_builtin::volume_resize;
use crdx_server::cluster_state::{
    GroupVersionResource, LIMIT_RANGES, NAMESPACES, PRIORITY_CLASSES, RUNTIME_CLASSES, SERVICE_ACCOUNTS,
    STORAGE_CLASSES,
};
use crdx_types::resources::ApiResource;
use crdx_value::Value;
use crdx_value::lock;
use std::collections::BTreeMap;
use std::sync::{Arc, RwLock};

/// The forms that one object has had, each with the number of inputs before it.
type Forms = Vec<(u64, Arc<Value>)>;
/// Objects by namespace and name.
type ByName = BTreeMap<String, BTreeMap<String, Forms>>;

/// The objects that inputs so far create, in the order of the input.
#[derive(Debug, Default)]
pub struct CreatedObjects {
    objects: Arc<RwLock<BTreeMap<GroupVersionResource<'static>, ByName>>>,
    /// The number of recorded objects.
    count: u64,
}

/// The objects of the inputs before one of them, which is simulated at any time.
#[derive(Clone, Debug, Default)]
pub struct Created {
    objects: Arc<RwLock<BTreeMap<GroupVersionResource<'static>, ByName>>>,
    /// The number of objects that were recorded before.
    before: u64,
}

impl CreatedObjects {
    /// Returns the objects of the inputs so far.
    pub fn so_far(&self) -> Created {
        Created { objects: Arc::clone(&self.objects), before: self.count }
    }

    /// Records the stored Namespace or limit range of an input.
    pub fn store(&mut self, namespace: Option<&str>, name: &str, stored: Arc<Value>) {
        let of = ClusterKind::of(&stored).map(|kind| kind.resource);
        if let Some(of) = of.filter(|of| [NAMESPACES, LIMIT_RANGES].contains(of)) {
            self.add(of, namespace.unwrap_or_default(), name, stored);
        }
    }

    /// Records an object of an input before it is sent, if the answers to later ones depend on it: a service account, a class of
    /// Pods, or a class of volumes that may grow.
    pub fn record(&mut self, object: &Value, resource: &ApiResource, namespace: &str) {
        let is = |of: GroupVersionResource<'_>| (resource.group, resource.plural) == (of.group, of.resource);
        let is_v1 = resource.version == "v1";
        let of = if is(SERVICE_ACCOUNTS) {
            SERVICE_ACCOUNTS
        } else if is_v1 && is(PRIORITY_CLASSES) {
            PRIORITY_CLASSES
        } else if is_v1 && is(RUNTIME_CLASSES) {
            RUNTIME_CLASSES
        } else if is(STORAGE_CLASSES) && volume_resize::allows_growth(object) {
            STORAGE_CLASSES
        } else {
            return;
        };
        let Some(name) = object.str_at(&["metadata", "name"]) else { return };
        let namespace = if of == SERVICE_ACCOUNTS { namespace } else { "" };
        // Only the existence of a service account matters.
        let stored = if of == SERVICE_ACCOUNTS { Arc::default() } else { Arc::new(object.clone()) };
        self.add(of, namespace, name, stored);
    }

    fn add(&mut self, of: GroupVersionResource<'static>, namespace: &str, name: &str, object: Arc<Value>) {
        let mut all = lock::write(&self.objects);
        let objects = all.entry(of).or_default().entry(namespace.to_owned()).or_default();
        objects.entry(name.to_owned()).or_default().push((self.count, object));
        self.count += 1;
    }
}

impl Created {
    /// Returns an object in the form that the last input before has given it.
    pub fn object(&self, of: GroupVersionResource<'_>, namespace: &str, name: &str) -> Option<Arc<Value>> {
        let all = lock::read(&self.objects);
        self.last(all.get(&of)?.get(namespace)?.get(name)?)
    }

    /// Returns the objects in a namespace.
    pub fn objects(&self, of: GroupVersionResource<'_>, namespace: &str) -> Vec<Arc<Value>> {
        let all = lock::read(&self.objects);
        let objects = all.get(&of).and_then(|all| all.get(namespace)).into_iter().flat_map(BTreeMap::values);
        objects.filter_map(|forms| self.last(forms)).collect()
    }

    fn last(&self, forms: &Forms) -> Option<Arc<Value>> {
        forms.iter().rev().find(|(number, _)| *number < self.before).map(|(_, object)| Arc::clone(object))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::json::read;
    use crdx_types::resources;

    fn record(created: &mut CreatedObjects, object: &str) {
        let object = read(object.as_bytes()).unwrap();
        let text = |key: &str| object.str_at(&[key]).unwrap();
        let resource = resources::of_kind(text("apiVersion"), text("kind"), 37);
        created.record(&object, resource.unwrap(), "work");
    }

    #[test]
    fn an_input_sees_the_objects_of_those_before_it() {
        let class = |value: u32| {
            format!(
                r#"{{"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{{"name":"a"}},"value":{value}}}"#
            )
        };
        let mut created = CreatedObjects::default();
        let first = created.so_far();
        record(&mut created, &class(1));
        let second = created.so_far();
        record(&mut created, &class(2));
        let value = |created: &Created| created.object(PRIORITY_CLASSES, "", "a")?.get("value")?.as_int();
        assert_eq!([value(&first), value(&second), value(&created.so_far())], [None, Some(1), Some(2)]);
    }

    #[test]
    fn service_accounts_are_in_namespaces() {
        let mut created = CreatedObjects::default();
        record(&mut created, r#"{"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":"a"}}"#);
        let exists = |namespace: &str| created.so_far().object(SERVICE_ACCOUNTS, namespace, "a").is_some();
        assert!(exists("work") && !exists("default"));
    }

    #[test]
    fn only_classes_of_volumes_that_may_grow_are_recorded() {
        let mut created = CreatedObjects::default();
        record(&mut created, r#"{"apiVersion":"storage.k8s.io/v1","kind":"StorageClass","metadata":{"name":"a"}}"#);
        assert_eq!(created.so_far().object(STORAGE_CLASSES, "", "a"), None);
    }

    #[test]
    fn stored_limit_ranges_are_in_their_namespace() {
        let mut created = CreatedObjects::default();
        let range = read(br#"{"apiVersion":"v1","kind":"LimitRange","metadata":{"name":"l"}}"#).unwrap();
        created.store(Some("work"), "l", Arc::new(range));
        let count = |namespace: &str| created.so_far().objects(LIMIT_RANGES, namespace).len();
        assert_eq!((count("work"), count("default")), (1, 0));
    }
}
