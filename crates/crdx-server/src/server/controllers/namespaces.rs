//! The namespace controller: deletes the contents of a namespace that is being deleted, then the namespace
//! (`pkg/controller/namespace/deletion` of Kubernetes).

use super::Controllers;
use crate::server::metadata;
use crate::server::registry::store::StoredObject;
use crate::server::strategy::namespace::finalized::{KUBERNETES, finalizers, set_finalizers};
use crate::server::strategy::namespace_rule::NAME;
use crate::server::strategy::serving::Serving;
use crdx_value::{Value, object};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The objects that are left in a namespace.
#[derive(Debug, Default)]
struct Remaining {
    /// The number of objects, by `RESOURCE.GROUP`.
    resources: BTreeMap<String, usize>,
    /// The number of objects that have a finalizer, by finalizer.
    finalizers: BTreeMap<String, usize>,
}

impl Controllers<'_> {
    /// Deletes the contents of a namespace, and the namespace once nothing is left. Objects with finalizers are kept
    /// until these are removed; `Resources::removed` then enqueues the namespace again.
    pub(super) fn finalize_namespace(self, name: &str, now: &str) {
        let Some(namespaces) = self.resources.get(NAME) else { return };
        let Some(stored) = namespaces.objects.get(name) else { return };
        let namespace = stored.raw();
        if !metadata::is_deleting(&namespace) {
            return;
        }
        let mut finalized = (*namespace).clone();
        if finalizers(&namespace).contains(&KUBERNETES) {
            let remaining = self.remove_contents(name, now);
            if !remaining.resources.is_empty() {
                set_conditions(&mut finalized, &remaining, now);
                self.replace_namespace(&namespaces, name, &stored, finalized);
                return;
            }
            let others = finalizers(&namespace).into_iter().filter(|finalizer| *finalizer != KUBERNETES);
            set_finalizers(&mut finalized, others.map(str::to_owned).collect());
        }
        if !finalizers(&finalized).is_empty() || !metadata::finalizers(&finalized).is_empty() {
            self.replace_namespace(&namespaces, name, &stored, finalized);
        } else if namespaces.objects.remove(name, &stored, &self.resources.storage.revision).is_err() {
            // A client wrote the namespace in the meantime.
            self.resources.deleted_namespaces.add(name);
        }
    }

    fn replace_namespace(self, namespaces: &Serving, name: &str, stored: &Arc<StoredObject>, object: Value) {
        if object == *stored.raw() {
            return;
        }
        if namespaces.objects.put(name, Some(stored), object, &self.resources.storage.revision).is_err() {
            self.resources.deleted_namespaces.add(name);
        }
    }

    fn remove_contents(self, name: &str, now: &str) -> Remaining {
        let all = self.resources.all();
        let prefix = format!("{name}/");
        let mut remaining = Remaining::default();
        for serving in all.iter().filter(|serving| serving.namespaced) {
            self.resources.remove_objects(serving, &prefix, now);
            self.resources.object_removed(serving);
            let (left, _) = serving.objects.list(&prefix, "", &self.resources.storage.revision);
            if left.is_empty() {
                continue;
            }
            *remaining.resources.entry(format!("{}.{}", serving.plural, serving.group)).or_default() += left.len();
            for (_, stored) in left {
                for finalizer in metadata::finalizers(&stored.raw()) {
                    *remaining.finalizers.entry(finalizer.to_owned()).or_default() += 1;
                }
            }
        }
        remaining
    }
}

