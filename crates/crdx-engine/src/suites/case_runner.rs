//! A server with one CRD or the built-in kinds, and the requests of a case, as `tests/generator.go` of `openshift/api`
//! sends them.

use super::compare::comparable;
use super::outcome::{CaseOutcome, CaseRequest, CaseWrite, Failure};
use super::patch;
use super::round_trips::{RoundTripSetup, outcome};
use super::subject::{Subject, TestedResource};
use super::suite::{Action, Case, CaseObject, SourceError};
use crate::kubectl::{Operation, request};
#[cfg(feature = "builtin")]
use crdx_server::cluster_state::{
    ClusterState, GroupVersionResource, Listed, Lookup, PRIORITY_CLASSES, RUNTIME_CLASSES, STORAGE_CLASSES, Unread,
};
use crdx_server::policies;
#[cfg(feature = "policies")]
use crdx_server::policies::authorizer::Rules;
use crdx_server::policies::model::PolicyKind;
#[cfg(feature = "builtin")]
use crdx_server::server::Namespaces;
use crdx_server::server::http::address;
use crdx_server::server::{AdmissionPlugins, Method, Request, Response, ResponseBody, Server, Snapshot, Timestamp};
use crdx_types::resources;
use crdx_value::GoError;
use crdx_value::field::UNFINISHED;
use crdx_value::release::Release;
use crdx_value::{Value, group_version, object};
use std::sync::Arc;

/// The namespace of objects without a namespace.
const NAMESPACE: &str = "default";
/// `generateName` of the objects of suites.
const GENERATE_NAME: &str = "test-";
/// The field managers of `onApply` and of the create of `initial`.
const APPLIER: &str = "kubectl";
const CREATOR: &str = "kubectl-create";

/// The configuration of a server.
#[derive(Clone, Debug)]
pub struct ServerSetup {
    /// The release.
    pub release: Release,
    /// The resource that is tested.
    pub subject: Subject,
    /// The CRDs to install besides that of the resource.
    pub additional_crds: Vec<Arc<Value>>,
    /// Admission policies, their bindings and the objects to which they refer.
    pub policies: Vec<Arc<Value>>,
    /// True to track managed fields, which server-side apply needs.
    pub manages_fields: bool,
    /// The admission plugins.
    pub plugins: AdmissionPlugins,
    /// The settings of round trips.
    pub round_trips: RoundTripSetup,
    /// The time of all requests.
    pub now: Timestamp,
}

/// A server that runs cases. Every case starts from the CRDs and policies of the setup: the changes of the previous case
/// are undone. The generator of `openshift/api` deletes the objects after each case.
#[derive(Debug)]
pub struct CaseRunner {
    setup: ServerSetup,
    server: Server,
    /// The state in which every case starts.
    start: Snapshot,
    resource: TestedResource,
}

/// The reason why the CRDs and objects that a case needs cannot be installed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SetupError {
    /// The server's message about a CRD.
    #[error("{0}")]
    Definition(String),
    /// The CRD needs more steps or memory than the program uses for one request.
    #[error("{UNFINISHED}")]
    Unfinished,
    /// The server's message about a policy, or about an object to which policies refer.
    #[error("{kind} {name}: {message}")]
    Object {
        /// `kind`
        kind: String,
        /// `metadata.name`
        name: String,
        /// The message.
        message: String,
    },
    /// The kind of the object is neither built in nor defined by a CRD.
    #[error("{kind} of {api_version} is neither a built-in kind nor defined by a CRD")]
    UnknownKind {
        /// `apiVersion`
        api_version: String,
        /// `kind`
        kind: String,
    },
    /// No property can be added to the schema of the CRD.
    #[error("the schema of the first version has no properties")]
    NoProperties,
}

impl SetupError {
    fn of_definition(rejected: Rejected) -> Self {
        if rejected.is_unfinished { Self::Unfinished } else { Self::Definition(rejected.message) }
    }
}

impl From<SetupError> for Failure {
    fn from(error: SetupError) -> Self {
        Self::Patches(error.to_string())
    }
}

/// A cluster that may have any classes, and no other objects than the server.
#[cfg(feature = "builtin")]
#[derive(Debug)]
struct AnyClasses;

