//! The requests for objects of built-in kinds, sent to a server that validates them: creates, replacements, and the patch of
//! `kubectl apply` to a server that has the object.

use super::admission::Admission;
use crate::kubectl::patch::PatchType;
use crate::kubectl::request::{self, RequestOptions};
use crate::kubectl::send::{self as kubectl_send, ObjectTarget, RequestOutcome, Sender};
use crate::kubectl::{FieldValidation, RequestKind, UnsentError, Verb};
use crate::report::Identity;
use crate::simulation::known_cluster::KnownCluster;
use crate::simulation::kubectl_errors;
use crdx_server::cluster_state::UnknownCluster;
use crdx_server::server::{AdmissionPlugins, Namespaces, Response, Server};
use crdx_types::encode::Encoded;
use crdx_types::restore;
use crdx_types::service_families::{ServiceFamilies, ServiceRange};
use crdx_types::table::table;
use crdx_types::types::Types;
use crdx_value::release::Release;
use crdx_value::{Value, group_version};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

/// A server with built-in kinds, created on first use.
#[derive(Debug, Default)]
pub struct BuiltInServer {
    server: OnceLock<Server>,
    /// True if the ownership of fields is tracked without server-side apply, which comparisons of metadata need.
    tracks_fields: bool,
    /// Held by an update, which stores the existing object while it lasts. Creates store nothing and run in parallel.
    updating: RwLock<()>,
}

/// The result of an update.
pub enum Updated {
    /// kubectl sends no request, because nothing changes.
    Unchanged(Arc<Value>),
    /// The server's response.
    Answered(Box<RequestOutcome>),
    /// kubectl cannot compute the patch; its reason.
    NoPatch(String),
    /// kubectl sends no request.
    Unsent(UnsentError),
    /// The update cannot be simulated.
    Unknown,
}

/// The options of a write.
#[derive(Clone, Copy)]
pub struct WriteOptions<'a> {
    /// The simulated release.
    pub release: Release,
    /// The options of the request.
    pub request: RequestOptions,
    /// The kubectl command.
    pub kind: &'a RequestKind,
    /// The policies that admit objects, if there are any.
    pub admission: Option<&'a Admission>,
    /// The default namespace of objects.
    pub namespace: &'a str,
}

/// A create or an update of an object.
#[derive(Clone, Copy)]
pub struct Write<'a> {
    /// The identity of the object.
    pub identity: &'a Identity,
    /// Its kind.
    pub kind: &'a str,
    /// The plural of the kind.
    pub plural: &'a str,
    /// The object as it is written in the input.
    pub sent: &'a Value,
    /// The existing object of an update.
    pub existing: Option<ExistingObject<'a>>,
    /// The known state of the cluster.
    pub cluster: Option<&'a Arc<KnownCluster>>,
}

/// The object that an update changes.
#[derive(Clone, Copy)]
pub enum ExistingObject<'a> {
    /// It is in the cluster, or in a file of existing objects.
    Stored(&'a Value),
    /// An earlier input has this text, and the same command creates it.
    Input(&'a Value),
}

impl ExistingObject<'_> {
    fn object(&self) -> &Value {
        match self {
            Self::Stored(object) | Self::Input(object) => object,
        }
    }
}

impl BuiltInServer {
    /// Creates a server on first use, which tracks the ownership of fields if `tracks_fields` is true.
    pub fn new(tracks_fields: bool) -> Self {
        Self { tracks_fields, ..Self::default() }
    }

    /// Sets the families of the addresses of Services.
    pub(crate) fn set_service_families(&self, options: WriteOptions<'_>, families: ServiceFamilies) {
        self.opened(options).set_service_families(families);
    }

    /// Sets the ranges of cluster IPs.
    pub(crate) fn set_service_ranges(&self, options: WriteOptions<'_>, ranges: Vec<ServiceRange>) {
        self.opened(options).set_service_ranges(ranges);
    }

