//! The servers with the old and the new policies, and what they answer to the create or update of an object.

use super::PolicyUpgrade;
use crate::kubectl::send::Sender as _;
use crate::kubectl::{Operation, request};
use crate::search::Counterexample;
use crate::simulation::admission::Admission;
use crate::simulation::built_in_server::BuiltInServer;
use crate::simulation::known_cluster::KnownCluster;
use crate::simulation::server_configuration::ServerConfiguration;
use crdx_server::policies::denial::Origin;
use crdx_server::policies::model::PolicyKind;
use crdx_server::policies::type_checking::KnownType;
use crdx_server::server::http::address;
use crdx_server::server::{AdmissionPlugins, Response, Server};
use crdx_types::resources::of_kind;
use crdx_value::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The namespace of the objects.
const NAMESPACE: &str = "default";

/// The effect of a failed validation, the most severe first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PolicyFailure {
    /// The request is denied.
    Denied,
    /// The response has a warning.
    Warned,
    /// The audit log has an annotation.
    Audited,
}

/// The answer to a valid object.
pub struct Verdict {
    /// The policies that fail, with the effect and the message.
    pub failures: BTreeMap<String, (PolicyFailure, String)>,
    /// The policies that depend on what is not known.
    pub undecided: BTreeSet<String>,
}

/// The servers with the policies of one side.
struct Side<'a> {
    admission: &'a Admission,
    cluster: Arc<KnownCluster>,
    built_in: BuiltInServer,
}

/// The servers with the policies of both sides.
pub struct PolicyServers<'a> {
    upgrade: &'a PolicyUpgrade<'a>,
    old: Option<Side<'a>>,
    new: Side<'a>,
}

impl<'a> PolicyServers<'a> {
    pub fn new(upgrade: &'a PolicyUpgrade<'a>) -> Self {
        let side = |admission: &'a Admission| Side {
            admission,
            cluster: admission.cluster(),
            built_in: BuiltInServer::new(configuration(upgrade)),
        };
        Self { upgrade, old: upgrade.old.map(side), new: side(upgrade.new) }
    }

    /// Returns the probe for a kind; `None` if a server does not serve it.
    pub fn probe(&'a self, kind: &KnownType, definition: Option<&Value>) -> Option<PolicyProbe<'a>> {
        let minor = self.upgrade.release.minor().number().into();
        let namespaced = match definition {
            Some(crd) => crd.str_at(&["spec", "scope"]) == Some("Namespaced"),
            None => of_kind(&kind.kind.api_version(), &kind.kind.kind, minor)?.namespaced,
        };
        let (group, version) = (&kind.kind.group, &kind.kind.version);
        let collection = address::collection(group, version, kind.plural(), namespaced.then_some(NAMESPACE));
        let resource = format!("{}.{group}", kind.plural());
        let custom = |side: &Side<'_>| {
            let Some(definition) = definition else { return Some(None) };
            let server = side.custom_server(self.upgrade);
            server.seed_definition(definition, self.upgrade.now).ok()?;
            Some(Some(server))
        };
        let old = match &self.old {
            Some(side) => Some((side, custom(side)?)),
            None => None,
        };
        let namespace = if namespaced { NAMESPACE } else { "" };
        Some(PolicyProbe { collection, resource, namespace, old, new: (&self.new, custom(&self.new)?) })
    }
}

fn configuration(upgrade: &PolicyUpgrade<'_>) -> ServerConfiguration {
    ServerConfiguration {
        release: upgrade.release,
        now: upgrade.now,
        tracks_fields: false,
        plugins: AdmissionPlugins::all(),
        service_ranges: Vec::new(),
    }
}

impl Side<'_> {
    fn custom_server(&self, upgrade: &PolicyUpgrade<'_>) -> Server {
        let builder = Server::builder(upgrade.release, 0).without_managed_fields();
        self.admission.server(builder, upgrade.now, NAMESPACE)
    }
}

/// The servers for one kind; that of a built-in kind is shared with the other built-in kinds.
pub struct PolicyProbe<'a> {
    collection: String,
    /// The name of the resource in the servers.
    resource: String,
    /// Empty for a kind that is not namespaced.
    namespace: &'static str,
    old: Option<(&'a Side<'a>, Option<Server>)>,
    new: (&'a Side<'a>, Option<Server>),
}

