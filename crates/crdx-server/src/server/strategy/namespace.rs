//! Namespaces, to the extent that clients of custom resources need them, and with [`finalized`] as in a cluster.
//!
//! They are compiled from an internal CRD, so reads, writes, tables and watches work as for custom resources; this
//! module has the behaviour that is specific to namespaces. A namespace exists once an object is created in it or, if
//! the server was given a list of namespaces, if it is in that list.

pub(in crate::server) mod finalized;

use super::built_in::BuiltIn;
use crate::crd;
use crate::pipeline::metadata::{Metadata, MetadataValidation, NameRule, validate};
use crate::server::http::status::Refusal;
use crate::server::metadata;
use crate::server::registry::managed_fields::FIELD;
use crate::server::scope::GroupResource;
use crate::server::strategy::namespace_rule::{NAME, Namespaces};
use crate::server::strategy::resources::Resources;
use crate::server::strategy::serving::Serving;
use crate::server::strategy::subresource::Subresource;
use crdx_text::json;
use crdx_value::field::ROOT;
use crdx_value::time::Timestamp;
use crdx_value::{Map, Value, object, time};
use finalized::FinalizedNamespace;
use std::sync::Arc;

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

/// Serves a core group with the namespaces `default` and `names`.
pub(in crate::server) fn serve(resources: &mut Resources, rule: Namespaces, names: &[String], now: Timestamp) {
    let definition = json::read(DEFINITION.as_bytes()).ok().and_then(|v| crd::decode(&v).ok());
    let Some(definition) = definition else { return };
    let objects = resources.storage.collection(NAME);
    let serving = Serving::compile(Arc::new(definition.crd), Arc::new(objects), resources.settings.release);
    resources.insert(NAME, serving.built_in(if rule.has_finalizers() { &FinalizedNamespace } else { &Namespace }));
    resources.namespaces = Some(rule);
    // A given state of the cluster has its namespaces.
    let is_given = rule == Namespaces::Unchecked && resources.is_partial();
    let default = (!is_given).then_some(DEFAULT);
    for name in default.into_iter().chain(names.iter().map(String::as_str)) {
        create(resources, name, now);
    }
}

/// Creates the namespace of a new object if it does not exist and the server creates namespaces on demand.
pub(in crate::server) fn ensure(resources: &Resources, namespace: &str, now: Timestamp) {
    if resources.namespaces == Some(Namespaces::OnDemand) && !namespace.is_empty() {
        create(resources, namespace, now);
    }
}

/// Creates a namespace, if it does not exist.
pub(in crate::server) fn create(resources: &Resources, name: &str, now: Timestamp) {
    if let Some(serving) = lacks(resources, name) {
        store(resources, &serving, new(resources, name, now), now);
    }
}

/// Creates a namespace, if it does not exist, as a request does.
///
/// # Errors
/// Returns the refusal of a namespace with an invalid name.
pub(in crate::server) fn create_valid(resources: &Resources, name: &str, now: Timestamp) -> Result<(), Refusal> {
    let Some(serving) = lacks(resources, name) else { return Ok(()) };
    let namespace = new(resources, name, now);
    let (fields, path, release) =
        (Metadata::from_object(&namespace), ROOT.child("metadata"), resources.settings.release);
    let errors = validate(fields, false, NameRule::Label, &path, release, MetadataValidation::Handwritten);
    if !errors.is_empty() {
        return Err(Refusal::invalid(GroupResource { group: "", resource: "Namespace" }, name, errors));
    }
    store(resources, &serving, namespace, now);
    Ok(())
}

/// The served kind Namespace, if there is no namespace of this name.
fn lacks(resources: &Resources, name: &str) -> Option<Arc<Serving>> {
    resources.get(NAME).filter(|serving| serving.objects.get(name).is_none())
}

fn new(resources: &Resources, name: &str, now: Timestamp) -> Value {
    let mut namespace = object([
        ("apiVersion", Value::from("v1")),
        ("kind", "Namespace".into()),
        (
            "metadata",
            object([
                ("name", Value::from(name)),
                ("uid", resources.settings.random.uid().into()),
                ("creationTimestamp", time::format(now).into()),
            ]),
        ),
    ]);
    complete(&mut namespace);
    namespace
}

fn store(resources: &Resources, serving: &Serving, mut namespace: Value, now: Timestamp) {
    if resources.storage.tracks_fields && resources.namespaces.is_some_and(Namespaces::has_finalizers) {
        metadata::set(&mut namespace, FIELD, Some(Value::Array(vec![owner(now)])));
    }
    let name = metadata::text(&namespace, "name").to_owned();
    // Another thread created the same namespace first.
    let _ = serving.objects.put(&name, None, namespace, &resources.storage.revision);
}

