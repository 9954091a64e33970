//! The CRD controllers: the steps that follow a write of a CRD, after its response.
//!
//! A write of a CRD stores it, updates the schema if the CRD is already served, and adds its name to the [`WorkQueue`](crate::server::strategy::work_queue::WorkQueue); so
//! does the removal of the last object of a CRD that is being deleted. [`Controllers::run`] then takes the
//! following steps. Each step that changes the CRD writes it, so that watches see every step:
//!
//! | step | here | in `k8s.io/apiextensions-apiserver` |
//! |---|---|---|
//! | accept the names | [`conditions::accept_names`] | `pkg/controller/status/naming_controller.go` |
//! | establish the CRD | [`conditions::establish`] | `pkg/controller/establish` |
//! | report a schema that is not structural | [`conditions::check_structure`] | `pkg/controller/nonstructuralschema` |
//! | report the approval of a protected group | [`conditions::check_approval`] | `pkg/controller/apiapproval` |
//! | serve its objects | [`Resources::serve`] | `pkg/apiserver/customresource_handler.go` |
//! | delete its objects, then the CRD | [`finalizing`] | `pkg/controller/finalizer` |
//!
//! The real controllers run concurrently, each as soon as it sees the change. Here they run in a fixed order.

mod finalizing;
mod namespaces;

use crate::crd::names_in_use::releases;
use crate::crd::{CustomResourceDefinition, conditions};
use crate::server::registry::store::StoredObject;
use crate::server::strategy::definition::update_by_controller;
use crate::server::strategy::resources::Resources;
use crdx_value::lock::lock;
use crdx_value::time::Timestamp;
use crdx_value::{Value, time};
use std::sync::Arc;

/// The controllers of CRDs and namespaces.
#[derive(Clone, Copy, Debug)]
pub(super) struct Controllers<'a> {
    resources: &'a Arc<Resources>,
}

impl<'a> Controllers<'a> {
    /// The controllers of these resources.
    pub fn new(resources: &'a Arc<Resources>) -> Self {
        Self { resources }
    }

    /// Returns true if a queue is not empty.
    pub(crate) fn have_work(self) -> bool {
        !self.resources.written_definitions.is_empty() || !self.resources.deleted_namespaces.is_empty()
    }

    /// Runs the controllers until their queues are empty: names are accepted, CRDs are established and served, and for a
    /// deleted CRD first its objects, then the CRD itself are removed; likewise for a deleted namespace.
    pub fn run(self, now: Timestamp) {
        if !self.have_work() {
            return;
        }
        self.run_for_definitions(now);
        // A namespace that is enqueued in the meantime is processed in the next run.
        self.finalize_namespaces(&self.resources.deleted_namespaces.take(), now);
    }

    /// Finalizes namespaces that are being deleted, then runs the controllers of CRDs.
    pub fn finalize_namespaces(self, names: &[String], now: Timestamp) {
        let _writing = lock(&self.resources.definitions.writing);
        for name in names {
            self.finalize_namespace(name, &time::format(now));
        }
        while let Some(name) = self.resources.written_definitions.next() {
            self.reconcile(&name, &time::format(now));
        }
    }

    /// Like [`Controllers::run`], but leaves deleted namespaces in their queue.
    pub(crate) fn run_for_definitions(self, now: Timestamp) {
        let _writing = lock(&self.resources.definitions.writing);
        while let Some(name) = self.resources.written_definitions.next() {
            self.reconcile(&name, &time::format(now));
        }
    }

    /// Runs every step for one CRD. The caller holds the write lock of the CRDs.
    fn reconcile(self, name: &str, now: &str) {
        let Some(mut stored) = self.resources.definitions.objects.get(name) else { return };
        let Some(mut definition) = self.resources.definitions.decode(&stored) else { return };
        let before = definition.status.accepted_names.clone();
        conditions::accept_names(&mut definition, &self.resources.names(), now);
        let is_watched = !self.resources.storage.config.drops_history;
        if is_watched {
            stored = self.store_definition(name, stored, &mut definition, now);
            // The CRD is served before it is established, because clients send objects as soon as they see the condition.
            self.resources.serve(name, definition.clone());
        }
        let release = self.resources.settings.release;
        let steps: [&dyn Fn(&mut CustomResourceDefinition); 3] = [
            &|crd| conditions::establish(crd, release, now),
            &|crd| conditions::check_structure(crd, release, now),
            &|crd| {
                conditions::check_approval(crd, now);
            },
        ];
        for step in steps {
            let status = definition.status.clone();
            step(&mut definition);
            if is_watched && definition.status != status {
                stored = self.store_definition(name, stored, &mut definition, now);
            }
        }
        if !is_watched {
            self.store_definition(name, stored, &mut definition, now);
        }
        self.resources.serve(name, definition.clone());
        if releases(&before, &definition.status.accepted_names) {
            self.resources.enqueue_without_names(&definition.spec.group);
        }
        if definition.metadata.contains_key("deletionTimestamp") {
            self.finalize(name, now);
        }
    }

