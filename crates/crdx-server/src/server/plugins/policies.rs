//! The plugins `MutatingAdmissionPolicy` and `ValidatingAdmissionPolicy`: they compile the stored policies when these
//! change, and implement the view of the server that policies read.

use crate::cluster_state::LIMIT_RANGES;
use crate::policies::GROUP;
use crate::policies::denial::Refused;
use crate::policies::findings::warning_text;
use crate::policies::model::PolicyKind;
use crate::policies::mutating;
use crate::policies::request::{self, Alternative, Kind, Request, User};
use crate::policies::source::{PolicyHook, PolicySource};
use crate::policies::validating;
use crate::server::admission::{AdmissionReport, Attributes, Mutation, Operation, Plugin, Reinvocation};
use crate::server::http::calls::Calls;
use crate::server::http::given_state::GivenState;
use crate::server::http::status::{Cause, Details, Reason, Refusal};
use crate::server::plugins::cluster::ClusterView;
use crate::server::plugins::view::{Inputs, View, own_resource};
use crate::server::scope::{
    GroupResource, GroupVersionKind, GroupVersionResource, NAMESPACES, RequestScope, is_admission,
};
use crate::server::strategy::built_in_kind::kind_strategy::KnownInputs;
use crate::server::strategy::resources::Resources;
use crdx_value::Value;
use crdx_value::lock;
use crdx_value::release::{Gate, Release};
use crdx_value::steps::Steps;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// The plugin `MutatingAdmissionPolicy`: policies that change written objects.
#[derive(Debug)]
pub(in crate::server) struct MutatingAdmissionPolicy(Policies);

/// The plugin `ValidatingAdmissionPolicy`: policies that reject writes.
#[derive(Debug)]
pub(in crate::server) struct ValidatingAdmissionPolicy(Policies);

/// The policies and bindings of one kind, and the inputs of their expressions.
#[derive(Debug)]
struct Policies {
    policy_kind: PolicyKind,
    resources: Arc<Resources>,
    inputs: Inputs,
    /// The policies that the server reads from files.
    static_hooks: Arc<[PolicyHook]>,
    cache: Mutex<Cache>,
}

/// Compiled policies, and the revisions of the policies and bindings they were compiled from.
#[derive(Debug, Default)]
struct Cache {
    /// [`ClusterView::changes`] of the policies and bindings.
    changes: Option<[u64; 2]>,
    policies: BTreeMap<String, u64>,
    bindings: BTreeMap<String, u64>,
    source: PolicySource,
    hooks: Arc<[PolicyHook]>,
}

impl MutatingAdmissionPolicy {
    /// Creates the plugin.
    pub fn new(resources: &Arc<Resources>, inputs: Inputs) -> Self {
        Self(Policies::new(PolicyKind::Mutating, resources, inputs))
    }
}

impl ValidatingAdmissionPolicy {
    /// Creates the plugin.
    pub fn new(resources: &Arc<Resources>, inputs: Inputs) -> Self {
        Self(Policies::new(PolicyKind::Validating, resources, inputs))
    }
}

impl Policies {
    fn new(policy_kind: PolicyKind, resources: &Arc<Resources>, inputs: Inputs) -> Self {
        let static_hooks = static_hooks(policy_kind, &inputs.static_policies, resources.settings.release);
        let cache = Mutex::new(Cache { hooks: Arc::clone(&static_hooks), ..Cache::default() });
        Self { policy_kind, resources: Arc::clone(resources), inputs, static_hooks, cache }
    }

    fn cluster<'c>(&'c self, given: &'c GivenState<'c>, calls: &'c Calls) -> ClusterView<'c> {
        ClusterView::new(&self.resources, given, calls)
    }

