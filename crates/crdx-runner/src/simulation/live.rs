//! The cluster of a run: connected on first use and shared by all threads.

use crdx_cluster::{Connection, JSON};
use crdx_engine::cluster::{Cluster, Error, PendingResponse, Resource};
use crdx_engine::simulation::known_cluster::live::LiveObjects;
use crdx_value::Value;
use crdx_value::lock;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, OnceLock};

/// A cluster that can be queried.
pub struct Live {
    target: crdx_cluster::ClusterFlags,
    open: OnceLock<Result<Connection, Error>>,
    /// The lists that were read, each once, by path.
    lists: Mutex<HashMap<String, Arc<OnceLock<ReadList>>>>,
    /// The first error of each resource whose objects could not be read.
    unreadable: Mutex<BTreeMap<String, Error>>,
    /// The numbers of objects of collections, by path.
    sizes: Mutex<HashMap<String, u64>>,
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
    pub fn new(target: crdx_cluster::ClusterFlags) -> Self {
        Self {
            target,
            open: OnceLock::new(),
            lists: Mutex::default(),
            unreadable: Mutex::default(),
            sizes: Mutex::default(),
        }
    }

    /// Returns the objects on which answers depend; they are not read yet.
    pub fn objects(self: &Arc<Self>) -> Arc<LiveObjects> {
        Arc::new(LiveObjects::new(Arc::clone(self) as Arc<dyn Cluster>))
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

    /// Returns the errors of objects that could not be read, by resource.
    pub fn unreadable(&self) -> BTreeMap<String, Error> {
        lock::lock(&self.unreadable).clone()
    }

    /// Records how many objects a collection has, so that it is not listed again in vain; `u64::MAX` if it cannot be
    /// listed.
    pub(crate) fn record_size(&self, collection: &str, size: u64) {
        lock::lock(&self.sizes).insert(collection.to_owned(), size);
    }

    /// Returns the number of objects of a collection, if it is known.
    pub fn size(&self, collection: &str) -> Option<u64> {
        lock::lock(&self.sizes).get(collection).copied()
    }
}

impl Cluster for Live {
    fn is_configured(&self) -> bool {
        crdx_cluster::is_configured(&self.target)
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
            let mut all = lock::lock(&self.lists);
            Arc::clone(all.entry(path.to_owned()).or_default())
        };
        once.get_or_init(|| Ok(self.connection()?.ask(path, JSON).wait()?.unwrap_or_default().into())).clone()
    }

    fn record_unreadable(&self, plural: &str, error: &Error) {
        let mut all = lock::lock(&self.unreadable);
        all.entry(plural.to_owned()).or_insert_with(|| error.clone());
    }
}