/// The entry of the API server in the managedFields of a namespace that it creates (`systemnamespaces`).
fn owner(now: Timestamp) -> Value {
    let empty = || Value::Object(Map::new());
    let labels = object([(".", empty()), ("f:kubernetes.io/metadata.name", empty())]);
    let fields = object([("f:metadata", object([("f:labels", labels)]))]);
    object([
        ("manager", Value::from("kube-apiserver")),
        ("operation", "Update".into()),
        ("apiVersion", "v1".into()),
        ("time", time::format(now).into()),
        ("fieldsType", "FieldsV1".into()),
        ("fieldsV1", fields),
    ])
}

/// The behaviour of the kind Namespace.
#[derive(Debug)]
struct Namespace;

impl BuiltIn for Namespace {
    fn deletes_collections(&self) -> bool {
        false
    }

    fn default(&self, object: &mut Value) {
        set_defaults(object);
    }

    fn prepare(&self, object: &mut Value) {
        finalized::complete(object);
    }

    fn prepare_update(&self, object: &mut Value, old: &Value, subresource: Subresource) {
        FinalizedNamespace.prepare_update(object, old, subresource);
    }

    fn name_rule(&self) -> NameRule {
        NameRule::Label
    }

    fn writes_metadata_with_status(&self) -> bool {
        true
    }

