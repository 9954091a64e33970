//! The state that depends on the order of the input: the CRDs, and the names of objects.

use super::Simulator;
use super::admission::{Admission, admitted};
use super::aggregated;
use super::defined_kinds::{DefinedKinds, DefinitionOfKind, DefinitionSource, InstalledDefinition, NewDefinition};
use super::definition_update;
use super::earlier_object::EarlierObject;
use super::existing::PendingObject;
use super::known_cluster::created::CreatedObjects;
use super::object_store::ObjectStore;
use super::prepared::{Prepared, PreparedObject, Submitted};
use super::simulated::Simulated;
use super::turns::{Turn, Turns};
use super::unsent::Unsent;
use crate::cluster;
use crate::kubectl::request::{self, RequestOptions};
use crate::kubectl::written_metadata::remove_last_applied;
use crate::kubectl::{FieldValidation, RequestKind, Verb};
use crate::report::{Identity, ObjectReport, Remark, SourceLocation, Verdict, severity};
use crate::simulation::answer;
use crate::simulation::definitions::{DELETION, Definitions, Installed, set_deleting};
use crate::simulation::filter::SkipReason;
use crate::simulation::identity::{self, Namespace};
use crate::simulation::kubectl_errors;
use crate::simulation::list_models::Model;
use crate::simulation::object::{CRD_API_VERSION, Kind, Object};
use crate::simulation::resource::SimulatedResource;
use crate::simulation::served::{no_matches, not_served};
use crdx_types::groups;
use crdx_value::Value;
use crdx_value::group_version::api_version;
use crdx_value::suggest;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// State that depends on the order of the input: the CRDs, and the names of objects.
#[derive(Debug)]
pub struct OrderedState {
    kinds: DefinedKinds,
    /// By group and kind: the location of the first error of a CRD that the server would refuse.
    invalid: BTreeMap<(String, String), SourceLocation>,
    /// By group and kind: the error if the CRD could not be read from the cluster.
    refused: BTreeMap<(String, String), cluster::Error>,
    /// The groups and kinds that the cluster does not serve.
    absent: BTreeSet<(String, String)>,
    turns: Turns,
    /// The objects that inputs so far create, by the directory that was rendered on its own, if they are from one.
    created: HashMap<Option<Arc<str>>, CreatedObjects>,
}

/// The next step for an object.
pub enum Destination {
    /// None: it is already simulated.
    Report(Box<ObjectReport>),
    /// It is sent to a server.
    Resource(Box<Object>, SimulatedResource),
    /// It has a built-in kind that API servers do not serve by default.
    NotServed(Box<Object>, Kind),
    /// It has no known CRD.
    Unknown(Box<Object>, Kind),
}

impl OrderedState {
    /// Creates the state of an input without documents so far. The results of objects are kept in a store.
    pub fn new(results: Box<dyn ObjectStore>) -> Self {
        Self {
            kinds: DefinedKinds::default(),
            invalid: BTreeMap::new(),
            refused: BTreeMap::new(),
            absent: BTreeSet::new(),
            turns: Turns::new(results),
            created: HashMap::new(),
        }
    }

    /// Returns the same CRDs for another input.
    pub fn again(&self) -> Self {
        Self {
            kinds: self.kinds.again(),
            invalid: self.invalid.clone(),
            refused: self.refused.clone(),
            absent: self.absent.clone(),
            turns: self.turns.again(),
            created: HashMap::new(),
        }
    }

