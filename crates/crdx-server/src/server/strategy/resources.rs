//! The resources that a server serves, and the work that their writes leave to the controllers.

mod removal;
mod serving;

use super::built_in_kind::kind_strategy::{Allocator, BuiltInKinds};
use super::definitions::Definitions;
use super::namespace_rule::{NAME, Namespaces};
use super::serving::Serving;
use super::work_queue::WorkQueue;
use crate::crd::names_in_use::NamesInUse;
use crate::server::http::settings::Settings;
use crate::server::registry::storage::Storage;
use crate::server::runtime_config::RuntimeConfig;
use crdx_value::Value;
use crdx_value::lock;
use std::collections::HashMap;
use std::sync::{Arc, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// Compiled CRDs by name (`plural.group`).
pub(in crate::server) type Served = HashMap<String, Arc<Serving>>;

/// The resources of a server: its CRDs, and the objects of all resources.
#[derive(Debug)]
pub(in crate::server) struct Resources {
    pub settings: Settings,
    pub storage: Storage,
    /// The stored CRDs.
    pub definitions: Definitions,
    /// The CRDs that wait for their controllers.
    pub written_definitions: WorkQueue,
    /// The namespaces that are being deleted.
    pub deleted_namespaces: WorkQueue,
    /// Which namespaces exist; `None` if the server has no namespaces and accepts all of them.
    pub namespaces: Option<Namespaces>,
    /// True if built-in kinds are served, as by a whole kube-apiserver.
    pub serves_built_in_kinds: bool,
    /// True if the content of objects of built-in kinds is validated.
    pub validates_content: bool,
    /// The addresses and ports of Services, if fields of new objects are generated.
    pub allocations: Option<Box<dyn Allocator>>,
    /// The APIs of built-in kinds that are not served.
    pub runtime_config: RuntimeConfig,
    /// The strategies of built-in kinds.
    pub kinds: &'static BuiltInKinds,
    served: RwLock<Served>,
    /// The names of the served CRDs.
    names: RwLock<NamesInUse>,
}

impl Resources {
    /// No resources.
    pub fn new(settings: Settings, storage: Storage) -> Self {
        Self {
            definitions: Definitions::new(&storage),
            settings,
            storage,
            written_definitions: WorkQueue::default(),
            deleted_namespaces: WorkQueue::default(),
            namespaces: None,
            serves_built_in_kinds: false,
            validates_content: false,
            allocations: None,
            runtime_config: RuntimeConfig::default(),
            kinds: BuiltInKinds::NONE,
            served: RwLock::default(),
            names: RwLock::default(),
        }
    }

    /// Returns true if the server has neither all objects nor the flags of the cluster that it simulates.
    pub fn is_partial(&self) -> bool {
        self.settings.cluster_state.is_some()
    }

    /// All served CRDs, in any order. Holds a lock.
    pub fn served(&self) -> RwLockReadGuard<'_, Served> {
        lock::read(&self.served)
    }

    /// Like [`Resources::served`], to change them.
    pub(crate) fn served_mut(&self) -> RwLockWriteGuard<'_, Served> {
        lock::write(&self.served)
    }

    /// The names of the served CRDs. Holds a lock.
    pub(crate) fn names(&self) -> RwLockReadGuard<'_, NamesInUse> {
        lock::read(&self.names)
    }

    /// Like [`Resources::names`], to change them.
    pub(crate) fn names_mut(&self) -> RwLockWriteGuard<'_, NamesInUse> {
        lock::write(&self.names)
    }

    /// All served CRDs, in any order.
    pub fn all(&self) -> Vec<Arc<Serving>> {
        self.served().values().map(Arc::clone).collect()
    }

    /// The compiled CRD with this name, if it is served.
    pub fn get(&self, name: &str) -> Option<Arc<Serving>> {
        self.served().get(name).cloned()
    }

    /// Serves a resource that has no stored CRD.
    pub fn insert(&self, name: &str, serving: Serving) {
        self.served_mut().insert(name.to_owned(), Arc::new(serving));
    }

    /// The Namespace object with this name.
    pub fn namespace(&self, name: &str) -> Option<Arc<Value>> {
        self.get(NAME)?.objects.get(name).map(|stored| stored.raw())
    }
}
