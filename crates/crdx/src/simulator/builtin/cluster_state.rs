//! What the answer to a request depends on besides the object: the existing object, its namespace and its limit ranges, and the
//! classes that it names.

use super::created::Created;
use super::reject_with;
use super::{classes, service_accounts};
use crate::cluster::{self, items};
use crate::report::{Answer, Identity, ObjectReport, SourceLocation, Verdict};
use crate::simulator::built_in_server::{Write, WriteOptions};
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
const LIMIT_RANGES: &str = "limitranges";

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
    let cluster = context.configured_cluster();
    // Without a cluster, an object is only rejected for limits in a namespace about which the inputs say everything.
    let is_known = cluster.is_some() || created.namespace.is_some();
    let mut known = KnownObjects {
        namespace: namespace.and_then(|name| known_namespace(context, (kind, object), name, created)),
        limit_ranges: if is_known { created.limit_ranges.clone() } else { Vec::new() },
        default_class: new.and_then(|resource| default_class(context, resource, object)),
        refused_service_account: new.and_then(|resource| refused_service_account(context, resource, object, earlier)),
        ..created.clone()
    };
    if let Some(cluster) = cluster {
        classes::read(&**cluster, object, new.is_some(), &mut known);
    }
    let has_classes = |classes: &KnownClasses| classes.is_complete || !classes.objects.is_empty();
    let is_any = known.namespace.is_some()
        || !known.limit_ranges.is_empty()
        || known.default_class.is_some()
        || known.refused_service_account.is_some()
        || has_classes(&known.priority_classes)
        || has_classes(&known.runtime_classes);
    is_any.then(|| Arc::new(known))
}

/// Returns the Namespace of an object whose answer depends on its labels, unless it was given with the policies.
fn known_namespace(
    context: SimulationContext<'_>,
    (kind, object): (&str, &Value),
    name: &str,
    created: &KnownObjects,
) -> Option<Arc<Value>> {
    let requests_access = admin_access::request(kind, object).is_some();
    if pod_security::pod_of(kind, object).is_none() && !requests_access {
        return None;
    }
    let is_given = || context.admission.is_some_and(|admission| admission.gives_namespace(name));
    match (&created.namespace, context.configured_cluster()) {
        (Some(created), _) => Some(Arc::clone(created)),
        (None, _) if is_given() => None,
        (None, Some(cluster)) => cluster.namespace(name),
        // API servers create these namespaces, without the label for the access of administrators.
        (None, None) if requests_access && (name == DEFAULT_NAMESPACE || SYSTEM_NAMESPACES.contains(&name)) => {
            Some(Arc::new(object_with_name(name)))
        }
        (None, None) => None,
    }
}

fn object_with_name(name: &str) -> Value {
    crdx_value::object([("metadata", crdx_value::object([("name", name)]))])
}

/// Returns the name of the class in the cluster that a new object gets.
fn default_class(context: SimulationContext<'_>, resource: (&str, &str), object: &Value) -> Option<String> {
    let cluster = context.configured_cluster()?;
    let kind = DefaultClass::wanted(resource, object)?;
    let (group, plural) = kind.classes;
    let list = cluster.list_if_readable(&format!("/apis/{group}/v1/{plural}"), plural)?;
    kind.choose(items(&list)).map(str::to_owned)
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
    let (Some(namespace), Some(cluster)) = (&write.identity.namespace, context.configured_cluster()) else { return };
    if !is_limited {
        return;
    }
    let path = cluster::Resource::of_core(LIMIT_RANGES).path(Some(namespace));
    if let Some(list) = cluster.list_if_readable(&path, LIMIT_RANGES) {
        context.built_in.store_limit_ranges(options, namespace, &list);
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