    /// Determines the next step for an object. A CRD is created here.
    pub fn destination(&mut self, simulator: &Simulator, mut object: Object) -> Destination {
        if object.is_definition() {
            let identity = identity::identity(object.value(), Namespace::None);
            kubectl_errors::remove_namespace(&mut object.document.value);
            if let Some(item) = kubectl_errors::undecodable(&mut object, &identity) {
                self.invalid.entry(defined(object.value())).or_insert_with(|| item.location.clone());
                return Destination::Report(Box::new(item));
            }
            let has_name = !identity.name.is_empty() || simulator.updates.request_kind.verb == Verb::Create;
            let is_sent = has_name && identity.api_version == CRD_API_VERSION;
            let send = || definition_update::update(simulator.context(), object.value(), &identity, &object.finder());
            let update = if is_sent { send() } else { None };
            // An existing CRD is created, too, because later objects need it.
            let source = DefinitionSource::Input(object.document.root().cloned());
            let kind = Some(&simulator.updates.request_kind);
            let mut item = self.install(simulator, object, source, (kind, simulator.settings.request_options.level));
            if let Some(mut update) = update
                && matches!(item.verdict, Verdict::Accepted | Verdict::Rejected)
            {
                if let Some(time) = update.object.as_ref().and_then(|crd| crd.str_at(&["metadata", DELETION])) {
                    set_deleting(
                        &simulator.server,
                        &update.identity.name,
                        time,
                        simulator.settings.request_options.now,
                    );
                }
                update.warnings.extend(item.warnings.into_iter().filter(|w| severity::is_of_input(&w.kind)));
                kubectl_errors::explain_annotations(&mut update, simulator.updates.request_kind.verb);
                item = update;
            }
            return Destination::Report(Box::new(item));
        }
        let kind = match object.kind() {
            Ok(kind) => kind,
            Err(item) => return Destination::Report(item),
        };
        match self.kinds.of_kind(object.document.root(), &kind) {
            DefinitionOfKind::Known(route) => {
                return Destination::Resource(Box::new(object), SimulatedResource::Defined(route));
            }
            DefinitionOfKind::Ambiguous(first, other) => {
                let identity = identity::identity(object.value(), Namespace::Own);
                let reason = format!("its CRDs differ: {first} and {other}");
                let mut item = object.item(identity, Verdict::CannotTell, reason);
                item.help = Some(ONE_DECIDES.to_owned());
                return Destination::Report(Box::new(item));
            }
            DefinitionOfKind::Unknown => {}
        }
        if groups::is_built_in(&kind.0) {
            return match SimulatedResource::built_in(&kind, simulator.server.release()) {
                Some(resource) => Destination::Resource(Box::new(object), resource),
                None => Destination::NotServed(Box::new(object), kind),
            };
        }
        Destination::Unknown(Box::new(object), kind)
    }

    /// Prepares an object. `pending` is the existing object in the cluster, if it is already located; it is set otherwise.
    pub fn prepare(
        &mut self,
        simulator: &Simulator,
        destination: Destination,
        pending: &mut Option<PendingObject>,
    ) -> Prepared {
        match destination {
            Destination::Report(item) => Prepared::Report(item),
            Destination::Resource(object, resource) if is_needed_by_others(object.value()) => {
                Prepared::Report(Box::new(self.validate_for_others(simulator, *object, resource)))
            }
            Destination::Resource(object, resource) => {
                Prepared::Object(Box::new(self.prepare_object(simulator, *object, resource, pending)))
            }
            Destination::NotServed(object, kind) => {
                let root = object.document.root().cloned();
                let created = self.created.entry(root).or_default().so_far();
                let resource = Submitted::NotServed(kind);
                Prepared::Object(Box::new(PreparedObject {
                    object: *object,
                    resource,
                    created,
                    turn: None,
                    pending: None,
                }))
            }
            Destination::Unknown(object, kind) => {
                Prepared::Report(Box::new(self.without_definition(simulator, *object, &kind)))
            }
        }
    }

    /// Skips an object; the kind of a skipped CRD is still defined. Returns an item if the skip is reported.
    pub fn leave_out(&mut self, simulator: &Simulator, mut object: Object, reason: SkipReason) -> Option<ObjectReport> {
        let identity = identity::identity(object.value(), Namespace::Own);
        let item = match reason {
            SkipReason::Kind => Some(object.item(
                identity,
                Verdict::Skipped,
                "its kind is skipped with --skip or `skip` of the settings",
            )),
            SkipReason::Labels => None,
        };
        // The object is left out of the report, not of what is sent to the server.
        if reason == SkipReason::Kind
            && is_needed_by_others(object.value())
            && let Ok(kind) = object.kind()
            && let Some(resource) = SimulatedResource::built_in(&kind, simulator.server.release())
        {
            self.validate_for_others(simulator, object, resource);
            return item;
        }
        if object.is_definition() {
            let source = DefinitionSource::Input(object.document.root().cloned());
            let installed = self.install(simulator, object, source, (None, FieldValidation::Ignore));
            if matches!(installed.verdict, Verdict::Rejected | Verdict::CannotTell) {
                return Some(installed);
            }
        }
        item
    }

