//! What the answer to a request depends on besides the object: the existing object, its namespace and its limit ranges, and the
//! classes that it names.

use super::classes;
use super::{Created, Rules, reject_with};
use crate::cluster;
use crate::simulation::built_in_server::{Write, WriteOptions};
use crate::simulation::context::SimulationContext;
use crate::simulation::existing::{ExistingObjects, Found, Lookup, PendingObject};
use crdx::kubectl::Verb;
use crdx::report::{Answer, Identity, ObjectReport, Verdict};
use crdx_server::server::NamespaceState;
use crdx_value::Value;

/// Returns true if the request for a new object of the input depends on the existing one.
pub fn reads_existing(verb: Verb) -> bool {
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
    let found = match pending.or_else(|| existing.pending(identity, plural)) {
        Some(pending) => pending.wait(),
        None => existing.find(Lookup { identity, namespace: context.namespace }),
    };
    if let (Found::Error(error), ExistingObjects::Live(live)) = (&found, existing) {
        live.record_unreadable(plural, error);
    }
    found
}

/// Rejects a new object whose namespace does not accept it.
pub fn check_namespace(item: &mut ObjectReport, context: SimulationContext<'_>, plural: &str, found: &Found) {
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
pub fn read_limit_ranges(context: SimulationContext<'_>, options: WriteOptions<'_>, write: &Write<'_>) {
    let is_limited = write.identity.group().is_empty() && matches!(write.kind, "Pod" | "PersistentVolumeClaim");
    let (Some(namespace), ExistingObjects::Live(live)) = (&write.identity.namespace, &context.updates.existing) else {
        return;
    };
    if !is_limited || !live.is_configured() {
        return;
    }
    let (version, plural) = ("v1".to_owned(), "limitranges".to_owned());
    let ranges = cluster::Resource { version, plural, namespaced: true, ..cluster::Resource::default() };
    match live.list(&ranges.path(Some(namespace))) {
        Ok(list) => context.built_in.store_limit_ranges(options, namespace, &list),
        Err(error) => live.record_unreadable("limitranges", &error),
    }
}

/// Rejects a new object if the cluster does not have the classes that it names.
pub fn check_classes(item: &mut ObjectReport, context: SimulationContext<'_>, sent: &Value, earlier: &Created) {
    let ExistingObjects::Live(live) = &context.updates.existing else { return };
    if !live.is_configured() {
        return;
    }
    match classes::refusal(live, sent, &earlier.classes) {
        Ok(Some(answer)) => reject_with(item, answer),
        Ok(None) => {}
        Err((plural, error)) => live.record_unreadable(plural, &error),
    }
}

/// Returns true if the cluster serves a kind that its release does not serve by default.
pub fn served_by_cluster(context: SimulationContext<'_>, kind: (&str, &str, &str)) -> Result<bool, cluster::Error> {
    match context.cluster {
        Some(live) if live.is_configured() => live.serves(kind),
        _ => Ok(false),
    }
}
