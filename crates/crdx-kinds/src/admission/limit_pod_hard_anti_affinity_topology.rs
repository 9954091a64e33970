//! `LimitPodHardAntiAffinityTopology`: required anti-affinity ([`crdx_builtin::admission::anti_affinity`]).

use crdx_builtin::admission::anti_affinity;
use crdx_server::server::{AdmissionPlugin, AdmissionRequest, KindPlugin, Operation, Refusal};
use crdx_value::Value;

/// The plugin.
pub(crate) static LIMIT_POD_HARD_ANTI_AFFINITY_TOPOLOGY: KindPlugin = KindPlugin {
    operations: &[Operation::Create, Operation::Update],
    targets: &[("", "pods", "")],
    validate: Some(validate),
    ..KindPlugin::new(AdmissionPlugin::LimitPodHardAntiAffinityTopology)
};

fn validate(request: &mut AdmissionRequest<'_>, pod: &Value) -> Result<(), Refusal> {
    match anti_affinity::refusal(pod) {
        Some(reason) => Err(request.forbidden(&reason)),
        None => Ok(()),
    }
}