    fn view<'v>(&'v self, cluster: &'v ClusterView<'v>) -> View<'v> {
        View::new(cluster, &self.inputs)
    }

    /// Returns the policies that have bindings. Those that are stored do not apply to writes of policies and bindings.
    fn hooks_for(&self, attributes: &Attributes<'_>, cluster: &ClusterView<'_>) -> Arc<[PolicyHook]> {
        if is_admission(attributes.resource.group) { Arc::clone(&self.static_hooks) } else { self.hooks(cluster) }
    }

    fn hooks(&self, cluster: &ClusterView<'_>) -> Arc<[PolicyHook]> {
        let mut cache = lock::lock(&self.cache);
        let changes = [self.policy_kind.policies(), self.policy_kind.bindings()];
        let changes = changes.map(|plural| cluster.changes(GROUP, plural));
        if cache.changes.replace(changes) == Some(changes) {
            return Arc::clone(&cache.hooks);
        }
        let Cache { policies: known_policies, bindings: known_bindings, source, hooks, .. } = &mut *cache;
        let stored = |plural: &str| cluster.stored(GROUP, plural);
        let mut changed = sync(known_policies, &stored(self.policy_kind.policies()), |name, object| match object {
            Some(object) => source.put_policy(object, cluster.release()),
            None => source.remove_policy(name),
        });
        changed |= sync(known_bindings, &stored(self.policy_kind.bindings()), |name, object| match object {
            Some(object) => source.put_binding(object, cluster.release()),
            None => source.remove_binding(name),
        });
        if changed {
            *hooks = self.static_hooks.iter().cloned().chain(source.hooks()).collect();
        }
        Arc::clone(hooks)
    }
}

/// Compiles the policies of a kind among those that the server reads from files.
fn static_hooks(policy_kind: PolicyKind, objects: &[Value], release: Release) -> Arc<[PolicyHook]> {
    let mut source = PolicySource::default();
    for object in objects {
        match object.str_at(&["kind"]) {
            Some(kind) if kind == policy_kind.kind() => source.put_policy(object, release),
            Some(kind) if kind.strip_suffix("Binding") == Some(policy_kind.kind()) => {
                source.put_binding(object, release)
            }
            _ => {}
        }
    }
    source.hooks().into()
}

/// Calls `change` for every object that was added, changed or removed since `known`. Returns true if there was any.
pub(super) fn sync(
    known: &mut BTreeMap<String, u64>,
    stored: &crate::server::registry::store::Entries,
    mut change: impl FnMut(&str, Option<&Value>),
) -> bool {
    let same = known.len() == stored.len()
        && known
            .iter()
            .zip(stored)
            .all(|((name, revision), (key, object))| name == key && *revision == object.revision);
    if same {
        return false;
    }
    let now: BTreeMap<String, u64> = stored.iter().map(|(key, object)| (key.clone(), object.revision)).collect();
    for name in known.keys().filter(|name| !now.contains_key(*name)) {
        change(name, None);
    }
    for (key, object) in stored {
        if known.get(key) != Some(&object.revision) {
            change(key, Some(&object.raw()));
        }
    }
    *known = now;
    true
}

impl Plugin for MutatingAdmissionPolicy {
    fn handles(&self, operation: Operation, _: RequestScope<'_>) -> bool {
        operation != Operation::Delete
    }

    fn mutate(
        &self,
        attributes: &Attributes<'_>,
        object: &mut Value,
        calls: &Calls,
        report: &mut AdmissionReport,
        reinvocation: &mut Reinvocation,
    ) -> Result<Mutation, Refusal> {
        let cluster = &self.0.cluster(attributes.given, calls);
        if !cluster.release().enables(Gate::MutatingAdmissionPolicy) {
            return Ok(Mutation::Unchanged);
        }
        let hooks = self.0.hooks_for(attributes, cluster);
        if hooks.is_empty() {
            return Ok(Mutation::Unchanged);
        }
        let request = request_of(attributes, Some(object), &self.0.inputs, cluster)?;
        let view = self.0.view(cluster);
        let findings = report.policies.get_or_insert_default();
        let changed = mutating::mutate(&hooks, &request, object, &view, findings, &mut reinvocation.policies)
            .map_err(|refused| refusal(attributes, refused))?;
        Ok(if changed { Mutation::Changed } else { Mutation::Unchanged })
    }
}

impl Plugin for ValidatingAdmissionPolicy {
    fn handles(&self, _: Operation, _: RequestScope<'_>) -> bool {
        true
    }

    fn validate(
        &self,
        attributes: &Attributes<'_>,
        object: Option<&Value>,
        calls: &Calls,
        report: &mut AdmissionReport,
    ) -> Result<(), Refusal> {
        let cluster = &self.0.cluster(attributes.given, calls);
        let hooks = self.0.hooks_for(attributes, cluster);
        if hooks.is_empty() {
            return Ok(());
        }
        let mut request = request_of(attributes, object, &self.0.inputs, cluster)?;
        let view = self.0.view(cluster);
        let findings = report.policies.get_or_insert_default();
        // The plugins that complete an object run before mutating policies, whose changes depend on theirs.
        if let Some(object) = object.filter(|_| request.gaps.is_some() && !attributes.is_patched) {
            request.alternatives = alternatives(attributes, object, &self.0.inputs, cluster)?;
        }
        let result = validating::validate(&hooks, &request, object, &view, findings);
        report.warnings.extend(findings.warnings.iter().map(warning_text));
        result.map_err(|refused| refusal(attributes, refused))
    }
}

