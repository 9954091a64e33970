//! Namespaces, to the extent that clients of custom resources need them, and with [`finalized`] as in a cluster.
//!
//! They are compiled from an internal CRD, so reads, writes, tables and watches work as for custom resources; this
//! module has the behaviour that is specific to namespaces. A namespace exists once an object is created in it or, if
//! the server was given a list of namespaces, if it is in that list.

pub(in crate::server) mod finalized;

use super::built_in::BuiltIn;
use super::custom_resource::Part;
use super::custom_resource::serving::Serving;
use crate::crd;
use crate::pipeline::metadata::NameRule;
use crate::server::Server;
use crate::server::admission::NamespaceLifecycle;
use crate::server::metadata;
use crate::server::registry::store::Collection;
use crdx_builtin::validation;
use crdx_text::json;
use crdx_value::field::ErrorList;
use crdx_value::release::Release;
use crdx_value::time::Timestamp;
use crdx_value::{Value, object, time};
use finalized::FinalizedNamespace;
use std::sync::{Arc, PoisonError};

/// The name of the internal CRD.
pub(in crate::server) const NAME: &str = "namespaces.";
/// The namespace that always exists.
const DEFAULT: &str = "default";
/// The namespaces that API servers create besides `default`.
pub const SYSTEM_NAMESPACES: [&str; 3] = ["kube-node-lease", "kube-public", "kube-system"];

/// The internal CRD.
const DEFINITION: &str = r#"{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"namespaces."},
    "spec":{"group":"","scope":"Cluster","names":{"plural":"namespaces","singular":"namespace","kind":"Namespace","listKind":"NamespaceList",
    "shortNames":["ns"]},"versions":[{"name":"v1","served":true,"storage":true,"subresources":{"status":{}},
    "additionalPrinterColumns":[
    {"name":"Status","type":"string","jsonPath":".status.phase","description":"The status of the namespace"},
    {"name":"Age","type":"date","jsonPath":".metadata.creationTimestamp"}],
    "schema":{"openAPIV3Schema":{"type":"object","properties":{
    "spec":{"type":"object","properties":{"finalizers":{"type":"array","items":{"type":"string"}}}},
    "status":{"type":"object","properties":{"phase":{"type":"string"},
    "conditions":{"type":"array","items":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}}}}}}]},
    "status":{"acceptedNames":{"plural":"namespaces","singular":"namespace","kind":"Namespace","listKind":"NamespaceList","shortNames":["ns"]},
    "conditions":[{"type":"NamesAccepted","status":"True"},{"type":"Established","status":"True"}],"storedVersions":["v1"]}}"#;

/// The rule that decides which namespaces exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Namespaces {
    /// A namespace is created when the first object in it is created.
    OnDemand,
    /// Only namespaces that were created exist; creates in other namespaces are rejected.
    Created,
    /// Only namespaces that were created exist, but objects may be created in others too, and are not deleted with
    /// their namespace.
    Unchecked,
    /// Only namespaces that were created exist. A deleted namespace is `Terminating` until its contents are deleted, and
    /// `default`, `kube-system` and `kube-public` cannot be deleted.
    Finalized,
}

impl Server {
    /// Adds a core group with the namespaces `default` and `names`.
    pub(in crate::server) fn serve_namespaces(&mut self, rule: Namespaces, names: &[String], now: Timestamp) {
        let definition = json::read(DEFINITION.as_bytes()).ok().and_then(|v| crd::decode(&v).ok());
        if let Some(definition) = definition {
            let objects = Collection::new(NAME, &self.storage_config, self.revision.current());
            let serving = Serving::compile(Arc::new(definition.crd), Arc::new(objects), self.release);
            let serving = serving.built_in(match rule {
                Namespaces::Finalized => &FinalizedNamespace,
                _ => &Namespace,
            });
            self.serving.get_mut().unwrap_or_else(PoisonError::into_inner).insert(NAME.to_owned(), Arc::new(serving));
            self.namespaces = Some(rule);
            self.admission.push_front(NamespaceLifecycle);
            for name in std::iter::once(DEFAULT).chain(names.iter().map(String::as_str)) {
                self.create_namespace(name, now);
            }
        }
    }

    /// The Namespace object with this name.
    pub(in crate::server) fn namespace(&self, name: &str) -> Option<Arc<Value>> {
        self.serving_of(NAME)?.objects.get(name).map(|stored| stored.raw())
    }

