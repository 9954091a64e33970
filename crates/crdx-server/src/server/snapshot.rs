//! Returns a server to an earlier state, so that test cases do not affect each other.

use super::Server;
use super::registry::store::{Collection, SavedObjects};
use crate::server::strategy::serving::Serving;
use std::collections::HashMap;
use std::sync::Arc;

/// The state of a server: its objects and CRDs, and the counters of resourceVersions, UIDs and generated names. Objects
/// and compiled CRDs are shared with the server.
#[derive(Debug)]
pub struct Snapshot {
    revision: u64,
    random: u64,
    definitions: SavedObjects,
    served: HashMap<String, (Arc<Serving>, SavedObjects)>,
}

impl Server {
    /// Saves the state of the server, which must be idle.
    pub fn snapshot(&self) -> Snapshot {
        let resources = self.resources();
        let served = resources.served();
        let saved = |serving: &Arc<Serving>| (Arc::clone(serving), serving.objects.save());
        Snapshot {
            revision: resources.storage.revision.current(),
            random: resources.settings.random.state(),
            definitions: resources.definitions.objects.save(),
            served: served.iter().map(|(name, serving)| (name.clone(), saved(serving))).collect(),
        }
    }

    /// Returns to the state of a snapshot of this server. Only collections that were written since are copied. The
    /// server must be idle, without watches and without a journal. Policies and webhook configurations must not have changed: the
    /// plugins recognize them by resourceVersion, and these are used again.
    pub fn roll_back(&self, snapshot: &Snapshot) {
        let resources = self.resources();
        let restore = |objects: &Collection, saved| objects.restore(saved, snapshot.revision);
        restore(&resources.definitions.objects, &snapshot.definitions);
        let (mut served, mut names) = (resources.served_mut(), resources.names_mut());
        served.retain(|name, serving| {
            let is_kept = snapshot.served.contains_key(name);
            if !is_kept {
                names.remove(name, &serving.group);
            }
            is_kept
        });
        for (name, (serving, saved)) in &snapshot.served {
            restore(&serving.objects, saved);
            if !served.get(name).is_some_and(|current| Arc::ptr_eq(current, serving)) {
                names.set(&serving.crd);
                served.insert(name.clone(), Arc::clone(serving));
            }
        }
        resources.settings.random.reset(snapshot.random);
        resources.storage.revision.reset(snapshot.revision);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::fixture::{CRDS, FOOS, crd, install, send, v1};
    use crate::server::{Method, Namespaces, Response};
    use crdx_value::release::Release;

    const SCHEMA: &str = r#"{"type":"object","properties":{"n":{"type":"integer","maximum":3}}}"#;

    fn definition(name: &str) -> String {
        crd(name, &v1(SCHEMA, ""))
    }

    fn foo(name: &str) -> String {
        format!(r#"{{"apiVersion":"example.com/v1","kind":"Foo","metadata":{{{name}}},"n":1}}"#)
    }

    /// Reads everything, and creates an object with a generated name.
    fn probe(server: &Server) -> Vec<Response> {
        let paths = [CRDS, "/apis/example.com/v1/foos", "/api/v1/namespaces"];
        let mut answers: Vec<Response> = paths.iter().map(|path| send(server, Method::Get, path, "")).collect();
        answers.push(send(server, Method::Post, FOOS, &foo(r#""generateName":"a-""#)));
        answers
    }

    #[test]
    fn a_server_returns_to_the_state_of_a_snapshot() {
        let server = Server::builder(Release::NEWEST, 1).with_namespaces(Namespaces::OnDemand, &[]).build();
        install(&server, &definition("foos.example.com"));
        for name in ["changed", "deleted", "kept"] {
            assert_eq!(send(&server, Method::Post, FOOS, &foo(&format!(r#""name":"{name}""#))).code, 201);
        }
        let snapshot = server.snapshot();
        let before = probe(&server);
        server.roll_back(&snapshot);
        let crd = format!("{CRDS}/foos.example.com");
        let elsewhere = FOOS.replace("/ns/", "/other/");
        for (method, path, body) in [
            (Method::Patch, format!("{FOOS}/changed"), r#"{"n":2}"#),
            (Method::Delete, format!("{FOOS}/deleted"), ""),
            (Method::Post, elsewhere, &*foo(r#""name":"new","finalizers":["a.b/c"]"#)),
            (Method::Post, CRDS.to_owned(), &*definition("bars.example.com")),
            (Method::Delete, crd, ""),
        ] {
            let answer = send(&server, method, &path, body);
            assert!(answer.code < 300, "{path}: {}", answer.body.message());
        }
        assert_ne!(probe(&server), before);
        server.roll_back(&snapshot);
        assert_eq!(probe(&server), before);
    }

    #[test]
    fn only_changed_collections_are_restored() {
        let server = Server::new(Release::NEWEST, 1);
        for crd in ["foos.example.com", "bars.example.com"].map(definition) {
            assert_eq!(send(&server, Method::Post, CRDS, &crd).code, 201);
        }
        let snapshot = server.snapshot();
        let changes =
            || ["foos.example.com", "bars.example.com"].map(|n| server.resources().get(n).unwrap().objects.changes());
        let [foos, bars] = changes();
        assert_eq!(send(&server, Method::Post, FOOS, &foo(r#""name":"a""#)).code, 201);
        for _ in 0..2 {
            server.roll_back(&snapshot);
            assert_eq!(changes(), [foos + 2, bars]);
        }
    }
}