    /// Validates a Namespace or limit range before any later object, whose answer may depend on it.
    fn validate_for_others(
        &mut self,
        simulator: &Simulator,
        object: Object,
        resource: SimulatedResource,
    ) -> ObjectReport {
        let root = object.document.root().cloned();
        let prepared = self.prepare_object(simulator, object, resource, &mut None);
        let Simulated { item, stored } = simulator.submit(prepared);
        let EarlierObject::At(stored) = stored else { return item };
        if let Ok(stored) = simulator.store.get(stored) {
            let Identity { namespace, name, .. } = &item.identity;
            self.created.entry(root).or_default().store(namespace.as_deref(), name, Arc::new(stored));
        }
        item
    }

    /// Assigns a turn to an object, and records it for later inputs that depend on it. `pending` is the existing object in the
    /// cluster, if it is already located. Objects with generated names need neither.
    fn prepare_object(
        &mut self,
        simulator: &Simulator,
        object: Object,
        resource: SimulatedResource,
        pending: &mut Option<PendingObject>,
    ) -> PreparedObject {
        let default = object.document.namespace.as_deref().unwrap_or(&simulator.settings.namespace);
        let identity = resource.identity(object.value(), default);
        let root = object.document.root().cloned();
        let created_objects = self.created.entry(root.clone()).or_default();
        let created = created_objects.so_far();
        if let SimulatedResource::BuiltIn(resource) = &resource {
            created_objects.record(object.value(), resource, identity.namespace.as_deref().unwrap_or(default));
        }
        let turn = (resource.is_stored() && is_named(object.value())).then(|| {
            let namespace = identity.namespace.as_deref().unwrap_or_default();
            let group = resource.stored_group(identity.group());
            self.turns.next((root, group, resource.plural(), namespace, &identity.name))
        });
        let locate = || simulator.updates.existing.pending(&identity, resource.plural());
        let pending = located(turn.as_ref(), pending, locate);
        PreparedObject { object, resource: Submitted::Known(resource, identity), created, turn, pending }
    }

    /// Returns the published model of a kind or list, if it is known.
    pub(super) fn model(&mut self, simulator: &Simulator, root: Option<&Arc<str>>, kind: &Kind) -> Option<Arc<Model>> {
        self.kinds.model(simulator, root, kind)
    }

    /// Returns the first CRD of each name.
    pub fn definitions(&self) -> &Definitions {
        self.kinds.first()
    }

    /// Sets the CRDs of the params of policies.
    pub fn define_params(&self, admission: &mut Admission) {
        let kinds: Vec<_> = admission.param_kinds().cloned().collect();
        for kind in kinds {
            if let Some(route) = self.definitions().route(&kind.group, &kind.kind) {
                admission.define(kind, Arc::clone(route));
            }
        }
    }

    /// Returns true if a CRD defines the kind.
    pub fn knows(&self, kind: &Kind) -> bool {
        self.definitions().route(&kind.0, &kind.2).is_some()
    }

    /// Records the error of reading the CRD from the cluster.
    pub fn refuse(&mut self, kind: &Kind, error: cluster::Error) {
        self.refused.insert((kind.0.clone(), kind.2.clone()), error);
    }

    /// Records that the cluster does not serve a kind.
    pub fn set_absent(&mut self, kind: &Kind) {
        self.absent.insert((kind.0.clone(), kind.2.clone()));
    }

