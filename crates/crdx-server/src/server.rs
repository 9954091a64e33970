//! The simulated API server: [`Server::handle`] takes a [`Request`] and returns the [`Response`] that
//! `k8s.io/apiextensions-apiserver` of the simulated [`Release`] would send. It uses no sockets, clock, files or
//! threads; time and randomness are inputs.
//!
//! [`http`] parses requests and writes responses, [`endpoints`] chooses the verb and the resource, [`registry`] has one
//! file per verb and the store, [`strategy`] implements the differences between resources, [`admission`] is called once
//! per write, and [`controllers`] reconcile CRDs after each write of a CRD.

mod admission;
mod authorization;
mod builder;
mod controllers;
mod endpoints;
pub mod http;
mod metadata;
mod pauses;
mod project;
mod random;
mod registry;
mod scope;
mod seed;
mod snapshot;
mod strategy;

pub use self::http::body::LIMIT as BODY_LIMIT;
pub use self::http::calls::{Call, Calls, Outcome};
pub use self::http::namespace_state::NamespaceState;
pub use self::http::request::{Body, Method, Request};
pub use self::http::response::{Format, Response, ResponseBody, Trace};
pub use self::http::selector::LabelSelector;
pub use self::http::user::UserInfo;
pub use admission::{Admitted, TypedWrite};
pub use builder::ServerBuilder;
pub use registry::consistent_read::ConsistentRead;
pub use registry::etcd::{REQUEST_LIMIT as ETCD_LIMIT, TOO_LARGE as ETCD_TOO_LARGE};
pub use registry::journal::{Commit, DEFINITIONS, Journal, RestoredObject};
pub use registry::store::WatchNotifier;
pub use registry::watch::{Progress, Watch};
pub use seed::SeedError;
pub use snapshot::Snapshot;
pub use strategy::namespace::{Namespaces, SYSTEM_NAMESPACES};

use self::http::context::Context;
use self::http::page::{self, not_found_page};
use self::http::status::Refusal;
use self::http::{body, query, route};
use crate::server::endpoints::{non_resource, openapi};
use crdx_value::Value;
use crdx_value::release::Release;
pub use crdx_value::time::Timestamp;
use registry::{journal, store};
use std::collections::HashMap;
use std::sync::{Arc, RwLock};
use std::time::Duration;
use strategy::custom_resource::serving;
use strategy::definition;
use strategy::typed_resource::services::Allocations;

/// A response or a stream of events.
#[derive(Debug)]
pub enum Reply {
    /// A complete response.
    Whole(Response),
    /// A watch stream: status 200, one JSON object per line.
    Stream(Box<Watch>),
    /// The request needs the answers of webhooks: make these calls, give the outcomes to its [`Calls`] and send it again.
    /// Nothing was stored.
    Pending(Vec<Call>),
}

/// The simulated API server. It may be shared between threads: every method takes `&self`, and locks are held only
/// while looking up or committing an object.
#[derive(Debug)]
pub struct Server {
    release: Release,
    definitions: definition::Definitions,
    controllers: controllers::Queue,
    deleted_namespaces: controllers::Queue,
    serving: RwLock<HashMap<String, Arc<serving::Serving>>>,
    revision: Arc<store::Revision>,
    random: random::Random,
    published: openapi::Published,
    storage_config: Arc<journal::StorageConfig>,
    namespaces: Option<Namespaces>,
    admission: admission::Chain,
    authorizes: bool,
    /// The users of tokens, for `TokenReview`; `None` if the server has no reviews.
    reviewed_tokens: Option<HashMap<String, UserInfo>>,
    /// The service account tokens that this server issued.
    issued: endpoints::actions::Issued,
    tracks_fields: bool,
    validates_content: bool,
    /// The addresses and ports of Services, if fields of new objects are generated.
    allocations: Option<Arc<Allocations>>,
    pause_before_removal: Duration,
}

impl Server {
    /// Creates an empty server for a release, with default options. UIDs and generated names depend only on `seed`;
    /// callers should pass a random seed.
    pub fn new(release: Release, seed: u64) -> Self {
        Self::builder(release, seed).build()
    }

    /// Returns the default options of a server, for [`ServerBuilder::build`].
    pub fn builder(release: Release, seed: u64) -> ServerBuilder {
        ServerBuilder::new(release, seed)
    }

