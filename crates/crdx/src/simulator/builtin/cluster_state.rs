//! What the answer to a request depends on besides the object: the existing object, its namespace and its limit ranges, and the
//! classes that it names.

use super::created::Created;
use super::{Rules, reject_with};
use super::{classes, service_accounts};
use crate::cluster;
use crate::kubectl::Verb;
use crate::report::{Answer, Identity, ObjectReport, SourceLocation, Verdict};
use crate::simulator::built_in_server::{Write, WriteOptions};
use crate::simulator::context::SimulationContext;
use crate::simulator::earlier_object::EarlierObject;
use crate::simulator::existing::{ExistingObjects, Found, Lookup, PendingObject};
use crate::simulator::unsent::lost;
use crdx_builtin::default_class::DefaultClass;
use crdx_builtin::pod_security;
use crdx_server::server::{KnownObjects, NamespaceState};
use crdx_value::Value;
use std::sync::Arc;

/// Returns true if the request for a new object of the input depends on the existing one.
pub(crate) fn reads_existing(verb: Verb) -> bool {
    matches!(verb, Verb::Apply | Verb::ServerSide | Verb::Replace)
}

/// Returns the existing object, if the request or a policy depends on it. `pending` is that object, if it was requested ahead.
pub fn existing(
    context: SimulationContext<'_>,
    rules: Rules,
    identity: &Identity,
    plural: &str,
    pending: Option<PendingObject>,
) -> Found {
    let reads = reads_existing(rules.verb);
    let is_matched = context.admission.is_some_and(|admission| admission.may_match(identity.group(), plural));
    if identity.name.is_empty() || !reads && !is_matched {
        return Found::Nothing;
    }
    let existing = &context.updates.existing;
    let found = existing.read(pending, Lookup { identity, namespace: context.namespace }, plural);
    if let (Found::Error(error), ExistingObjects::Cluster(cluster)) = (&found, existing) {
        cluster.record_unreadable(plural, error);
    }
    found
}

/// Returns the object that an earlier input with the same name stored, and whether it is an input that was only created in
/// a dry run; `None` if there is none.
pub fn earlier(context: SimulationContext<'_>, stored: EarlierObject) -> Option<(Found, bool)> {
    let not_kept = |kind| (Found::Error(lost(kind).into_error()), false);
    match stored {
        EarlierObject::None => None,
        EarlierObject::Lost(kind) => Some(not_kept(kind)),
        EarlierObject::At(stored) => Some(match context.store.get(stored) {
            Ok(object) => {
                let is_input = object.str_at(&["metadata", "uid"]).is_none();
                (Found::Object(Box::new(object), SourceLocation::default()), is_input || stored.is_text())
            }
            Err(error) => not_kept(error.kind()),
        }),
    }
}

/// Returns the objects on which the admission of an object depends; `None` if there are none. `new` is the group and plural
/// of an object that is created.
pub fn known_objects(
    context: SimulationContext<'_>,
    new: Option<(&str, &str)>,
    (kind, object): (&str, &Value),
    namespace: Option<&str>,
    created: &KnownObjects,
) -> Option<Arc<KnownObjects>> {
    let namespace = namespace?;
    let cluster = context.configured_cluster();
    let has_pod = pod_security::pod_of(kind, object).is_some();
    let is_given = || context.admission.is_some_and(|admission| admission.gives_namespace(namespace));
    let of_inputs = created.namespace.clone().filter(|_| has_pod);
    let namespace = of_inputs
        .or_else(|| cluster.filter(|_| has_pod && !is_given()).and_then(|cluster| cluster.namespace(namespace)));
    // Without a cluster, an object is only rejected for limits in a namespace about which the inputs say everything.
    let is_known = cluster.is_some() || created.namespace.is_some();
    let limit_ranges = if is_known { created.limit_ranges.clone() } else { Vec::new() };
    let default_class = new.and_then(|resource| default_class(context, resource, object));
    let is_any = namespace.is_some() || !limit_ranges.is_empty() || default_class.is_some();
    is_any.then(|| Arc::new(KnownObjects { namespace, limit_ranges, default_class }))
}

