//! The objects that were read from a live cluster, each once.

use super::given::ClusterKind;
use crate::cluster::{Cluster, Error, PendingResponse, Resource};
use crdx_server::cluster_state::{
    GroupVersionResource, Listed, Lookup, NAMESPACES, SERVICE_ACCOUNTS, SERVICE_CIDRS, Unread, Wanted,
};
use crdx_value::Value;
use crdx_value::lock;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// The objects that were read from a live cluster.
#[derive(Debug)]
pub struct LiveObjects {
    cluster: Arc<dyn Cluster>,
    /// True if Namespaces are read though discovery does not list them.
    reads_unlisted_namespaces: AtomicBool,
    read: Mutex<BTreeMap<Wanted, Arc<PendingRead>>>,
}

/// The answer for one object or list, locked while it is read.
type PendingRead = Mutex<ReadProgress>;

/// The progress of reading.
#[derive(Debug, Default)]
enum ReadProgress {
    #[default]
    New,
    Asked(Box<dyn PendingResponse>),
    Answered(ReadResult),
}

/// The answer of the cluster.
#[derive(Clone, Debug)]
enum ReadResult {
    /// The objects: the items of a list, or one object.
    Objects(Vec<Arc<Value>>),
    /// The object does not exist.
    Absent,
    /// The object does not exist, but the cluster accepts objects without it.
    Unneeded,
    /// It could not be read.
    Unreadable(Error),
}

impl LiveObjects {
    /// Creates the value without reading objects.
    pub fn new(cluster: Arc<dyn Cluster>) -> Self {
        Self { cluster, reads_unlisted_namespaces: AtomicBool::default(), read: Mutex::default() }
    }

    /// Reads Namespaces though discovery does not list them, because policies read them.
    pub(crate) fn read_unlisted_namespaces(&self) {
        self.reads_unlisted_namespaces.store(true, Ordering::Relaxed);
    }

    /// Returns what was read of an object.
    ///
    /// # Errors
    /// Returns [`Unread`] if it was not read yet.
    pub fn object(
        &self,
        of: GroupVersionResource<'_>,
        namespace: &str,
        name: &str,
    ) -> Result<Lookup<Arc<Value>>, Unread> {
        Ok(match self.answer(&Wanted::new(of, namespace, Some(name)))? {
            ReadResult::Objects(objects) => objects.into_iter().next().map_or(Lookup::Absent, Lookup::Found),
            ReadResult::Absent => Lookup::Absent,
            ReadResult::Unneeded | ReadResult::Unreadable(_) => Lookup::Unknown,
        })
    }

    /// Returns what was read of the objects of a resource.
    ///
    /// # Errors
    /// Returns [`Unread`] if they were not read yet.
    pub fn list(&self, of: GroupVersionResource<'_>, namespace: &str) -> Result<Listed, Unread> {
        Ok(match self.answer(&Wanted::new(of, namespace, None))? {
            ReadResult::Objects(objects) => Listed { objects, is_complete: true },
            ReadResult::Absent | ReadResult::Unneeded => Listed { objects: Vec::new(), is_complete: true },
            ReadResult::Unreadable(_) => Listed::default(),
        })
    }

    /// Returns true if the cluster was asked for a Namespace and does not have it, but accepts objects in it.
    pub(crate) fn misses_namespace(&self, name: &str) -> bool {
        matches!(self.answer(&Wanted::new(NAMESPACES, "", Some(name))), Ok(ReadResult::Unneeded))
    }

    /// Returns the message of the error with which objects could not be read.
    pub fn error(&self, wanted: &Wanted) -> Option<String> {
        match self.answer(wanted) {
            Ok(ReadResult::Unreadable(error)) => Some(error.message),
            _ => None,
        }
    }

    /// Reports for the run that objects could not be read.
    pub fn report_unreadable(&self, wanted: &Wanted) {
        if let Ok(ReadResult::Unreadable(error)) = self.answer(wanted) {
            self.cluster.record_unreadable(&wanted.resource, &error);
        }
    }

    fn answer(&self, wanted: &Wanted) -> Result<ReadResult, Unread> {
        let entry = {
            let read = lock::lock(&self.read);
            Arc::clone(read.get(wanted).ok_or(Unread)?)
        };
        let step = lock::lock(&entry);
        match &*step {
            ReadProgress::Answered(answer) => Ok(answer.clone()),
            ReadProgress::New | ReadProgress::Asked(_) => Err(Unread),
        }
    }