#[cfg(feature = "builtin")]
impl ClusterState for AnyClasses {
    fn object(&self, of: GroupVersionResource<'_>, _: &str, _: &str) -> Result<Lookup<Arc<Value>>, Unread> {
        Ok(match of {
            PRIORITY_CLASSES | RUNTIME_CLASSES | STORAGE_CLASSES => Lookup::Unknown,
            _ => Lookup::Absent,
        })
    }

    fn list(&self, of: GroupVersionResource<'_>, _: &str) -> Result<Listed, Unread> {
        let is_complete = ![PRIORITY_CLASSES, RUNTIME_CLASSES, STORAGE_CLASSES].contains(&of);
        Ok(Listed { objects: Vec::new(), is_complete })
    }
}

impl CaseRunner {
    /// Starts a server and installs the CRDs and policies of the setup.
    ///
    /// # Errors
    /// Returns an error if one of them cannot be installed.
    pub fn new(setup: ServerSetup) -> Result<Self, SetupError> {
        let mut server =
            Server::builder(setup.release, 0).created_at(setup.now).with_admission_plugins(setup.plugins.clone());
        if !setup.manages_fields {
            server = server.without_managed_fields();
        }
        // Without these features, the server serves neither policies nor built-in kinds.
        #[cfg(any(feature = "builtin", feature = "policies"))]
        {
            server = crdx_kinds::with_kinds(server);
        }
        #[cfg(feature = "builtin")]
        if !setup.policies.is_empty() || matches!(setup.subject, Subject::BuiltIn(_)) {
            server = server.with_namespaces(Namespaces::OnDemand, &[]).with_built_in_kinds();
            server = server.with_content_validation().with_generated_fields();
            server = server.with_cluster_state(Arc::new(AnyClasses));
        }
        #[cfg(feature = "policies")]
        if !setup.policies.is_empty() {
            server = server.with_policies(Arc::new(Rules::allow_all()));
        }
        let server = server.build();
        let resource = setup.subject.resource();
        let start = server.snapshot();
        let mut bench = Self { setup, server, start, resource };
        for crd in bench.definitions() {
            let created = bench.send(request::plain(Operation::Create, address::DEFINITIONS, Value::clone(crd)));
            created.map_err(SetupError::of_definition)?;
        }
        for policy in &bench.setup.policies {
            bench.install(policy)?;
        }
        bench.start = bench.server.snapshot();
        Ok(bench)
    }

    /// The CRDs to install.
    fn definitions(&self) -> impl Iterator<Item = &Arc<Value>> {
        self.setup.subject.definition().into_iter().chain(&self.setup.additional_crds)
    }

    /// Returns true if the server validates the content of the status.
    fn validates_status(&self) -> bool {
        match &self.setup.subject {
            Subject::CustomResource { .. } => true,
            Subject::BuiltIn(TestedResource { group, kind, .. }) => self.server.validates_status(group, kind),
        }
    }

    /// Creates a policy, or an object to which policies refer.
    fn install(&self, object: &Value) -> Result<(), SetupError> {
        let text = |path: &[&str]| object.str_at(path).unwrap_or_default();
        let (api_version, kind) = (text(&["apiVersion"]), text(&["kind"]));
        let (group, version) = group_version::split(api_version);
        let namespace = Some(text(&["metadata", "namespace"])).filter(|ns| !ns.is_empty()).unwrap_or(NAMESPACE);
        let built_in = || resources::of_kind(api_version, kind, self.setup.release.emulated().number().into());
        let path = if group == policies::GROUP {
            address::collection(group, version, PolicyKind::resource_of(kind), None)
        } else if let Some(found) = built_in() {
            address::collection(group, version, found.plural, found.namespaced.then_some(namespace))
        } else {
            let mut defined = self.definitions().map(|crd| TestedResource::from_crd(crd));
            let found = defined.find(|resource| resource.group == group && resource.kind == kind);
            let unknown = || SetupError::UnknownKind { api_version: api_version.to_owned(), kind: kind.to_owned() };
            found.ok_or_else(unknown)?.collection(version, namespace)
        };
        let name = text(&["metadata", "name"]);
        if (group, kind) == ("", "Namespace") {
            // It may be the namespace that every server has.
            self.server.withdraw("namespaces.", "", name);
        }
        let created = self.send(request::plain(Operation::Create, &path, object.clone()));
        created.map(|_| ()).map_err(|rejected| SetupError::Object {
            kind: kind.to_owned(),
            name: name.to_owned(),
            message: rejected.message,
        })
    }

