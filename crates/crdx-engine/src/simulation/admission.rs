//! The admission policies of a run, from `--policies` and from the cluster. The simulated server stores them as a
//! cluster does, and records which inputs are unknown.
//!
//! [`objects`] has the objects of both, [`live`] reads the cluster, [`outcome`] reports the effects of policies on an object.

mod live;
mod messages;
mod objects;
mod outcome;
mod resource_rules;

pub use objects::Objects;
pub use outcome::admitted;

use super::known_cluster::KnownCluster;
use super::known_cluster::created::Created;
use super::known_cluster::given::GivenObjects;
use super::known_cluster::live::LiveObjects;
use crate::cluster::Resource;
use crate::report::{ObjectReport, RunNote, SourceLocation};
use crate::simulation::definitions::Route;
use crate::simulation::object::Object;
use crdx_cel::value::Authorizer;
use crdx_server::cluster_state::UnknownCluster;
use crdx_server::policies::authorizer::Rules;
use crdx_server::policies::denial::Origin;
use crdx_server::policies::dependencies::Dependencies;
use crdx_server::policies::findings::Findings;
use crdx_server::policies::model::{Policy, PolicyKind};
use crdx_server::policies::rbac::Rbac;
use crdx_server::policies::request::Kind;
use crdx_server::server::{Server, ServerBuilder, Timestamp, UserInfo};
use crdx_server::webhooks::model::configurations;
use crdx_value::release::Release;
use crdx_value::{Value, group_version};
use objects::PolicyInput;
use resource_rules::{ResourceRules, names};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

/// The options of admission policies.
#[derive(Clone, Debug, Default)]
pub struct AdmissionOptions {
    /// The user that sends the requests.
    pub user: Option<UserInfo>,
    /// The authorizer, instead of RBAC objects.
    pub authorizer: Option<Rules>,
    /// True if the verdict is unknown when a policy depends on an unknown user.
    pub strict: bool,
}

/// The policies of a run.
#[derive(Debug)]
pub struct Admission {
    objects: Objects,
    /// The kinds of params, except built-in kinds.
    param_kinds: BTreeSet<Kind>,
    /// The CRDs of the kinds of params.
    param_definitions: BTreeMap<Kind, Arc<Route>>,
    authorizer: Arc<AuthorizerSource>,
    unknown: Dependencies,
    user: Option<UserInfo>,
    strict: bool,
    /// The source locations of policies, by kind and name.
    locations: BTreeMap<(PolicyKind, String), SourceLocation>,
    /// The objects of files on which answers depend.
    given: Arc<GivenObjects>,
    live: Option<Arc<LiveObjects>>,
    /// The resources of the rules, when something asked for them.
    rules: OnceLock<ResourceRules>,
}

/// A policy in a file that has a rule for a resource.
#[derive(Clone, Debug)]
pub struct MatchingPolicy {
    pub kind: PolicyKind,
    pub name: String,
    pub location: SourceLocation,
    /// True if it has a rule for creates.
    pub matches_create: bool,
    /// True if it has a rule for updates.
    pub matches_update: bool,
    /// The expressions that decide: validations, variables and match conditions.
    pub expressions: Vec<String>,
}

/// The source of the answers of `authorizer`.
#[derive(Debug)]
enum AuthorizerSource {
    Rules(Rules),
    Rbac(Rbac),
}

impl Authorizer for AuthorizerSource {
    fn authorize(
        &self,
        user: &crdx_cel::value::User,
        attributes: &crdx_cel::value::Attributes<'_>,
    ) -> crdx_cel::value::Decision {
        match self {
            Self::Rules(rules) => rules.authorize(user, attributes),
            Self::Rbac(rbac) => rbac.authorize(user, attributes),
        }
    }
}