/// `namespaceConditionUpdater.Update`
fn set_conditions(namespace: &mut Value, remaining: &Remaining, now: &str) {
    let count = |counts: &BTreeMap<String, usize>, verb: &str, what: &str| {
        let items = counts.iter().map(|(name, number)| format!("{name} {verb} {number} {what}"));
        items.collect::<Vec<_>>().join(", ")
    };
    let resources = count(&remaining.resources, "has", "resource instances");
    let mut conditions = vec![
        (
            "NamespaceDeletionDiscoveryFailure",
            "False",
            "ResourcesDiscovered",
            "All resources successfully discovered".to_owned(),
        ),
        (
            "NamespaceDeletionGroupVersionParsingFailure",
            "False",
            "ParsedGroupVersions",
            "All legacy kube types successfully parsed".to_owned(),
        ),
        (
            "NamespaceDeletionContentFailure",
            "False",
            "ContentDeleted",
            "All content successfully deleted, may be waiting on finalization".to_owned(),
        ),
        (
            "NamespaceContentRemaining",
            "True",
            "SomeResourcesRemain",
            format!("Some resources are remaining: {resources}"),
        ),
    ];
    conditions.push(if remaining.finalizers.is_empty() {
        (
            "NamespaceFinalizersRemaining",
            "False",
            "ContentHasNoFinalizers",
            "All content-preserving finalizers finished".to_owned(),
        )
    } else {
        let finalizers = count(&remaining.finalizers, "in", "resource instances");
        (
            "NamespaceFinalizersRemaining",
            "True",
            "SomeFinalizersRemain",
            format!("Some content in the namespace has finalizers remaining: {finalizers}"),
        )
    });
    let old = namespace.at(&["status", "conditions"]).and_then(Value::as_array).unwrap_or_default();
    let conditions = conditions.into_iter().map(|(kind, status, reason, message)| {
        let before = old.iter().find(|condition| condition.str_at(&["type"]) == Some(kind));
        let since = before.filter(|condition| condition.str_at(&["status"]) == Some(status));
        let since = since.and_then(|condition| condition.str_at(&["lastTransitionTime"])).unwrap_or(now);
        object([
            ("type", kind),
            ("status", status),
            ("lastTransitionTime", since),
            ("reason", reason),
            ("message", message.as_str()),
        ])
    });
    let conditions: Vec<Value> = conditions.collect();
    if let Some(status) = namespace.as_object_mut().and_then(|members| members.get_mut("status")?.as_object_mut()) {
        status.insert("conditions".to_owned(), conditions.into());
    }
}

#[cfg(test)]
mod tests {
    use crate::server::fixture::{ANY, crd, install, send, v1};
    use crate::server::{Method, Namespaces, Reply, Request, Response, ResponseBody, Server, Timestamp};
    use crdx_value::Value;
    use crdx_value::release::Release;

    const NAMESPACES: &str = "/api/v1/namespaces";
    const FOOS: &str = "/apis/example.com/v1/namespaces/north/foos";

    fn with_north() -> Server {
        let server = Server::builder(Release::NEWEST, 1).with_namespaces(Namespaces::Controlled, &[]).build();
        install(&server, &crd("foos.example.com", &v1(ANY, "")));
        let north = r#"{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"north"},"status":{"phase":"Odd"}}"#;
        let created = send(&server, Method::Post, NAMESPACES, north);
        assert_eq!(created.code, 201);
        assert_eq!(value(&created).str_at(&["status", "phase"]), Some("Active"));
        assert_eq!(value(&created).str_at(&["metadata", "labels", "kubernetes.io/metadata.name"]), Some("north"));
        server
    }

    /// Sends a request without running the controllers, like `serve`.
    fn reply(server: &Server, method: Method, path: &str, body: &str) -> Response {
        match server.reply(&Request::new(method, path, body)) {
            Reply::Whole(response) => response,
            other => panic!("{path}: {other:?}"),
        }
    }

    fn value(response: &Response) -> &Value {
        match &response.body {
            ResponseBody::Json(value) => value,
            ResponseBody::Text(text) => panic!("{text}"),
        }
    }

    fn foo(name: &str, finalizers: &str) -> String {
        format!(
            r#"{{"apiVersion":"example.com/v1","kind":"Foo","metadata":{{"name":"{name}","finalizers":[{finalizers}]}}}}"#
        )
    }