    /// Runs a case.
    pub fn run(&self, case: &Case) -> CaseOutcome {
        self.server.roll_back(&self.start);
        let mut run = CaseRun { bench: self, case, writes: Vec::new(), stored: None, unfinished: None };
        let failure = match case.action {
            Action::Create => run.create(),
            Action::Update => run.update(),
            Action::Apply => run.apply(),
            Action::Delete => run.delete(),
            Action::Valid | Action::Invalid => run.document(),
            Action::RoundTrip(fields) => {
                let ServerSetup { subject, round_trips, release, now, .. } = &self.setup;
                return outcome(subject, round_trips, fields, (*release, *now));
            }
        }
        .err();
        let failure = run.unfinished.map(Failure::Unfinished).or(failure);
        CaseOutcome { failure, writes: run.writes, stored: run.stored, ..CaseOutcome::default() }
    }

    fn send(&self, request: Request) -> Result<Accepted, Rejected> {
        answered(self.server.handle_owned(Request { now: self.setup.now, ..request }))
    }

    fn get(&self, path: &str) -> Result<Accepted, Rejected> {
        self.send(Request::new(Method::Get, path, ""))
    }

    /// Replaces the `spec` of the CRD and adds a property (`sentinel`) to its schema.
    fn redefine(&self, spec: &Value, sentinel: Option<&str>) -> Result<(), SetupError> {
        let failed = |rejected: Rejected| SetupError::Definition(rejected.message);
        let path = address::object(address::DEFINITIONS, &self.resource.name());
        let stored = self.get(&path).map_err(failed)?;
        let mut crd = Value::clone(&stored.object);
        let mut spec = spec.clone();
        if let Some(sentinel) = sentinel {
            let schema = spec.get_mut("versions").and_then(|versions| match versions {
                Value::Array(versions) => versions.first_mut()?.get_mut("schema")?.get_mut("openAPIV3Schema"),
                _ => None,
            });
            let properties = schema.and_then(|schema| schema.get_mut("properties")).and_then(Value::as_object_mut);
            let properties = properties.ok_or(SetupError::NoProperties)?;
            let only = object([("type", Value::from("string")), ("enum", vec![Value::from(sentinel)].into())]);
            properties.insert("sentinel".to_owned(), only);
        }
        if let Some(members) = crd.as_object_mut() {
            members.insert("spec".to_owned(), spec);
        }
        self.send(request::plain(Operation::Replace, &path, crd)).map(|_| ()).map_err(failed)
    }
}

struct Accepted {
    object: Arc<Value>,
    warnings: Vec<String>,
}

struct Rejected {
    message: String,
    errors: crdx_value::field::ErrorList,
    warnings: Vec<String>,
    /// True if the server did not finish the request.
    is_unfinished: bool,
}

/// Converts an answer; the message of an error is the one of client-go.
fn answered(response: Response) -> Result<Accepted, Rejected> {
    let warnings = response.warnings;
    let is_unfinished = response.trace.is_unfinished;
    match response.body {
        ResponseBody::Json(object) if response.code < 400 => Ok(Accepted { object, warnings }),
        ResponseBody::Text(_) if response.code == 404 => {
            let message = "the server could not find the requested resource".to_owned();
            Err(Rejected { message, errors: Vec::new(), warnings, is_unfinished })
        }
        body => {
            Err(Rejected { message: body.message().to_owned(), errors: response.trace.errors, warnings, is_unfinished })
        }
    }
}

/// The state of a running case.
struct CaseRun<'b> {
    bench: &'b CaseRunner,
    case: &'b Case,
    writes: Vec<CaseWrite>,
    stored: Option<Value>,
    /// The first request that the server did not finish.
    unfinished: Option<CaseRequest>,
}

/// An object on the server, and its path.
struct CaseState {
    path: String,
    object: Arc<Value>,
}