impl Admission {
    /// Creates the policies that a release enforces, and the webhooks. `None` if there are none in files, and the
    /// cluster has no webhook and no policy with a binding.
    pub fn new(
        objects: &Objects,
        options: &AdmissionOptions,
        live: Option<Arc<LiveObjects>>,
        release: Release,
        notes: &mut Vec<RunNote>,
    ) -> Option<Self> {
        let mut objects = objects.clone();
        objects.leave_inactive(release, notes);
        let in_files = objects.policies.iter().chain(&objects.bindings).any(|given| given.source.is_some());
        let bound = !objects.policies.is_empty() && !objects.bindings.is_empty();
        if !in_files && !bound && objects.webhooks.is_empty() {
            return None;
        }
        let read = |given: &PolicyInput| Policy::read(&given.object, release);
        let kinds = objects.policies.iter().filter_map(|given| Some(Kind::of_params(&read(given).param_kind?)));
        let param_kinds = kinds.filter(|kind| !(kind.group.is_empty() && kind.kind == "ConfigMap")).collect();
        let locations = objects.policies.iter().filter(|given| given.source.is_some()).map(|given| {
            let policy_kind = policy_kind(&given.object);
            (
                (policy_kind, given.object.str_at(&["metadata", "name"]).unwrap_or_default().to_owned()),
                given.location.clone(),
            )
        });
        let locations = locations.collect();
        let (authorizer, known) = authority(options, std::mem::take(&mut objects.rbac));
        let unknown = Dependencies { user: options.user.is_none(), authorizer: !known, namespace: false };
        if let Some(live) = &live {
            live.read_unlisted_namespaces();
        }
        let given = Arc::new(objects.with_existing(GivenObjects::default()));
        Some(Self {
            objects,
            param_kinds,
            param_definitions: BTreeMap::new(),
            authorizer: Arc::new(authorizer),
            unknown,
            user: options.user.clone(),
            strict: options.strict,
            locations,
            given,
            live,
            rules: OnceLock::new(),
        })
    }

    /// Adds the admission plugins to the options of a server; no policies are stored.
    pub fn configure(&self, server: ServerBuilder) -> ServerBuilder {
        let authorizer: Arc<dyn Authorizer> = Arc::clone(&self.authorizer) as Arc<dyn Authorizer>;
        let server = crdx_kinds::with_kinds(server).with_policies(authorizer).with_unknown_inputs(self.unknown);
        let server = server.with_policy_validation().with_cluster_state(Arc::new(UnknownCluster));
        match &self.user {
            Some(user) => server.with_user(user.clone()),
            None => server,
        }
    }

    /// Returns the CRDs among the files with policies.
    pub fn definitions(&self) -> &[Object] {
        &self.objects.definitions
    }

    /// Returns the kinds of params that need a CRD.
    pub fn param_kinds(&self) -> impl Iterator<Item = &Kind> {
        self.param_kinds.iter()
    }

    /// Returns the policies in files, and those that bindings in files refer to.
    fn given_policies(&self) -> BTreeSet<(PolicyKind, String)> {
        let in_file = |given: &&PolicyInput| given.source.is_some();
        let text = |given: &PolicyInput, path: &[&str]| given.object.str_at(path).unwrap_or_default().to_owned();
        let policies = self.objects.policies.iter().filter(in_file);
        let policies = policies.map(|given| (policy_kind(&given.object), text(given, &["metadata", "name"])));
        let bindings = self.objects.bindings.iter().filter(in_file);
        let bound = bindings.map(|given| (policy_kind(&given.object), text(given, &["spec", "policyName"])));
        policies.chain(bound).collect()
    }

    /// Returns the policies in files with their source locations.
    pub fn given(&self) -> impl Iterator<Item = ((PolicyKind, String), SourceLocation)> {
        self.locations.iter().map(|(key, location)| (key.clone(), location.clone()))
    }

    /// Returns a message about the policies in files that have no binding.
    pub fn without_effect(&self) -> Option<String> {
        let bound = |key: &(PolicyKind, String)| {
            self.objects.bindings.iter().any(|binding| {
                policy_kind(&binding.object) == key.0 && binding.object.str_at(&["spec", "policyName"]) == Some(&key.1)
            })
        };
        let unbound: Vec<&str> =
            self.locations.keys().filter(|key| !bound(key)).map(|(_, name)| name.as_str()).collect();
        let names = unbound.join(", ");
        (!unbound.is_empty()).then(|| format!("policies without a binding have no effect: {names}"))
    }

    /// Returns the resources of the rules, which are read once.
    fn rules(&self) -> &ResourceRules {
        self.rules.get_or_init(|| ResourceRules::read(&self.objects, &self.given_policies()))
    }

