//! `CertificateSubjectRestriction`: the subjects of requests for certificates of clients.

use crdx_builtin::validation;
use crdx_server::server::{AdmissionPlugin, AdmissionRequest, KindPlugin, Refusal};
use crdx_value::Value;

/// The plugin.
pub(crate) static CERTIFICATE_SUBJECT_RESTRICTION: KindPlugin = KindPlugin {
    targets: &[("certificates.k8s.io", "certificatesigningrequests", "")],
    validate: Some(validate),
    ..KindPlugin::new(AdmissionPlugin::CertificateSubjectRestriction)
};

fn validate(request: &mut AdmissionRequest<'_>, object: &Value) -> Result<(), Refusal> {
    validation::subject_refusal(object).map_or(Ok(()), |reason| Err(request.forbidden(reason)))
}
