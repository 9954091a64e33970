//! Persistence: every commit is passed to a [`Journal`], and
//! [`ServerBuilder::restore`](crate::server::ServerBuilder::restore) restores the objects of a journal.

use crate::server::Server;
use crate::server::registry::store::notifier::WatchNotifier;
use crdx_value::Value;
use crdx_value::time::Timestamp;
use std::collections::BTreeSet;
use std::fmt::Debug;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, PoisonError};

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
    ids: AtomicU64,
}

impl StorageConfig {
    /// A configuration without a journal.
    pub fn new(compresses: bool, notifier: Option<Arc<dyn WatchNotifier>>) -> Self {
        Self { notifier, compresses, ..Self::default() }
    }

    /// Returns a number that is unique in this server and never 0, for a compiled version or a watch.
    pub fn next_id(&self) -> u64 {
        self.ids.fetch_add(1, Ordering::Relaxed) + 1
    }
}

/// The name of the collection of CRDs.
pub const DEFINITIONS: &str = "customresourcedefinitions.apiextensions.k8s.io";

impl Server {
    /// Restores the objects of a journal, and passes every later commit to the journal. Returns the names of the
    /// objects that were dropped.
    pub(in crate::server) fn restore(
        &self,
        journal: Arc<dyn Journal>,
        restored: Vec<RestoredObject>,
        revision: u64,
        now: Timestamp,
    ) -> Vec<String> {
        let writing = self.definitions.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let (crds, objects): (Vec<RestoredObject>, Vec<RestoredObject>) =
            restored.into_iter().partition(|k| k.definition == DEFINITIONS);
        let names: BTreeSet<String> = crds.iter().map(|k| k.key.clone()).collect();
        for crd in crds {
            self.definitions.objects.seed(&crd.key, crd.object, Some(crd.revision), &self.revision);
        }
        for name in &names {
            self.serve_definition(name);
        }
        let mut orphans = Vec::new();
        for restored in objects {
            match self.serving_of(&restored.definition) {
                Some(serving) => {
                    serving.objects.seed(&restored.key, restored.object, Some(restored.revision), &self.revision);
                }
                None => orphans.push(format!("{} {}", restored.definition, restored.key)),
            }
        }
        self.revision.reach(revision);
        // Earlier events are not persisted, so clients with an older resourceVersion must list again.
        self.definitions.objects.reset_log(self.revision.current());
        for serving in self.serving.read().unwrap_or_else(PoisonError::into_inner).values() {
            serving.objects.reset_log(self.revision.current());
        }
        let _ = self.storage_config.journal.set(journal);
        drop(writing);
        // The earlier server may have stopped before its controllers ran.
        for name in &names {
            self.controllers.enqueue(name);
        }
        self.run_controllers(now);
        orphans
    }
}

/// The JSON of a stored object for a journal.
pub(in crate::server) fn text(object: &Value) -> String {
    crdx_value::json::to_string(object)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::{Method, Request, ResponseBody};
    use crdx_text::json;
    use crdx_value::release::Release;
    use std::collections::BTreeMap;
    use std::sync::Mutex;

    /// The last commit of each CRD and key, and the last revision.
    #[derive(Debug, Default)]
    struct Memory(Mutex<(Live, u64)>);

    type Live = BTreeMap<(String, String), RestoredObject>;

    impl Journal for Memory {
        fn commit(&self, commit: &Commit<'_>) {
            let (definition, key) = (commit.definition.to_owned(), commit.key.to_owned());
            let object_key = (definition.clone(), key.clone());
            let mut memory = self.0.lock().unwrap();
            memory.1 = commit.revision;
            match commit.object {
                Some(text) => {
                    let object = json::read(text.as_bytes()).unwrap();
                    memory.0.insert(object_key, RestoredObject { definition, key, revision: commit.revision, object });
                }
                None => drop(memory.0.remove(&object_key)),
            }
        }
    }

    const CRDS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    const KITES: &str = "/apis/toys.example.com/v1/namespaces/ns/kites";

    fn send(server: &Server, method: Method, path: &str, body: &str) -> (u16, Value) {
        let response = server.handle(&Request::new(method, path, body));
        match response.body {
            ResponseBody::Json(body) => (response.code, Arc::unwrap_or_clone(body)),
            ResponseBody::Text(text) => panic!("{text}"),
        }
    }

    #[test]
    fn journaled_objects_are_restored() {
        let journal = Arc::new(Memory::default());
        let builder = Server::builder(Release::NEWEST, 1);
        let (server, _) = builder.restore(Arc::clone(&journal) as Arc<dyn Journal>, Vec::new(), 0);
        let crd = r#"{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
            "metadata":{"name":"kites.toys.example.com"},"spec":{"group":"toys.example.com","scope":"Namespaced",
            "names":{"plural":"kites","kind":"Kite"},"versions":[{"name":"v1","served":true,"storage":true,
            "schema":{"openAPIV3Schema":{"type":"object"}}}]}}"#;
        assert_eq!(send(&server, Method::Post, CRDS, crd).0, 201);
        for name in ["a", "b"] {
            let kite = format!(
                r#"{{"apiVersion":"toys.example.com/v1","kind":"Kite","metadata":{{"name":"{name}","finalizers":["x.y/z"]}}}}"#
            );
            assert_eq!(send(&server, Method::Post, KITES, &kite).0, 201);
        }
        assert_eq!(send(&server, Method::Delete, &format!("{CRDS}/kites.toys.example.com"), "").0, 200);
        let (restored, last) = std::mem::take(&mut *journal.0.lock().unwrap());
        let journal = Arc::new(Memory::default());
        let builder = Server::builder(Release::NEWEST, 2);
        let (again, orphans) = builder.restore(journal, restored.into_values().collect(), last);
        assert_eq!(orphans, [""; 0]);
        for path in [CRDS.to_owned(), format!("{CRDS}/kites.toys.example.com"), KITES.to_owned(), format!("{KITES}/a")]
        {
            assert_eq!(send(&again, Method::Get, &path, ""), send(&server, Method::Get, &path, ""), "{path}");
        }
    }
}