    /// Returns the item of an object without a known CRD.
    pub(super) fn without_definition(&self, simulator: &Simulator, mut object: Object, kind: &Kind) -> ObjectReport {
        let identity = identity::identity(object.value(), Namespace::Own);
        let (group, version, name) = kind;
        if let Some(location) = self.invalid.get(&(group.clone(), name.clone())) {
            let reason = format!("its CRD would be rejected: see {}:{}", location.source, location.line);
            let mut item = object.item(identity, Verdict::CannotTell, reason);
            item.help = Some("fix the CRD first; kubectl crdx lint checks it alone".to_owned());
            return item;
        }
        let kinds = self.definitions().kinds(group);
        if simulator.settings.ignore_missing && kinds.is_empty() {
            return object.item(identity, Verdict::Skipped, "no CRD for it");
        }
        let known = self.definitions();
        let similar = known.similar_kind(group, name).or_else(|| known.similar_group(group, name));
        let similar = similar.map(suggest::did_you_mean);
        if self.absent.contains(&(group.clone(), name.clone())) {
            let advice = similar.unwrap_or_else(|| format!("the cluster does not serve it; {GIVE_IT}"));
            return no_matches(&mut object, identity, &format!("; {advice}"));
        }
        let refusal = self.refused.get(&(group.clone(), name.clone()));
        if refusal.is_none()
            && let Some(cluster) = &simulator.settings.cluster
            && cluster.serves((group, version, name)) == Ok(true)
            && let level = simulator.settings.request_options.level
            && let Some(item) = aggregated::item(&**cluster, &mut object, identity.clone(), kind, level)
        {
            return item;
        }
        let none = || format!("no CRD for {} {name}", api_version(group, version));
        let reason = refusal.map_or_else(none, |error| error.message.clone());
        let help = match (refusal, &simulator.settings.cluster) {
            (None, _) if !kinds.is_empty() => {
                Some(format!("give its CRD with --crds; the known CRDs of {group} define {}", enumerated(&kinds)))
            }
            (Some(error), _) => {
                Some(error.help.as_ref().map_or_else(String::new, |help| format!("{help}; or ")) + OFFLINE)
            }
            (None, Some(_)) => Some(format!("the cluster serves it without a CRD; {GIVE_IT}")),
            (None, None) => Some(format!("{GIVE_IT}, or ask the cluster: leave out --offline")),
        };
        let projects = if refusal.is_none() { (simulator.settings.projects_of_group)(group) } else { Vec::new() };
        let help = help.map(|help| help + &in_catalog(&projects));
        let help = match (similar, help) {
            (Some(question), Some(help)) => Some(format!("{question} If not, {help}")),
            (None, help) => help,
            (question, None) => question,
        };
        let mut item = object.item(identity, Verdict::CannotTell, reason);
        item.help = help;
        item
    }

    /// Creates a CRD of the input. Without a request kind, it is assumed to exist in the cluster.
    pub fn install(
        &mut self,
        simulator: &Simulator,
        mut object: Object,
        source: DefinitionSource,
        (request_kind, level): (Option<&RequestKind>, FieldValidation),
    ) -> ObjectReport {
        let identity = identity::identity(object.value(), Namespace::None);
        if identity.api_version != CRD_API_VERSION {
            let names = defined(object.value());
            let item = not_served(simulator.server.release(), identity, &mut object);
            self.invalid.entry(names).or_insert_with(|| item.location.clone());
            return item;
        }
        let request_options =
            RequestOptions { level, dry_run: false, table: false, ..simulator.settings.request_options };
        let crd = object.take_definition();
        let defined = defined(&crd);
        let warnings = std::mem::take(&mut object.warnings);
        let finder = object.finder();
        let location = identity::FieldLocator::start(&finder);
        let decides = source == DefinitionSource::Given;
        let new = NewDefinition { crd, location: &location, source, request_kind, options: request_options };
        let InstalledDefinition { installed, decided_by } = self.kinds.install(simulator, new);
        let mut item = match installed {
            Installed::Answered(mut response) => {
                let findings = response.trace.policies.take();
                let mut item =
                    answer::read_definition_response(*response, identity, &finder, simulator.server.release());
                admitted(&mut item, findings, simulator.admission.get().map(Arc::as_ref));
                if let Some(stored) = &mut item.object {
                    request::remove_cluster_state(stored);
                    if !simulator.settings.show_last_applied {
                        remove_last_applied(stored);
                    }
                }
                item
            }
            Installed::Unsent(error) => Unsent::from(error).item(identity, &finder),
            Installed::Same(first) => {
                let mut item = ObjectReport::new(location, Verdict::Skipped, format!("the same CRD as at {first}"));
                item.identity = identity;
                item
            }
            Installed::Conflict(first) => {
                let mut item = ObjectReport::new(
                    location,
                    Verdict::CannotTell,
                    format!("another CRD with this name is at {first}"),
                );
                item.identity = identity;
                item.help = Some((if decides { ONE_IS_USED } else { ONE_DECIDES }).to_owned());
                item
            }
        };
        if let Some(RequestKind { verb, .. }) = request_kind.filter(|_| item.verdict == Verdict::Rejected) {
            kubectl_errors::require_name(&mut item, *verb, &finder);
            kubectl_errors::explain_annotations(&mut item, *verb);
        }
        // The objects of a CRD that is served after another request are judged by it.
        if item.verdict == Verdict::Rejected && self.definitions().route(&defined.0, &defined.1).is_none() {
            let first = item.errors.first().and_then(|error| error.location.clone());
            self.invalid.entry(defined).or_insert_with(|| first.unwrap_or_else(|| item.location.clone()));
        }
        item.remarks.extend(decided_by.map(Remark::OtherDefinition));
        item.warnings.extend(warnings);
        item
    }

