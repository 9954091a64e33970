//! The cluster of a run: connected on first use and shared by all threads.

use crate::cluster::{self, Connection, JSON};
use crdx::cluster::{Cluster, Error, PendingResponse, Resource, state_of};
use crdx_server::server::NamespaceState;
use crdx_value::Value;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// A cluster that can be queried.
pub struct Live {
    target: cluster::Target,
    open: OnceLock<Result<Connection, Error>>,
    /// The namespaces that were read, each once.
    namespaces: Mutex<HashMap<String, Arc<OnceLock<ReadNamespace>>>>,
    /// The lists that were read, each once, by path.
    lists: Mutex<HashMap<String, Arc<OnceLock<ReadList>>>>,
    /// The first error of each resource whose objects could not be read.
    unreadable: Mutex<BTreeMap<String, Error>>,
    /// The numbers of objects of collections, by path.
    sizes: Mutex<HashMap<String, u64>>,
}

/// A namespace, or the reason why it is not known.
type ReadNamespace = Result<ReadableNamespace, Error>;

/// A namespace that was read.
#[derive(Default)]
struct ReadableNamespace {
    state: NamespaceState,
    object: Option<Arc<Value>>,
}

/// A list, or the reason why it is not known.
type ReadList = Result<Arc<Value>, Error>;

impl std::fmt::Debug for Live {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Live").finish_non_exhaustive()
    }
}

impl Live {
    /// Creates the value without contacting the cluster.
    pub fn new(target: cluster::Target) -> Self {
        Self {
            target,
            open: OnceLock::new(),
            namespaces: Mutex::default(),
            lists: Mutex::default(),
            unreadable: Mutex::default(),
            sizes: Mutex::default(),
        }
    }

    /// Returns the connection, which is opened on first use.
    pub fn connection(&self) -> Result<&Connection, Error> {
        // Warnings of the cluster are reported with the simulated response.
        self.open.get_or_init(|| Connection::open(&self.target, |_| {})).as_ref().map_err(Clone::clone)
    }

    /// Returns the connection, if it was opened.
    pub fn opened(&self) -> Option<&Connection> {
        self.open.get()?.as_ref().ok()
    }

    /// Reads a namespace, once; `None` if it cannot be read.
    fn with_namespace<T>(&self, name: &str, get: impl Fn(&ReadableNamespace) -> T) -> Option<T> {
        let once = {
            let mut all = self.namespaces.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(all.entry(name.to_owned()).or_default())
        };
        once.get_or_init(|| self.read_namespace(name)).as_ref().ok().map(get)
    }

    fn read_namespace(&self, name: &str) -> ReadNamespace {
        let connection = self.connection()?;
        // A server without namespaces accepts every namespace.
        if self.served_version("", "namespaces", "v1")?.is_none() {
            return Ok(ReadableNamespace::default());
        }
        let found = connection.ask(&Resource::namespaces().object_path(None, name), JSON).wait()?;
        let state = match &found {
            None => NamespaceState::Missing,
            Some(found) => state_of(found),
        };
        Ok(ReadableNamespace { state, object: found.map(Arc::new) })
    }

    /// Returns the errors of objects that could not be read, by resource.
    pub fn unreadable(&self) -> BTreeMap<String, Error> {
        let mut all = self.unreadable.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let namespaces = self.namespaces.lock().unwrap_or_else(PoisonError::into_inner);
        let error = namespaces.values().find_map(|read| read.get()?.as_ref().err());
        all.extend(error.map(|error| ("namespaces".to_owned(), error.clone())));
        all
    }

    /// Records how many objects a collection has, so that it is not listed again in vain; `u64::MAX` if it cannot be
    /// listed.
    pub fn record_size(&self, collection: &str, size: u64) {
        self.sizes.lock().unwrap_or_else(PoisonError::into_inner).insert(collection.to_owned(), size);
    }

    /// Returns the number of objects of a collection, if it is known.
    pub fn size(&self, collection: &str) -> Option<u64> {
        self.sizes.lock().unwrap_or_else(PoisonError::into_inner).get(collection).copied()
    }
}

impl Cluster for Live {
    fn is_configured(&self) -> bool {
        cluster::is_configured(&self.target)
    }

    fn resources(&self) -> Result<Arc<Vec<Resource>>, Error> {
        self.connection()?.resources()
    }

    fn resource_where(&self, fits: &dyn Fn(&Resource) -> bool) -> Result<Option<Resource>, Error> {
        self.connection()?.resource_where(fits)
    }

    fn ask(&self, path: &str) -> Result<Box<dyn PendingResponse>, Error> {
        Ok(Box::new(self.connection()?.ask(path, JSON)))
    }

    fn list(&self, path: &str) -> Result<Arc<Value>, Error> {
        let once = {
            let mut all = self.lists.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(all.entry(path.to_owned()).or_default())
        };
        once.get_or_init(|| Ok(self.connection()?.ask(path, JSON).wait()?.unwrap_or_default().into())).clone()
    }

    fn namespace_state(&self, name: &str) -> NamespaceState {
        self.with_namespace(name, |read| read.state).unwrap_or_default()
    }

    fn namespace(&self, name: &str) -> Option<Arc<Value>> {
        self.with_namespace(name, |read| read.object.clone()).flatten()
    }

    fn record_unreadable(&self, plural: &str, error: &Error) {
        let mut all = self.unreadable.lock().unwrap_or_else(PoisonError::into_inner);
        all.entry(plural.to_owned()).or_insert_with(|| error.clone());
    }
}