/// Returns the name of the class in the cluster that a new object gets.
fn default_class(context: SimulationContext<'_>, resource: (&str, &str), object: &Value) -> Option<String> {
    let cluster = context.configured_cluster()?;
    let kind = DefaultClass::wanted(resource, object)?;
    let (group, plural) = kind.classes;
    match cluster.list(&format!("/apis/{group}/v1/{plural}")) {
        Ok(list) => {
            let classes = list.get("items").and_then(Value::as_array).unwrap_or_default();
            kind.choose(classes).map(str::to_owned)
        }
        Err(error) => {
            cluster.record_unreadable(plural, &error);
            None
        }
    }
}

/// Rejects a new object whose namespace does not accept it.
pub(crate) fn check_namespace(item: &mut ObjectReport, context: SimulationContext<'_>, plural: &str, found: &Found) {
    let request_kind = &context.updates.request_kind;
    if !request_kind.may_create() {
        return;
    }
    let Some(namespace) = item.identity.namespace.clone() else { return };
    let state = context.namespace_state(Some(&namespace));
    let refusal = state.refusal(&namespace, (item.identity.group(), plural), &item.identity.name);
    let Some((code, reason, message)) = refusal else { return };
    // Objects in a namespace that is being deleted can still be updated.
    match found {
        Found::Error(error) if state == NamespaceState::Terminating => {
            (item.verdict, item.help) = (Verdict::CannotTell, error.help.clone());
            item.reason = format!("its namespace is being deleted, and the object cannot be read: {}", error.message);
        }
        _ => reject_with(item, Answer { code, reason, message }),
    }
}

/// Reads the limit ranges that apply to an object from the cluster.
pub(crate) fn read_limit_ranges(context: SimulationContext<'_>, options: WriteOptions<'_>, write: &Write<'_>) {
    let is_limited = write.identity.group().is_empty() && matches!(write.kind, "Pod" | "PersistentVolumeClaim");
    let (Some(namespace), ExistingObjects::Cluster(cluster)) = (&write.identity.namespace, &context.updates.existing)
    else {
        return;
    };
    if !is_limited || !cluster.is_configured() {
        return;
    }
    let (version, plural) = ("v1".to_owned(), "limitranges".to_owned());
    let ranges = cluster::Resource { version, plural, namespaced: true, ..cluster::Resource::default() };
    match cluster.list(&ranges.path(Some(namespace))) {
        Ok(list) => context.built_in.store_limit_ranges(options, namespace, &list),
        Err(error) => cluster.record_unreadable("limitranges", &error),
    }
}

/// Rejects a new object if the cluster does not have the service account and the classes that it names.
pub(crate) fn check_references(
    item: &mut ObjectReport,
    context: SimulationContext<'_>,
    sent: &Value,
    earlier: &Created,
) {
    let ExistingObjects::Cluster(cluster) = &context.updates.existing else { return };
    if !cluster.is_configured() {
        return;
    }
    let namespace = item.identity.namespace.clone().unwrap_or_default();
    // A controller creates the service account `default` of a new namespace.
    if item.identity.kind == "Pod" && !earlier.service_account && !earlier.has_namespace() {
        match service_accounts::refusal(&**cluster, sent, &namespace) {
            Ok(Some(answer)) => return reject_with(item, answer),
            Ok(None) => {}
            Err(error) => cluster.record_unreadable("serviceaccounts", &error),
        }
    }
    match classes::refusal(&**cluster, sent, &earlier.classes) {
        Ok(Some(answer)) => reject_with(item, answer),
        Ok(None) => {}
        Err((plural, error)) => cluster.record_unreadable(plural, &error),
    }
}

/// Returns true if the cluster serves a kind that its release does not serve by default.
pub(crate) fn served_by_cluster(
    context: SimulationContext<'_>,
    kind: (&str, &str, &str),
) -> Result<bool, cluster::Error> {
    match context.cluster {
        Some(cluster) if cluster.is_configured() => cluster.serves(kind),
        _ => Ok(false),
    }
}
