//! The simulated API server: [`Server::handle`] takes a [`Request`] and returns the [`Response`] that
//! `k8s.io/apiextensions-apiserver` of the simulated [`Release`] would send. It uses no sockets, clock, files or
//! threads; time and randomness are inputs.
//!
//! The parts are listed below by layer, with a blank line between layers; each imports only parts of the layers above its
//! own in this list (`tests/project/architecture.rs`):
//!
//! - [`scope`], [`metadata`], [`random`] and [`digest`]: the names of resources and kinds, the metadata of objects, UIDs, hashes;
//! - [`http`] parses requests and writes responses;
//! - [`admission`]: the chain of plugins that every write passes;
//! - [`registry`] has one file per verb, and the store;
//! - [`strategy`] implements the differences between resources, and knows which ones are served;
//! - [`controllers`] reconcile CRDs and namespaces after writes;
//! - [`plugins`]: policies, webhooks and the life cycle of namespaces;
//! - [`endpoints`] choose the verb and the strategy for a request, and answer discovery and OpenAPI requests;
//! - this module, which composes them, with what callers in the same process may do besides sending requests.

mod digest;
mod metadata;
mod random;
mod runtime_config;
mod scope;

pub mod http;

mod admission;

mod registry;

mod strategy;

mod controllers;

mod plugins;

mod endpoints;

mod builder;
mod initial_objects;
mod pauses;
mod render;
mod restore;
mod seed;
mod server_settings;
mod snapshot;

pub use self::http::body::LIMIT as BODY_LIMIT;
pub use self::http::calls::{Call, CallOutcome, Calls};
pub use self::http::paused::Paused;
pub use self::http::request::{Body, Method, Request};
pub use self::http::response::{ClusterNeeds, Format, Response, ResponseBody, Trace};
pub use self::http::selector::{LabelSelector, label_selector_of};
pub use self::http::status::Refusal;
pub use self::http::table::{CREATED as CREATED_COLUMN, NAME as NAME_COLUMN, PrinterColumn};
pub use self::http::user::UserInfo;
pub use admission::{Mutation, Operation};
pub use builder::ServerBuilder;
pub use plugins::{AdmissionConfiguration, AdmissionPlugin, AdmissionPlugins, AdmissionRequest, KindPlugin};
pub use plugins::{PluginFlagError, PluginServers, StaticOrderError, UnsimulatedPlugin, plugin_flags};
pub use registry::consistent_read::ConsistentRead;
pub use registry::etcd::{REQUEST_LIMIT as ETCD_LIMIT, TOO_LARGE as ETCD_TOO_LARGE};
pub use registry::journal::{Commit, DEFINITIONS, Journal, RestoredObject};
pub use registry::store::WatchNotifier;
pub use registry::watch::{Progress, Watch};
pub use runtime_config::{RuntimeConfig, RuntimeConfigError};
pub use seed::{ReadForm, SeedError, StoredForm};
pub use server_settings::{ServerSettings, SettingsError};
pub use snapshot::Snapshot;
pub use strategy::built_in_kind::BuiltInKind;
pub use strategy::built_in_kind::behaviour::{self, Behaviour, FieldLabel, GenerationRule, InitialStatus};
pub use strategy::built_in_kind::kind_strategy::{
    AllocationError, AllocationRequest, Allocator, BuiltInKinds, ClusterFields, ContentValidation, Conversion,
    ConversionUse, ConvertedKind, EachObject, KindRequest, KindStrategy, KnownInputs,
};
pub use strategy::namespace::SYSTEM_NAMESPACES;
pub use strategy::namespace_rule::Namespaces;
pub use strategy::subresource::Subresource;

use self::http::context::Context;
use self::http::page::{self, not_found_page};
use self::http::route::{RequestInfo, Route};
use self::http::{authorization, body, query, route};
use controllers::Controllers;
use crdx_value::Value;
use crdx_value::release::Release;
pub use crdx_value::time::Timestamp;
use endpoints::Endpoints;
pub use endpoints::reply::Reply;
use std::sync::Arc;
use strategy::resources::Resources;

/// The simulated API server. It may be shared between threads: every method takes `&self`, and locks are held only
/// while looking up or committing an object.
#[derive(Debug)]
pub struct Server {
    endpoints: Endpoints,
    /// True if requests of `system:anonymous` are refused.
    authorizes: bool,
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

    fn resources(&self) -> &Arc<Resources> {
        &self.endpoints.backend.resources
    }

