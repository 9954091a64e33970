//! `ExtendedResourceToleration`: tolerations for extended resources ([`crdx_builtin::admission::extended_resources`]).

use crdx_builtin::admission::extended_resources;
use crdx_server::server::{AdmissionPlugin, AdmissionRequest, KindPlugin, Mutation, Operation, Refusal};
use crdx_value::Value;

/// The plugin.
pub(crate) static EXTENDED_RESOURCE_TOLERATION: KindPlugin = KindPlugin {
    operations: &[Operation::Create, Operation::Update],
    targets: &[("", "pods", "")],
    mutate: Some(mutate),
    ..KindPlugin::new(AdmissionPlugin::ExtendedResourceToleration)
};

fn mutate(request: &mut AdmissionRequest<'_>, pod: &mut Value) -> Result<Mutation, Refusal> {
    let is_changed = extended_resources::tolerate(pod, request.release);
    Ok(if is_changed { Mutation::Changed } else { Mutation::Unchanged })
}
