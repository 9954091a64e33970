//! Reads the policies of the cluster and the objects they need: once before the objects, or with the first object of a
//! namespace.

use super::{Admission, Objects, Options, PolicyInput, policy_kind};
use crate::cluster::{Cluster, Error, PendingResponse, Resource};
use crate::report::{RunNote, SourceLocation};
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

impl Objects {
    /// Adds the policies and bindings of a cluster, and for a known user its RBAC objects. Unreadable kinds are reported
    /// as notes.
    pub fn add_from_cluster(&mut self, cluster: &dyn Cluster, options: &Options, notes: &mut Vec<RunNote>) {
        let mut unreadable = BTreeSet::new();
        // If the cluster cannot be reached, the items of objects report it.
        if self.add_kinds(cluster, policies::GROUP, &POLICIES, &mut unreadable).is_err() {
            return;
        }
        if options.user.is_some()
            && options.authorizer.is_none()
            && !matches!(self.add_kinds(cluster, rbac::GROUP, &ROLES, &mut unreadable), Ok(true))
        {
            // An incomplete list of roles would give wrong answers.
            self.rbac = rbac::Rbac::default();
        }
        if !unreadable.is_empty() {
            let unreadable: Vec<String> = unreadable.into_iter().collect();
            let message = format!(
                "these could not be read from the cluster, so admission is simulated without them: {}; kubectl crdx rbac prints the permissions to read them",
                unreadable.join(", ")
            );
            notes.push(RunNote { kind: "unreadablePolicies", message });
        }
    }

    /// Adds the objects of the kinds of a group that the cluster serves. Returns true if all of them could be read.
    ///
    /// # Errors
    /// Returns the reason why the resources of the cluster cannot be read.
    fn add_kinds(
        &mut self,
        cluster: &dyn Cluster,
        group: &str,
        kinds: &[(&str, &str)],
        unreadable: &mut BTreeSet<String>,
    ) -> Result<bool, Error> {
        let resources = cluster.resources()?;
        let mut pending = Vec::new();
        for &(plural, kind) in kinds {
            if let Some(resource) = resources.iter().find(|r| r.group == group && r.plural == plural) {
                pending.push((plural, kind, cluster.ask(&resource.path(None))?));
            }
        }
        let mut is_complete = true;
        for (plural, kind, response) in pending {
            match response.wait() {
                Ok(list) => {
                    let version = list.as_ref().and_then(|list| list.str_at(&["apiVersion"]));
                    let version = version.unwrap_or_default().to_owned();
                    for object in items(list) {
                        self.add(group, kind, given(object, &version, kind));
                    }
                }
                Err(error) => {
                    is_complete = false;
                    unreadable.insert(unreadable_kind(plural, &error));
                }
            }
        }
        Ok(is_complete)
    }
}

fn unreadable_kind(what: &str, error: &Error) -> String {
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
    cluster: Arc<dyn Cluster>,
    references: BTreeSet<Reference>,
    /// The objects that were read, by namespace.
    read: Mutex<HashMap<Option<String>, KnownObjects>>,
}

/// The objects of a namespace, set when they have been read.
type KnownObjects = Arc<OnceLock<Vec<LiveObject>>>;

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
    pub fn new(cluster: Arc<dyn Cluster>, objects: &Objects, release: Release) -> Self {
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
        Self { cluster, references: references.collect(), read: Mutex::default() }
    }

    /// Stores the Namespace and the params of requests in `namespace`, or with `None` the params that do not depend on
    /// the namespace of a request. The cluster is queried once per namespace.
    pub fn prepare(&self, namespace: Option<&str>, admission: &Admission, server: &Server) {
        let once = {
            let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(read.entry(namespace.map(str::to_owned)).or_default())
        };
        let found = once.get_or_init(|| self.read(namespace, admission));
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

    fn read(&self, namespace: Option<&str>, admission: &Admission) -> Vec<LiveObject> {
        let knowledge = &admission.knowledge;
        let asked_namespace = namespace.filter(|name| !knowledge.is_namespace_known(name)).and_then(|name| {
            let path = Resource::namespaces().object_path(None, name);
            Some((name, self.cluster.ask(&path).ok()?))
        });
        let pending: Vec<(&Reference, Resource, Box<dyn PendingResponse>)> = self
            .references
            .iter()
            .filter_map(|reference| {
                let kind = &reference.kind;
                let is = |r: &Resource| r.group == kind.group && r.version == kind.version && r.kind == kind.kind;
                let resource = self.cluster.resource_where(&is).ok().flatten()?;
                let of_request = resource.namespaced && reference.namespace.is_none();
                if of_request != namespace.is_some() {
                    return None;
                }
                let within = reference.namespace.as_deref().or(namespace);
                let path = match &reference.name {
                    Some(name) => resource.object_path(within, name),
                    None => resource.path(within),
                };
                Some((reference, resource, self.cluster.ask(&path).ok()?))
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