    /// The simulated release.
    pub fn release(&self) -> Release {
        self.resources().settings.release
    }

    /// Continues with the UIDs and generated names of another seed.
    pub fn reseed(&self, seed: u64) {
        self.resources().settings.random.reset(seed);
    }

    /// Returns true if writes of the status of a built-in kind are validated.
    pub fn validates_status(&self, group: &str, kind: &str) -> bool {
        self.resources().validates_content && self.resources().kinds.content.covers_status(group, kind)
    }

    /// Handles one request. Values may nest deeply and are processed recursively, so the calling thread needs a large
    /// stack (64 MiB or more for the deepest values). A watch returns the events so far. The controllers have run when
    /// this method returns, so a newly created CRD is already served.
    pub fn handle(&self, request: &Request) -> Response {
        self.handle_completely(request, None)
    }

    /// Like [`Server::handle`], but consumes the request so that a created object is not copied.
    pub fn handle_owned(&self, mut request: Request) -> Response {
        let object = if request.method == Method::Post { body::take(&mut request.body, self.release()) } else { None };
        self.handle_completely(&request, object)
    }

    /// Like [`Server::handle`], but a watch continues as a stream, and the controllers do not run: after a write of a
    /// CRD the caller must call [`Server::run_controllers`].
    pub fn reply(&self, request: &Request) -> Reply {
        self.answer(request, None, &Calls::default(), None)
    }

    /// Handles one request as [`Server::reply`] does, with the webhooks that it needs. A watch may need calls
    /// later ([`Watch::poll`]).
    pub fn reply_with(&self, request: &Request, calls: &Calls) -> Reply {
        self.attempt(request, calls, None)
    }

    /// Continues a request after [`Reply::Paused`], once the caller has waited; `request` and `calls` are those of the
    /// paused attempt.
    pub fn resume(&self, request: &Request, calls: &Calls, paused: Box<Paused>) -> Reply {
        self.attempt(request, calls, Some(paused))
    }

    fn attempt(&self, request: &Request, calls: &Calls, paused: Option<Box<Paused>>) -> Reply {
        calls.restart();
        let reply = self.answer(request, None, calls, paused);
        let waiting = calls.take_pending();
        if waiting.is_empty() { reply } else { Reply::Pending(waiting) }
    }

    /// Creates the calls of a new request, with webhooks enabled.
    pub fn calls(&self) -> Calls {
        Calls::enabled(self.resources().settings.random.number())
    }

    /// The user whose service account token this is, if it is a token that this server issued and that is still valid.
    pub fn user_of_token(&self, token: &str, now: Timestamp) -> Option<UserInfo> {
        self.endpoints.user_of_token(token, now)
    }

    /// Returns true if a controller has work.
    pub fn has_work_for_controllers(&self) -> bool {
        Controllers::new(self.resources()).have_work()
    }

    /// Runs the controllers until their queues are empty: names are accepted, CRDs are established and served, and for a
    /// deleted CRD first its objects, then the CRD itself are removed; likewise for a deleted namespace.
    pub fn run_controllers(&self, now: Timestamp) {
        Controllers::new(self.resources()).run(now);
    }

    /// Like [`Server::run_controllers`], but leaves deleted namespaces in their queue.
    pub fn run_definition_controllers(&self, now: Timestamp) {
        Controllers::new(self.resources()).run_for_definitions(now);
    }

    /// Removes the deleted namespaces from their queue.
    pub fn take_deleted_namespaces(&self) -> Vec<String> {
        self.resources().deleted_namespaces.take()
    }

    /// Finalizes namespaces that are being deleted, then runs the controllers of CRDs.
    pub fn finalize_namespaces(&self, names: &[String], now: Timestamp) {
        Controllers::new(self.resources()).finalize_namespaces(names, now);
    }

    fn handle_completely(&self, request: &Request, object: Option<Value>) -> Response {
        let calls = Calls::default();
        let mut reply = self.answer(request, object, &calls, None);
        // No other thread sees the state in between, so there is nothing to wait for.
        while let Reply::Paused(paused) = reply {
            reply = self.answer(request, None, &calls, Some(paused));
        }
        match reply {
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
            Reply::Pending(_) | Reply::Paused(_) => page::text(500, Refusal::waiting().message, "text/plain"),
        }
    }

