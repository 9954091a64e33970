//! The object store, which replaces etcd: objects sorted by key, one increasing revision, optimistic writes.
//!
//! Locks are held only while looking up or committing an object; stored objects are shared and immutable. Every commit
//! adds an event to the [`log`] of the collection and wakes waiting watches.

mod log;
pub(in crate::server) mod notifier;
mod progress;
mod stored;

use crate::server::http::status::Refusal;
use crate::server::metadata;
use crate::server::registry::journal::{self, Commit, StorageConfig};
use crdx_value::field::names::{self, NameForm};
use crdx_value::lock::{lock, read, write};
use crdx_value::{Value, quote};
use log::Log;
pub(in crate::server) use log::{Event, Next};
pub use notifier::WatchNotifier;
use progress::Progress;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::ops::Bound;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, RwLock, RwLockWriteGuard};
use std::task::Waker;
use std::time::Duration;
pub(in crate::server) use stored::StoredObject;

/// The revision counter, shared by all objects of a server.
#[derive(Debug)]
pub(in crate::server) struct Revision(AtomicU64);

impl Default for Revision {
    fn default() -> Self {
        Self(AtomicU64::new(1))
    }
}

impl Revision {
    /// The last revision assigned.
    pub fn current(&self) -> u64 {
        self.0.load(Ordering::SeqCst)
    }
    fn next(&self) -> u64 {
        self.0.fetch_add(1, Ordering::SeqCst) + 1
    }
    /// Returns to an earlier revision.
    pub fn reset(&self, revision: u64) {
        self.0.store(revision, Ordering::SeqCst);
    }
    /// Advances to `revision` if it is greater. A revision in the upper half of the range is ignored, so that the
    /// counter cannot overflow.
    pub fn reach(&self, revision: u64) {
        if revision < u64::MAX / 2 {
            self.0.fetch_max(revision, Ordering::SeqCst);
        }
    }
}

/// All objects of one resource, in key order.
#[derive(Debug)]
pub(in crate::server) struct Collection {
    /// The name of the CRD, for the journal.
    definition: String,
    storage_config: Arc<StorageConfig>,
    objects: RwLock<BTreeMap<String, Arc<StoredObject>>>,
    /// The number of writes and removals.
    changes: AtomicU64,
    /// Written while the lock of `objects` is held, so that events are in revision order.
    log: RwLock<Log>,
    waiting: Mutex<HashMap<u64, Waker>>,
    progress: Mutex<Progress>,
    /// The most recently written objects, if other objects are stored compressed.
    recent: Mutex<VecDeque<Arc<StoredObject>>>,
    /// The compression dictionary of the collection.
    dictionary: OnceLock<Arc<[u8]>>,
}

/// The number of most recently written objects that stay uncompressed.
const MAX_UNCOMPRESSED: usize = 256;

/// If more watches than this are waiting, the notifier wakes them instead of the committing thread.
const MAX_WAKES: usize = 64;

/// Objects with their keys.
pub(in crate::server) type Entries = Vec<(String, Arc<StoredObject>)>;

/// The objects of a collection at one time.
#[derive(Debug)]
pub(in crate::server) struct SavedObjects {
    /// [`Collection::changes`] when the collection last had these objects.
    changes: AtomicU64,
    objects: BTreeMap<String, Arc<StoredObject>>,
}

/// The error of a write that lost the race against another write.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::server) struct Raced;

/// The store key: `namespace/name`, or `name` for a cluster-scoped object.
pub(in crate::server) fn key(namespace: &str, name: &str) -> String {
    if namespace.is_empty() { name.to_owned() } else { [namespace, "/", name].concat() }
}

/// `NamespaceKeyFunc`. Rejects a name that cannot be part of a key.
pub(in crate::server) fn checked_key(namespace: &str, name: &str) -> Result<String, Refusal> {
    if name.is_empty() {
        return Err(Refusal::bad_request("Name parameter required."));
    }
    let problems = names::path_segment(name, NameForm::Whole);
    if problems.is_empty() {
        return Ok(key(namespace, name));
    }
    let name = quote::go_quote(name);
    Err(Refusal::bad_request(format!("Name parameter invalid: {name}: {}", problems.join(";"))))
}

