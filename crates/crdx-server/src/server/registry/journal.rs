//! Persistence: every commit is passed to a [`Journal`], and
//! [`ServerBuilder::restore`](crate::server::ServerBuilder::restore) restores the objects of a journal.

use crate::server::registry::store::notifier::WatchNotifier;
use crdx_value::Value;
use std::fmt::Debug;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

/// Persists commits.
pub trait Journal: Debug + Send + Sync {
    /// Persists a commit before any client can see it. The commits of one key arrive in order. This method is called
    /// while the lock of the collection is held, so it must be fast.
    fn commit(&self, commit: &Commit<'_>);
}

/// A write or a removal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Commit<'a> {
    /// The name of the CRD (`plural.group`); for CRDs themselves, `customresourcedefinitions.apiextensions.k8s.io`.
    pub definition: &'a str,
    /// `namespace/name` or `name`.
    pub key: &'a str,
    /// The resourceVersion of the commit.
    pub revision: u64,
    /// The object as JSON, whose resourceVersion is missing or outdated; `None` if the object was removed.
    pub object: Option<&'a str>,
}

/// A restored object.
#[derive(Clone, Debug, PartialEq)]
pub struct RestoredObject {
    /// As in [`Commit`].
    pub definition: String,
    /// As in [`Commit`].
    pub key: String,
    /// The resourceVersion of the object.
    pub revision: u64,
    /// The restored object.
    pub object: Value,
}

/// The storage settings of a server, shared by all its collections.
#[derive(Debug, Default)]
pub(in crate::server) struct StorageConfig {
    /// The journal, once its objects are restored.
    pub journal: OnceLock<Arc<dyn Journal>>,
    /// Wakes watches if many are waiting; without a notifier, the committing thread wakes them.
    pub notifier: Option<Arc<dyn WatchNotifier>>,
    /// True to store objects that were not written recently as compressed JSON.
    pub compresses: bool,
    /// True to keep no events: watches and lists at an old revision find none.
    pub drops_history: bool,
    ids: AtomicU64,
}

impl StorageConfig {
    /// A configuration without a journal.
    pub fn new(compresses: bool, drops_history: bool, notifier: Option<Arc<dyn WatchNotifier>>) -> Self {
        Self { notifier, compresses, drops_history, ..Self::default() }
    }

    /// Returns a number that is unique in this server and never 0, for a compiled version or a watch.
    pub(crate) fn next_id(&self) -> u64 {
        self.ids.fetch_add(1, Ordering::Relaxed) + 1
    }
}

/// The name of the collection of CRDs.
pub const DEFINITIONS: &str = "customresourcedefinitions.apiextensions.k8s.io";

/// The JSON of a stored object for a journal.
pub(in crate::server) fn text(object: &Value) -> String {
    crdx_value::json::to_string(object)
}
