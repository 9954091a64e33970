//! Reads the policies of the cluster and the objects they need: once before the objects, or with the first object of a
//! namespace.

use super::{Admission, Objects, Options, PolicyInput, policy_kind};
use crate::cluster::{Connection, Error, JSON, PendingResponse, Resource};
use crate::simulation::live::Live;
use crdx::report::{RunNote, SourceLocation};
use crdx_server::policies::model::{Binding, Policy, PolicyKind};
use crdx_server::policies::request::Kind;
use crdx_server::policies::{self, rbac};
use crdx_server::server::Server;
use crdx_value::Value;
use crdx_value::release::Release;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// The kinds that are read at the start.
const POLICIES: [(&str, &str); 6] = [
    ("validatingadmissionpolicies", "ValidatingAdmissionPolicy"),
    ("validatingadmissionpolicybindings", "ValidatingAdmissionPolicyBinding"),
    ("mutatingadmissionpolicies", "MutatingAdmissionPolicy"),
    ("mutatingadmissionpolicybindings", "MutatingAdmissionPolicyBinding"),
    ("validatingwebhookconfigurations", "ValidatingWebhookConfiguration"),
    ("mutatingwebhookconfigurations", "MutatingWebhookConfiguration"),
];
/// The kinds that determine the answers of `authorizer`.
const ROLES: [(&str, &str); 4] = [
    ("roles", "Role"),
    ("rolebindings", "RoleBinding"),
    ("clusterroles", "ClusterRole"),
    ("clusterrolebindings", "ClusterRoleBinding"),
];

/// Reads policies and bindings, and for a known user the RBAC objects. Unreadable kinds are reported as notes.
pub fn read(live: &Live, options: &Options, objects: &mut Objects, notes: &mut Vec<RunNote>) {
    // If the cluster cannot be reached, the items of objects report it.
    let Ok(connection) = live.connection() else { return };
    let Ok(served) = connection.resources() else { return };
    let mut unreadable_kinds = BTreeSet::new();
    let mut read = |group: &str, kinds: &[(&str, &str)], objects: &mut Objects| {
        let ask = |plural: &str| {
            let resource = served.iter().find(|resource| resource.group == group && resource.plural == plural)?;
            Some(connection.ask(&resource.path(None), JSON))
        };
        let pending: Vec<_> = kinds.iter().filter_map(|(plural, kind)| Some((*plural, *kind, ask(plural)?))).collect();
        let mut whole = true;
        for (plural, kind, pending) in pending {
            match pending.wait() {
                Ok(list) => {
                    let version =
                        list.as_ref().and_then(|list| list.str_at(&["apiVersion"])).unwrap_or_default().to_owned();
                    for object in items(list) {
                        objects.add(group, kind, given(object, &version, kind));
                    }
                }
                Err(error) => {
                    whole = false;
                    unreadable_kinds.insert(unreadable(plural, &error));
                }
            }
        }
        whole
    };
    read(policies::GROUP, &POLICIES, objects);
    if options.user.is_some() && options.authorizer.is_none() && !read(rbac::GROUP, &ROLES, objects) {
        // An incomplete list of roles would give wrong answers.
        objects.rbac = rbac::Rbac::default();
    }
    if !unreadable_kinds.is_empty() {
        let unreadable_kinds: Vec<String> = unreadable_kinds.into_iter().collect();
        let message = format!(
            "these could not be read from the cluster, so admission is simulated without them: {}; kubectl crdx rbac prints the permissions to read them",
            unreadable_kinds.join(", ")
        );
        notes.push(RunNote { kind: "unreadablePolicies", message });
    }
}

fn unreadable(what: &str, error: &Error) -> String {
    format!("{what} ({})", error.code.map_or_else(|| "no answer".to_owned(), |code| code.to_string()))
}

fn items(list: Option<Value>) -> Vec<Value> {
    let Some(Value::Object(mut list)) = list else { return Vec::new() };
    match list.remove("items") {
        Some(Value::Array(items)) => items,
        _ => Vec::new(),
    }
}

/// Converts an object of the cluster. Items of lists have no apiVersion and kind, so they are set.
fn given(mut object: Value, api_version: &str, kind: &str) -> PolicyInput {
    if let Some(members) = object.as_object_mut() {
        members.insert("apiVersion".to_owned(), api_version.into());
        members.insert("kind".to_owned(), kind.into());
    }
    PolicyInput { object, location: SourceLocation::source(&"the cluster".into()), source: None }
}

/// Params that a binding refers to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Reference {
    kind: Kind,
    /// `None` for the namespace of the request.
    namespace: Option<String>,
    /// `None` for a selector.
    name: Option<String>,
}

/// Objects that are read on first use.
pub struct LiveObjects {
    live: Arc<Live>,
    references: BTreeSet<Reference>,
    /// The objects that were read, by namespace.
    read: Mutex<HashMap<Option<String>, NamespaceObjects>>,
}