impl Collection {
    /// Creates an empty collection whose event log starts at `revision`.
    pub fn new(definition: &str, storage_config: &Arc<StorageConfig>, revision: u64) -> Self {
        Self {
            definition: definition.to_owned(),
            storage_config: Arc::clone(storage_config),
            objects: RwLock::default(),
            changes: AtomicU64::default(),
            log: RwLock::new(Log::new(revision)),
            waiting: Mutex::default(),
            progress: Mutex::default(),
            recent: Mutex::default(),
            dictionary: OnceLock::new(),
        }
    }

    /// Returns a number that is unique in this server.
    pub(crate) fn next_id(&self) -> u64 {
        self.storage_config.next_id()
    }

    /// The JSON of `object` for the journal, if there is one. Called before the lock is taken.
    fn text(&self, object: &Value) -> Option<String> {
        self.storage_config.journal.get().map(|_| journal::text(object))
    }

    /// Compresses the least recently written object, if compression is enabled. CRDs are never compressed, because they
    /// are few and read often.
    fn compress_oldest(&self, stored: &Arc<StoredObject>) {
        if !self.storage_config.compresses || self.definition == journal::DEFINITIONS {
            return;
        }
        let mut recent = lock(&self.recent);
        recent.push_back(Arc::clone(stored));
        let oldest = if recent.len() > MAX_UNCOMPRESSED { recent.pop_front() } else { None };
        drop(recent);
        // An object that was replaced or removed is referenced only here and need not be compressed.
        if let Some(oldest) = oldest.filter(|stored| Arc::strong_count(stored) > 1) {
            oldest.compress(&self.dictionary);
        }
    }

    fn write_to_journal(&self, key: &str, revision: u64, object: Option<&str>) {
        if let Some(journal) = self.storage_config.journal.get() {
            journal.commit(&Commit { definition: &self.definition, key, revision, object });
        }
    }

    /// Drops all events up to `revision`.
    pub(crate) fn reset_log(&self, revision: u64) {
        write(&self.log).restart(revision);
    }

    /// A number that differs after each write or removal.
    pub fn changes(&self) -> u64 {
        self.changes.load(Ordering::SeqCst)
    }