    /// Stores the CRD if a step changed it, and returns the stored CRD.
    fn store_definition(
        self,
        name: &str,
        expected: Arc<StoredObject>,
        definition: &mut CustomResourceDefinition,
        now: &str,
    ) -> Arc<StoredObject> {
        let existing = expected.raw();
        // The steps change nothing but the status and the finalizers.
        let (metadata, status) = (&definition.metadata, definition.status.to_value());
        if existing.get("status") == Some(&status)
            && existing.get("metadata").and_then(Value::as_object) == Some(metadata)
        {
            return expected;
        }
        let mut object = (*existing).clone();
        object.insert_at(&["metadata"], Value::Object(metadata.clone()));
        object.insert_at(&["status"], status);
        if self.resources.storage.tracks_fields {
            update_by_controller(self.resources, &existing, &mut object, now);
        }
        // No other thread writes CRDs while the lock is held.
        let Ok(stored) =
            self.resources.definitions.objects.put(name, Some(&expected), object, &self.resources.storage.revision)
        else {
            return expected;
        };
        if let Some(metadata) = stored.raw().get("metadata").and_then(Value::as_object) {
            definition.metadata.clone_from(metadata);
        }
        stored
    }
}

#[cfg(test)]
mod tests {
    use crate::server::fixture::{self, ANY, CRDS, v1};
    use crate::server::{Method, Reply, Request, Response, ResponseBody, Server, Timestamp};
    use crdx_value::Value;

