//! The effect of new policies on stored objects: each object is stored on a server with the policies, and its next
//! write, which adds a label, is sent as a dry run.

mod built_in;

use crate::kubectl::request::{self, RequestOptions};
use crate::kubectl::send::Sender as _;
use crate::kubectl::{FieldValidation, Operation};
use crate::report::{Action, Identity, ObjectReport, Verdict};
use crate::simulation::admission::{Admission, admitted};
use crate::simulation::answer;
use crate::simulation::built_in_server::BuiltInServer;
use crate::simulation::hints::Hints;
use crate::simulation::identity::{self, FieldLocator, Namespace};
use crate::simulation::known_cluster::KnownCluster;
use crate::simulation::server_configuration::ServerConfiguration;
use crdx_server::policies::findings::Findings;
use crdx_server::policies::model::PolicyKind;
use crdx_server::server::http::address;
use crdx_server::server::{AdmissionPlugins, Response, SeedError, Server, Timestamp};
use crdx_types::groups;
use crdx_value::lock;
use crdx_value::release::Release;
use crdx_value::{Value, group_version, object};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, RwLock};

/// The effects of new policies on the next write of a stored object.
#[derive(Clone, Debug, Default)]
pub struct Effects {
    /// The policies that deny the write.
    pub denied: BTreeSet<(PolicyKind, String)>,
    /// The policies whose failures become warnings.
    pub warned: BTreeSet<(PolicyKind, String)>,
    /// The policies whose failures are recorded in the audit log.
    pub audited: BTreeSet<(PolicyKind, String)>,
    /// The policies that change the object.
    pub changed: BTreeSet<(PolicyKind, String)>,
    /// The policies that were not evaluated completely.
    pub undecided: BTreeSet<(PolicyKind, String)>,
    /// True if the server would refuse the write without the new policies, too; then they may not have been evaluated.
    pub refused_anyway: bool,
    /// True if the verdict is unknown.
    pub cannot_tell: bool,
}

impl Effects {
    /// Returns true if the policies have an effect on the object, or the effect is unknown.
    pub fn has_effect(&self) -> bool {
        let Self { denied, warned, audited, changed, .. } = self;
        self.cannot_tell || [denied, warned, audited, changed].iter().any(|policies| !policies.is_empty())
    }

    /// Returns true if the policies have an effect on the object, the effect is unknown, or the write is rejected anyway.
    pub fn is_touched(&self) -> bool {
        self.refused_anyway || self.has_effect()
    }
}

/// New policies, and the servers on which their effects are simulated.
pub struct PolicyRehearsal<'a> {
    admission: &'a Admission,
    release: Release,
    now: Timestamp,
    /// The default namespace of objects.
    namespace: &'a str,
    /// Reads a missing CRD from the cluster.
    read_definition: ReadDefinition<'a>,
    definitions: RwLock<Definitions>,
    /// Idle servers.
    servers: Mutex<Vec<Server>>,
    /// The server for objects of built-in kinds.
    built_in: BuiltInServer,
    /// The known state of the cluster.
    cluster: Arc<KnownCluster>,
}

/// Reads the CRD of a group and kind; `None` if there is none.
pub type ReadDefinition<'a> = Box<dyn Fn(&str, &str) -> Option<Value> + Send + Sync + 'a>;

/// The CRDs by group and kind; `None` if there is no CRD.
type Definitions = BTreeMap<(String, String), Option<Arc<KnownDefinition>>>;

#[derive(Debug)]
struct KnownDefinition {
    /// The name of the CRD, for example `crontabs.stable.example.com`.
    name: String,
    plural: String,
    namespaced: bool,
    crd: Value,
}

impl KnownDefinition {
    fn read(crd: Value) -> Option<((String, String), Arc<Self>)> {
        let text = |path: &[&str]| crd.str_at(path).unwrap_or_default().to_owned();
        let key = (text(&["spec", "group"]), text(&["spec", "names", "kind"]));
        let (name, plural) = (text(&["metadata", "name"]), text(&["spec", "names", "plural"]));
        let namespaced = crd.str_at(&["spec", "scope"]) == Some("Namespaced");
        let complete = !name.is_empty() && !plural.is_empty();
        complete.then(|| (key, Arc::new(Self { name, plural, namespaced, crd })))
    }
}

