//! The inputs of an answer besides the object: the existing object, and whether its namespace accepts it.

use super::reject_with;
use crate::cluster::{self, Cluster};
use crate::report::{Identity, ObjectReport, ServerResponse, SourceLocation, Verdict};
use crate::simulation::context::SimulationContext;
use crate::simulation::earlier_object::EarlierObject;
use crate::simulation::existing::{ExistingObjects, Found, Lookup as Wanted, PendingObject};
use crate::simulation::known_cluster::KnownCluster;
use crdx_server::cluster_state::{Lookup, NAMESPACES, is_terminating};
use crdx_types::resources;
use crdx_value::quote;

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
    let found = existing.read(pending, Wanted { identity, namespace: context.namespace, root: context.root }, plural);
    if let (Found::Error(error), ExistingObjects::Cluster(cluster)) = (&found, existing) {
        cluster.record_unreadable(plural, error);
    }
    found
}

/// Returns the object that an earlier input with the same name stored, and whether it is an input that was only created in
/// a dry run; `None` if there is none.
pub fn earlier(context: SimulationContext<'_>, stored: EarlierObject) -> Option<(Found, bool)> {
    match stored.read(context.store) {
        Ok(earlier) => earlier.map(|(object, is_text)| {
            let is_input = object.str_at(&["metadata", "uid"]).is_none();
            (Found::Object(Box::new(object), SourceLocation::default()), is_input || is_text)
        }),
        Err(lost) => Some((Found::Error(lost.into_error()), false)),
    }
}

/// Rejects an object that is not sent if its namespace does not accept new objects.
pub(crate) fn check_namespace(
    item: &mut ObjectReport,
    context: SimulationContext<'_>,
    (plural, found): (&str, &Found),
    cluster: &KnownCluster,
) {
    let Some(namespace) = item.identity.namespace.clone().filter(|_| context.updates.request_kind.may_create()) else {
        return;
    };
    match (cluster.read_object(NAMESPACES, "", &namespace), found) {
        (Lookup::Absent, _) => {
            let message = format!("namespaces {} not found", quote::go_quote(&namespace));
            reject_with(item, ServerResponse { code: 404, reason: "NotFound".to_owned(), message });
        }
        // Objects in a namespace that is being deleted can still be updated.
        (Lookup::Found(object), Found::Error(error)) if is_terminating(&object) => {
            (item.verdict, item.help) = (Verdict::CannotTell, error.help.clone());
            item.reason = format!("its namespace is being deleted, and the object cannot be read: {}", error.message);
        }
        (Lookup::Found(object), _) if is_terminating(&object) => {
            let reason =
                format!("unable to create new content in namespace {namespace} because it is being terminated");
            reject_with(item, ServerResponse::forbidden(plural, &item.identity.name, &reason));
        }
        (Lookup::Found(_) | Lookup::Unknown, _) => {}
    }
}

/// Returns true if the discovery of a cluster is that of a kube-apiserver. Others, such as control planes without workloads, do not
/// say what they lack.
fn is_whole(cluster: &dyn Cluster) -> Result<bool, cluster::Error> {
    for kind in ["Node", "Pod", "ConfigMap", "Secret"] {
        if !cluster.serves(("", "v1", kind))? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Returns true if the server serves a kind. `by_default` is true for the kinds that its release serves without configuration.
pub(crate) fn is_served(
    context: SimulationContext<'_>,
    kind: (&str, &str, &str),
    by_default: bool,
) -> Result<bool, cluster::Error> {
    let cluster = context.cluster.filter(|cluster| cluster.is_configured());
    if by_default && context.served.depends_on_cluster {
        return match cluster {
            Some(cluster) if is_whole(cluster)? => cluster.serves(kind),
            _ => Ok(true),
        };
    }
    let (group, version, kind_name) = kind;
    match context.served.runtime_config.serves(group, version, &resources::plural(kind_name)) {
        Some(served) => Ok(served),
        None if by_default => Ok(true),
        None => cluster.map_or(Ok(false), |cluster| cluster.serves(kind)),
    }
}