/// Converts attributes into the request against which policies and webhooks are matched. `object` is that to be written.
pub(super) fn request_of<'a>(
    attributes: &Attributes<'a>,
    object: Option<&Value>,
    inputs: &Inputs,
    cluster: &ClusterView<'_>,
) -> Result<Request<'a>, Refusal> {
    let Attributes { resource, kind, user, .. } = *attributes;
    let depends_on_cluster =
        inputs.unknown.is_some() && attributes.operation == Operation::Create && attributes.subresource.is_empty();
    let gaps = match object.filter(|_| depends_on_cluster) {
        Some(object) => {
            let known = known(attributes, inputs, cluster)?;
            cluster.cluster_fields().unknown(kind.group, kind.kind, object, known)
        }
        None => None,
    };
    Ok(Request {
        operation: match attributes.operation {
            Operation::Create => request::Operation::Create,
            Operation::Update => request::Operation::Update,
            Operation::Delete => request::Operation::Delete,
        },
        resource: Arc::new(own_resource(resource)),
        subresource: attributes.subresource,
        kind: Arc::new(Kind {
            group: kind.group.to_owned(),
            version: kind.version.to_owned(),
            kind: kind.kind.to_owned(),
        }),
        namespace: attributes.namespace,
        name: attributes.name,
        old_object: attributes.old_object,
        options: attributes.options_value(),
        dry_run: attributes.dry_run,
        user: User {
            username: user.username.clone(),
            uid: user.uid.clone(),
            groups: user.groups.clone(),
            extra: user.extra.clone(),
        },
        gaps: gaps.map(Arc::new),
        alternatives: Arc::default(),
        steps: Steps::of_request(),
    })
}

/// The parts of the cluster's state that are known and that decide which parts of an object are.
fn known(attributes: &Attributes<'_>, inputs: &Inputs, cluster: &ClusterView<'_>) -> Result<KnownInputs, Refusal> {
    let GroupVersionKind { group, kind, .. } = attributes.kind;
    // The list of these kinds has been read already.
    let depends = cluster.cluster_fields().depend_on_limit_ranges(group, kind);
    let limit_ranges = depends && cluster.given.list(LIMIT_RANGES, attributes.namespace)?.is_complete;
    Ok(KnownInputs { user: !inputs.unknown.is_some_and(|unknown| unknown.user), limit_ranges })
}

/// The objects that the plugins of a cluster may make of an object.
fn alternatives(
    attributes: &Attributes<'_>,
    object: &Value,
    inputs: &Inputs,
    cluster: &ClusterView<'_>,
) -> Result<Arc<[Alternative]>, Refusal> {
    let Attributes { kind, .. } = *attributes;
    let known = known(attributes, inputs, cluster)?;
    Ok(cluster.cluster_fields().alternatives(kind.group, kind.kind, object, known).into())
}

/// Converts an error of a policy or webhook into a refusal.
pub(super) fn refusal(attributes: &Attributes<'_>, refused: Refused) -> Refusal {
    match refused {
        Refused::NamespaceNotFound(name) => Refusal::not_found(NAMESPACES, &name),
        Refused::Internal(detail) => Refusal::internal(detail),
        Refused::Unfinished => Refusal::unfinished(),
        Refused::Unavailable(message) => Refusal::plain(503, Reason::ServiceUnavailable, message),
        Refused::Denied(denial) => {
            let GroupVersionResource { group, resource, .. } = attributes.resource;
            let of = GroupResource { group, resource };
            let causes = denial.causes.into_iter().map(|message| Cause { message, ..Cause::default() });
            let details = Details {
                name: denial.name,
                group: of.group.to_owned(),
                kind: of.resource.to_owned(),
                causes: causes.collect(),
                ..Details::default()
            };
            let reason = match denial.reason.as_str() {
                "Forbidden" => Reason::Forbidden,
                "Unauthorized" => Reason::Unauthorized,
                "RequestEntityTooLarge" => Reason::RequestEntityTooLarge,
                "Invalid" => Reason::Invalid,
                other => Reason::Other(other.to_owned()),
            };
            let details = Some(Box::new(details));
            Refusal { details, ..Refusal::plain(denial.code, reason, denial.message) }
        }
    }
}