    #[test]
    fn a_namespace_is_removed_after_its_contents() {
        let server = with_north();
        assert_eq!(send(&server, Method::Post, FOOS, &foo("a", "")).code, 201);
        assert_eq!(send(&server, Method::Post, FOOS, &foo("b", "\"x.y/z\"")).code, 201);
        let north = format!("{NAMESPACES}/north");
        let deleted = reply(&server, Method::Delete, &north, "");
        assert_eq!((deleted.code, value(&deleted).str_at(&["status", "phase"])), (200, Some("Terminating")));
        assert_eq!(value(&deleted).at(&["spec", "finalizers"]), Some(&Value::Array(vec!["kubernetes".into()])));
        // The contents are deleted by the controller, and nothing new is accepted.
        assert_eq!(reply(&server, Method::Get, &format!("{FOOS}/a"), "").code, 200);
        let refused = reply(&server, Method::Post, FOOS, &foo("c", ""));
        assert_eq!(refused.code, 403);
        assert_eq!(
            refused.body.message(),
            "foos.example.com \"c\" is forbidden: unable to create new content in namespace north because it is being terminated"
        );
        let cause = value(&refused).at(&["details", "causes"]).and_then(Value::as_array).unwrap().first().unwrap();
        assert_eq!(cause.str_at(&["reason"]), Some("NamespaceTerminating"));
        assert!(server.has_work_for_controllers());
        server.run_controllers(Timestamp::default());
        assert_eq!(send(&server, Method::Get, &format!("{FOOS}/a"), "").code, 404);
        let left = send(&server, Method::Get, &north, "");
        let conditions = value(&left).at(&["status", "conditions"]).and_then(Value::as_array).unwrap();
        let messages: Vec<&str> = conditions.iter().filter_map(|c| c.str_at(&["message"])).collect();
        assert_eq!(
            messages.get(3..).unwrap(),
            [
                "Some resources are remaining: foos.example.com has 1 resource instances",
                "Some content in the namespace has finalizers remaining: x.y/z in 1 resource instances"
            ]
        );
        // A second deletion changes nothing.
        assert_eq!(send(&server, Method::Delete, &north, "").code, 200);
        assert_eq!(send(&server, Method::Patch, &format!("{FOOS}/b"), r#"{"metadata":{"finalizers":null}}"#).code, 200);
        assert_eq!(send(&server, Method::Get, &north, "").code, 404);
        assert_eq!(send(&server, Method::Post, FOOS, &foo("c", "")).body.message(), "namespaces \"north\" not found");
    }

    #[test]
    fn only_finalize_changes_the_finalizers() {
        let server = with_north();
        let north = format!("{NAMESPACES}/north");
        let with = |finalizers: &str, labels: &str| {
            format!(
                r#"{{"apiVersion":"v1","kind":"Namespace","metadata":{{"name":"north","labels":{{{labels}}}}},"spec":{{"finalizers":[{finalizers}]}}}}"#
            )
        };
        let updated = send(&server, Method::Put, &north, &with("", r#""a":"b""#));
        assert_eq!(updated.code, 200);
        assert_eq!(value(&updated).at(&["spec", "finalizers"]), Some(&Value::Array(vec!["kubernetes".into()])));
        assert_eq!(value(&updated).str_at(&["metadata", "labels", "a"]), Some("b"));
        let finalize = format!("{north}/finalize");
        let finalized = send(&server, Method::Put, &finalize, &with(r#""kubernetes","example.com/own""#, ""));
        assert_eq!(
            (finalized.code, value(&finalized).at(&["spec", "finalizers"]).and_then(Value::as_array).map(<[_]>::len)),
            (200, Some(2))
        );
        assert_eq!(send(&server, Method::Get, &finalize, "").code, 405);
        assert_eq!(send(&server, Method::Delete, &north, "").code, 200);
        // The controller has removed its own finalizer only.
        let left = send(&server, Method::Get, &north, "");
        assert_eq!(value(&left).at(&["spec", "finalizers"]), Some(&Value::Array(vec!["example.com/own".into()])));
        let done = send(&server, Method::Put, &finalize, &with("", ""));
        assert_eq!((done.code, done.body.message()), (200, ""));
        assert_eq!(send(&server, Method::Get, &north, "").code, 404);
    }

    #[test]
    fn without_the_controller_a_client_finalizes_a_namespace() {
        let server = Server::builder(Release::NEWEST, 1).with_namespaces(Namespaces::Finalized, &["north".to_owned()]);
        let server = server.build();
        install(&server, &crd("foos.example.com", &v1(ANY, "")));
        assert_eq!(send(&server, Method::Post, FOOS, &foo("a", "")).code, 201);
        let north = format!("{NAMESPACES}/north");
        assert_eq!(send(&server, Method::Delete, &format!("{north}?propagationPolicy=Orphan"), "").code, 200);
        assert!(!server.has_work_for_controllers());
        let left = send(&server, Method::Get, &north, "");
        let finalizers = |path: &[&str]| value(&left).at(path).and_then(Value::as_array).map(<[_]>::to_vec);
        assert_eq!(finalizers(&["spec", "finalizers"]), Some(vec!["kubernetes".into()]));
        assert_eq!(finalizers(&["metadata", "finalizers"]), Some(vec!["orphan".into()]));
        assert_eq!(value(&left).str_at(&["status", "phase"]), Some("Terminating"));
        assert_eq!(send(&server, Method::Post, FOOS, &foo("b", "")).code, 403);
        let finalize = format!("{north}/finalize");
        let body = r#"{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"north"}}"#;
        assert_eq!(send(&server, Method::Put, &finalize, body).code, 200);
        assert_eq!(send(&server, Method::Get, &north, "").code, 404);
        // Nothing deletes the contents.
        assert_eq!(send(&server, Method::Get, &format!("{FOOS}/a"), "").code, 200);
        assert_eq!(send(&server, Method::Post, FOOS, &foo("b", "")).code, 404);
    }

    #[test]
    fn a_namespace_without_finalizers_is_removed_by_the_second_deletion() {
        let server = Server::builder(Release::NEWEST, 1).with_namespaces(Namespaces::Finalized, &["north".to_owned()]);
        let server = server.build();
        let north = format!("{NAMESPACES}/north");
        let body = r#"{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"north"}}"#;
        assert_eq!(send(&server, Method::Put, &format!("{north}/finalize"), body).code, 200);
        assert_eq!(send(&server, Method::Delete, &north, "").code, 200);
        assert_eq!(send(&server, Method::Get, &north, "").code, 200);
        let removed = send(&server, Method::Delete, &north, "");
        assert_eq!((removed.code, value(&removed).str_at(&["status", "phase"])), (200, Some("Terminating")));
        assert_eq!(send(&server, Method::Get, &north, "").code, 404);
    }

    /// Answers of a real server.
    #[test]
    fn namespaces_are_deleted_and_finalized_one_by_one() {
        let server = with_north();
        let text = "the server does not allow this method on the requested resource";
        let refused = send(&server, Method::Delete, NAMESPACES, "");
        assert_eq!((refused.code, refused.body.message()), (405, text));
        for method in [Method::Get, Method::Patch, Method::Post, Method::Delete] {
            let refused = send(&server, method, &format!("{NAMESPACES}/north/finalize"), "{}");
            assert_eq!((refused.code, refused.body.message()), (405, text), "{method:?}");
        }
    }

    #[test]
    fn some_namespaces_cannot_be_deleted() {
        let server = with_north();
        let refused = send(&server, Method::Delete, &format!("{NAMESPACES}/default"), "");
        assert_eq!(refused.code, 403);
        assert_eq!(refused.body.message(), "namespaces \"default\" is forbidden: this namespace may not be deleted");
    }
}
