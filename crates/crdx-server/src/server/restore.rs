//! Restores the objects that an earlier server wrote to a journal.

use super::Server;
use super::registry::journal::{DEFINITIONS, Journal, RestoredObject};
use crdx_value::lock::lock;
use crdx_value::time::Timestamp;
use std::collections::BTreeSet;
use std::sync::Arc;

impl Server {
    /// Restores the objects of a journal, and passes every later commit to the journal. Returns the names of the
    /// objects that were dropped.
    pub(super) fn restore(
        &self,
        journal: Arc<dyn Journal>,
        restored: Vec<RestoredObject>,
        revision: u64,
        now: Timestamp,
    ) -> Vec<String> {
        let resources = self.resources();
        let writing = lock(&resources.definitions.writing);
        let (crds, objects): (Vec<RestoredObject>, Vec<RestoredObject>) =
            restored.into_iter().partition(|k| k.definition == DEFINITIONS);
        let names: BTreeSet<String> = crds.iter().map(|k| k.key.clone()).collect();
        for crd in crds {
            resources.definitions.objects.seed(&crd.key, crd.object, Some(crd.revision), &resources.storage.revision);
        }
        for name in &names {
            resources.serve_definition(name);
        }
        let mut orphans = Vec::new();
        for restored in objects {
            match resources.get(&restored.definition) {
                Some(serving) => {
                    serving.objects.seed(
                        &restored.key,
                        restored.object,
                        Some(restored.revision),
                        &resources.storage.revision,
                    );
                }
                None => orphans.push(format!("{} {}", restored.definition, restored.key)),
            }
        }
        resources.storage.revision.reach(revision);
        // Earlier events are not persisted, so clients with an older resourceVersion must list again.
        resources.definitions.objects.reset_log(resources.storage.revision.current());
        for serving in resources.served().values() {
            serving.objects.reset_log(resources.storage.revision.current());
        }
        let _ = resources.storage.config.journal.set(journal);
        drop(writing);
        // The earlier server may have stopped before its controllers ran.
        for name in &names {
            resources.written_definitions.add(name);
        }
        resources.enqueue_deleted_namespaces();
        self.run_controllers(now);
        orphans
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::Commit;
    use crate::server::Method;
    use crate::server::fixture::{self, ANY, CRDS, KITES, crd, install, v1};
    use crdx_text::json;
    use crdx_value::Value;
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

    fn send(server: &Server, method: Method, path: &str, body: &str) -> (u16, Value) {
        fixture::json(fixture::send(server, method, path, body))
    }

    #[test]
    fn journaled_objects_are_restored() {
        let journal = Arc::new(Memory::default());
        let builder = Server::builder(Release::NEWEST, 1);
        let (server, _) = builder.restore(Arc::clone(&journal) as Arc<dyn Journal>, Vec::new(), 0);
        install(&server, &crd("kites.toys.example.com", &v1(ANY, "")));
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