impl CaseRun<'_> {
    fn read(&self, field: &'static str) -> Result<Value, Failure> {
        let source = match field {
            "initial" => &self.case.initial,
            "expected" => &self.case.expected,
            _ => &self.case.changed,
        };
        let read = source.as_ref().map_or(Err(SourceError::Missing), CaseObject::read);
        read.map_err(|error| Failure::NoObject { field, message: error.to_string() })
    }

    /// Returns the path of the collection of an object's kind; as with controller-runtime's client, the server must
    /// serve it.
    fn collection(&self, field: &'static str, object: &Value, namespace: &str) -> Result<String, Failure> {
        let text = |key| object.str_at(&[key]).unwrap_or_default();
        let (api_version, kind) = (text("apiVersion"), text("kind"));
        let resource = &self.bench.resource;
        let (group, version) = group_version::split(api_version);
        let is_tested = resource.version.as_deref().is_none_or(|only| only == version);
        if group == resource.group && kind == resource.kind && is_tested {
            let path = resource.collection(version, namespace);
            if self.bench.server.handle(&Request::new(Method::Get, &format!("{path}?limit=1"), "")).code != 404 {
                return Ok(path);
            }
        }
        let message = format!("no matches for kind {kind:?} in version {api_version:?}");
        Err(Failure::NoObject { field, message })
    }

    /// Sends the write of a step. The action of a case decides which write it is, so no object is read first.
    fn send(
        &mut self,
        (step, operation, path): (CaseRequest, Operation, &str),
        object: Value,
        old: Option<Arc<Value>>,
    ) -> Result<Arc<Value>, GoError> {
        self.record(step, object.clone(), request::plain(operation, path, object), old)
    }

    /// The path of the status of an object, if the server validates its content.
    fn status_path(&self, step: CaseRequest, path: &str) -> Result<String, Failure> {
        if self.bench.validates_status() { Ok(format!("{path}/status")) } else { Err(Failure::BuiltInStatus(step)) }
    }

    fn record(
        &mut self,
        step: CaseRequest,
        sent: Value,
        request: Request,
        old: Option<Arc<Value>>,
    ) -> Result<Arc<Value>, GoError> {
        let (answer, errors, warnings) = match self.bench.send(request) {
            Ok(accepted) => (Ok(accepted.object), Vec::new(), accepted.warnings),
            Err(rejected) => {
                if rejected.is_unfinished {
                    self.unfinished.get_or_insert(step);
                }
                (Err(rejected.message.into()), rejected.errors, rejected.warnings)
            }
        };
        self.writes.push(CaseWrite { step, sent, old, answer: answer.clone(), errors, warnings });
        answer
    }

    /// Compares the answer to the request under test with `expected_error`. `None` means that it was rejected as
    /// expected.
    fn verdict<T>(
        step: CaseRequest,
        answer: Result<T, GoError>,
        expected_error: Option<&String>,
    ) -> Result<Option<T>, Failure> {
        match (answer, expected_error) {
            (Ok(accepted), None) => Ok(Some(accepted)),
            (Ok(_), Some(expected)) => Err(Failure::Accepted(step, Some(expected.clone()))),
            (Err(error), None) => Err(Failure::Rejected(step, error.into())),
            (Err(error), Some(expected)) if error.as_str().contains(expected.as_str()) => Ok(None),
            (Err(error), Some(expected)) => {
                Err(Failure::OtherError { step, expected: expected.clone(), message: error.into() })
            }
        }
    }

    fn create(&mut self) -> Result<(), Failure> {
        let mut initial = self.read("initial")?;
        name(&mut initial);
        let collection = self.collection("initial", &initial, NAMESPACE)?;
        let answer = self.send((CaseRequest::Initial, Operation::Create, &collection), initial, None);
        let created = Self::verdict(CaseRequest::Initial, answer, self.case.expected_error.as_ref())?;
        self.check_warnings()?;
        match created {
            Some(created) => self.compare(&CaseState { path: path_of(&collection, &created), object: created }),
            None => Ok(()),
        }
    }

    fn update(&mut self) -> Result<(), Failure> {
        let stored = self.initial()?;
        let mut updated = self.read("updated")?;
        let status = updated.get("status").filter(|status| !status.is_null()).cloned();
        if self.case.expected_error.is_none() && self.case.expected_status_error.is_some() && status.is_none() {
            return Err(Failure::NoStatus);
        }
        name(&mut updated);
        carry(&stored.object, &mut updated);
        self.collection("updated", &updated, NAMESPACE)?;
        let answer = self.send(
            (CaseRequest::Update, Operation::Replace, &stored.path),
            updated,
            Some(Arc::clone(&stored.object)),
        );
        let answer = Self::verdict(CaseRequest::Update, answer, self.case.expected_error.as_ref())?;
        let Some(mut object) = answer else { return self.check_warnings() };
        if let Some(status) = status {
            let old = Arc::clone(&object);
            let path = self.status_path(CaseRequest::UpdateStatus, &stored.path)?;
            let answer = self.send(
                (CaseRequest::UpdateStatus, Operation::Replace, &path),
                with_status(&object, status),
                Some(old),
            );
            match Self::verdict(CaseRequest::UpdateStatus, answer, self.case.expected_status_error.as_ref())? {
                Some(written) => object = written,
                None => return self.check_warnings(),
            }
        }
        self.check_warnings()?;
        self.compare(&CaseState { path: stored.path, object })
    }

    fn apply(&mut self) -> Result<(), Failure> {
        let stored = if self.case.initial.is_some() { Some(self.initial()?) } else { None };
        let mut applied = self.read("applied")?;
        let (path, old) = if let Some(CaseState { path, object }) = stored {
            set(&mut applied, "name", object.str_at(&["metadata", "name"]).unwrap_or_default());
            (path, Some(object))
        } else {
            if applied.str_at(&["metadata", "name"]).is_none() {
                set(&mut applied, "name", "test");
            }
            let collection = self.collection("applied", &applied, NAMESPACE)?;
            (path_of(&collection, &applied), None)
        };
        set(&mut applied, "namespace", NAMESPACE);
        let query = format!("{path}?fieldManager={APPLIER}&force={}", self.case.force);
        let answer = self.send((CaseRequest::Apply, Operation::ServerSideApply, &query), applied, old);
        let applied = Self::verdict(CaseRequest::Apply, answer, self.case.expected_error.as_ref())?;
        self.check_warnings()?;
        applied.map_or(Ok(()), |object| self.compare(&CaseState { path, object }))
    }

    fn delete(&mut self) -> Result<(), Failure> {
        let stored = self.initial()?;
        let delete = Request::new(Method::Delete, &stored.path, "");
        let answer = self.record(CaseRequest::Delete, Value::Null, delete, Some(Arc::clone(&stored.object)));
        let deleted = Self::verdict(CaseRequest::Delete, answer, self.case.expected_error.as_ref())?;
        self.check_warnings()?;
        // The object is kept if it has a finalizer.
        deleted.map_or(Ok(()), |_| self.compare(&stored))
    }

    fn document(&mut self) -> Result<(), Failure> {
        let mut initial = self.read("initial")?;
        if initial.str_at(&["metadata", "name"]).is_none() && initial.str_at(&["metadata", "generateName"]).is_none() {
            set(&mut initial, "generateName", GENERATE_NAME);
        }
        let namespace = initial.str_at(&["metadata", "namespace"]).unwrap_or(NAMESPACE).to_owned();
        let collection = self.collection("initial", &initial, &namespace)?;
        let answer = self.send((CaseRequest::Initial, Operation::Create, &collection), initial, None);
        let expected = self.case.expected_error.as_ref();
        match (self.case.action, answer) {
            (Action::Invalid, Ok(_)) if expected.is_none() => Err(Failure::Accepted(CaseRequest::Initial, None)),
            (Action::Invalid, Err(_)) if expected.is_none() => Ok(()),
            (_, answer) => Self::verdict(CaseRequest::Initial, answer, expected).map(|_| ()),
        }
    }

    /// Creates `initial` and writes its status, with `initialCRDPatches` in effect.
    fn initial(&mut self) -> Result<CaseState, Failure> {
        let mut initial = self.read("initial")?;
        name(&mut initial);
        let patched = !self.case.patches.is_empty();
        if patched {
            let Subject::CustomResource { file, .. } = &self.bench.setup.subject else {
                return Err(Failure::Patches("a built-in kind has no CRD: remove them".to_owned()));
            };
            let crd = patch::apply(&self.case.patches, file).map_err(|error| Failure::Patches(error.to_string()))?;
            let spec = crd.get("spec").cloned().unwrap_or_default();
            self.bench.redefine(&spec, Some("+patched"))?;
            insert(&mut initial, "sentinel", "+patched".into());
        }
        let status = initial.get("status").filter(|status| !status.is_null()).cloned();
        let collection = self.collection("initial", &initial, NAMESPACE)?;
        let post = format!("{collection}?fieldManager={CREATOR}");
        let answer = self.send((CaseRequest::Initial, Operation::Create, &post), initial, None);
        let mut object = answer.map_err(|error| Failure::Rejected(CaseRequest::Initial, error.into()))?;
        let path = path_of(&collection, &object);
        if let Some(status) = status {
            let old = Some(Arc::clone(&object));
            let put = self.status_path(CaseRequest::InitialStatus, &path)?;
            let answer =
                self.send((CaseRequest::InitialStatus, Operation::Replace, &put), with_status(&object, status), old);
            object = answer.map_err(|error| Failure::Rejected(CaseRequest::InitialStatus, error.into()))?;
        }
        if let (true, Some(definition)) = (patched, self.bench.setup.subject.definition()) {
            let spec = definition.get("spec").cloned().unwrap_or_default();
            let uid = object.str_at(&["metadata", "uid"]).unwrap_or_default().to_owned();
            let sentinel = format!("{uid}+restored");
            self.bench.redefine(&spec, Some(&sentinel))?;
            let mut restored = Value::clone(&object);
            insert(&mut restored, "sentinel", sentinel.into());
            let answer = self.send((CaseRequest::Restored, Operation::Replace, &path), restored, Some(object));
            answer.map_err(|error| Failure::Rejected(CaseRequest::Restored, error.into()))?;
            self.bench.redefine(&spec, None)?;
            object = self.bench.get(&path).map_err(|e| Failure::Patches(e.message))?.object;
        }
        Ok(CaseState { path, object })
    }

    /// Compares the stored object with `expected`.
    fn compare(&mut self, stored: &CaseState) -> Result<(), Failure> {
        let read = self.bench.get(&stored.path);
        let found = read.ok().map(|accepted| comparable(Arc::unwrap_or_clone(accepted.object)));
        self.stored.clone_from(&found);
        if self.case.expected.is_none() {
            return Ok(());
        }
        let expected = comparable(self.read("expected")?);
        match found {
            Some(found) if found == expected => Ok(()),
            found => Err(Failure::Differs { expected, stored: found.unwrap_or_default() }),
        }
    }

    /// Compares the warnings of the last write with `expectedWarnings`: each must be part of a warning, and there must
    /// be no others.
    fn check_warnings(&self) -> Result<(), Failure> {
        let Some(expected) = &self.case.expected_warnings else { return Ok(()) };
        let warnings = self.writes.last().map(|write| write.warnings.clone()).unwrap_or_default();
        let all_come = expected.iter().all(|text| warnings.iter().any(|warning| warning.contains(text.as_str())));
        let all_known = warnings.iter().all(|warning| expected.iter().any(|text| warning.contains(text.as_str())));
        if all_come && all_known { Ok(()) } else { Err(Failure::Warnings { expected: expected.clone(), warnings }) }
    }
}

