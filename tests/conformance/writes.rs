//! `validate` gives the answer of `serve` to every request that it can simulate: the objects of built-in kinds, and objects with a
//! fault, are sent to a server as raw requests, and simulated as `validate` does it, by every way to write.

use crdx_engine::documents::{Document, InputEntry, SourceChunk};
use crdx_engine::kubectl::patch::PatchType;
use crdx_engine::kubectl::request::RequestOptions;
use crdx_engine::kubectl::{FieldValidation, RequestKind, Subresource, Verb};
use crdx_engine::report::{ObjectReport, Verdict};
use crdx_engine::simulation::built_in_server::BuiltInServer;
use crdx_engine::simulation::existing::ExistingObjects;
use crdx_engine::simulation::known_cluster::given::GivenObjects;
use crdx_engine::simulation::object::Object;
use crdx_engine::simulation::object_store::MemoryStore;
use crdx_engine::simulation::server_configuration::ServerConfiguration;
use crdx_engine::simulation::{OrderedState, Simulator, SimulatorSettings, Updates};
use crdx_server::apply::client_side;
use crdx_server::policies::authorizer::Rules;
use crdx_server::server::{
    AdmissionPlugins, Body, Method, Namespaces, Request, Response, ResponseBody, Server, Timestamp,
};
use crdx_text::documents::Chunks;
use crdx_text::json::read;
use crdx_types::resources::{self, ApiResource};
use crdx_types::types::Types;
use crdx_value::group_version::api_version;
use crdx_value::release::Release;
use crdx_value::{Value, json};
use std::io::Cursor;
use std::sync::{Arc, OnceLock};

const LEVEL: FieldValidation = FieldValidation::Strict;

/// A way to write an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Create,
    Apply,
    ServerSide,
    Replace,
    Status,
    ServerSideStatus,
    Scale,
}

const WAYS: [Way; 7] =
    [Way::Create, Way::Apply, Way::ServerSide, Way::Replace, Way::Status, Way::ServerSideStatus, Way::Scale];

impl Way {
    fn request_kind(self) -> RequestKind {
        let (verb, subresource) = match self {
            Self::Create => (Verb::Create, None),
            Self::Apply => (Verb::Apply, None),
            Self::ServerSide => (Verb::ServerSide, None),
            Self::Replace => (Verb::Replace, None),
            Self::Status => (Verb::Replace, Some(Subresource::Status)),
            Self::ServerSideStatus => (Verb::ServerSide, Some(Subresource::Status)),
            Self::Scale => (Verb::Replace, Some(Subresource::Scale)),
        };
        RequestKind { verb, subresource, ..RequestKind::default() }
    }
}

/// The objects with which the real server has been asked, one for each kind that needs more than a name.
fn objects(release: Release) -> Vec<(Value, &'static ApiResource)> {
    let text = include_str!("../apiserver/builtin/objects.jsonl");
    let all = text.lines().map(|line| read(line.as_bytes()).unwrap());
    all.filter_map(|object| Some((resource(&object, release)?, object)).map(|(r, o)| (o, r))).collect()
}

/// The resource of an object, if it can be read and is not a policy, which has a server of its own.
fn resource(object: &Value, release: Release) -> Option<&'static ApiResource> {
    let [group_version, kind] = ["apiVersion", "kind"].map(|key| object.str_at(&[key]).unwrap());
    let resource = resources::of_kind(group_version, kind, release.minor().number().into())?;
    (resource.readable && resource.writable).then_some(resource)
}