    fn definition(name: &str, kind: &str) -> String {
        let crd = fixture::crd(&format!("{name}.example.com"), &v1(ANY, ""));
        let own = format!(r#""kind":"{}""#, fixture::kind(name));
        crd.replace(&own, &format!(r#""kind":"{kind}""#)).replace("Namespaced", "Cluster")
    }

    /// Sends a request without running the controllers, like `serve`.
    fn send(server: &Server, method: Method, path: &str, body: &str) -> Response {
        match server.reply(&Request::new(method, path, body)) {
            Reply::Whole(response) => response,
            other => panic!("{path}: {other:?}"),
        }
    }

    /// The types of the events after a revision, each with the reason of the last condition.
    fn events(server: &Server, since: u64) -> Vec<(String, String)> {
        let path = format!("{CRDS}?watch=true&resourceVersion={since}");
        let ResponseBody::Text(text) = server.handle(&Request::new(Method::Get, &path, "")).body else { panic!() };
        let event = |line: &str| {
            let event = crdx_text::json::read(line.as_bytes()).unwrap();
            let conditions =
                event.at(&["object", "status", "conditions"]).and_then(Value::as_array).unwrap_or_default();
            let reason = conditions.last().and_then(|c| c.str_at(&["reason"])).unwrap_or_default();
            (event.str_at(&["type"]).unwrap().to_owned(), reason.to_owned())
        };
        text.lines().map(event).collect()
    }

    fn pairs(events: &[(String, String)]) -> Vec<(&str, &str)> {
        events.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect()
    }

    #[test]
    fn controllers_run_after_the_response_and_watches_see_every_step() {
        let server = Server::new(crdx_value::release::Release::NEWEST, 1);
        let now = Timestamp::default();
        assert_eq!(send(&server, Method::Post, CRDS, &definition("foos", "Foo")).code, 201);
        assert_eq!(send(&server, Method::Get, "/apis/example.com/v1/foos", "").code, 404);
        assert!(server.has_work_for_controllers());
        server.run_controllers(now);
        assert!(!server.has_work_for_controllers());
        assert_eq!(send(&server, Method::Get, "/apis/example.com/v1/foos", "").code, 200);
        let seen = events(&server, 2);
        assert_eq!(pairs(&seen), [("MODIFIED", "Installing"), ("MODIFIED", "InitialNamesAccepted")]);
        assert_eq!(send(&server, Method::Delete, &format!("{CRDS}/foos.example.com"), "").code, 200);
        assert_eq!(send(&server, Method::Get, "/apis/example.com/v1/foos", "").code, 200);
        server.run_controllers(now);
        assert_eq!(send(&server, Method::Get, "/apis/example.com/v1/foos", "").code, 404);
        let seen = events(&server, 4);
        assert_eq!(
            pairs(&seen),
            [
                ("MODIFIED", "InstanceDeletionPending"),
                ("MODIFIED", "InstanceDeletionInProgress"),
                ("DELETED", "InstanceDeletionInProgress")
            ]
        );
    }

    #[test]
    fn without_history_a_crd_is_written_once_by_all_controllers() {
        let server = Server::builder(crdx_value::release::Release::NEWEST, 1).without_history().build();
        fixture::install(&server, &definition("foos", "Foo"));
        let stored = server.stored_definition("foos.example.com").unwrap();
        assert_eq!(stored.str_at(&["metadata", "resourceVersion"]), Some("3"));
        let conditions = stored.at(&["status", "conditions"]).and_then(Value::as_array).unwrap();
        let types: Vec<_> = conditions.iter().filter_map(|condition| condition.str_at(&["type"])).collect();
        assert_eq!(types, ["NamesAccepted", "Established"]);
        assert_eq!(pairs(&events(&server, 3)), []);
        let expired = server.handle(&Request::new(Method::Get, &format!("{CRDS}?watch=true&resourceVersion=1"), ""));
        assert!(expired.body.message().contains("too old resource version"), "{expired:?}");
    }

    #[test]
    fn controllers_see_updates_of_a_new_crd() {
        let server = Server::new(crdx_value::release::Release::NEWEST, 1);
        assert_eq!(send(&server, Method::Post, CRDS, &definition("foos", "Foo")).code, 201);
        let path = format!("{CRDS}/foos.example.com");
        assert_eq!(send(&server, Method::Patch, &path, r#"{"spec":{"names":{"shortNames":["f"]}}}"#).code, 200);
        server.run_controllers(Timestamp::default());
        let stored = server.stored_definition("foos.example.com").unwrap();
        let names = stored.at(&["status", "acceptedNames", "shortNames"]).and_then(Value::as_array);
        assert_eq!(names, Some(&["f".into()][..]));
    }

    #[test]
    fn a_crd_with_its_own_finalizer_is_kept_without_objects() {
        let server = Server::new(crdx_value::release::Release::NEWEST, 1);
        let with_finalizer = definition("foos", "Foo").replacen(r#"{"name""#, r#"{"finalizers":["x.y/z"],"name""#, 1);
        let handle = |method, path: &str, body: &str| server.handle(&Request::new(method, path, body));
        assert_eq!(handle(Method::Post, CRDS, &with_finalizer).code, 201);
        let path = format!("{CRDS}/foos.example.com");
        assert_eq!(handle(Method::Delete, &path, "").code, 200);
        let ResponseBody::Json(left) = handle(Method::Get, &path, "").body else { panic!() };
        assert_eq!(left.at(&["metadata", "finalizers"]), Some(&Value::Array(vec!["x.y/z".into()])));
        let conditions = left.at(&["status", "conditions"]).and_then(Value::as_array).unwrap_or_default();
        let last = conditions.last().unwrap();
        assert_eq!(
            (last.str_at(&["status"]), last.str_at(&["reason"])),
            (Some("False"), Some("InstanceDeletionCompleted"))
        );
        assert_eq!(handle(Method::Patch, &path, r#"{"metadata":{"finalizers":null}}"#).code, 200);
        assert_eq!(handle(Method::Get, &path, "").code, 404);
    }

    #[test]
    fn released_names_are_accepted_for_waiting_crds() {
        let server = Server::new(crdx_value::release::Release::NEWEST, 1);
        let handle = |method, path: &str, body: &str| server.handle(&Request::new(method, path, body)).code;
        assert_eq!(handle(Method::Post, CRDS, &definition("foos", "Foo")), 201);
        assert_eq!(handle(Method::Post, CRDS, &definition("foes", "Foo")), 201);
        assert_eq!(handle(Method::Get, "/apis/example.com/v1/foes", ""), 404);
        assert_eq!(handle(Method::Delete, &format!("{CRDS}/foos.example.com"), ""), 200);
        assert_eq!(handle(Method::Get, "/apis/example.com/v1/foes", ""), 200);
    }

    #[test]
    fn a_recreated_crd_has_no_objects() {
        let server = Server::new(crdx_value::release::Release::NEWEST, 1);
        let now = Timestamp::default();
        let (path, object) =
            ("/apis/example.com/v1/foos", r#"{"apiVersion":"example.com/v1","kind":"Foo","metadata":{"name":"a"}}"#);
        send(&server, Method::Post, CRDS, &definition("foos", "Foo"));
        server.run_controllers(now);
        assert_eq!(send(&server, Method::Post, path, object).code, 201);
        let crd = format!("{CRDS}/foos.example.com");
        send(&server, Method::Delete, &crd, "");
        send(&server, Method::Patch, &crd, r#"{"metadata":{"finalizers":null}}"#);
        assert_eq!(send(&server, Method::Post, CRDS, &definition("foos", "Foo")).code, 201);
        server.run_controllers(now);
        assert_eq!(send(&server, Method::Get, &format!("{path}/a"), "").code, 404);
    }
}