/// The objects of a namespace, set when they have been read.
type NamespaceObjects = Arc<OnceLock<Vec<LiveObject>>>;

/// The name of the resource of Namespaces.
const NAMESPACES: &str = "namespaces.";

/// An object of the cluster.
#[derive(Debug)]
struct LiveObject {
    /// The name of the CRD or resource.
    definition: String,
    /// The namespace; empty for a cluster-scoped object.
    namespace: String,
    object: Value,
}

impl std::fmt::Debug for LiveObjects {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LiveObjects").finish_non_exhaustive()
    }
}

impl LiveObjects {
    /// Creates the value without reading objects.
    pub fn new(live: Arc<Live>, objects: &Objects, release: Release) -> Self {
        let kinds: BTreeMap<(PolicyKind, String), Kind> = objects
            .policies
            .iter()
            .filter_map(|given| {
                let policy = Policy::read(&given.object, release);
                let kind = Kind::of_params(&policy.param_kind?);
                Some(((policy_kind(&given.object), policy.name), kind))
            })
            .collect();
        let references = objects.bindings.iter().filter_map(|given| {
            let binding = Binding::read(&given.object, release);
            let reference = binding.param_ref?;
            let kind = kinds.get(&(policy_kind(&given.object), binding.policy_name))?.clone();
            let some = |text: String| Some(text).filter(|text| !text.is_empty());
            Some(Reference { kind, namespace: some(reference.namespace), name: some(reference.name) })
        });
        Self { live, references: references.collect(), read: Mutex::default() }
    }

    /// Stores the Namespace and the params of requests in `namespace`, or with `None` the params that do not depend on
    /// the namespace of a request. The cluster is queried once per namespace.
    pub fn prepare(&self, namespace: Option<&str>, admission: &Admission, server: &Server) {
        let once = {
            let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(read.entry(namespace.map(str::to_owned)).or_default())
        };
        let found = once.get_or_init(|| match self.live.connection() {
            Ok(connection) => self.read(connection, namespace, admission),
            Err(_) => Vec::new(),
        });
        for LiveObject { definition, namespace, object } in found {
            let name = object.str_at(&["metadata", "name"]).unwrap_or_default();
            let uid = |object: &Value| object.str_at(&["metadata", "uid"]).map(str::to_owned);
            let stored = server.stored(definition, namespace, name);
            // A Namespace of the cluster replaces an assumed one; a param in a file is not replaced.
            let replaced = |stored: &Value| definition == NAMESPACES && uid(stored) != uid(object);
            if stored.is_none_or(|stored| replaced(&stored)) {
                // Policies treat an object that cannot be stored as missing, as in the cluster.
                let _ = server.seed(definition, namespace, object.clone());
            }
        }
    }

    fn read(&self, connection: &Connection, namespace: Option<&str>, admission: &Admission) -> Vec<LiveObject> {
        let knowledge = &admission.knowledge;
        let asked_namespace = namespace.filter(|name| !knowledge.is_namespace_known(name)).map(|name| {
            let path = Resource::namespaces().object_path(None, name);
            (name, connection.ask(&path, JSON))
        });
        let pending: Vec<(&Reference, Resource, PendingResponse)> = self
            .references
            .iter()
            .filter_map(|reference| {
                let kind = &reference.kind;
                let is = |r: &Resource| r.group == kind.group && r.version == kind.version && r.kind == kind.kind;
                let resource = connection.resource_where(is).ok().flatten()?;
                let of_request = resource.namespaced && reference.namespace.is_none();
                if of_request != namespace.is_some() {
                    return None;
                }
                let within = reference.namespace.as_deref().or(namespace);
                let path = match &reference.name {
                    Some(name) => resource.object_path(within, name),
                    None => resource.path(within),
                };
                Some((reference, resource, connection.ask(&path, JSON)))
            })
            .collect();
        let mut all = Vec::new();
        if let Some((name, pending)) = asked_namespace {
            match pending.wait() {
                Ok(Some(object)) => {
                    let object = given(object, "v1", "Namespace").object;
                    all.push(LiveObject { definition: NAMESPACES.to_owned(), namespace: String::new(), object });
                    knowledge.record_namespace(name);
                }
                Ok(None) => knowledge.record_missing_namespace(name),
                Err(_) => {}
            }
        }
        for (reference, resource, pending) in pending {
            let Reference { kind, name, .. } = reference;
            let within = reference.namespace.as_deref().or(namespace).filter(|_| resource.namespaced);
            let Ok(found) = pending.wait() else { continue };
            let found = if name.is_some() { found.into_iter().collect() } else { items(found) };
            let definition = format!("{}.{}", resource.plural, resource.group);
            all.extend(found.into_iter().map(|object| LiveObject {
                definition: definition.clone(),
                namespace: within.unwrap_or_default().to_owned(),
                object: given(object, &kind.api_version(), &kind.kind).object,
            }));
            knowledge.record_params(kind, within, name.as_deref());
        }
        all
    }
}
