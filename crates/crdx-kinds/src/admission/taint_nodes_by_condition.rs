//! `TaintNodesByCondition`: new Nodes are not ready (`plugin/pkg/admission/nodetaint`).

use crate::admission::{append, items};
use crdx_server::server::{AdmissionPlugin, AdmissionRequest, KindPlugin, Mutation, PluginServers, Refusal};
use crdx_value::{Value, object};

/// The plugin.
pub(crate) static TAINT_NODES_BY_CONDITION: KindPlugin = KindPlugin {
    servers: PluginServers::WithGeneratedFields,
    targets: &[("", "nodes", "")],
    completes_stored_objects: true,
    mutate: Some(mutate),
    ..KindPlugin::new(AdmissionPlugin::TaintNodesByCondition)
};

const NOT_READY: &str = "node.kubernetes.io/not-ready";

/// Taints have no defaults, so the object is not changed in the sense of [`Mutation`].
fn mutate(_: &mut AdmissionRequest<'_>, node: &mut Value) -> Result<Mutation, Refusal> {
    let path = ["spec", "taints"];
    let taint = object([("effect", "NoSchedule"), ("key", NOT_READY)]);
    let is_same =
        |other: &Value| ["key", "effect"].iter().all(|field| other.str_at(&[field]) == taint.str_at(&[field]));
    if !items(node, &path).iter().any(is_same) {
        append(node, &path, taint);
    }
    Ok(Mutation::Unchanged)
}
