//! `CertificateSubjectRestriction`: the subjects of requests for certificates of clients.

use crate::server::admission::{Attributes, Operation, Plugin, Report};
use crate::server::http::calls::Calls;
use crate::server::http::status::Refusal;
use crate::server::scope::GroupResource;
use crate::server::strategy::built_in_kind::kind_strategy::ContentValidation;
use crdx_value::Value;

/// The `CertificateSubjectRestriction` plugin.
#[derive(Debug)]
pub(super) struct CertificateSubjectRestriction(pub &'static dyn ContentValidation);

impl Plugin for CertificateSubjectRestriction {
    fn handles(&self, operation: Operation) -> bool {
        operation == Operation::Create
    }

    fn mutates(&self) -> bool {
        false
    }

    fn validate(
        &self,
        attributes: &Attributes<'_>,
        object: Option<&Value>,
        _: &Calls,
        _: &mut Report,
    ) -> Result<(), Refusal> {
        let GroupResource { group, resource } = attributes.group_resource();
        if (group, resource) != ("certificates.k8s.io", "certificatesigningrequests") {
            return Ok(());
        }
        object
            .and_then(|object| self.0.subject_refusal(object))
            .map_or(Ok(()), |reason| Err(attributes.forbidden(reason)))
    }
}