    /// The objects, to change one.
    fn write(&self) -> RwLockWriteGuard<'_, BTreeMap<String, Arc<StoredObject>>> {
        let objects = write(&self.objects);
        self.changes.fetch_add(1, Ordering::SeqCst);
        objects
    }

    /// Saves the objects.
    pub fn save(&self) -> SavedObjects {
        let objects = read(&self.objects);
        SavedObjects { changes: self.changes().into(), objects: objects.clone() }
    }

    /// Restores saved objects if any object has changed; the log starts at `revision`, at which they were saved.
    pub fn restore(&self, saved: &SavedObjects, revision: u64) {
        if self.changes() != saved.changes.load(Ordering::SeqCst) {
            self.write().clone_from(&saved.objects);
            self.reset_log(revision);
            saved.changes.store(self.changes(), Ordering::SeqCst);
        }
    }

    /// The object at `key`.
    pub fn get(&self, key: &str) -> Option<Arc<StoredObject>> {
        read(&self.objects).get(key).cloned()
    }

    /// The objects whose keys begin with `prefix` and are not less than `start`, and the revision of the list.
    pub fn list(&self, prefix: &str, start: &str, revision: &Revision) -> (Entries, u64) {
        let objects = read(&self.objects);
        (
            range(&objects, prefix, start).map(|(key, stored)| (key.clone(), Arc::clone(stored))).collect(),
            revision.current(),
        )
    }

    /// All objects.
    pub fn all(&self) -> Vec<Arc<StoredObject>> {
        read(&self.objects).values().map(Arc::clone).collect()
    }

    /// Like [`Collection::list`], at an earlier revision; `None` if the log does not reach back that far.
    pub(crate) fn list_at(&self, prefix: &str, start: &str, revision: u64) -> Option<Entries> {
        let objects = read(&self.objects);
        let mut found = range(&objects, prefix, start).map(|(key, stored)| (key.clone(), Arc::clone(stored))).collect();
        let log = read(&self.log);
        let concerns = |key: &str| key.starts_with(prefix) && key >= start;
        log.rewind(&mut found, revision, concerns).then(|| found.into_iter().collect())
    }

    /// The first event after `revision`.
    pub fn next(&self, revision: u64) -> Next {
        read(&self.log).after(revision)
    }

    /// The revision of the last write of this collection, or after which there was none.
    pub(crate) fn last_write(&self) -> u64 {
        read(&self.log).end()
    }

    /// Returns how long a list of the state at `wanted` waits at `now` ([`Progress::wait`]).
    pub(crate) fn wait_for_progress(&self, wanted: u64, revision: &Revision, now: Duration) -> Option<Duration> {
        let mut progress = lock(&self.progress);
        progress.wait(wanted, self.last_write(), revision.current(), now)
    }

    /// Registers `waker` to be woken at the next event, replacing the one registered with the same `id`.
    pub fn wait(&self, id: u64, waker: &Waker) {
        lock(&self.waiting).insert(id, waker.clone());
    }

    /// Removes the waker registered with `id`.
    pub(crate) fn stop_waiting(&self, id: u64) {
        lock(&self.waiting).remove(&id);
    }

    /// Wakes all waiting watches.
    pub fn wake(&self) {
        let waiting = std::mem::take(&mut *lock(&self.waiting));
        match self.storage_config.notifier.as_ref().filter(|_| waiting.len() > MAX_WAKES) {
            Some(notifier) => notifier.notify(waiting.into_values().collect()),
            None => waiting.into_values().for_each(Waker::wake),
        }
    }

    /// The current revision. When this returns, all events of this collection up to that revision are in its log.
    pub(crate) fn consistent_revision(&self, revision: &Revision) -> u64 {
        let _objects = read(&self.objects);
        revision.current()
    }

    fn record(&self, event: Event) {
        if self.storage_config.drops_history {
            self.reset_log(event.revision);
        } else {
            write(&self.log).push(event);
        }
    }

    /// Returns true if there are no objects.
    pub fn is_empty(&self) -> bool {
        read(&self.objects).is_empty()
    }

    /// Stores `object` with a new resourceVersion if the object at `key` is still `expected`.
    pub fn put(
        &self,
        key: &str,
        expected: Option<&Arc<StoredObject>>,
        mut object: Value,
        revision: &Revision,
    ) -> Result<Arc<StoredObject>, Raced> {
        let text = self.text(&object);
        let mut objects = self.write();
        if !same(objects.get(key), expected) {
            return Err(Raced);
        }
        let revision = revision.next();
        self.write_to_journal(key, revision, text.as_deref());
        metadata::set_text(&mut object, "resourceVersion", &revision.to_string());
        let stored = Arc::new(StoredObject::new(object, revision));
        let before = objects.insert(key.to_owned(), Arc::clone(&stored));
        self.record(Event::new(revision, key, before, Some(Arc::clone(&stored))));
        drop(objects);
        self.wake();
        self.compress_oldest(&stored);
        Ok(stored)
    }

    /// Stores `object` unconditionally, at the revision `own` or, if `None`, at the next revision.
    pub fn seed(&self, key: &str, mut object: Value, own: Option<u64>, revision: &Revision) -> Arc<StoredObject> {
        let text = self.text(&object);
        let mut objects = self.write();
        let number = own.unwrap_or_else(|| revision.next());
        revision.reach(number);
        self.write_to_journal(key, number, text.as_deref());
        metadata::set_text(&mut object, "resourceVersion", &number.to_string());
        let stored = Arc::new(StoredObject::new(object, number));
        objects.insert(key.to_owned(), Arc::clone(&stored));
        // The object counts as existing before, so there is no event; the log is reset because it is no longer
        // complete.
        self.reset_log(revision.current());
        drop(objects);
        self.compress_oldest(&stored);
        stored
    }

    /// Removes the object at `key` if it is still `expected`, as if it had never existed. There is no event; the log,
    /// which would keep the object in memory, is reset.
    pub fn forget(&self, key: &str, expected: &Arc<StoredObject>, revision: &Revision) {
        let mut objects = self.write();
        if same(objects.get(key), Some(expected)) {
            self.write_to_journal(key, revision.next(), None);
            objects.remove(key);
            self.reset_log(revision.current());
        }
    }

    /// Removes the object at `key` if it is still `expected`, and returns the revision of the removal.
    pub fn remove(&self, key: &str, expected: &Arc<StoredObject>, revision: &Revision) -> Result<u64, Raced> {
        let mut objects = self.write();
        if !same(objects.get(key), Some(expected)) {
            return Err(Raced);
        }
        let revision = revision.next();
        self.write_to_journal(key, revision, None);
        let before = objects.remove(key);
        self.record(Event::new(revision, key, before, None));
        drop(objects);
        self.wake();
        Ok(revision)
    }
}

