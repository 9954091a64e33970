//! The CRDs of a run: each is created in the server, once, and remembered with its place.

use crate::kubectl::Verb;
use crate::kubectl::request::{self, Manner};
use crate::kubectl::update::{self, Place, Way};
use crate::output::excerpt::Spot;
use crate::release::Release;
use crate::server::{Response, ResponseBody, Server};
use crate::suggest;
use crate::value::{Map, Value};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// Where the objects of a kind are sent.
#[derive(Clone, Debug, PartialEq)]
pub struct Route {
    /// The plural name.
    pub plural: String,
    /// Whether the objects are in namespaces.
    pub namespaced: bool,
    /// The served versions.
    pub versions: Vec<String>,
    /// The version that is stored.
    pub storage: String,
    /// Whether versions convert in a way of their own.
    pub converts_by_webhook: bool,
    /// The CRD as it is stored.
    pub definition: Arc<Value>,
}

/// How a CRD is created that the cluster is taken to have.
const CREATE: Way = Way { verb: Verb::Create, subresource: None, force: false, manager: None };

/// The name of the resource of CRDs.
pub const DEFINITION: &str = "customresourcedefinitions.apiextensions.k8s.io";

/// What became of a CRD.
#[derive(Debug)]
pub enum Installed {
    /// The server answered: a code of 201 means it is served now.
    Answered(Box<Response>),
    /// The same CRD was given before, there.
    Same(Spot),
    /// Another CRD of that name was given before, there.
    Conflict(Spot),
}

/// The CRDs known so far.
#[derive(Debug, Default)]
pub struct Definitions {
    /// By CRD name: where it was given, and its `spec` as it was given.
    given: BTreeMap<String, (Spot, Value)>,
    /// By CRD name: where the last one was given that the server refused, and what was given.
    refused: BTreeMap<String, (Spot, Value)>,
    /// By group, then kind.
    routes: HashMap<String, HashMap<String, Arc<Route>>>,
}

impl Definitions {
    /// Where objects of a kind go; `None` when no CRD defines it.
    pub fn route(&self, group: &str, kind: &str) -> Option<&Arc<Route>> {
        self.routes.get(group)?.get(kind)
    }

    /// The kind of `group` that `kind` was probably meant to be.
    pub fn similar_kind(&self, group: &str, kind: &str) -> Option<&str> {
        suggest::closest(kind, self.routes.get(group)?.keys().map(String::as_str))
    }

    /// The group with `kind` in it that `group` was probably meant to be.
    pub fn similar_group(&self, group: &str, kind: &str) -> Option<&str> {
        let groups = self.routes.iter().filter(|(_, kinds)| kinds.contains_key(kind));
        suggest::closest(group, groups.map(|(group, _)| group.as_str()))
    }

    /// The kinds of a group, sorted; none if no CRD of the group is known.
    pub fn kinds(&self, group: &str) -> Vec<&str> {
        let mut kinds: Vec<&str> =
            self.routes.get(group).into_iter().flat_map(HashMap::keys).map(String::as_str).collect();
        kinds.sort_unstable();
        kinds
    }

    /// Creates `crd` in `server` as kubectl would with `way`, unless it exists.
    /// Without a way the cluster is taken to have it already, so no policy is evaluated.
    pub fn install(
        &mut self,
        server: &Server,
        mut crd: Value,
        spot: &Spot,
        way: Option<&Way>,
        manner: Manner,
    ) -> Installed {
        request::forget_its_past(&mut crd);
        let name = crd.str_at(&["metadata", "name"]).unwrap_or_default().to_owned();
        let spec = crd.get("spec").cloned().unwrap_or_default();
        if let Some((first, known)) = self.given.get(&name) {
            let same = *known == spec
                || stored_spec(server.release(), crd.clone(), manner)
                    == stored_spec(server.release(), with_spec(&crd, known), manner);
            return if same { Installed::Same(first.clone()) } else { Installed::Conflict(first.clone()) };
        }
        if let Some((first, refused)) = self.refused.get(&name)
            && *refused == crd
        {
            return Installed::Same(first.clone());
        }
        let place = Place { definition: DEFINITION, version: "v1", collection: request::DEFINITIONS, name: &name };
        let mut request = update::create(place, crd.clone(), way.unwrap_or(&CREATE), manner);
        request.skips_admission = way.is_none();
        let response = server.handle(&request);
        if let (201, ResponseBody::Json(stored)) = (response.code, &response.body) {
            self.given.insert(name, (spot.clone(), spec));
            self.learn(stored);
        } else {
            self.refused.insert(name, (spot.clone(), crd));
        }
        Installed::Answered(Box::new(response))
    }

    /// Takes note of what a stored CRD serves.
    fn learn(&mut self, stored: &Arc<Value>) {
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
        };
        let kinds = self.routes.entry(text(&["spec", "group"])).or_default();
        kinds.insert(text(&["spec", "names", "kind"]), Arc::new(route));
    }
}

/// `crd` with another spec.
fn with_spec(crd: &Value, spec: &Value) -> Value {
    let mut other = crd.as_object().cloned().unwrap_or_else(Map::new);
    other.insert("spec".to_owned(), spec.clone());
    Value::Object(other)
}

/// The spec as a server of its own would store it, defaults filled in; `None` when it would refuse.
fn stored_spec(release: Release, crd: Value, manner: Manner) -> Option<Value> {
    let response = Server::new(release, 0).handle(&request::create(request::DEFINITIONS, crd, manner));
    match response.body {
        ResponseBody::Json(stored) if response.code == 201 => stored.get("spec").cloned(),
        _ => None,
    }
}