/// The create of an object, or the update of one to another.
#[derive(Clone, Debug)]
pub struct PolicyRequest {
    /// The object that is created, or that exists before the update.
    pub object: Value,
    /// The object after the update.
    pub updated: Option<Value>,
}

impl PolicyRequest {
    /// Returns the request as an answer of a search.
    pub fn into_counterexample(self, details: Vec<String>) -> Counterexample {
        Counterexample { object: self.object, updated: self.updated, details }
    }
}

impl PolicyProbe<'_> {
    /// Returns the effects of the new policies on a request; `None` if it is not valid.
    pub fn ask(&self, request: &PolicyRequest) -> Option<Verdict> {
        let (side, server) = &self.new;
        self.verdict(side, server.as_ref(), request)
    }

    /// Returns the failures of the old policies for a request that they allow; `None` if they do not, or if that is not known.
    pub fn old_failures(&self, request: &PolicyRequest) -> Option<BTreeMap<String, (PolicyFailure, String)>> {
        let Some((side, server)) = &self.old else { return Some(BTreeMap::new()) };
        let Verdict { failures, undecided } = self.verdict(side, server.as_ref(), request)?;
        let is_denied = failures.values().any(|(failure, _)| *failure == PolicyFailure::Denied);
        (undecided.is_empty() && !is_denied).then_some(failures)
    }

    fn verdict(&self, side: &Side<'_>, server: Option<&Server>, request: &PolicyRequest) -> Option<Verdict> {
        let server = server.unwrap_or_else(|| side.built_in.server(Some(side.admission), NAMESPACE));
        let mut response = match &request.updated {
            None => self.create(side, server, &request.object),
            Some(updated) => self.update(side, server, &request.object, updated)?,
        };
        if response.trace.is_unfinished {
            return None;
        }
        let findings = response.trace.policies.take().unwrap_or_default();
        let is_validating = |one: &&Origin| one.policy_kind == PolicyKind::Validating;
        // Mutating policies deny an object before it is validated.
        if response.code >= 400 && !findings.denials.iter().any(|one| is_validating(&one)) {
            return None;
        }
        let mut failures = BTreeMap::new();
        let lists = [
            (PolicyFailure::Denied, &findings.denials),
            (PolicyFailure::Warned, &findings.warnings),
            (PolicyFailure::Audited, &findings.audits),
        ];
        for (failure, origins) in lists {
            for Origin { policy, message, .. } in origins.iter().filter(is_validating) {
                failures.entry(policy.clone()).or_insert_with(|| (failure, message.clone()));
            }
        }
        let undecided = findings.unevaluated.iter().filter(|one| one.decides).map(|one| one.policy.clone());
        Some(Verdict { failures, undecided: undecided.collect() })
    }

    fn create(&self, side: &Side<'_>, server: &Server, object: &Value) -> Response {
        let path = format!("{}?dryRun=All&fieldValidation=Strict", self.collection);
        side.cluster.send(server, request::plain(Operation::Create, &path, object.clone()))
    }

    /// Stores an object while no policy is enforced, and updates it in a dry run; `None` if it cannot be stored.
    fn update(&self, side: &Side<'_>, server: &Server, from: &Value, to: &Value) -> Option<Response> {
        let name = from.str_at(&["metadata", "name"])?;
        let path = format!("{}?fieldValidation=Strict", self.collection);
        let mut create = request::plain(Operation::Create, &path, from.clone());
        create.skips_admission = true;
        if server.handle_owned(create).code >= 300 {
            return None;
        }
        let stored = server.stored(&self.resource, self.namespace, name)?;
        let mut to = to.clone();
        let revision = stored.at(&["metadata", "resourceVersion"]).cloned().unwrap_or_default();
        to.insert_at(&["metadata", "resourceVersion"], revision);
        let path = format!("{}?dryRun=All&fieldValidation=Strict", address::object(&self.collection, name));
        let response = side.cluster.send(server, request::plain(Operation::Replace, &path, to));
        server.withdraw(&self.resource, self.namespace, name);
        Some(response)
    }
}
