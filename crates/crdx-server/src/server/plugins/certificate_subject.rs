//! `CertificateSubjectRestriction`: the subjects of requests for certificates of clients.

use crate::server::admission::{Attributes, Operation, Plugin, Report};
use crate::server::http::calls::Calls;
use crate::server::http::status::Refusal;
use crate::server::scope::GroupResource;
use crate::server::strategy::content;
use crdx_value::Value;

/// The `CertificateSubjectRestriction` plugin.
#[derive(Debug)]
pub(super) struct CertificateSubjectRestriction;

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
        let Attributes { resource, name, .. } = *attributes;
        if (resource.group, resource.resource) != ("certificates.k8s.io", "certificatesigningrequests") {
            return Ok(());
        }
        match object.and_then(content::subject_refusal) {
            Some(reason) => {
                let of = GroupResource { group: resource.group, resource: resource.resource };
                Err(Refusal::forbidden(of, name, reason))
            }
            None => Ok(()),
        }
    }
}