    /// Sets the Services of the cluster, whose addresses and ports are in use.
    pub(crate) fn set_other_services<'v>(&self, options: WriteOptions<'_>, services: impl Iterator<Item = &'v Value>) {
        self.opened(options).set_other_services(services);
    }

    /// Sends the request for an object that does not exist; `encoded` is the object of a create without its last-applied
    /// annotation, if the answer does not depend on that. `None` if this version of the kind is not served.
    ///
    /// # Errors
    /// Why kubectl would refuse to send a request.
    pub(crate) fn write_absent(
        &self,
        options: WriteOptions<'_>,
        write: &Write<'_>,
        encoded: Option<Encoded>,
    ) -> Result<Option<Response>, UnsentError> {
        let server = self.opened(options);
        let request = RequestOptions { dry_run: true, table: false, ..options.request };
        let BuiltInResource { definition, version, collection } =
            &BuiltInResource::of(write, &write.identity.api_version);
        if !server.serves(definition, version) {
            return Ok(None);
        }
        let target = target(write, (definition, version, collection));
        let mut request = if let Some(encoded) = encoded {
            let object = kubectl_errors::in_namespace(encoded.object, write.identity);
            kubectl_send::create_encoded(target, Encoded { object, ..encoded }, options.kind, request)
        } else {
            let object = kubectl_errors::in_namespace(write.sent.clone(), write.identity);
            kubectl_send::for_absent(server, target, object, options.kind, request)?
        };
        request.hides_dry_run = true;
        let namespace = write.identity.namespace.as_deref().unwrap_or_default();
        // Policies may read an object of the input, such as its Namespace or a ConfigMap with params.
        let read_by_policies =
            options.admission.and_then(|_| server.stored(definition, namespace, &write.identity.name));
        let Some(stored) = read_by_policies else {
            let _creating = self.updating.read().unwrap_or_else(PoisonError::into_inner);
            return Ok(Some(target.handle(server, request)));
        };
        let _updating = self.updating.write().unwrap_or_else(PoisonError::into_inner);
        server.withdraw(definition, namespace, &write.identity.name);
        let response = target.handle(server, request);
        // It was stored before.
        let _ = server.seed(definition, namespace, Value::clone(&stored));
        Ok(Some(response))
    }

    /// Sends the request for an existing object. Also returns the object that the server has afterwards.
    pub fn update(&self, options: WriteOptions<'_>, write: &Write<'_>) -> (Updated, Option<Arc<Value>>) {
        let Write { identity, existing, .. } = *write;
        let unknown = (Updated::Unknown, None);
        let Some(existing) = existing else { return unknown };
        let BuiltInResource { definition, version, collection } = &BuiltInResource::of(write, &identity.api_version);
        let request = RequestOptions { dry_run: false, table: false, ..options.request };
        let types = Types::for_release(options.release.minor().number().into());
        let Some(id) = types.of_kind(&identity.api_version, write.kind) else { return unknown };
        let patch = PatchType::Strategic(types, id);
        let server = self.opened(options);
        let _updating = self.updating.write().unwrap_or_else(PoisonError::into_inner);
        if !server.serves(definition, version) {
            return unknown;
        }
        let within = identity.namespace.as_deref().unwrap_or_default();
        let read_by_policies = options.admission.and_then(|_| server.stored(definition, within, &identity.name));
        server.withdraw(definition, within, &identity.name);
        let updated = if store(server, existing, write, options.kind, request) {
            let sent = kubectl_errors::in_namespace(write.sent.clone(), identity);
            let target = ObjectTarget { patch, ..target(write, (definition, version, collection)) };
            update_of(kubectl_send::send(server, target, sent, options.kind, request))
        } else {
            Updated::Unknown
        };
        let after = server.stored(definition, within, &identity.name);
        server.withdraw(definition, within, &identity.name);
        if let Some(stored) = read_by_policies {
            // It was stored before.
            let _ = server.seed(definition, within, Value::clone(&stored));
        }
        (updated, after)
    }

    /// The server, which is created when it is needed first.
    fn opened(&self, options: WriteOptions<'_>) -> &Server {
        self.server.get_or_init(|| {
            let builder = crdx_kinds::builder(options.release, 0).created_at(options.request.now).with_built_in_kinds();
            let builder = builder.with_content_validation().with_generated_fields();
            let builder =
                builder.with_cluster_state(Arc::new(UnknownCluster)).with_admission_plugins(AdmissionPlugins::all());
            let tracks_fields = self.tracks_fields || options.kind.verb == Verb::ServerSide;
            let builder = if tracks_fields { builder } else { builder.without_managed_fields() };
            let builder = match options.admission {
                Some(admission) => admission.configure(builder),
                None => builder,
            };
            let server = builder.with_namespaces(Namespaces::Unchecked, &[]).build();
            if let Some(admission) = options.admission {
                // Objects that the server refuses are reported by the server for custom resources.
                admission.store_with_definitions(&server, options.request.now, options.namespace, &mut |_| {});
            }
            server
        })
    }
}

fn update_of(result: Result<RequestOutcome, UnsentError>) -> Updated {
    match result {
        Ok(RequestOutcome { is_sent: false, before, .. }) => Updated::Unchanged(before.unwrap_or_default()),
        Ok(outcome) => Updated::Answered(Box::new(outcome)),
        Err(UnsentError::LastApplied(error) | UnsentError::Patch(error)) => Updated::NoPatch(error.into()),
        Err(error @ UnsentError::NoReplicas) => Updated::Unsent(error),
    }
}