/// Sets the metadata that the runner sets in every object (`newUnstructuredFrom`).
fn name(object: &mut Value) {
    set(object, "generateName", GENERATE_NAME);
    set(object, "namespace", NAMESPACE);
}

/// Copies the metadata that an update needs.
fn carry(stored: &Value, updated: &mut Value) {
    for key in ["name", "namespace", "resourceVersion"] {
        if let Some(text) = stored.str_at(&["metadata", key]) {
            set(updated, key, text);
        }
    }
}

fn with_status(object: &Value, status: Value) -> Value {
    let mut object = object.clone();
    insert(&mut object, "status", status);
    object
}

fn insert(object: &mut Value, key: &str, value: Value) {
    if let Some(members) = object.as_object_mut() {
        members.insert(key.to_owned(), value);
    }
}

/// Sets a field of the metadata; metadata that is not a mapping is replaced.
fn set(object: &mut Value, key: &str, text: &str) {
    let Some(members) = object.as_object_mut() else { return };
    let metadata = members.entry("metadata".to_owned()).or_default();
    if metadata.as_object().is_none() {
        *metadata = Value::Object(crdx_value::Map::new());
    }
    insert(metadata, key, text.into());
}

fn path_of(collection: &str, object: &Value) -> String {
    let collection = collection.split('?').next().unwrap_or_default();
    address::object(collection, object.str_at(&["metadata", "name"]).unwrap_or_default())
}

#[cfg(test)]
mod tests;
