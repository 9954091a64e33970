//! The CRDs of a run. Each CRD is created in the server once; its source location is kept for messages.

#[cfg(feature = "simulator")]
mod lookup;

use crate::kubectl::request::{self, RequestOptions};
use crate::kubectl::send::{self, ObjectTarget};
use crate::kubectl::{RequestKind, UnsentError, Verb};
use crate::report::SourceLocation;
use crdx_server::server::{Request, Response, ResponseBody, Server, Timestamp};
use crdx_value::field::{ErrorType, FieldError};
use crdx_value::release::Release;
use crdx_value::{Map, Value, json};
use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;

/// The resource that serves a kind.
#[derive(Clone, Debug)]
pub struct Route {
    /// The plural name.
    pub plural: String,
    /// True if the objects are namespaced.
    pub namespaced: bool,
    /// The served versions.
    pub versions: Vec<String>,
    /// The storage version.
    pub storage: String,
    /// True if a webhook converts between versions.
    pub converts_by_webhook: bool,
    /// The stored CRD.
    pub definition: Arc<Value>,
    /// The server that stores it, if it is not the one of the run.
    pub server: Option<Arc<Server>>,
}

/// The time since when an object is being deleted, in its metadata.
pub const DELETION: &str = "deletionTimestamp";

/// The request for a CRD that is assumed to exist in the cluster.
const CREATE: RequestKind = RequestKind { verb: Verb::Create, subresource: None, force: false, manager: None };

/// The length of the JSON of a CRD whose annotations are certainly not too long (256 KiB), even with the copy that kubectl
/// apply adds.
const LONGEST_SENT_ONCE: usize = 100 << 10;

/// The result of creating a CRD.
#[derive(Debug)]
pub enum Installed {
    /// The server's response; 201 means that the CRD is now served.
    Answered(Box<Response>),
    /// kubectl sends no request.
    Unsent(UnsentError),
    /// An equal CRD was already given at this location.
    Same(SourceLocation),
    /// A different CRD with this name was already given at this location.
    Conflict(SourceLocation),
}

/// The difference between a CRD and an earlier one of the same name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Difference {
    /// In nothing.
    None,
    /// In its metadata only, so that it defines the same.
    Metadata,
    Definition,
}

/// A CRD as it was given.
#[derive(Clone, Debug)]
struct GivenDefinition {
    location: SourceLocation,
    /// The hash of its `spec`.
    spec: u64,
    /// The hash of all of it.
    whole: u64,
}

/// The CRDs of a run so far.
#[derive(Clone, Debug, Default)]
pub struct Definitions {
    /// By CRD name.
    given: BTreeMap<String, GivenDefinition>,
    /// By CRD name: the location and the hash of the last CRD that the server refused.
    refused: BTreeMap<String, (SourceLocation, u64)>,
    hasher: RandomState,
    /// By group, then kind.
    routes: HashMap<String, HashMap<String, Arc<Route>>>,
    /// The server that stores them, if it is not the one of the run.
    server: Option<Arc<Server>>,
}

impl Definitions {
    /// Returns the resource of a kind; `None` if no CRD defines it.
    pub fn route(&self, group: &str, kind: &str) -> Option<&Arc<Route>> {
        self.routes.get(group)?.get(kind)
    }

    /// Returns true if a CRD of `group` serves `version`.
    pub fn has_version(&self, group: &str, version: &str) -> bool {
        let mut routes = self.routes.get(group).into_iter().flat_map(HashMap::values);
        routes.any(|route| route.versions.iter().any(|served| served == version))
    }

    /// Returns the source location of the CRD with this name.
    pub fn location(&self, name: &str) -> Option<&SourceLocation> {
        self.given.get(name).map(|given| &given.location)
    }

    /// Returns the stored CRDs, in no order.
    pub fn stored(&self) -> impl Iterator<Item = &Arc<Value>> {
        self.routes.values().flat_map(HashMap::values).map(|route| &route.definition)
    }

    /// Returns the kinds of a group, sorted; empty if no CRD of the group is known.
    pub fn kinds(&self, group: &str) -> Vec<&str> {
        let mut kinds: Vec<&str> =
            self.routes.get(group).into_iter().flat_map(HashMap::keys).map(String::as_str).collect();
        kinds.sort_unstable();
        kinds
    }