    /// Creates a CRD that was read from the cluster.
    pub fn install_from_cluster(&mut self, simulator: &Simulator, kind: &Kind, crd: Value) {
        let location = SourceLocation::source(&Arc::from("the cluster"));
        let request_options = RequestOptions {
            level: FieldValidation::Ignore,
            dry_run: false,
            table: false,
            ..simulator.settings.request_options
        };
        let source = DefinitionSource::Given;
        let new = NewDefinition { crd, location: &location, source, request_kind: None, options: request_options };
        let message = match self.kinds.install(simulator, new).installed {
            Installed::Same(_) => return,
            Installed::Answered(response) if response.code == 201 => return,
            Installed::Answered(response) => response.body.message().to_owned(),
            Installed::Conflict(first) => format!("another CRD with this name is at {first}"),
            Installed::Unsent(error) => error.to_string(),
        };
        let message = format!("the CRD that the cluster has cannot be used: {message}");
        self.refuse(kind, cluster::Error { message, ..cluster::Error::default() });
    }
}

/// Returns the existing object of the first input with its name. Later inputs usually use the object that the first one stored.
fn located(
    turn: Option<&Turn>,
    pending: &mut Option<PendingObject>,
    locate: impl FnOnce() -> Option<PendingObject>,
) -> Option<PendingObject> {
    if !turn.is_some_and(Turn::is_first) {
        return None;
    }
    if pending.is_none() {
        *pending = locate();
    }
    pending.clone()
}

/// Returns true if an object has a name, which later inputs may have, too.
fn is_named(object: &Value) -> bool {
    object.str_at(&["metadata", "name"]).is_some_and(|name| !name.is_empty())
}

/// Returns the group and kind that a CRD defines.
fn defined(crd: &Value) -> (String, String) {
    let named = |path: &[&str]| crd.str_at(path).unwrap_or_default().to_owned();
    (named(&["spec", "group"]), named(&["spec", "names", "kind"]))
}

/// Returns true for a Namespace or limit range.
fn is_needed_by_others(object: &Value) -> bool {
    matches!(object.str_at(&["kind"]), Some("Namespace" | "LimitRange")) && object.str_at(&["apiVersion"]) == Some("v1")
}

const ONE_IS_USED: &str = "leave one of them out, such as with --ignore, or name a directory of an archive as ARCHIVE//DIR: only the first is used here";
const ONE_DECIDES: &str = "name the one that decides with --crds (`crds` of .crdx.yaml), leave the other out with --ignore, or give each cluster its own with --target";
const OFFLINE: &str = "give the CRD in a file with --crds and --offline";
const GIVE_IT: &str = "give it with --crds or among the objects, or skip such kinds with --ignore-missing-crds";

/// Continues a hint with the projects of the catalog that may have a missing CRD.
fn in_catalog(projects: &[String]) -> String {
    let [first, ..] = projects else { return String::new() };
    let names = projects.join(", ");
    format!(
        "; the catalog has CRDs of {names}: add `{first}@VERSION` to `crds` of .crdx.yaml, and run `kubectl crdx fetch`"
    )
}

/// The most kinds that a hint lists.
const NAMES: usize = 20;

/// The first names of a list, which may have thousands.
fn enumerated(names: &[&str]) -> String {
    let (first, others) = names.split_at(names.len().min(NAMES));
    let more = if others.is_empty() { String::new() } else { format!(" and {} more", others.len()) };
    first.join(", ") + &more
}