/// A resource in one version.
struct BuiltInResource {
    /// Its name in the server.
    definition: String,
    version: String,
    /// The path of its collection.
    collection: String,
}

impl BuiltInResource {
    /// The resource of an object in another version, which may be in another group.
    fn of(write: &Write<'_>, api_version: &str) -> Self {
        let (group, version) = group_version::split(api_version);
        let namespace = write.identity.namespace.as_deref();
        Self {
            definition: format!("{}.{group}", write.plural),
            version: version.to_owned(),
            collection: request::collection(group, version, write.plural, namespace),
        }
    }
}

/// The target of a write of a resource, given by its name, its version and the path of its collection.
fn target<'a>(write: &Write<'a>, (definition, version, collection): (&'a str, &'a str, &'a str)) -> ObjectTarget<'a> {
    ObjectTarget {
        definition,
        version,
        collection,
        // The identity of an object without a name has its generateName.
        name: write.sent.str_at(&["metadata", "name"]).unwrap_or_default(),
        sender: write.cluster.map(|cluster| cluster as &dyn Sender),
        patch: PatchType::Merge,
    }
}

/// Stores the existing object, which may have another version than the request. One that no server has stored yet is created,
/// which completes it. Returns false if no server stores it.
fn store(
    server: &Server,
    existing: ExistingObject<'_>,
    write: &Write<'_>,
    request_kind: &RequestKind,
    options: RequestOptions,
) -> bool {
    let object = existing.object();
    let is_input = matches!(existing, ExistingObject::Input(_));
    let mut object = kubectl_errors::in_namespace(object.clone(), write.identity);
    let is_served = |resource: &BuiltInResource| server.serves(&resource.definition, &resource.version);
    let mut resource = BuiltInResource::of(write, object.str_at(&["apiVersion"]).unwrap_or_default());
    if !is_served(&resource) {
        if !reads_alike(server, &object, write) {
            return false;
        }
        object.insert_at(&["apiVersion"], write.identity.api_version.as_str().into());
        resource = BuiltInResource::of(write, &write.identity.api_version);
    }
    let BuiltInResource { definition, version, collection } = &resource;
    if is_input || object.str_at(&["metadata", "uid"]).is_none() {
        let options = RequestOptions { level: FieldValidation::Ignore, ..options };
        // Unlike `kubectl apply`, a create adds no annotation, so the patch removes nothing that the input leaves out.
        let by_create = RequestKind { verb: Verb::Create, ..RequestKind::default() };
        let kind = if is_input { request_kind } else { &by_create };
        let target = target(write, (definition, version, collection));
        let mut request = kubectl_send::create(target, object.clone(), kind, options);
        request.skips_admission = true;
        if server.handle_owned(request).code < 300 {
            return true;
        }
    }
    let namespace = write.identity.namespace.as_deref().unwrap_or_default();
    server.seed(definition, namespace, object).is_ok()
}

/// The version whose conversion changes fields that the newer version has, too: an empty selector
/// (`pkg/apis/policy/v1beta1/conversion.go`).
const CHANGED: &str = "policy/v1beta1";

/// Returns true if an object in a version that the release does not serve has only fields that the version of the request has,
/// so that its conversion changes the apiVersion alone.
fn reads_alike(server: &Server, object: &Value, write: &Write<'_>) -> bool {
    let api_version = object.str_at(&["apiVersion"]).unwrap_or_default();
    let types = Types::for_release(server.release().minor().number().into());
    let is_known = table().kind(api_version, write.kind, types.release()).is_some() && api_version != CHANGED;
    let id = types.of_kind(&write.identity.api_version, write.kind).filter(|_| is_known);
    id.is_some_and(|id| restore::check(types, id, object).is_ok_and(|unknown| unknown.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kubectl::Subresource;
    use crdx_server::server::ResponseBody;
    use crdx_text::json;

    fn read(text: &str) -> Value {
        json::read(text.as_bytes()).unwrap()
    }

    fn write_of<'a>(identity: &'a Identity, kind: &'a str, plural: &'a str, sent: &'a Value) -> Write<'a> {
        Write { identity, kind, plural, sent, existing: None, cluster: None }
    }

    fn plain(request: RequestOptions, kind: &RequestKind) -> WriteOptions<'_> {
        WriteOptions { release: Release::NEWEST, request, kind, admission: None, namespace: "default" }
    }

    fn answer(kind: (&str, &str, &str), request_kind: &RequestKind, existing: &str, sent: &str) -> Response {
        answer_to_update(kind, request_kind, ExistingObject::Stored(&read(existing)), sent)
    }

    fn answer_to_update(
        (api_version, kind, plural): (&str, &str, &str),
        request_kind: &RequestKind,
        existing: ExistingObject<'_>,
        sent: &str,
    ) -> Response {
        let sent = read(sent);
        let identity = Identity {
            api_version: api_version.to_owned(),
            kind: kind.to_owned(),
            namespace: Some("default".to_owned()),
            name: "m".to_owned(),
        };
        let write = Write { existing: Some(existing), ..write_of(&identity, kind, plural, &sent) };
        let server = BuiltInServer::default();
        let options = RequestOptions {
            level: FieldValidation::Strict,
            dry_run: false,
            table: false,
            now: crdx_server::server::Timestamp::default(),
        };
        let (Updated::Answered(outcome), stored) = server.update(plain(options, request_kind), &write) else {
            panic!("no answer")
        };
        assert!(stored.is_some());
        outcome.response
    }

    fn updated(existing: &str, sent: &str) -> Value {
        let response = answer(("v1", "ConfigMap", "configmaps"), &RequestKind::default(), existing, sent);
        let ResponseBody::Json(body) = response.body else { panic!("text") };
        body.get("data").cloned().unwrap_or_default()
    }

    #[test]
    fn a_create_of_an_existing_object_is_a_conflict() {
        let by_create = RequestKind { verb: Verb::Create, ..RequestKind::default() };
        let object = r#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"m"}}"#;
        assert_eq!(answer(("v1", "ConfigMap", "configmaps"), &by_create, object, object).code, 409);
    }

    #[test]
    fn a_subresource_is_written_instead_of_the_object() {
        let status = RequestKind { subresource: Some(Subresource::Status), ..RequestKind::default() };
        let with = |replicas: u32, status: &str| {
            format!(
                r#"{{"apiVersion":"apps/v1","kind":"Deployment","metadata":{{"name":"m"}},"spec":{{"replicas":{replicas},
                "selector":{{"matchLabels":{{"a":"b"}}}},"template":{{"metadata":{{"labels":{{"a":"b"}}}},
                "spec":{{"containers":[{{"name":"c","image":"i"}}]}}}}}},"status":{status}}}"#
            )
        };
        for verb in [Verb::Apply, Verb::ServerSide, Verb::Replace] {
            let kind = ("apps/v1", "Deployment", "deployments");
            let request_kind = RequestKind { verb, ..status.clone() };
            let response = answer(kind, &request_kind, &with(1, "{}"), &with(5, r#"{"observedGeneration":7}"#));
            let ResponseBody::Json(body) = response.body else { panic!("text") };
            assert_eq!(body.at(&["spec", "replicas"]), Some(&Value::Int(1)), "{verb:?}: {body:?}");
            assert_eq!(body.at(&["status", "observedGeneration"]), Some(&Value::Int(7)), "{verb:?}");
        }
    }

    #[test]
    fn an_apply_removes_only_what_was_applied_before() {
        let sent = r#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"m"},"data":{"a":"2"}}"#;
        for metadata in [r#"{"name":"m"}"#, r#"{"name":"m","namespace":"default","uid":"u"}"#] {
            let existing =
                format!(r#"{{"apiVersion":"v1","kind":"ConfigMap","metadata":{metadata},"data":{{"a":"1","b":"1"}}}}"#);
            assert_eq!(updated(&existing, sent), read(r#"{"a":"2","b":"1"}"#), "{metadata}");
        }
    }

    #[test]
    fn an_apply_removes_what_an_earlier_input_had() {
        let [first, second] = [r#"{"a":"1","b":"1"}"#, r#"{"a":"2"}"#]
            .map(|data| format!(r#"{{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"m"}},"data":{data}}}"#));
        let config_maps = ("v1", "ConfigMap", "configmaps");
        let existing = read(&first);
        let response =
            answer_to_update(config_maps, &RequestKind::default(), ExistingObject::Input(&existing), &second);
        let ResponseBody::Json(body) = response.body else { panic!("text") };
        assert_eq!(body.get("data"), Some(&read(r#"{"a":"2"}"#)));
    }

    #[test]
    fn the_default_namespace_can_be_in_the_input() {
        let sent = read(r#"{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"default"}}"#);
        let identity = Identity {
            api_version: "v1".to_owned(),
            kind: "Namespace".to_owned(),
            namespace: None,
            name: "default".to_owned(),
        };
        let write = write_of(&identity, "Namespace", "namespaces", &sent);
        let options = RequestOptions {
            level: FieldValidation::Strict,
            dry_run: false,
            table: false,
            now: crdx_server::server::Timestamp::default(),
        };
        let server = BuiltInServer::default();
        let created = server.write_absent(plain(options, &RequestKind::default()), &write, None);
        assert_eq!(created.unwrap().unwrap().code, 201);
    }
}
