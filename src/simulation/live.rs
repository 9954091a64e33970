//! The cluster of a run: connected on first use and shared by all threads.

use crate::cluster::{self, Connection, JSON, Resource};
use crdx::report::Identity;
use crdx_server::server::NamespaceState;
use crdx_server::server::http::address::encoded;
use crdx_value::{Value, group_version};
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// A cluster that can be queried.
pub struct Live {
    target: cluster::Target,
    open: OnceLock<Result<Connection, cluster::Error>>,
    /// The namespaces that were read, each once.
    namespaces: Mutex<HashMap<String, Arc<OnceLock<ReadNamespace>>>>,
    /// The lists that were read, each once, by path.
    lists: Mutex<HashMap<String, Arc<OnceLock<ReadList>>>>,
    /// The first error of each resource whose objects could not be read.
    unreadable: Mutex<BTreeMap<String, cluster::Error>>,
    /// The numbers of objects of collections, by path.
    sizes: Mutex<HashMap<String, u64>>,
}

/// A namespace, or the reason why it is not known.
type ReadNamespace = Result<ReadableNamespace, cluster::Error>;

/// A namespace that was read.
#[derive(Default)]
struct ReadableNamespace {
    state: NamespaceState,
    /// The object, if there is one.
    object: Option<Arc<Value>>,
}

/// A list, or the reason why it is not known.
type ReadList = Result<Value, cluster::Error>;

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

    /// Returns true if a cluster is configured, without contacting it.
    pub fn is_configured(&self) -> bool {
        cluster::is_configured(&self.target)
    }

    /// Returns true if the cluster serves a group, version and kind.
    ///
    /// # Errors
    /// Returns the reason why the resources of the cluster cannot be read.
    pub fn serves(&self, (group, version, kind): (&str, &str, &str)) -> Result<bool, cluster::Error> {
        let is_it = |r: &Resource| r.group == group && r.version == version && r.kind == kind;
        Ok(self.connection()?.resource_where(is_it)?.is_some())
    }

    /// Returns true if the cluster serves a kind of a group in any version.
    ///
    /// # Errors
    /// Returns the reason why the resources of the cluster cannot be read.
    pub fn has_kind(&self, group: &str, kind: &str) -> Result<bool, cluster::Error> {
        Ok(self.connection()?.resource_where(|r| r.group == group && r.kind == kind)?.is_some())
    }

    /// Returns the connection, which is opened on first use.
    pub fn connection(&self) -> Result<&Connection, cluster::Error> {
        // Warnings of the cluster are reported with the simulated response.
        self.open.get_or_init(|| Connection::open(&self.target, |_| {})).as_ref().map_err(Clone::clone)
    }

    /// Returns the connection, if it was opened.
    pub fn opened(&self) -> Option<&Connection> {
        self.open.get()?.as_ref().ok()
    }

    /// Returns whether a namespace accepts new objects. A namespace that cannot be read is assumed to accept them
    /// ([`Live::unreadable`]).
    pub fn namespace_state(&self, name: &str) -> NamespaceState {
        self.with_namespace(name, |read| read.state).unwrap_or_default()
    }

    /// Returns a Namespace; `None` if it does not exist or cannot be read ([`Live::unreadable`]).
    pub fn namespace(&self, name: &str) -> Option<Arc<Value>> {
        self.with_namespace(name, |read| read.object.clone()).flatten()
    }

    /// Reads a namespace, once; `None` if it cannot be read.
    fn with_namespace<T>(&self, name: &str, get: impl Fn(&ReadableNamespace) -> T) -> Option<T> {
        let once = {
            let mut all = self.namespaces.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(all.entry(name.to_owned()).or_default())
        };
        once.get_or_init(|| self.read_namespace(name)).as_ref().ok().map(get)
    }

    /// Returns the list of a resource, which is read once; null if the cluster does not serve it.
    ///
    /// # Errors
    /// Returns the reason why it cannot be read.
    pub fn list(&self, path: &str) -> Result<Value, cluster::Error> {
        let once = {
            let mut all = self.lists.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(all.entry(path.to_owned()).or_default())
        };
        once.get_or_init(|| Ok(self.connection()?.ask(path, JSON).wait()?.unwrap_or_default())).clone()
    }

    fn read_namespace(&self, name: &str) -> ReadNamespace {
        let connection = self.connection()?;
        // A server without namespaces accepts every namespace.
        if connection.served_version("", "namespaces", "v1")?.is_none() {
            return Ok(ReadableNamespace::default());
        }
        let found = connection.ask(&Resource::namespaces().object_path(None, name), JSON).wait()?;
        let state = match &found {
            None => NamespaceState::Missing,
            Some(found) if is_terminating(found) => NamespaceState::Terminating,
            Some(_) => NamespaceState::Unspecified,
        };
        Ok(ReadableNamespace { state, object: found.map(Arc::new) })
    }

    /// Records that an object of a resource could not be read.
    pub fn record_unreadable(&self, plural: &str, error: &cluster::Error) {
        let mut all = self.unreadable.lock().unwrap_or_else(PoisonError::into_inner);
        all.entry(plural.to_owned()).or_insert_with(|| error.clone());
    }

    /// Returns the errors of objects that could not be read, by resource.
    pub fn unreadable(&self) -> BTreeMap<String, cluster::Error> {
        let mut all = self.unreadable.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let namespaces = self.namespaces.lock().unwrap_or_else(PoisonError::into_inner);
        let error = namespaces.values().find_map(|read| read.get()?.as_ref().err());
        all.extend(error.map(|error| ("namespaces".to_owned(), error.clone())));
        all
    }

    /// Determines the path of an object; `None` if the cluster does not serve its kind.
    pub fn locate(&self, identity: &Identity, plural: &str) -> Result<Option<ObjectPath>, cluster::Error> {
        let connection = self.connection()?;
        let (group, version) = group_version::split(&identity.api_version);
        let Some(version) = connection.served_version(group, plural, version)? else { return Ok(None) };
        let resource = Resource {
            group: group.to_owned(),
            version,
            plural: plural.to_owned(),
            namespaced: identity.namespace.is_some(),
            ..Resource::default()
        };
        let collection = resource.path(identity.namespace.as_deref());
        // A list would read Secrets that are not in the input.
        let may_list = !(group.is_empty() && plural == "secrets");
        Ok(Some(ObjectPath { collection, name: identity.name.clone(), may_list }))
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

/// The place of an object in the cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectPath {
    /// The path of the objects of its kind in its namespace.
    pub collection: String,
    /// The name of the object.
    pub name: String,
    /// True if the collection may be listed to read the object.
    pub may_list: bool,
}

impl ObjectPath {
    /// Returns the path of the object.
    pub fn object(&self) -> String {
        format!("{}/{}", self.collection, encoded(&self.name))
    }
}

fn is_terminating(namespace: &Value) -> bool {
    namespace.str_at(&["status", "phase"]) == Some("Terminating")
}
