//! `NodeDeclaredFeatureValidator` and `PodResizeValidator`: the Nodes of Pods that are resized
//! ([`crdx_builtin::pod_resize`]).

use crdx_builtin::pod_resize;
use crdx_server::cluster_state::NODES;
use crdx_server::server::{AdmissionPlugin, AdmissionRequest, KindPlugin, Operation, PluginServers, Refusal};
use crdx_value::Value;
use crdx_value::release::V1_36;

/// Both plugins, which follow each other. They exist since 1.36, where the gate `NodeDeclaredFeatures` is enabled, too.
pub(crate) static POD_RESIZE: KindPlugin = KindPlugin {
    since: V1_36,
    servers: PluginServers::WithGeneratedFields,
    operations: &[Operation::Update],
    targets: &[("", "pods", "resize")],
    validate: Some(validate),
    ..KindPlugin::new(AdmissionPlugin::PodResize)
};

fn validate(request: &mut AdmissionRequest<'_>, pod: &Value) -> Result<(), Refusal> {
    let Some(old) = request.old_object else { return Ok(()) };
    let Some(name) = pod_resize::node_name(pod, old) else { return Ok(()) };
    let node = request.stored_object(NODES, "", name);
    match pod_resize::refusal((pod, old), name, node.as_deref(), request.release) {
        Some(refused) => Err(request.forbidden(&refused.reason).with_cause(refused.cause)),
        None => Ok(()),
    }
}