    fn answer(&self, request: &Request, object: Option<Value>, calls: &Calls, paused: Option<Box<Paused>>) -> Reply {
        let (path, query) = request.path.split_once('?').unwrap_or((&request.path, ""));
        let query = query::Query::parse(query);
        let route = route::route(request.method, path, &query);
        let resources = self.resources();
        let context = |query, target| Context::new(&resources.settings, request, query, target);
        if self.authorizes
            && let Some(refusal) = authorization::refuse_anonymous(request, &route)
        {
            return Reply::Whole(context(query, RequestInfo::default()).refuse(refusal));
        }
        Reply::Whole(match route {
            Route::Resource(target) if target.group.is_empty() && resources.namespaces.is_none() => {
                self.endpoints.without_core_group()
            }
            Route::Resource(target) => {
                let mut ctx = context(query, target);
                ctx.object = object;
                ctx.calls = calls.clone();
                if let Some(paused) = paused {
                    ctx.resume(paused);
                }
                return self.endpoints.handle(ctx);
            }
            Route::Other(parts) => self.endpoints.handle_non_resource(context(query, RequestInfo::default()), &parts),
            Route::Malformed => not_found_page(),
            // Go's HTTP server rejects such a request before any handler runs.
            Route::Undecodable => page::text(400, "400 Bad Request".to_owned(), "text/plain; charset=utf-8"),
        })
    }
}

#[cfg(test)]
mod fixture;

#[cfg(test)]
mod tests {
    use super::fixture::{CRDS, FOOS, crd, install, send, v1};
    use super::*;
    use crdx_value::object;

    fn value(response: &Response) -> &Value {
        match &response.body {
            ResponseBody::Json(value) => value,
            ResponseBody::Text(text) => panic!("{text}"),
        }
    }

    fn with_foos() -> Server {
        let server = Server::new(Release::NEWEST, 1);
        let schema = r#"{"type":"object","properties":{"spec":{"type":"object","properties":{"n":{"type":"integer","default":3}}}}}"#;
        install(&server, &crd("foos.example.com", &v1(schema, "")));
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
            ("1.37", get, "/a?resourceVersion=x", "", 500, "resourceVersion: Invalid value"),
            (
                "1.38",
                get,
                "/a?resourceVersion=x",
                "",
                422,
                "customresourcedefinitions.apiextensions.k8s.io \"a\" is invalid: resourceVersion: Invalid",
            ),
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
    fn the_trace_has_fields_that_the_storage_version_drops() {
        let schema = |fields: &str| {
            format!(
                r#""schema":{{"openAPIV3Schema":{{"type":"object","properties":{{"spec":{{"type":"object","properties":{{{fields}}}}}}}}}}}"#
            )
        };
        let (old, new) = (
            schema(r#""n":{"type":"integer"}"#),
            schema(r#""n":{"type":"integer"},"x":{"type":"integer"},"d":{"type":"integer","default":1}"#),
        );
        let crd = |conversion: &str| {
            format!(
                r#"{{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{{"name":"foos.example.com"}},
                "spec":{{"group":"example.com","scope":"Namespaced","names":{{"plural":"foos","kind":"Foo"}},{conversion}"versions":[
                {{"name":"v1","served":true,"storage":true,{old}}},{{"name":"v2","served":true,"storage":false,{new}}}]}}}}"#
            )
        };
        let not_stored = |conversion: &str, query: &str| {
            let server = Server::new(Release::NEWEST, 1);
            assert_eq!(send(&server, Method::Post, CRDS, &crd(conversion)).code, 201);
            let path = format!("{}{query}", FOOS.replace("/v1/", "/v2/"));
            let created = send(&server, Method::Post, &path, &FOO.replace("example.com/v1", "example.com/v2"));
            assert_eq!((created.code, created.trace.pruned.len()), (201, 0));
            created.trace.not_stored
        };
        // The default of `d` sets the field again.
        assert_eq!(not_stored("", ""), ["spec.x"]);
        assert_eq!(not_stored("", "?dryRun=All"), ["spec.x"]);
        let webhook = r#""conversion":{"strategy":"Webhook","webhook":{"conversionReviewVersions":["v1"],"clientConfig":{"url":"https://example.com"}}},"#;
        assert_eq!(not_stored(webhook, ""), [""; 0], "the webhook may keep the field in another place");
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
            value(&labels).at(&["metadata", "labels"]).and_then(Value::as_object).map(crdx_value::Map::len),
            Some(100)
        );
    }
}