impl std::fmt::Debug for PolicyRehearsal<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PolicyRehearsal").finish_non_exhaustive()
    }
}

impl<'a> PolicyRehearsal<'a> {
    /// Creates a rehearsal on `release` with the given CRDs; other CRDs are read with `read_definition`.
    pub fn new(
        admission: &'a Admission,
        (release, now): (Release, Timestamp),
        namespace: &'a str,
        crds: impl IntoIterator<Item = Value>,
        read_definition: ReadDefinition<'a>,
    ) -> Self {
        let definitions = crds.into_iter().filter_map(KnownDefinition::read).map(|(key, found)| (key, Some(found)));
        let definitions = RwLock::new(definitions.collect());
        let tracks_fields = admission.read_managed_fields();
        let configuration = ServerConfiguration {
            release,
            now,
            tracks_fields,
            plugins: AdmissionPlugins::all(),
            service_ranges: Vec::new(),
        };
        Self {
            admission,
            release,
            now,
            namespace,
            read_definition,
            definitions,
            servers: Mutex::default(),
            built_in: BuiltInServer::new(configuration),
            cluster: admission.cluster(),
        }
    }

    /// Returns the CRD of a kind.
    fn definition(&self, group: &str, kind: &str) -> Option<Arc<KnownDefinition>> {
        let key = (group.to_owned(), kind.to_owned());
        if let Some(known) = lock::read(&self.definitions).get(&key) {
            return known.clone();
        }
        let read = (self.read_definition)(group, kind).and_then(KnownDefinition::read);
        let found = read.map(|(_, definition)| definition);
        lock::write(&self.definitions).insert(key, found.clone());
        found
    }

    /// Returns the item of a stored object, and the effects of the new policies on it.
    pub fn rehearse(&self, stored: Value, locator: &dyn FieldLocator) -> (ObjectReport, Effects) {
        let api_version = stored.str_at(&["apiVersion"]).unwrap_or_default().to_owned();
        let (group, version) = group_version::split(&api_version);
        let kind = stored.str_at(&["kind"]).unwrap_or_default().to_owned();
        let definition = self.definition(group, &kind);
        let namespace = match &definition {
            Some(definition) if definition.namespaced => Namespace::Or(self.namespace),
            Some(_) => Namespace::None,
            None => Namespace::Own,
        };
        let identity = identity::identity(&stored, namespace);
        let unknown = |reason: String, help: Option<&str>| cannot_tell(identity.clone(), locator, reason, help);
        let Some(definition) = definition else {
            if groups::is_built_in(group) {
                return self.rehearse_built_in(&stored, locator);
            }
            let reason = format!("there is no CRD for {kind} in group {group}");
            return unknown(reason, Some("give it with --crds"));
        };
        let server = self.server();
        if server.definition(&definition.name).is_none()
            && let Err(error) = server.seed_definition(&definition.crd, self.now)
        {
            return unknown(format!("its CRD cannot be read: {error}"), None);
        }
        let mut response = match self.touch(&server, &definition, &identity, stored.clone()) {
            Ok(response) => response,
            Err(error) => return unknown(format!("it could not have been stored: {error}"), None),
        };
        lock::lock(&self.servers).push(server);
        let findings = response.trace.policies.take().unwrap_or_default();
        let is_accepted_without = || {
            let server = Server::builder(self.release, 0).without_managed_fields().build();
            server.seed_definition(&definition.crd, self.now).is_ok()
                && self.touch(&server, &definition, &identity, stored).is_ok_and(|response| response.code < 300)
        };
        let (findings, effects) = self.effects(findings, response.code, is_accepted_without);
        let hints = Hints::of_schema(&definition.crd, version, self.release);
        let mut item = answer::read_response(response, identity, locator, &hints);
        item.action = Action::Update;
        item.object = None;
        (item.pruned, item.defaulted) = (Vec::new(), Vec::new());
        self.finish(item, effects, findings)
    }