    /// Creates the namespace of a new object if it does not exist.
    pub(in crate::server) fn ensure_namespace(&self, namespace: &str, now: Timestamp) {
        if self.namespaces == Some(Namespaces::OnDemand) && !namespace.is_empty() {
            self.create_namespace(namespace, now);
        }
    }

    fn create_namespace(&self, name: &str, now: Timestamp) {
        let Some(serving) = self.serving_of(NAME).filter(|s| s.objects.get(name).is_none()) else { return };
        let mut namespace = object([
            ("apiVersion", Value::from("v1")),
            ("kind", "Namespace".into()),
            (
                "metadata",
                object([
                    ("name", Value::from(name)),
                    ("uid", self.random.uid().into()),
                    ("creationTimestamp", time::format(now).into()),
                ]),
            ),
        ]);
        complete(&mut namespace);
        // Another thread created the same namespace first.
        let _ = serving.objects.put(name, None, namespace, &self.revision);
    }
}

/// The behaviour of the kind Namespace.
#[derive(Debug)]
struct Namespace;

impl BuiltIn for Namespace {
    fn prepare(&self, object: &mut Value) {
        finalized::complete(object);
    }

    fn prepare_update(&self, object: &mut Value, old: &Value, _: Part) {
        finalized::keep_finalizers(object, old);
        self.prepare(object);
    }

    fn validate(&self, object: &Value, old: Option<&Value>, release: Release) -> (ErrorList, Option<String>) {
        (validation::validate(("", "Namespace"), object, None, old, release), None)
    }

    fn name_rule(&self) -> NameRule {
        NameRule::Label
    }

    fn has_generation(&self) -> bool {
        false
    }

    fn accepts_protobuf(&self) -> bool {
        true
    }

    fn allows_unconditional_update(&self) -> bool {
        true
    }

    /// Deletes all objects in the namespace. Objects with finalizers are only marked as being deleted.
    fn removed(&self, server: &Server, name: &str, now: Timestamp) {
        if server.namespaces == Some(Namespaces::Unchecked) {
            return;
        }
        let all: Vec<Arc<Serving>> =
            server.serving.read().unwrap_or_else(PoisonError::into_inner).values().map(Arc::clone).collect();
        for serving in all.iter().filter(|s| s.namespaced) {
            server.remove_objects(serving, &format!("{name}/"), &time::format(now));
            server.object_removed(serving);
        }
    }
}

/// The Namespace object assumed for a namespace if only its name is known.
pub(in crate::server) fn assumed(name: &str) -> Value {
    let mut namespace = object([("metadata", object([("name", name)]))]);
    complete(&mut namespace);
    namespace
}

fn complete(namespace: &mut Value) {
    label(namespace);
    if let Some(members) = namespace.as_object_mut() {
        members.insert("spec".to_owned(), object([("finalizers", Value::Array(vec!["kubernetes".into()]))]));
        members.insert("status".to_owned(), object([("phase", "Active")]));
    }
}

/// Sets the label that names the namespace.
fn label(namespace: &mut Value) {
    let name = metadata::text(namespace, "name").to_owned();
    let mut labels = metadata::get(namespace, "labels").and_then(Value::as_object).cloned().unwrap_or_default();
    labels.insert("kubernetes.io/metadata.name".to_owned(), Value::from(name));
    metadata::set(namespace, "labels", Some(Value::Object(labels)));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::{Method, Request};

    #[test]
    fn clients_create_and_delete_namespaces() {
        let server = Server::builder(Release::NEWEST, 1).with_namespaces(Namespaces::Created, &[]).build();
        let send = |method, path: &str, body: &str| server.handle(&Request::new(method, path, body)).code;
        let namespace = r#"{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"north"}}"#;
        assert_eq!(send(Method::Post, "/api/v1/namespaces", namespace), 201);
        assert_eq!(send(Method::Post, "/api/v1/namespaces", namespace), 409);
        assert_eq!(send(Method::Patch, "/api/v1/namespaces/north", r#"{"metadata":{"labels":{"a":"b"}}}"#), 200);
        assert_eq!(send(Method::Delete, "/api/v1/namespaces/north", ""), 200);
        assert_eq!(send(Method::Get, "/api/v1/namespaces/north", ""), 404);
    }
}
