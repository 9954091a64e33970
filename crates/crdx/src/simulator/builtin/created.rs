//! The objects of earlier inputs on which the answer to a later one depends: Namespaces, limit ranges, service accounts and
//! classes of Pods and of volumes.

use super::classes::{self, Classes};
use super::service_accounts;
use crate::simulation::identity::{self, Namespace};
use crdx_builtin::volume_resize;
use crdx_server::server::KnownObjects;
use crdx_types::resources::Resource;
use crdx_value::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The objects that inputs so far create.
#[derive(Debug, Default)]
pub struct CreatedObjects {
    /// The Namespaces, by name.
    namespaces: BTreeMap<String, Arc<Value>>,
    /// The limit ranges of each namespace, by name.
    limit_ranges: BTreeMap<String, BTreeMap<String, Arc<Value>>>,
    /// The namespaces and names of service accounts.
    service_accounts: BTreeSet<(String, String)>,
    /// The priority classes and runtime classes.
    classes: Classes,
    /// The storage classes that allow claims to grow.
    growing_classes: Arc<BTreeSet<String>>,
}

/// The objects of earlier inputs on which an object depends.
#[derive(Clone, Debug, Default)]
pub struct Created {
    /// The Namespace, the limit ranges and the classes on which admission depends.
    pub known_objects: KnownObjects,
    /// True if its service account is among them.
    pub service_account: bool,
    /// For a claim, the storage classes that allow claims to grow.
    pub growing_classes: Arc<BTreeSet<String>>,
}

impl Created {
    /// Returns true if its Namespace is among them.
    pub(crate) fn has_namespace(&self) -> bool {
        self.known_objects.namespace.is_some()
    }
}

impl CreatedObjects {
    /// Returns the Namespace, if an input creates or updates it.
    pub(crate) fn namespace(&self, name: &str) -> Option<Arc<Value>> {
        self.namespaces.get(name).cloned()
    }

    /// Records the stored Namespace or limit range of an input.
    pub fn store(&mut self, kind: &str, namespace: Option<&str>, name: &str, stored: Arc<Value>) {
        match (kind, namespace) {
            ("Namespace", _) => drop(self.namespaces.insert(name.to_owned(), stored)),
            ("LimitRange", Some(namespace)) => {
                self.limit_ranges.entry(namespace.to_owned()).or_default().insert(name.to_owned(), stored);
            }
            _ => {}
        }
    }

    /// Returns what an object depends on, and records it for later ones; `default` is the default namespace.
    pub(crate) fn for_object(&mut self, object: &Value, resource: Option<&Resource>, default: &str) -> Created {
        let identity = identity::identity(object, Namespace::Or(default));
        let namespace = identity.namespace.unwrap_or_default();
        let is_core = |plural: &str| resource.is_some_and(|r| r.group.is_empty() && r.plural == plural);
        let is_limited = is_core("pods") || is_core("persistentvolumeclaims");
        let limit_ranges = self.limit_ranges.get(&namespace).filter(|_| is_limited);
        let created = Created {
            known_objects: KnownObjects {
                namespace: self.namespaces.get(&namespace).cloned(),
                limit_ranges: limit_ranges.into_iter().flat_map(BTreeMap::values).cloned().collect(),
                ..classes::of_inputs(object, &self.classes)
            },
            service_account: is_core("pods")
                && self.service_accounts.contains(&(namespace.clone(), service_accounts::name(object).to_owned())),
            growing_classes: if is_core("persistentvolumeclaims") {
                Arc::clone(&self.growing_classes)
            } else {
                Arc::default()
            },
        };
        self.classes.extend(classes::class(object).map(|class| (class, Arc::new(object.clone()))));
        if is_core("serviceaccounts") {
            self.service_accounts.insert((namespace, identity.name));
        } else if resource.is_some_and(|r| (r.group, r.plural) == ("storage.k8s.io", "storageclasses"))
            && volume_resize::allows_growth(object)
        {
            Arc::make_mut(&mut self.growing_classes).insert(identity.name);
        }
        created
    }
}
