//! What the answer to a request depends on besides the object: the existing object, its namespace and its limit ranges, and the
//! classes that it names.

use super::created::Created;
use super::reject_with;
use super::{classes, service_accounts};
use crate::cluster;
use crate::report::{Answer, Identity, ObjectReport, SourceLocation, Verdict};
use crate::simulator::cluster_objects::{INGRESS_CLASSES, LIMIT_RANGES, STORAGE_CLASSES};
use crate::simulator::context::SimulationContext;
use crate::simulator::earlier_object::EarlierObject;
use crate::simulator::existing::{ExistingObjects, Found, Lookup, PendingObject};
use crate::simulator::unsent::lost;
use crdx_builtin::default_class::DefaultClass;
use crdx_builtin::{admin_access, mirror_pod, pod_security};
use crdx_server::server::{KnownClasses, KnownObjects, NamespaceState, SYSTEM_NAMESPACES};
use crdx_value::Value;
use std::sync::Arc;

/// The namespace that API servers create for the objects of users.
const DEFAULT_NAMESPACE: &str = "default";

/// Returns the existing object. `pending` is that object, if it was requested ahead.
pub fn existing(
    context: SimulationContext<'_>,
    identity: &Identity,
    plural: &str,
    pending: Option<PendingObject>,
) -> Found {
    if identity.name.is_empty() {
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
    earlier: &Created,
) -> Option<Arc<KnownObjects>> {
    let created = &earlier.known_objects;
    let mut known = KnownObjects {
        namespace: namespace.and_then(|name| known_namespace(context, (kind, object), name, created)),
        limit_ranges: namespace.map(|name| limit_ranges(context, (kind, object), name, created)).unwrap_or_default(),
        default_class: new.and_then(|resource| default_class(context, resource, object)),
        refused_service_account: new.and_then(|resource| refused_service_account(context, resource, object, earlier)),
        ..created.clone()
    };
    classes::read(context, object, new.is_some(), &mut known);
    let has_classes = |classes: &KnownClasses| classes.is_complete || !classes.objects.is_empty();
    let is_any = known.namespace.is_some()
        || !known.limit_ranges.is_empty()
        || known.default_class.is_some()
        || known.refused_service_account.is_some()
        || has_classes(&known.priority_classes)
        || has_classes(&known.runtime_classes);
    is_any.then(|| Arc::new(known))
}

/// Returns the Namespace of an object, if it is given or the answer depends on its labels.
fn known_namespace(
    context: SimulationContext<'_>,
    (kind, object): (&str, &Value),
    name: &str,
    created: &KnownObjects,
) -> Option<Arc<Value>> {
    if let Some(given) = created.namespace.as_ref().or_else(|| context.given.namespace(name)) {
        return Some(Arc::clone(given));
    }
    let requests_access = admin_access::request(kind, object).is_some();
    if pod_security::pod_of(kind, object).is_none() && !requests_access {
        return None;
    }
    match context.configured_cluster() {
        Some(cluster) => cluster.namespace(name),
        // API servers create these namespaces, without the label for the access of administrators.
        None if requests_access && (name == DEFAULT_NAMESPACE || SYSTEM_NAMESPACES.contains(&name)) => {
            Some(Arc::new(object_with_name(name)))
        }
        None => None,
    }
}

fn object_with_name(name: &str) -> Value {
    crdx_value::object([("metadata", crdx_value::object([("name", name)]))])
}

/// Returns the limit ranges of an object. Those of earlier inputs replace those of files and of the cluster. Without a cluster,
/// they count only in a namespace that inputs or files define, or if they are given with policies.
fn limit_ranges(
    context: SimulationContext<'_>,
    (kind, object): (&str, &Value),
    namespace: &str,
    created: &KnownObjects,
) -> Vec<Arc<Value>> {
    let is_core = object.str_at(&["apiVersion"]) == Some("v1");
    let is_known = || {
        let is_given = created.namespace.is_some() || context.given.tells_limits(namespace);
        is_given || context.configured_cluster().is_some()
    };
    if !is_core || !matches!(kind, "Pod" | "PersistentVolumeClaim") || !is_known() {
        return Vec::new();
    }
    let list = context.list(LIMIT_RANGES, Some(namespace));
    if let Some(admission) = context.admission.filter(|_| list.is_complete()) {
        admission.record_limit_ranges(namespace);
    }
    let name = |range: &Value| range.str_at(&["metadata", "name"]).unwrap_or_default().to_owned();
    let is_created = |range: &&Value| created.limit_ranges.iter().any(|created| name(created) == name(range));
    let others = list.iter().filter(|range| !is_created(range)).cloned().map(Arc::new);
    created.limit_ranges.iter().cloned().chain(others).collect()
}

/// Returns the name of the default class that a new object gets.
fn default_class(context: SimulationContext<'_>, resource: (&str, &str), object: &Value) -> Option<String> {
    let kind = DefaultClass::wanted(resource, object)?;
    let classes = [STORAGE_CLASSES, INGRESS_CLASSES].into_iter().find(|own| (own.group, own.plural) == kind.classes)?;
    kind.choose(context.list(classes, None).iter()).map(str::to_owned)
}

/// Rejects a new object whose namespace does not accept it. `created` is the Namespace, if an earlier input creates or updates
/// it.
pub(crate) fn check_namespace(
    item: &mut ObjectReport,
    context: SimulationContext<'_>,
    plural: &str,
    (found, created): (&Found, Option<&Value>),
) {
    let request_kind = &context.updates.request_kind;
    if !request_kind.may_create() {
        return;
    }
    let Some(namespace) = item.identity.namespace.clone() else { return };
    let state = context.namespace_state(Some(&namespace), created);
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

/// Returns the reason to refuse a new Pod whose service account the cluster does not have, or a mirror Pod that names one.
fn refused_service_account(
    context: SimulationContext<'_>,
    resource: (&str, &str),
    object: &Value,
    earlier: &Created,
) -> Option<String> {
    if resource != ("", "pods") {
        return None;
    }
    let own = object.str_at(&["metadata", "namespace"]).filter(|own| !own.is_empty());
    // A controller creates the service account `default` of a new namespace.
    let is_of_new_namespace = earlier.has_namespace() && service_accounts::name(object) == service_accounts::DEFAULT;
    let is_created = earlier.service_account || is_of_new_namespace;
    match context.configured_cluster().filter(|_| !is_created) {
        None => mirror_pod::refusal(object).map(str::to_owned),
        Some(cluster) => service_accounts::refusal(&**cluster, object, own.unwrap_or(context.namespace)),
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