    /// Returns true if a policy of [`Self::given_policies`] has a rule for a resource, with any version and operations.
    pub fn matches_resource(&self, group: &str, plural: &str) -> bool {
        self.rules().given(group, plural)
    }

    /// Returns true if a policy or webhook has a rule for some resource of a group.
    pub fn matches_group(&self, group: &str) -> bool {
        self.rules().some_of_group(group)
    }

    /// Returns true if a webhook has a rule for a resource, with any version and operations.
    pub fn has_webhook_for(&self, group: &str, plural: &str) -> bool {
        self.rules().webhooks(group, plural)
    }

    /// Returns the policies in files that have a rule for a resource, with any version.
    pub fn matching(&self, group: &str, plural: &str) -> Vec<MatchingPolicy> {
        let of_policy = |(key, location): (&(PolicyKind, String), &SourceLocation)| {
            let (kind, name) = key;
            let is_it = |given: &&PolicyInput| {
                policy_kind(&given.object) == *kind && given.object.str_at(&["metadata", "name"]) == Some(name)
            };
            let policy = Policy::read(&self.objects.policies.iter().find(is_it)?.object, Release::NEWEST);
            let constraints = policy.match_constraints.as_ref().filter(|one| names(one, group, plural))?;
            let includes = |operation| constraints.rules.iter().any(|rule| rule.includes_operation(operation));
            Some(MatchingPolicy {
                kind: *kind,
                name: name.clone(),
                location: location.clone(),
                matches_create: includes("CREATE"),
                matches_update: includes("UPDATE"),
                expressions: expressions(policy),
            })
        };
        self.locations.iter().filter_map(of_policy).collect()
    }

    /// Returns true if a policy reads managedFields.
    pub fn read_managed_fields(&self) -> bool {
        self.objects.read_managed_fields()
    }

    /// Returns true if there are webhook configurations.
    pub fn has_webhooks(&self) -> bool {
        !self.objects.webhooks.is_empty()
    }

    /// Returns true if any policy has a rule for a resource, whatever its version and operations.
    pub(crate) fn may_match(&self, group: &str, plural: &str) -> bool {
        self.rules().any_policy(group, plural)
    }

    /// Removes the findings of policies and bindings that are not in files.
    pub(crate) fn retain_given(&self, findings: &mut Findings) {
        let bindings: BTreeSet<(PolicyKind, &str)> = self
            .objects
            .bindings
            .iter()
            .filter(|given| given.source.is_some())
            .map(|given| (policy_kind(&given.object), given.object.str_at(&["metadata", "name"]).unwrap_or_default()))
            .collect();
        let given = |policy_kind: PolicyKind, policy: &str, binding: &str| {
            self.locations.contains_key(&(policy_kind, policy.to_owned())) || bindings.contains(&(policy_kind, binding))
        };
        let of = |origin: &Origin| given(origin.policy_kind, &origin.policy, &origin.binding);
        findings.denials.retain(of);
        findings.warnings.retain(of);
        findings.audits.retain(of);
        findings.changes.retain(|change| given(PolicyKind::Mutating, &change.policy, &change.binding));
        findings.unevaluated.retain(|unevaluated| {
            unevaluated.policy_kind == PolicyKind::Mutating
                || given(unevaluated.policy_kind, &unevaluated.policy, &unevaluated.binding)
        });
    }

    /// Sets the CRD of a kind of params.
    pub fn define(&mut self, kind: Kind, route: Arc<Route>) {
        self.param_definitions.insert(kind, route);
    }