/// The objects whose keys begin with `prefix` and are not less than `start`.
fn range<'o>(
    objects: &'o BTreeMap<String, Arc<StoredObject>>,
    prefix: &'o str,
    start: &'o str,
) -> impl Iterator<Item = (&'o String, &'o Arc<StoredObject>)> {
    let first = if start > prefix { start } else { prefix };
    objects
        .range::<str, _>((Bound::Included(first), Bound::Unbounded))
        .take_while(move |(key, _)| key.starts_with(prefix))
}

fn same(have: Option<&Arc<StoredObject>>, expected: Option<&Arc<StoredObject>>) -> bool {
    match (have, expected) {
        (None, None) => true,
        (Some(a), Some(b)) => Arc::ptr_eq(a, b),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_value::object;

    #[test]
    fn the_second_of_two_racing_writes_is_refused() {
        let (store, revision) = (Collection::new("", &Arc::default(), 0), Revision::default());
        let a = store.put("ns/a", None, object([("kind", "X")]), &revision).unwrap();
        assert_eq!((a.revision, metadata::text(&a.raw(), "resourceVersion")), (2, "2"));
        assert_eq!(store.put("ns/a", None, object([("kind", "X")]), &revision).unwrap_err(), Raced);
        let b = store.put("ns/a", Some(&a), object([("kind", "Y")]), &revision).unwrap();
        assert_eq!(store.remove("ns/a", &a, &revision), Err(Raced));
        assert_eq!(store.remove("ns/a", &b, &revision), Ok(4));
    }

    #[test]
    fn lists_are_in_key_order() {
        let (store, revision) = (Collection::new("", &Arc::default(), 0), Revision::default());
        for key in ["a/x", "a-b/x", "a/b"] {
            store.put(key, None, object([("kind", "X")]), &revision).unwrap();
        }
        let keys = |prefix: &str, start: &str| -> Vec<String> {
            store.list(prefix, start, &revision).0.into_iter().map(|(k, _)| k).collect()
        };
        assert_eq!(keys("", ""), ["a-b/x", "a/b", "a/x"]);
        assert_eq!(keys("a/", "a/c"), ["a/x"]);
    }

    #[test]
    fn old_revisions_can_be_listed() {
        let (store, revision) = (Collection::new("", &Arc::default(), 1), Revision::default());
        let a = store.put("ns/a", None, object([("kind", "X")]), &revision).unwrap();
        store.put("ns/b", None, object([("kind", "X")]), &revision).unwrap();
        store.remove("ns/a", &a, &revision).unwrap();
        let keys = |at| store.list_at("ns/", "", at).map(|all| all.into_iter().map(|(k, _)| k).collect::<Vec<_>>());
        assert_eq!(keys(0), None);
        assert_eq!([1, 2, 3, 4].map(|at| keys(at).unwrap().join(" ")), ["", "ns/a", "ns/a ns/b", "ns/b"]);
    }
}
