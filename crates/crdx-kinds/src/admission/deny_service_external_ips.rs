//! `DenyServiceExternalIPs`: Services with external IP addresses ([`crdx_builtin::admission::external_ips`]).

use crdx_builtin::admission::external_ips;
use crdx_server::server::{AdmissionPlugin, AdmissionRequest, KindPlugin, Operation, Refusal};
use crdx_value::Value;

/// The plugin.
pub(crate) static DENY_SERVICE_EXTERNAL_IPS: KindPlugin = KindPlugin {
    operations: &[Operation::Create, Operation::Update],
    targets: &[("", "services", "")],
    validate: Some(validate),
    ..KindPlugin::new(AdmissionPlugin::DenyServiceExternalIPs)
};

fn validate(request: &mut AdmissionRequest<'_>, service: &Value) -> Result<(), Refusal> {
    match external_ips::refusal(service, request.old_object) {
        Some(reason) => Err(request.forbidden_object(service, reason)),
        None => Ok(()),
    }
}