    /// Stores all objects in a server that serves the CRDs of the params. Objects that it refuses are passed to `show`.
    pub fn store(&self, server: &Server, now: Timestamp, namespace: &str, show: &mut dyn FnMut(ObjectReport)) {
        let Objects { namespaces, config_maps, policies, bindings, webhooks, others, .. } = &self.objects;
        // The state of the cluster has the Namespaces, but the server says which of them it would refuse.
        for given in namespaces {
            if let Err(item) = given.check(server, &core("namespaces", false), now) {
                show(*item);
            }
        }
        let mut put = |given: &PolicyInput, resource: Resource| {
            let own = given.object.str_at(&["metadata", "namespace"]).filter(|ns| !ns.is_empty());
            let namespace = resource.namespaced.then(|| own.unwrap_or(namespace));
            if let Err(item) = given.store(server, &resource, namespace, now) {
                show(*item);
            }
        };
        for given in config_maps {
            put(given, core("configmaps", true));
        }
        for given in others {
            let route = self.param_definitions.iter().find(|(kind, _)| is_of(&given.object, kind));
            if let Some((kind, route)) = route {
                put(given, param_resource(kind, route, &given.object));
            }
        }
        for given in policies {
            put(given, admission_resource(policy_kind(&given.object).policies()));
        }
        for given in bindings {
            put(given, admission_resource(policy_kind(&given.object).bindings()));
        }
        for given in webhooks {
            put(given, admission_resource(configurations(policy_kind(&given.object))));
        }
    }

    /// Returns what is known of the cluster without the objects of inputs.
    pub fn cluster(&self) -> Arc<KnownCluster> {
        Arc::new(KnownCluster::new(Created::default(), Arc::clone(&self.given), self.live.clone()))
    }

    /// Creates a separate server with the same policies, for a CRD or a Scale. Writes are sent to it with [`Self::cluster`].
    pub fn server(&self, server: ServerBuilder, now: Timestamp, namespace: &str) -> Server {
        let server = self.configure(server.created_at(now)).build();
        self.store_with_definitions(&server, now, namespace, &mut |_| {});
        server
    }

    /// Stores the CRDs of the params, then all other objects.
    pub fn store_with_definitions(
        &self,
        server: &Server,
        now: Timestamp,
        namespace: &str,
        show: &mut dyn FnMut(ObjectReport),
    ) {
        for route in self.param_definitions.values() {
            // Another server has accepted the CRD before.
            let _ = server.seed_definition(&route.definition, now);
        }
        self.store(server, now, namespace, show);
    }
}

/// Returns the authorizer, and true if its answers are known to be those of the cluster.
fn authority(options: &AdmissionOptions, rbac: Rbac) -> (AuthorizerSource, bool) {
    if let Some(rules) = &options.authorizer {
        let known = options.user.is_some() || !rules.read_user();
        return (AuthorizerSource::Rules(rules.clone()), known);
    }
    let privileged = |user: &UserInfo| user.groups.iter().any(|group| group == crdx_server::policies::rbac::PRIVILEGED);
    let known = options.user.as_ref().is_some_and(|user| privileged(user) || !rbac.is_empty());
    (AuthorizerSource::Rbac(rbac), known)
}

/// Returns the expressions of a policy that decide.
fn expressions(policy: Policy) -> Vec<String> {
    let validations = policy.validations.into_iter().map(|validation| validation.expression);
    let variables = policy.variables.into_iter().map(|variable| variable.expression);
    validations.chain(variables).chain(policy.match_conditions).collect()
}

/// Which kind of policies a policy or binding belongs to.
fn policy_kind(object: &Value) -> PolicyKind {
    PolicyKind::of_kind(object.str_at(&["kind"]).unwrap_or_default())
}

/// Returns true if an object is of a kind, in any version.
fn is_of(object: &Value, kind: &Kind) -> bool {
    let group = group_version::group(object.str_at(&["apiVersion"]).unwrap_or_default());
    group == kind.group && object.str_at(&["kind"]) == Some(&kind.kind)
}

fn core(plural: &str, namespaced: bool) -> Resource {
    Resource { version: "v1".to_owned(), plural: plural.to_owned(), namespaced, ..Resource::default() }
}

fn admission_resource(plural: &str) -> Resource {
    let group = crdx_server::policies::GROUP.to_owned();
    Resource { group, version: "v1".to_owned(), plural: plural.to_owned(), ..Resource::default() }
}

/// Returns the resource of a param, in the version of the object.
fn param_resource(kind: &Kind, route: &Route, object: &Value) -> Resource {
    let api_version = object.str_at(&["apiVersion"]).unwrap_or_default();
    let version = api_version.rsplit('/').next().unwrap_or_default();
    Resource {
        group: kind.group.clone(),
        version: version.to_owned(),
        plural: route.plural.clone(),
        kind: kind.kind.clone(),
        namespaced: route.namespaced,
        ..Resource::default()
    }
}