    /// Creates a server without namespaces, policies and built-in kinds.
    fn empty(options: ServerBuilder) -> Self {
        let storage_config = Arc::new(journal::StorageConfig::new(options.compresses, options.notifier));
        let revision = Arc::new(store::Revision::default());
        Self {
            release: options.release,
            definitions: definition::Definitions::new(&storage_config, revision.current()),
            controllers: controllers::Queue::default(),
            deleted_namespaces: controllers::Queue::default(),
            serving: RwLock::default(),
            revision,
            random: random::Random::new(options.seed),
            published: openapi::Published::default(),
            storage_config,
            namespaces: None,
            admission: admission::Chain::new(options.user),
            authorizes: options.authorizes,
            reviewed_tokens: options.reviewed_tokens,
            issued: endpoints::actions::Issued::new(options.token_issuer),
            tracks_fields: options.tracks_fields,
            validates_content: options.validates_content,
            allocations: options.generates_fields.then(Arc::default),
            pause_before_removal: options.pause_before_removal,
        }
    }

    /// The simulated release.
    pub fn release(&self) -> Release {
        self.release
    }

    /// Handles one request. Values may nest deeply and are processed recursively, so the calling thread needs a large
    /// stack (64 MiB or more for the deepest values). A watch returns the events so far. The controllers have run when
    /// this method returns, so a newly created CRD is already served.
    pub fn handle(&self, request: &Request) -> Response {
        self.whole(request, None)
    }

    /// Like [`Server::handle`], but consumes the request so that a created object is not copied.
    pub fn take(&self, mut request: Request) -> Response {
        let object = if request.method == Method::Post { body::take(&mut request.body) } else { None };
        self.whole(&request, object)
    }

    /// Like [`Server::handle`], but a watch continues as a stream, and the controllers do not run: after a write of a
    /// CRD the caller must call [`Server::run_controllers`].
    pub fn reply(&self, request: &Request) -> Reply {
        self.answer(request, None, &Calls::default())
    }

    /// Handles one request as [`Server::reply`] does, with the webhooks that it needs. A watch may need calls
    /// later ([`Watch::poll`]).
    pub fn reply_with(&self, request: &Request, calls: &Calls) -> Reply {
        calls.restart();
        let reply = self.answer(request, None, calls);
        let waiting = calls.take_pending();
        if waiting.is_empty() { reply } else { Reply::Pending(waiting) }
    }

    /// Creates the calls of a new request, with webhooks enabled.
    pub fn calls(&self) -> Calls {
        Calls::enabled(self.random.number())
    }

    fn whole(&self, request: &Request, object: Option<Value>) -> Response {
        match self.answer(request, object, &Calls::default()) {
            Reply::Whole(response) => {
                self.run_controllers(request.now);
                response
            }
            Reply::Stream(mut watch) => {
                let events = std::iter::from_fn(|| watch.next_now(request.now));
                let text = events.map(|event| String::from_utf8_lossy(&event).into_owned()).collect();
                let mut response = page::text(200, text, "application/json");
                response.warnings = watch.warnings().to_vec();
                response
            }
            // Without calls nothing is pending.
            Reply::Pending(_) => page::text(500, Refusal::waiting().message, "text/plain"),
        }
    }

    fn answer(&self, request: &Request, object: Option<Value>, calls: &Calls) -> Reply {
        let (path, query) = request.path.split_once('?').unwrap_or((&request.path, ""));
        let query = query::Query::parse(query);
        let route = route::route(request.method, path, &query);
        if self.authorizes
            && let Some(refusal) = authorization::refuse_anonymous(request, &route)
        {
            return Reply::Whole(Context::new(self, request, query, route::Target::default()).refuse(&refusal));
        }
        Reply::Whole(match route {
            route::Route::Resource(target) if target.group.is_empty() && self.namespaces.is_none() => {
                non_resource::index(404, self.release())
            }
            route::Route::Resource(target) => {
                let mut ctx = Context::new(self, request, query, target);
                ctx.object = object;
                ctx.calls = calls.clone();
                return endpoints::handle(ctx);
            }
            route::Route::Other(parts) => {
                non_resource::handle(Context::new(self, request, query, route::Target::default()), &parts)
            }
            route::Route::Malformed => not_found_page(),
            // Go's HTTP server rejects such a request before any handler runs.
            route::Route::Undecodable => page::text(400, "400 Bad Request".to_owned(), "text/plain; charset=utf-8"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_value::object;

    const CRDS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    const FOOS: &str = "/apis/example.com/v1/namespaces/ns/foos";

    fn send(server: &Server, method: Method, path: &str, body: &str) -> Response {
        server.handle(&Request::new(method, path, body))
    }

    fn value(response: &Response) -> &Value {
        match &response.body {
            ResponseBody::Json(value) => value,
            ResponseBody::Text(text) => panic!("{text}"),
        }
    }

    fn with_foos() -> Server {
        let server = Server::new(Release::NEWEST, 1);
        let crd = r#"{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"foos.example.com"},
            "spec":{"group":"example.com","scope":"Namespaced","names":{"plural":"foos","kind":"Foo"},"versions":[
            {"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{
            "spec":{"type":"object","properties":{"n":{"type":"integer","default":3}}}}}}}]}}"#;
        assert_eq!(send(&server, Method::Post, CRDS, crd).code, 201);
        server
    }