    fn validates_prefix(&self) -> bool {
        true
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

    fn owns_contents(&self) -> bool {
        true
    }
}

fn complete(namespace: &mut Value) {
    label(namespace);
    if let Some(members) = namespace.as_object_mut() {
        members.insert("spec".to_owned(), object([("finalizers", Value::Array(vec!["kubernetes".into()]))]));
        members.insert("status".to_owned(), object([("phase", "Active")]));
    }
}

/// `SetDefaults_Namespace`. The name may still have to be generated.
fn set_defaults(namespace: &mut Value) {
    // The encoded form has both, but nobody owns them.
    if let Some(members) = namespace.as_object_mut() {
        let is_empty = |value: &Value| value.as_object().is_some_and(Map::is_empty);
        members.retain(|key, value| !matches!(key.as_str(), "spec" | "status") || !is_empty(value));
    }
    if !metadata::text(namespace, "name").is_empty() {
        label(namespace);
    }
}

/// `SetDefaults_NamespaceStatus`: a null in an apply removes the phase.
fn set_default_phase(namespace: &mut Value) {
    if let Some(status) = namespace.get_mut("status").and_then(Value::as_object_mut)
        && status.get("phase").and_then(Value::as_str).is_none_or(str::is_empty)
    {
        status.insert("phase".to_owned(), "Active".into());
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
    use crate::server::{Method, Request, Server, fixture};
    use crdx_value::release::Release;

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

    #[test]
    fn an_update_validates_the_prefix_of_a_generated_name() {
        for rule in [Namespaces::Created, Namespaces::Finalized] {
            let server = Server::builder(Release::NEWEST, 1).with_namespaces(rule, &["north".to_owned()]).build();
            let set_prefix = |path: &str, prefix: &str| {
                let body = format!(r#"{{"metadata":{{"generateName":"{prefix}"}}}}"#);
                server.handle(&Request::new(Method::Patch, path, body.as_str()))
            };
            let path = "/api/v1/namespaces/north";
            assert_eq!(set_prefix(path, "a-").code, 200);
            let refused = set_prefix(path, "a.b");
            let message =
                r#"Namespace "north" is invalid: metadata.generateName: Invalid value: "a.b": must not contain dots"#;
            assert_eq!((refused.code, refused.body.message()), (422, message));
            assert_eq!(set_prefix(&format!("{path}/status"), "a.b").code, 200);
        }
    }

    #[test]
    fn a_write_of_the_status_changes_the_metadata() {
        let server = Server::builder(Release::NEWEST, 1).with_namespaces(Namespaces::Finalized, &[]).build();
        let namespace = r#"{"metadata":{"name":"north"}}"#;
        assert_eq!(server.handle(&Request::new(Method::Post, "/api/v1/namespaces", namespace)).code, 201);
        let path = "/api/v1/namespaces/north/status?fieldManager=test";
        let patch = r#"{"metadata":{"labels":{"a":"b"}},"spec":{"finalizers":["x.example.com/y"]}}"#;
        let (code, namespace) = fixture::json(server.handle(&Request::new(Method::Patch, path, patch)));
        assert_eq!((code, namespace.str_at(&["metadata", "labels", "a"])), (200, Some("b")));
        assert_eq!(namespace.at(&["spec", "finalizers"]), Some(&Value::Array(vec!["kubernetes".into()])));
        let fields = namespace.at(&["metadata", "managedFields"]).and_then(Value::as_array).unwrap();
        let owned = fields.iter().find(|one| one.str_at(&["manager"]) == Some("test")).unwrap();
        let expected = r#"{"f:metadata":{"f:labels":{"f:a":{}}}}"#;
        assert_eq!(owned.get("fieldsV1").map(crdx_value::json::to_string).as_deref(), Some(expected));
    }

    fn finalized() -> Server {
        let options = Server::builder(Release::NEWEST, 1).with_namespaces(Namespaces::Finalized, &[]);
        options.with_content_validation().build()
    }

    fn answer(server: &Server, method: Method, path: &str, content_type: &str, body: &str) -> (u16, Value) {
        let mut request = Request::new(method, path, body);
        request.content_type = Some(content_type.to_owned());
        fixture::json(server.handle(&request))
    }

    fn send(server: &Server, method: Method, path: &str, body: &str) -> (u16, Value) {
        answer(server, method, path, "application/json", body)
    }

    const NORTH: &str = "/api/v1/namespaces/north";

    /// Answers of a real server.
    #[test]
    fn the_generation_is_that_of_the_create() {
        let server = finalized();
        let create = |generation: i64| {
            let body = format!(r#"{{"metadata":{{"name":"north","generation":{generation}}}}}"#);
            send(&server, Method::Post, "/api/v1/namespaces", &body)
        };
        let (code, refused) = create(-1);
        let message = r#"Namespace "north" is invalid: metadata.generation: Invalid value: -1: must be greater than or equal to 0"#;
        assert_eq!((code, refused.str_at(&["message"])), (422, Some(message)));
        assert_eq!(create(5).0, 201);
        let generation = |(_, object): (u16, Value)| object.at(&["metadata", "generation"]).and_then(Value::as_int);
        assert_eq!(generation(send(&server, Method::Get, NORTH, "")), Some(5));
        for body in
            [r#"{"metadata":{"name":"north","generation":-7}}"#, r#"{"metadata":{"name":"north","labels":{"a":"b"}}}"#]
        {
            assert_eq!(generation(send(&server, Method::Put, NORTH, body)), Some(5));
            assert_eq!(generation(send(&server, Method::Put, &format!("{NORTH}/status"), body)), Some(5));
        }
        assert_eq!(generation(send(&server, Method::Get, "/api/v1/namespaces/default", "")), None);
    }

    #[test]
    fn only_the_answer_to_a_dry_run_has_the_self_link() {
        let server = finalized();
        let body = r#"{"metadata":{"name":"north","selfLink":"x"}}"#;
        let link = |(_, object): (u16, Value)| object.str_at(&["metadata", "selfLink"]).map(str::to_owned);
        assert_eq!(link(send(&server, Method::Post, "/api/v1/namespaces", body)), None);
        assert_eq!(link(send(&server, Method::Put, &format!("{NORTH}?dryRun=All"), body)).as_deref(), Some("x"));
        let patch = format!("{NORTH}?dryRun=All");
        let merge = "application/merge-patch+json";
        assert_eq!(link(answer(&server, Method::Patch, &patch, merge, body)).as_deref(), Some("x"));
        assert_eq!(link(send(&server, Method::Put, NORTH, body)), None);
    }

    #[test]
    fn the_server_owns_the_label_of_its_own_namespaces() {
        let (_, list) = send(&finalized(), Method::Get, "/api/v1/namespaces", "");
        let items = list.get("items").and_then(Value::as_array).unwrap();
        for namespace in items {
            let owners = namespace.at(&["metadata", "managedFields"]).and_then(Value::as_array).unwrap();
            let [owner] = owners else { panic!("{owners:?}") };
            assert_eq!(owner.str_at(&["manager"]), Some("kube-apiserver"));
            let fields = r#"{"f:metadata":{"f:labels":{".":{},"f:kubernetes.io/metadata.name":{}}}}"#;
            assert_eq!(owner.get("fieldsV1").map(crdx_value::json::to_string).as_deref(), Some(fields));
            assert_eq!(namespace.get("kind"), None, "items of a typed list have no kind");
        }
        assert_eq!(items.len(), 1);
    }

    #[test]
    fn an_empty_list_resets_the_owners_of_a_namespace() {
        let server = finalized();
        for (content_type, body) in [
            ("application/merge-patch+json", r#"{"metadata":{"managedFields":[]}}"#),
            ("application/strategic-merge-patch+json", r#"{"metadata":{"managedFields":[]}}"#),
        ] {
            let path = "/api/v1/namespaces/default?dryRun=All";
            let (code, namespace) = answer(&server, Method::Patch, path, content_type, body);
            assert_eq!((code, namespace.at(&["metadata", "managedFields"])), (200, None), "{content_type}");
        }
    }

    /// Answers of a real server.
    #[test]
    fn an_apply_with_a_malformed_time_cannot_be_converted() {
        let server = finalized();
        let apply = |name: &str, time: &str| {
            let body = format!(
                r#"{{"apiVersion":"v1","kind":"Namespace","metadata":{{"name":"{name}","creationTimestamp":{time}}}}}"#
            );
            let path = format!("/api/v1/namespaces/{name}?fieldManager=a&dryRun=All");
            let (code, answer) = answer(&server, Method::Patch, &path, "application/apply-patch+yaml", &body);
            (code, answer.str_at(&["message"]).unwrap_or_default().to_owned())
        };
        for (name, time, error) in [
            ("default", r#""x""#, r#"parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006""#),
            ("north", "5", "json: cannot unmarshal number into Go value of type string"),
        ] {
            let text = format!(
                "failed to convert new object (/{name}; /v1, Kind=Namespace) to proper version: \
                 unable to convert unstructured object to /v1, Kind=Namespace: {error}"
            );
            assert_eq!(apply(name, time), (500, text));
        }
        assert_eq!(apply("north", "null").0, 201);
    }

    #[test]
    fn namespaces_are_decoded_with_their_go_type() {
        let server = Server::builder(Release::NEWEST, 1).with_namespaces(Namespaces::Finalized, &[]).build();
        let send = |method, path: &str, body: &str| server.handle(&Request::new(method, path, body));
        let all = "/api/v1/namespaces";
        let wrong = r#"{"kind":"Namespace","apiVersion":"v1","metadata":{"name":"a"},"spec":{"finalizers":"a"}}"#;
        let refused = send(Method::Post, all, wrong);
        assert_eq!(refused.code, 400);
        assert_eq!(
            refused.body.message(),
            "Namespace in version \"v1\" cannot be handled as a Namespace: json: cannot unmarshal string into Go struct field NamespaceSpec.spec.finalizers of type []v1.FinalizerName"
        );
        let kind = r#"{"kind":"Name","apiVersion":"v1","metadata":{"name":"a"}}"#;
        let text = "Name in version \"v1\" cannot be handled as a Namespace: no kind \"Name\" is registered for version \"v1\" in scheme \"pkg/api/legacyscheme/scheme.go:30\"";
        assert_eq!(send(Method::Post, all, kind).body.message(), text);

        // The kind and the apiVersion have defaults, and the client that creates the namespace owns the label.
        let created = send(Method::Post, all, r#"{"metadata":{"name":"a"}}"#);
        assert_eq!(created.code, 201, "{}", created.body.message());
        let crate::server::ResponseBody::Json(object) = &created.body else { panic!("no object") };
        let fields = object.at(&["metadata", "managedFields"]).and_then(Value::as_array).unwrap();
        let labels = fields[0].at(&["fieldsV1", "f:metadata", "f:labels"]).unwrap();
        assert!(labels.get("f:kubernetes.io/metadata.name").is_some());
        assert!(fields[0].at(&["fieldsV1", "f:spec"]).is_none());

        let created = send(Method::Post, all, r#"{"metadata":{"name":"b"},"spec":{"finalizers":["a/b"]}}"#);
        let crate::server::ResponseBody::Json(object) = &created.body else { panic!("no object") };
        let fields = object.at(&["metadata", "managedFields"]).and_then(Value::as_array).unwrap();
        let spec = fields[0].at(&["fieldsV1", "f:spec"]).and_then(Value::as_object).unwrap();
        assert_eq!(spec.keys().collect::<Vec<_>>(), ["f:finalizers"]);

        let patched = send(Method::Patch, &format!("{all}/a"), r#"{"status":true}"#);
        assert_eq!(patched.code, 422);
        let end = ": json: cannot unmarshal bool into Go struct field Namespace.status of type v1.NamespaceStatus";
        assert!(patched.body.message().ends_with(end), "{}", patched.body.message());
    }
}