    /// Compares a CRD with the one of the same name that was given before; `None` if there was none.
    pub(super) fn difference(&self, server: &Server, crd: &Value, options: RequestOptions) -> Option<Difference> {
        let name = crd.str_at(&["metadata", "name"]).unwrap_or_default();
        let earlier = self.given.get(name)?;
        let (spec, whole) = self.hashes(crd);
        if earlier.whole == whole {
            return Some(Difference::None);
        }
        let stored = |crd: Value| stored_spec(server.release(), crd, options);
        let first = || server.stored_definition(name).and_then(|first| first.get("spec").cloned()).unwrap_or_default();
        let is_same = earlier.spec == spec || stored(crd.clone()) == stored(with_spec(crd, first()));
        Some(if is_same { Difference::Metadata } else { Difference::Definition })
    }

    /// Returns the hash of the `spec` of a CRD, and that of all of it.
    fn hashes(&self, crd: &Value) -> (u64, u64) {
        let spec = self.hasher.hash_one(crd.get("spec").unwrap_or(&Value::Null));
        let others = crd.as_object().into_iter().flatten().filter(|(key, _)| *key != "spec");
        (spec, self.hasher.hash_one((spec, others.collect::<Vec<_>>())))
    }

    /// Sends `crd` to `server` as kubectl would with `request_kind`, unless it exists, and creates it for the objects that
    /// follow. Without a request kind, the CRD is assumed to exist in the cluster, so no policy is evaluated, and it may be
    /// terminating.
    pub fn install(
        &mut self,
        server: &Server,
        mut crd: Value,
        location: &SourceLocation,
        request_kind: Option<&RequestKind>,
        request_options: RequestOptions,
    ) -> Installed {
        // The annotation of kubectl apply has what the cluster wrote into the input, too.
        if request_kind.is_none() {
            request::remove_cluster_state(&mut crd);
        }
        let deleted = crd.str_at(&["metadata", DELETION]).map(str::to_owned);
        let name = crd.str_at(&["metadata", "name"]).unwrap_or_default().to_owned();
        if let Some(difference) = self.difference(server, &crd, request_options)
            && let Some(first) = self.location(&name).cloned()
        {
            let is_same = difference != Difference::Definition;
            return if is_same { Installed::Same(first) } else { Installed::Conflict(first) };
        }
        let (spec, whole) = self.hashes(&crd);
        if let Some((first, refused)) = self.refused.get(&name)
            && *refused == whole
        {
            return Installed::Same(first.clone());
        }
        let target = ObjectTarget::definition(&name);
        let kind = request_kind.unwrap_or(&CREATE);
        // Only a long CRD, or one for another request than a create, may have to be sent again.
        let may_be_sent_again =
            !kind.operation(!name.is_empty(), false).is_create() || json::is_longer_than(&crd, LONGEST_SENT_ONCE);
        let copy = may_be_sent_again.then(|| crd.clone());
        let handle = |mut request: Request| {
            request.skips_admission = request_kind.is_none();
            server.handle_owned(request)
        };
        let answer = send::for_absent(server, target, crd, kind, request_options).map(handle);
        // The CRD of a request that only updates exists in a cluster; one whose only fault is the annotation of kubectl apply
        // can be created by other requests.
        let defines =
            answer.as_ref().map_or(true, |response| response.code == 404 || has_long_annotations_only(response));
        let again = copy.filter(|_| defines).map(|crd| handle(send::create(target, crd, &CREATE, request_options)));
        if again.as_ref().or(answer.as_ref().ok()).is_some_and(|response| response.code == 201) {
            if let Some(time) = deleted.filter(|_| request_kind.is_none()) {
                set_deleting(server, &name, &time, request_options.now);
            }
            self.given.insert(name.clone(), GivenDefinition { location: location.clone(), spec, whole });
            self.record_kind(&server.stored_definition(&name).unwrap_or_default());
        } else {
            self.refused.insert(name, (location.clone(), whole));
        }
        answer.map_or_else(Installed::Unsent, |response| Installed::Answered(Box::new(response)))
    }