/// The objects that the fault of each kind of request makes.
fn faulty(object: &Value) -> Vec<(&'static str, Value)> {
    let with = |path: &[&str], value: &str| {
        let mut object = object.clone();
        object.insert_at(path, read(value.as_bytes()).unwrap());
        object
    };
    let mut all = vec![
        ("valid", object.clone()),
        ("managed fields", with(&["metadata", "managedFields"], r#"[{"manager":"m","operation":"Apply"}]"#)),
        ("a UID", with(&["metadata", "uid"], r#""7b0a3c4e-0000-4000-8000-000000000000""#)),
        ("a generated name", with(&["metadata", "generateName"], r#""Wrong""#)),
        ("a revision", with(&["metadata", "resourceVersion"], r#""7""#)),
        ("equal finalizers", with(&["metadata", "finalizers"], r#"["a.example.com/b","a.example.com/b"]"#)),
        ("a wrong finalizer", with(&["metadata", "finalizers"], r#"["none"]"#)),
        ("a wrong label", with(&["metadata", "labels"], r#"{"a b":"c"}"#)),
        ("an unknown field", with(&["unknown"], "1")),
        ("an unknown field of metadata", with(&["metadata", "unknown"], "1")),
        ("a wrong name", with(&["metadata", "name"], r#""Not_Valid""#)),
        ("a path as name", with(&["metadata", "name"], r#""..""#)),
    ];
    let mut twice = object.clone();
    if repeat_first(&mut twice) {
        all.push(("equal items", twice));
    }
    for (name, value) in [("a text", r#""text""#), ("an object", r#"{"unknown":1}"#), ("null", "null")] {
        let mut wrong = object.clone();
        if let Some(field) = first_field(&mut wrong) {
            *field = read(value.as_bytes()).unwrap();
            all.push((name, wrong));
        }
    }
    all
}

/// Repeats the first item of the first list of objects. Returns false without one.
fn repeat_first(value: &mut Value) -> bool {
    match value {
        Value::Array(items) if items.first().is_some_and(|item| item.as_object().is_some()) => {
            let first = items[0].clone();
            items.push(first);
            true
        }
        Value::Object(members) => members.values_mut().any(repeat_first),
        _ => false,
    }
}

/// The first field of the content.
fn first_field(object: &mut Value) -> Option<&mut Value> {
    let is_content = |name: &str| !matches!(name, "apiVersion" | "kind" | "metadata");
    let (_, content) = object.as_object_mut()?.iter_mut().find(|(name, _)| is_content(name))?;
    let has_members = content.as_object().is_some_and(|members| !members.is_empty());
    if has_members { content.as_object_mut()?.values_mut().next() } else { Some(content) }
}

/// The document of an object.
fn document(name: &str, object: &Value) -> Document {
    let text = Cursor::new(json::to_string(object));
    let chunk = SourceChunk::new(&Arc::from(name), Chunks::new(text).next().unwrap().unwrap(), true, None);
    let value = chunk.chunk.read().unwrap().value;
    chunk.document(None, value)
}

/// A server that gets raw requests.
struct Serve {
    server: Server,
    release: Release,
}

impl Serve {
    fn new(release: Release) -> Self {
        let builder = crdx_kinds::builder(release, 0).with_built_in_kinds().with_content_validation();
        let builder = builder.with_policies(Arc::new(Rules::allow_all())).with_policy_validation();
        let builder = builder.with_generated_fields().with_namespaces(Namespaces::OnDemand, &[]);
        Self { server: builder.build(), release }
    }

    fn send(&self, method: Method, path: &str, content_type: &str, body: Option<&Value>) -> (u16, Value) {
        let body = body.map_or(Body::Empty, |body| Body::Bytes((json::to_string(body) + "\n").into_bytes()));
        let request = Request {
            content_type: Some(content_type.to_owned()),
            accept: Some("application/json".to_owned()),
            user_agent: Some("kubectl".to_owned()),
            ..Request::new(method, path, body)
        };
        let Response { code, body: ResponseBody::Json(body), .. } = self.server.handle(&request) else {
            return (404, Value::Null);
        };
        (code, Value::clone(&body))
    }

    /// Sends the request of kubectl. `None` if kubectl sends none.
    fn write(&self, way: Way, resource: &ApiResource, object: &Value, exists: bool) -> Option<(u16, Value)> {
        let name = name(object);
        let mut object = in_namespace(resource, object);
        let collection = collection(resource, &object);
        let path = format!("{collection}/{name}");
        let query = |by: &str| format!("fieldManager={by}&fieldValidation=Strict");
        let without_revision = |mut object: Value| {
            object.get_mut("metadata").and_then(Value::as_object_mut).map(|members| members.remove("resourceVersion"));
            object
        };
        let json = "application/json";
        let live = || self.send(Method::Get, &path, "application/json", None).1;
        Some(match (way, exists) {
            (Way::Create, _) => self.send(
                Method::Post,
                &format!("{collection}?{}", query("kubectl-create")),
                json,
                Some(&without_revision(object)),
            ),
            (Way::Apply, false) => {
                let path = format!("{collection}?{}", query("kubectl-client-side-apply"));
                self.send(Method::Post, &path, json, Some(&without_revision(client_side::to_create(object))))
            }
            (Way::Apply, true) => {
                let types = Types::for_release(self.release.minor().number().into());
                let id = types.of_kind(&api_version(resource.group, resource.version), resource.kind).unwrap();
                let patch = PatchType::Strategic(types, id).patch(&live(), object).ok()??;
                let path = format!("{path}?{}", query("kubectl-client-side-apply"));
                self.send(Method::Patch, &path, patch.content_type, Some(&patch.value))
            }
            (Way::ServerSide | Way::ServerSideStatus, _) => {
                let sub = if way == Way::ServerSide { "" } else { "/status" };
                let path = format!("{path}{sub}?fieldManager=kubectl&force=false&fieldValidation=Strict");
                self.send(Method::Patch, &path, "application/apply-patch+yaml", Some(&object))
            }
            (Way::Replace | Way::Status, _) => {
                let own = ["metadata", "resourceVersion"];
                if let (None, Some(revision)) = (object.at(&own), live().at(&own)) {
                    object.insert_at(&own, revision.clone());
                }
                let sub = if way == Way::Status { "/status" } else { "" };
                self.send(Method::Put, &format!("{path}{sub}?{}", query("kubectl-replace")), json, Some(&object))
            }
            (Way::Scale, _) => {
                let replicas =
                    object.at(&["spec", "replicas"]).cloned().filter(|replicas| replicas.as_int().is_some())?;
                let patch = crdx_value::object([("spec", crdx_value::object([("replicas", replicas)]))]);
                let path = format!("{path}/scale?fieldValidation=Strict");
                self.send(Method::Patch, &path, "application/merge-patch+json", Some(&patch))
            }
        })
    }

    /// Creates an object.
    fn store(&self, resource: &ApiResource, object: &Value) {
        let object = in_namespace(resource, object);
        let (code, stored) = self.send(Method::Post, &collection(resource, &object), "application/json", Some(&object));
        assert_eq!(code, 201, "{object:?}: {stored:?}");
    }

    fn remove(&self, resource: &ApiResource, object: &Value) {
        let namespace = object.str_at(&["metadata", "namespace"]).unwrap_or("default");
        let namespace = if resource.namespaced { namespace } else { "" };
        let name = object.str_at(&["metadata", "name"]).unwrap();
        self.server.withdraw(&format!("{}.{}", resource.plural, resource.group), namespace, name);
    }
}

fn in_namespace(resource: &ApiResource, object: &Value) -> Value {
    let mut object = object.clone();
    if resource.namespaced && object.at(&["metadata", "namespace"]).is_none() {
        object.insert_at(&["metadata", "namespace"], "default".into());
    }
    object
}

fn collection(resource: &ApiResource, object: &Value) -> String {
    let ApiResource { group, version, plural, .. } = resource;
    let root = if group.is_empty() { format!("/api/{version}") } else { format!("/apis/{group}/{version}") };
    match object.str_at(&["metadata", "namespace"]).filter(|_| resource.namespaced) {
        Some(namespace) => format!("{root}/namespaces/{namespace}/{plural}"),
        None => format!("{root}/{plural}"),
    }
}

/// What `validate` simulates.
struct Validate {
    way: Way,
    configuration: ServerConfiguration,
    built_in: Arc<BuiltInServer>,
    server: Arc<Server>,
}

impl Validate {
    fn new(release: Release, way: Way) -> Self {
        let server = Arc::new(crdx_kinds::builder(release, 0).build());
        let configuration = ServerConfiguration {
            release,
            now: Timestamp::default(),
            tracks_fields: way.request_kind().verb == Verb::ServerSide,
            plugins: AdmissionPlugins::all(),
            service_ranges: Vec::new(),
        };
        let built_in = Arc::new(BuiltInServer::new(configuration.clone()));
        Self { way, configuration, built_in, server }
    }

    fn report(&self, object: &Value, old: Option<&Value>) -> ObjectReport {
        let request_kind = self.way.request_kind();
        let now = Timestamp::default();
        let mut given = GivenObjects::default();
        let existing = old.map_or(ExistingObjects::None, |old| {
            let entries = std::iter::once(InputEntry::Document(document("old.json", old)));
            let store = Arc::new(MemoryStore::default());
            ExistingObjects::from_files(entries, store, (&mut given, "default"), &mut |item| panic!("{item:?}"))
        });
        let settings = SimulatorSettings {
            namespace: "default".to_owned(),
            request_options: RequestOptions { level: LEVEL, dry_run: true, table: false, now },
            show_last_applied: false,
            scale: false,
            ignore_missing: false,
            cluster: None,
            given: Arc::new(given),
            live: None,
            unsimulated: Arc::default(),
            served: Arc::default(),
            projects_of_group: |_| Vec::new(),
        };
        let simulator = Simulator {
            settings,
            server: Arc::clone(&self.server),
            configuration: self.configuration.clone(),
            updates: Updates { request_kind, existing, compares: None },
            store: Box::<MemoryStore>::default(),
            lock: Arc::default(),
            built_in: Arc::clone(&self.built_in),
            admission: OnceLock::new(),
        };
        let mut state = OrderedState::new(simulator.store.empty());
        let document = document("new.json", object);
        let destination = state.destination(&simulator, Object { document, warnings: Vec::new() });
        simulator.simulate(state.prepare(&simulator, destination, &mut None))
    }
}

/// The difference between the report of `validate` and the answer of a server to the request of kubectl; `None` if kubectl sends
/// no request.
fn difference(report: &ObjectReport, answer: Option<&(u16, Value)>) -> Option<String> {
    let (code, body) = answer?;
    let verdict = if *code < 300 { Verdict::Accepted } else { Verdict::Rejected };
    let message = body.str_at(&["message"]).unwrap_or_default();
    let own = report.answer.as_ref().map(|answer| (answer.code, answer.message.as_str())).unwrap_or_default();
    let is_same = report.verdict == verdict && (verdict == Verdict::Accepted || own == (*code, message));
    (!is_same).then(|| format!("serve: {code} {message}\n  validate: {:?} {own:?} {}", report.verdict, report.reason))
}

fn name(object: &Value) -> &str {
    object.str_at(&["metadata", "name"]).unwrap()
}

/// The server and the simulation of all ways to write the objects of a release.
struct Comparison {
    serve: Serve,
    ways: Vec<Validate>,
    count: usize,
    differences: Vec<String>,
}

impl Comparison {
    fn new(release: Release) -> Self {
        let ways = WAYS.map(|way| Validate::new(release, way)).into();
        Self { serve: Serve::new(release), ways, count: 0, differences: Vec::new() }
    }

    /// Compares every way to write an object. `old` is the existing object; it is stored, and read as `read_as`.
    fn write(
        &mut self,
        label: &str,
        (new, resource): (&Value, &ApiResource),
        old: Option<(&Value, &ApiResource, &ApiResource)>,
    ) {
        for validate in &self.ways {
            let way = validate.way;
            let is_missing = match way {
                Way::Scale => !resource.scale,
                Way::Status | Way::ServerSideStatus => !resource.status,
                _ => false,
            };
            // The client sends no such path.
            if is_missing || way != Way::Create && name(new) == ".." {
                continue;
            }
            let serve = &self.serve;
            let existing = old.map(|(old, stored_as, read_as)| {
                serve.store(stored_as, old);
                let path = format!("{}/{}", collection(read_as, &in_namespace(read_as, old)), name(old));
                serve.send(Method::Get, &path, "application/json", None).1
            });
            let answer = serve.write(way, resource, new, existing.is_some());
            serve.remove(resource, new);
            let report = validate.report(new, existing.as_ref());
            self.count += 1;
            if let Some(text) = difference(&report, answer.as_ref()) {
                self.differences.push(format!("{way:?} of {} {label}\n  {text}", resource.kind));
            }
        }
    }

    fn finish(self, least: usize) {
        let Self { count, differences, .. } = self;
        assert!(count > least, "{count} requests");
        assert!(differences.is_empty(), "{} of {count} differ:\n{}", differences.len(), differences.join("\n"));
    }
}

fn compare_faults(release: Release, chosen: &dyn Fn(&str) -> bool, least: usize) {
    let mut comparison = Comparison::new(release);
    for (object, resource) in objects(release) {
        for (fault, new) in faulty(&object).into_iter().filter(|(fault, _)| chosen(fault)) {
            comparison.write(&format!("with {fault}, new"), (&new, resource), None);
            if name(&new) == name(&object) {
                let old = (&object, resource, resource);
                comparison.write(&format!("with {fault}, existing"), (&new, resource), Some(old));
            }
        }
    }
    comparison.finish(least);
}

#[test]
fn validate_and_serve_agree_on_new_and_existing_objects() {
    compare_faults(Release::NEWEST, &|_| true, 6000);
}

#[test]
fn validate_and_serve_agree_on_the_oldest_release() {
    let chosen = ["valid", "managed fields", "a UID", "equal items", "an object"];
    compare_faults(Release::OLDEST, &|fault| chosen.contains(&fault), 2000);
}

#[test]
fn validate_and_serve_agree_on_existing_objects_of_other_versions() {
    for release in [Release::NEWEST, Release::OLDEST] {
        let mut comparison = Comparison::new(release);
        for [one, other] in versions(release) {
            let (of_one, of_other) = (resource(&one, release).unwrap(), resource(&other, release).unwrap());
            for (new, resource) in [(&one, of_one), (&other, of_other)] {
                for (old, stored_as) in [(&one, of_one), (&other, of_other)] {
                    for read_as in [of_one, of_other] {
                        let label = format!(
                            "in {} and {}, stored as {}, read as {}",
                            resource.group, resource.version, stored_as.version, read_as.version
                        );
                        comparison.write(&label, (new, resource), Some((old, stored_as, read_as)));
                    }
                }
            }
        }
        comparison.finish(100);
    }
}

/// Two versions of an object, which differ in what they say, too.
fn versions(release: Release) -> Vec<[Value; 2]> {
    let pairs = [
        [
            r#"{"apiVersion":"autoscaling/v1","kind":"HorizontalPodAutoscaler","metadata":{"name":"a"},"spec":{"maxReplicas":4,
            "scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"d"},"targetCPUUtilizationPercentage":40}}"#,
            r#"{"apiVersion":"autoscaling/v2","kind":"HorizontalPodAutoscaler","metadata":{"name":"a"},"spec":{"maxReplicas":3,
            "scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"d"},
            "behavior":{"scaleDown":{"stabilizationWindowSeconds":7}},
            "metrics":[{"type":"Resource","resource":{"name":"memory","target":{"type":"Utilization","averageUtilization":50}}}]}}"#,
        ],
        [
            r#"{"apiVersion":"autoscaling/v1","kind":"HorizontalPodAutoscaler","metadata":{"name":"a"},"spec":{"maxReplicas":4,
            "scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"d"}}}"#,
            r#"{"apiVersion":"autoscaling/v2","kind":"HorizontalPodAutoscaler","metadata":{"name":"a"},"spec":{"maxReplicas":2,
            "scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"d"}}}"#,
        ],
        [
            r#"{"apiVersion":"v1","kind":"Event","metadata":{"name":"a"},"involvedObject":{"kind":"Pod","name":"a",
            "namespace":"default"},"reason":"x","message":"m"}"#,
            r#"{"apiVersion":"events.k8s.io/v1","kind":"Event","metadata":{"name":"a"},"regarding":{"kind":"Pod","name":"a",
            "namespace":"default"},"reason":"x","note":"m","action":"a","type":"Normal","reportingController":"example.com/c",
            "reportingInstance":"i","eventTime":"2026-01-01T00:00:00.000000Z"}"#,
        ],
        [
            r#"{"apiVersion":"flowcontrol.apiserver.k8s.io/v1","kind":"PriorityLevelConfiguration","metadata":{"name":"a"},
            "spec":{"type":"Limited","limited":{"nominalConcurrencyShares":0,"limitResponse":{"type":"Reject"}}}}"#,
            r#"{"apiVersion":"flowcontrol.apiserver.k8s.io/v1beta3","kind":"PriorityLevelConfiguration","metadata":{"name":"a"},
            "spec":{"type":"Limited","limited":{"limitResponse":{"type":"Reject"}}}}"#,
        ],
        [
            r#"{"apiVersion":"flowcontrol.apiserver.k8s.io/v1","kind":"FlowSchema","metadata":{"name":"a"},
            "spec":{"priorityLevelConfiguration":{"name":"a"}}}"#,
            r#"{"apiVersion":"flowcontrol.apiserver.k8s.io/v1beta3","kind":"FlowSchema","metadata":{"name":"a"},
            "spec":{"priorityLevelConfiguration":{"name":"b"},"matchingPrecedence":77}}"#,
        ],
    ];
    let pairs = pairs.into_iter().map(|pair| pair.map(|text| read(text.as_bytes()).unwrap()));
    pairs.filter(|pair| pair.iter().all(|object| resource(object, release).is_some())).collect()
}
