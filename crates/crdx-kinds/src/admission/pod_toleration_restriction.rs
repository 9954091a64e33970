//! `PodTolerationRestriction`: the tolerations of a namespace ([`crdx_builtin::admission::tolerations`]).

use super::{configuration, namespace};
use crdx_builtin::admission::tolerations::TolerationRestriction;
use crdx_server::server::{AdmissionPlugin, AdmissionRequest, KindPlugin, Mutation, Operation, Refusal};
use crdx_value::Value;

/// The plugin.
pub(crate) static POD_TOLERATION_RESTRICTION: KindPlugin = KindPlugin {
    operations: &[Operation::Create, Operation::Update],
    targets: &[("", "pods", "")],
    mutate: Some(mutate),
    validate: Some(validate),
    ..KindPlugin::new(AdmissionPlugin::PodTolerationRestriction)
};

fn restriction(request: &AdmissionRequest<'_>) -> TolerationRestriction {
    request.configuration.map(configuration::tolerations).unwrap_or_default()
}

fn mutate(request: &mut AdmissionRequest<'_>, pod: &mut Value) -> Result<Mutation, Refusal> {
    let Some(namespace) = namespace(request)? else { return Ok(Mutation::Unchanged) };
    let is_new = request.operation == Operation::Create;
    let admitted = restriction(request).admit(pod, &namespace, is_new, request.release);
    let is_changed = admitted.map_err(|error| Refusal::unclassified(error.to_string()))?;
    Ok(if is_changed { Mutation::Changed } else { Mutation::Unchanged })
}

fn validate(request: &mut AdmissionRequest<'_>, pod: &Value) -> Result<(), Refusal> {
    let Some(namespace) = namespace(request)? else { return Ok(()) };
    restriction(request).validate(pod, &namespace).map_err(|error| Refusal::unclassified(error.to_string()))
}