    /// Adds a label to a stored custom resource in a dry run.
    fn touch(
        &self,
        server: &Server,
        definition: &KnownDefinition,
        identity: &Identity,
        stored: Value,
    ) -> Result<Response, SeedError> {
        let (group, own) = group_version::split(&identity.api_version);
        let served = super::served(&definition.crd);
        // An object whose version is no longer served is written in another one.
        let version = served.iter().find(|version| *version == own).or(served.first()).map_or(own, String::as_str);
        let namespace = identity.namespace.as_deref();
        server.seed(&definition.name, namespace.unwrap_or_default(), stored)?;
        let options = RequestOptions { level: FieldValidation::Ignore, dry_run: true, table: false, now: self.now };
        let path = address::object(&address::collection(group, version, &definition.plural, namespace), &identity.name);
        let labels = object([("crdx-rehearsal", "touched")]);
        let patch = object([("metadata", object([("labels", labels)]))]);
        let request = request::patch(&path, Operation::Patch.content_type(), patch, None, options);
        let response = self.cluster.send(server, request);
        server.withdraw(&definition.name, namespace.unwrap_or_default(), &identity.name);
        Ok(response)
    }

    fn server(&self) -> Server {
        let server = lock::lock(&self.servers).pop();
        server.unwrap_or_else(|| {
            let options = Server::builder(self.release, 0).without_managed_fields();
            self.admission.server(options, self.now, self.namespace)
        })
    }

    /// The findings of the new policies, and their effects on a write that has a status code as its answer. Policies that change an object so
    /// that the server rejects it deny the write, if it is accepted without policies.
    fn effects(
        &self,
        mut findings: Box<Findings>,
        code: u16,
        is_accepted_without: impl FnOnce() -> bool,
    ) -> (Box<Findings>, Effects) {
        let is_denied = !findings.denials.is_empty();
        self.admission.retain_given(&mut findings);
        let mut effects = Effects::default();
        effects.denied.extend(findings.denials.iter().map(|origin| (origin.policy_kind, origin.policy.clone())));
        effects.warned.extend(findings.warnings.iter().map(|origin| (origin.policy_kind, origin.policy.clone())));
        effects.audited.extend(findings.audits.iter().map(|origin| (origin.policy_kind, origin.policy.clone())));
        effects.changed.extend(findings.changes.iter().map(|change| (PolicyKind::Mutating, change.policy.clone())));
        effects.undecided.extend(findings.unevaluated.iter().map(|doubt| (doubt.policy_kind, doubt.policy.clone())));
        if code >= 400 && !is_denied && !effects.changed.is_empty() && is_accepted_without() {
            effects.denied.clone_from(&effects.changed);
        }
        (findings, effects)
    }

    /// Adds the findings to the item.
    fn finish(&self, mut item: ObjectReport, mut effects: Effects, findings: Box<Findings>) -> (ObjectReport, Effects) {
        admitted(&mut item, Some(findings), Some(self.admission));
        if item.verdict == Verdict::CannotTell {
            let undecided = std::mem::take(&mut effects.undecided);
            effects = Effects { cannot_tell: true, undecided, ..Effects::default() };
        }
        effects.refused_anyway = item.verdict == Verdict::Rejected && effects.denied.is_empty();
        (item, effects)
    }
}

/// The item of an object for which the effect is not known.
fn cannot_tell(
    identity: Identity,
    locator: &dyn FieldLocator,
    reason: String,
    help: Option<&str>,
) -> (ObjectReport, Effects) {
    let mut item = ObjectReport::new(locator.start(), Verdict::CannotTell, reason);
    item.identity = identity;
    item.help = help.map(str::to_owned);
    (item, Effects { cannot_tell: true, ..Effects::default() })
}