    /// Reads objects that were not read yet, all at the same time. Another thread that needs one of them waits for it.
    pub fn read(&self, wanted: &[Wanted]) {
        let entries: Vec<(&Wanted, Arc<PendingRead>)> =
            wanted.iter().map(|wanted| (wanted, self.entry(wanted))).collect();
        for (wanted, entry) in &entries {
            let mut step = lock::lock(entry);
            if let ReadProgress::New = *step {
                *step = self.ask(wanted).map_or_else(ReadProgress::Answered, ReadProgress::Asked);
            }
        }
        for (wanted, entry) in &entries {
            let mut step = lock::lock(entry);
            match std::mem::take(&mut *step) {
                ReadProgress::Asked(pending) => *step = ReadProgress::Answered(self.wait(wanted, pending)),
                other => *step = other,
            }
        }
    }

    fn entry(&self, wanted: &Wanted) -> Arc<PendingRead> {
        let mut read = lock::lock(&self.read);
        Arc::clone(read.entry(wanted.clone()).or_default())
    }

    /// Sends the request for objects.
    ///
    /// # Errors
    /// Returns the answer if no request is needed, or none can be sent.
    fn ask(&self, wanted: &Wanted) -> Result<Box<dyn PendingResponse>, ReadResult> {
        let namespace = Some(wanted.namespace.as_str()).filter(|namespace| !namespace.is_empty());
        let resource = Resource {
            group: wanted.group.clone(),
            version: wanted.version.clone(),
            plural: wanted.resource.clone(),
            namespaced: namespace.is_some(),
            ..Resource::default()
        };
        let is_served = || self.is_served(wanted).map_err(|error| self.unreadable(wanted, &error));
        // A server without namespaces accepts every namespace.
        if wanted.of() == NAMESPACES && !self.reads_unlisted_namespaces.load(Ordering::Relaxed) && !is_served()? {
            return Err(ReadResult::Unneeded);
        }
        if !is_reported(wanted.of()) && !is_served()? {
            // Clusters before 1.33 serve no such objects.
            let is_absent = wanted.of() == SERVICE_CIDRS;
            let unserved = || ReadResult::Unreadable(Error::new("the cluster does not serve it"));
            return Err(if is_absent { ReadResult::Absent } else { unserved() });
        }
        let path = match &wanted.name {
            Some(name) => resource.object_path(namespace, name),
            None => resource.path(namespace),
        };
        self.cluster.ask(&path).map_err(|error| self.unreadable(wanted, &error))
    }

    fn is_served(&self, wanted: &Wanted) -> Result<bool, Error> {
        let is_it = |resource: &Resource| {
            let Resource { group, version, plural, .. } = resource;
            (group, version, plural) == (&wanted.group, &wanted.version, &wanted.resource)
        };
        Ok(self.cluster.resource_where(&is_it)?.is_some())
    }

    fn wait(&self, wanted: &Wanted, pending: Box<dyn PendingResponse>) -> ReadResult {
        match pending.wait() {
            Ok(Some(object)) if wanted.name.is_some() => ReadResult::Objects(vec![Arc::new(object)]),
            Ok(Some(list)) => ReadResult::Objects(items_of(list)),
            Ok(None) if wanted.of() == NAMESPACES && !self.is_served(wanted).unwrap_or(true) => ReadResult::Unneeded,
            Ok(None) => ReadResult::Absent,
            Err(error) => self.unreadable(wanted, &error),
        }
    }

    fn unreadable(&self, wanted: &Wanted, error: &Error) -> ReadResult {
        if is_reported(wanted.of()) {
            self.cluster.record_unreadable(&wanted.resource, error);
        }
        ReadResult::Unreadable(error.clone())
    }
}

/// Returns true for the kinds that admission plugins read, whose errors are reported for the run. Policies report the params that
/// they lack, and few Services depend on the others.
fn is_reported(of: GroupVersionResource<'_>) -> bool {
    of == SERVICE_ACCOUNTS || ClusterKind::of_resource(of).is_some_and(|kind| kind.resource != SERVICE_CIDRS)
}

/// Returns the objects of a list, which have neither apiVersion nor kind there.
fn items_of(mut list: Value) -> Vec<Arc<Value>> {
    let text = |key: &str| list.str_at(&[key]).unwrap_or_default().to_owned();
    let (api_version, kind) = (text("apiVersion"), text("kind"));
    let Some(Value::Array(items)) = list.as_object_mut().and_then(|members| members.remove("items")) else {
        return Vec::new();
    };
    let typed = |mut item: Value| {
        if let Some(members) = item.as_object_mut() {
            let kind = kind.strip_suffix("List").unwrap_or(&kind);
            members.entry("apiVersion".to_owned()).or_insert_with(|| api_version.as_str().into());
            members.entry("kind".to_owned()).or_insert_with(|| kind.into());
        }
        Arc::new(item)
    };
    items.into_iter().map(typed).collect()
}
