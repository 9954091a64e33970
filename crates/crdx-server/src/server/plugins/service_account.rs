//! `ServiceAccount` (`plugin/pkg/admission/serviceaccount/admission.go` in `k8s.io/kubernetes`), as far as it refuses new Pods.
//! Only the sender of a request knows whether the plugin is enabled and which service accounts exist.

use crate::server::admission::{Attributes, Mutation, Operation, Plugin, Reinvocation, Report};
use crate::server::http::calls::Calls;
use crate::server::http::status::Refusal;
use crdx_value::Value;

/// The `ServiceAccount` plugin.
#[derive(Debug)]
pub(super) struct ServiceAccount;

impl Plugin for ServiceAccount {
    fn handles(&self, operation: Operation) -> bool {
        operation == Operation::Create
    }

    fn mutates(&self) -> bool {
        false
    }

    fn mutate(
        &self,
        attributes: &Attributes<'_>,
        object: &mut Value,
        _: &Calls,
        _: &mut Report,
        _: &mut Reinvocation,
    ) -> Result<Mutation, Refusal> {
        let known = attributes.known_objects.filter(|_| attributes.is_for_pods());
        match known.and_then(|known| known.refused_service_account.as_deref()) {
            Some(reason) => Err(attributes.forbidden_object(object, reason)),
            None => Ok(Mutation::Unchanged),
        }
    }
}