    /// Answers of real servers of these releases.
    #[test]
    fn unusual_requests_are_answered_as_by_the_release() {
        let grace = r#"{"kind":"DeleteOptions","apiVersion":"v1","gracePeriodSeconds":"x"}"#;
        let webhook = |client: &str| {
            format!(
                r#"{{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{{"name":"foos.example.com"}},
                "spec":{{"group":"example.com","scope":"Namespaced","names":{{"plural":"foos","kind":"Foo"}},"conversion":{{"strategy":"Webhook",
                "webhook":{{"conversionReviewVersions":["v1"],"clientConfig":{client}}}}},"versions":[{{"name":"v1","served":true,"storage":true,
                "schema":{{"openAPIV3Schema":{{"type":"object"}}}}}}]}}}}"#
            )
        };
        let service = webhook(r#"{"service":{"name":"a"}}"#);
        let initial =
            "?watch=1&timeoutSeconds=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&resourceVersion=x";
        let (get, post, delete) = (Method::Get, Method::Post, Method::Delete);
        for (release, method, path, body, code, message) in [
            ("1.31", get, "?resourceVersion=x", "", 500, "resourceVersion: Invalid value"),
            (
                "1.31",
                get,
                "?resourceVersion=x&limit=1",
                "",
                400,
                "invalid resource version: resourceVersion: Invalid value",
            ),
            ("1.34", get, "?resourceVersion=x", "", 400, "invalid resource version: resourceVersion: Invalid value"),
            ("1.37", get, "?resourceVersion=x&continue=abc", "", 400, "invalid continue token: "),
            (
                "1.31",
                get,
                initial,
                "",
                422,
                "sendInitialEvents: Forbidden: sendInitialEvents is forbidden for watch unless",
            ),
            ("1.34", get, initial, "", 500, "resourceVersion: Invalid value"),
            (
                "1.34",
                delete,
                "/a",
                grace,
                500,
                "json: cannot unmarshal string into Go struct field DeleteOptions.grace",
            ),
            (
                "1.37",
                delete,
                "/a",
                grace,
                400,
                "json: cannot unmarshal string into Go struct field DeleteOptions.grace",
            ),
            ("1.31", post, "", &service, 422, "service.name: Required value: service name is required"),
        ] {
            let server = Server::new(release.parse().unwrap(), 1);
            let answer = send(&server, method, &format!("{CRDS}{path}"), body);
            let text = answer.body.message();
            assert!(answer.code == code && text.contains(message), "{release} {path}: {} {text}", answer.code);
        }
    }

    const FOO: &str = r#"{"apiVersion":"example.com/v1","kind":"Foo","metadata":{"name":"a"},"spec":{"x":1}}"#;

    #[test]
    fn an_object_is_pruned_defaulted_stored_and_deleted() {
        let server = with_foos();
        let created = send(&server, Method::Post, FOOS, FOO);
        assert_eq!((created.code, created.warnings.as_slice()), (201, &["unknown field \"spec.x\"".to_owned()][..]));
        assert_eq!(created.trace.pruned, ["spec.x"]);
        assert_eq!(created.trace.defaulted.first().map(|d| d.path.as_str()), Some("spec.n"));
        assert_eq!(value(&created).at(&["spec"]), Some(&object([("n", Value::Int(3))])));
        let path = format!("{FOOS}/a");
        assert_eq!(value(&send(&server, Method::Get, &path, "")), value(&created));
        let refused = send(&server, Method::Patch, &path, r#"{"spec":{"n":"x"}}"#);
        assert_eq!((refused.code, refused.trace.errors.len()), (422, 1));
        assert_eq!(send(&server, Method::Delete, &path, "").code, 200);
        assert_eq!(send(&server, Method::Get, &path, "").code, 404);
    }

    #[test]
    fn the_trace_of_a_rejection_has_the_reason() {
        let server = with_foos();
        let post = |path: &str, body: &str| send(&server, Method::Post, path, body).trace;
        let strict = format!("{FOOS}?fieldValidation=Strict");
        assert!(post(&strict, FOO).failed_strict_decoding);
        assert!(!post(&strict, &FOO.replace("example.com/v1", "")).failed_strict_decoding, "another error is reported");
        let wrong_owner = FOO.replace(r#""name":"a""#, r#""name":"a","ownerReferences":[{"uid":1}]"#);
        assert_eq!(post(FOOS, &wrong_owner).undecodable_field.as_deref(), Some("metadata.ownerReferences[0].uid"));
        let crd = r#"{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","spec":{"versions":[{"served":1}]}}"#;
        assert_eq!(post(CRDS, crd).undecodable_field.as_deref(), Some("spec.versions[0].served"));
    }

    #[test]
    fn rules_that_need_too_many_steps_are_not_finished() {
        let twins = "[[1]]".to_owned() + &".map(v, [v, v])".repeat(26);
        let crd = |default: &str| {
            format!(
                r#"{{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{{"name":"foos.example.com"}},
                "spec":{{"group":"example.com","scope":"Namespaced","names":{{"plural":"foos","kind":"Foo"}},"versions":[
                {{"name":"v1","served":true,"storage":true,"schema":{{"openAPIV3Schema":{{"type":"object","properties":{{
                "spec":{{"type":"object","x-kubernetes-preserve-unknown-fields":true,{default}
                "x-kubernetes-validations":[{{"rule":"{twins}.all(z, z == z)"}}]}}}}}}}}}}]}}}}"#
            )
        };
        let server = Server::new(Release::NEWEST, 1);
        // The rules of a default are evaluated when the CRD is created.
        let refused = send(&server, Method::Post, CRDS, &crd(r#""default":{},"#));
        assert_eq!((refused.code, refused.trace.is_unfinished), (504, true));
        assert_eq!(send(&server, Method::Post, CRDS, &crd("")).code, 201);
        let refused = send(&server, Method::Post, FOOS, FOO);
        assert_eq!((refused.code, refused.trace.is_unfinished), (504, true));
        assert_eq!(
            refused.body.message(),
            "Timeout: request did not complete within requested timeout - context deadline exceeded"
        );
        assert_eq!(send(&server, Method::Get, &format!("{FOOS}/a"), "").code, 404);
    }

    /// The answers of the real servers 1.31 and 1.37.
    #[test]
    fn a_dry_run_that_takes_the_last_finalizer_away_answers_with_an_empty_object() {
        let server = with_foos();
        let with_finalizer = FOO.replace(r#""name":"a""#, r#""name":"a","finalizers":["foregroundDeletion"]"#);
        assert_eq!(send(&server, Method::Post, FOOS, &with_finalizer).code, 201);
        let path = format!("{FOOS}/a");
        let delete = |options: &str| {
            let body = format!(r#"{{"apiVersion":"v1","kind":"DeleteOptions",{options}}}"#);
            send(&server, Method::Delete, &path, &body)
        };
        let empty = object([("apiVersion", "example.com/v1"), ("kind", "Foo")]);
        for _ in 0..2 {
            for options in [r#""propagationPolicy":"Background""#, r#""orphanDependents":false"#] {
                let dry = delete(&format!(r#"{options},"dryRun":["All"]"#));
                assert_eq!((dry.code, value(&dry)), (200, &empty), "{options}");
            }
            assert_eq!(delete(r#""propagationPolicy":"Foreground""#).code, 200);
        }
        let deleted = delete(r#""propagationPolicy":"Background""#);
        assert_eq!(value(&deleted).str_at(&["status"]), Some("Success"));
        assert_eq!(send(&server, Method::Get, &path, "").code, 404);
    }

    #[test]
    fn deleting_a_crd_deletes_its_objects() {
        let server = with_foos();
        send(&server, Method::Post, FOOS, FOO);
        let with_finalizer = FOO.replace(r#""name":"a""#, r#""name":"b","finalizers":["x.y/z"]"#);
        assert_eq!(send(&server, Method::Post, FOOS, &with_finalizer).code, 201);
        let crd = format!("{CRDS}/foos.example.com");
        assert_eq!(send(&server, Method::Delete, &crd, "").code, 200);
        assert_eq!(send(&server, Method::Get, &format!("{FOOS}/a"), "").code, 404);
        assert_eq!(send(&server, Method::Post, FOOS, FOO).code, 403);
        assert_eq!(send(&server, Method::Get, &crd, "").code, 200);
        send(&server, Method::Patch, &format!("{FOOS}/b"), r#"{"metadata":{"finalizers":null}}"#);
        assert_eq!(send(&server, Method::Get, &crd, "").code, 404);
        assert_eq!(send(&server, Method::Get, FOOS, "").body, ResponseBody::Text("404 page not found\n".to_owned()));
    }

    #[test]
    fn threads_do_not_lose_updates() {
        let server = with_foos();
        send(&server, Method::Post, FOOS, FOO);
        let path = format!("{FOOS}/a");
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let (server, path) = (&server, &path);
                scope.spawn(move || {
                    for i in 0..25 {
                        let patch = format!(r#"{{"metadata":{{"labels":{{"l{thread}-{i}":"x"}}}}}}"#);
                        assert_eq!(send(server, Method::Patch, path, &patch).code, 200);
                    }
                });
            }
        });
        let labels = send(&server, Method::Get, &path, "");
        assert_eq!(
            value(&labels).at(&["metadata", "labels"]).and_then(Value::as_object).map(std::collections::BTreeMap::len),
            Some(100)
        );
    }
}