    /// Records the kind that a stored CRD serves.
    fn record_kind(&mut self, stored: &Arc<Value>) {
        let text = |path: &[&str]| stored.str_at(path).unwrap_or_default().to_owned();
        let versions = stored.at(&["spec", "versions"]).and_then(Value::as_array).unwrap_or_default();
        let served = versions.iter().filter(|v| v.get("served").and_then(Value::as_bool) == Some(true));
        let name = |version: &Value| version.str_at(&["name"]).unwrap_or_default().to_owned();
        let stored_in = versions.iter().find(|v| v.get("storage").and_then(Value::as_bool) == Some(true));
        let route = Route {
            plural: text(&["spec", "names", "plural"]),
            namespaced: stored.str_at(&["spec", "scope"]) == Some("Namespaced"),
            versions: served.map(name).collect(),
            storage: stored_in.map(name).unwrap_or_default(),
            converts_by_webhook: stored.str_at(&["spec", "conversion", "strategy"]) == Some("Webhook"),
            definition: Arc::clone(stored),
            server: self.server.clone(),
        };
        let kinds = self.routes.entry(text(&["spec", "group"])).or_default();
        kinds.insert(text(&["spec", "names", "kind"]), Arc::new(route));
    }
}

/// Marks a stored CRD as being deleted since `time`, so that its objects cannot be created. Its finalizers are left out, because
/// objects that are not known here delay its removal.
pub(crate) fn set_deleting(server: &Server, name: &str, time: &str, now: Timestamp) {
    let Some(stored) = server.stored_definition(name) else { return };
    let mut crd = Value::clone(&stored);
    if let Some(metadata) = crd.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.insert(DELETION.to_owned(), time.into());
        metadata.remove("finalizers");
    }
    // The server has stored the CRD before.
    let _ = server.seed_definition(&crd, now);
}

/// Returns true if the only error of a response is that there are too many bytes of annotations.
fn has_long_annotations_only(response: &Response) -> bool {
    let errors = &response.trace.errors;
    let is_long = |error: &FieldError| error.kind == ErrorType::TooLong && error.field == "metadata.annotations";
    !errors.is_empty() && errors.iter().all(is_long)
}

/// Returns a copy of `crd` with another spec.
fn with_spec(crd: &Value, spec: Value) -> Value {
    let mut other = crd.as_object().cloned().unwrap_or_else(Map::new);
    other.insert("spec".to_owned(), spec);
    Value::Object(other)
}

/// Returns the spec with defaults, as a separate server would store it; `None` if that server refuses it.
fn stored_spec(release: Release, crd: Value, request_options: RequestOptions) -> Option<Value> {
    let response = Server::new(release, 0).handle(&request::create(request::DEFINITIONS, crd, request_options));
    match response.body {
        ResponseBody::Json(stored) if response.code == 201 => stored.get("spec").cloned(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::kites_yaml;
    use crate::kubectl::FieldValidation;
    use crdx_server::server::Timestamp;
    use crdx_text::yaml;

    /// The CRD of kites, with these texts replaced.
    fn kites(changes: &[(&str, &str)]) -> Value {
        let text = kites_yaml("        type: object\n");
        let text = changes.iter().fold(text, |text, (from, to)| text.replace(from, to));
        yaml::read(text.as_bytes()).unwrap()
    }

    #[test]
    fn a_crd_may_be_given_twice_if_it_is_stored_the_same() {
        let server = Server::builder(Release::NEWEST, 0).without_history().build();
        let mut definitions = Definitions::default();
        let mut install = |crd: Value, line| {
            let location = SourceLocation { line, ..SourceLocation::default() };
            let (level, now) = (FieldValidation::Strict, Timestamp::default());
            let options = RequestOptions { level, dry_run: false, table: false, now };
            match definitions.install(&server, crd, &location, Some(&CREATE), options) {
                Installed::Answered(response) => format!("{}", response.code),
                Installed::Unsent(error) => error.to_string(),
                Installed::Same(first) => format!("same as {}", first.line),
                Installed::Conflict(first) => format!("conflict with {}", first.line),
            }
        };
        assert_eq!(install(kites(&[]), 1), "201");
        assert_eq!(install(kites(&[]), 2), "same as 1");
        // The first one has the default.
        assert_eq!(install(kites(&[("kind: Kite}", "kind: Kite, listKind: KiteList}")]), 3), "same as 1");
        assert_eq!(install(kites(&[("Namespaced", "Cluster")]), 4), "conflict with 1");
        let refused = |scope| kites(&[("kites", "lines"), ("Namespaced", scope)]);
        assert_eq!(install(refused("Elsewhere"), 5), "422");
        assert_eq!(install(refused("Elsewhere"), 6), "same as 5");
        assert_eq!(install(refused("Nowhere"), 7), "422");
        let route = definitions.route("example.com", "Kite").unwrap();
        assert_eq!(route.definition.str_at(&["status", "acceptedNames", "kind"]), Some("Kite"));
    }
}
