//! `AlwaysDeny` (`plugin/pkg/admission/deny`).

use crate::server::admission::{AdmissionReport, Attributes, Operation, Plugin};
use crate::server::http::calls::Calls;
use crate::server::http::status::Refusal;
use crate::server::scope::RequestScope;
use crdx_value::Value;

/// The plugin.
#[derive(Debug)]
pub(super) struct AlwaysDeny;

impl Plugin for AlwaysDeny {
    fn handles(&self, _: Operation, _: RequestScope<'_>) -> bool {
        true
    }

    fn mutates(&self) -> bool {
        false
    }

    fn validate(
        &self,
        attributes: &Attributes<'_>,
        _: Option<&Value>,
        _: &Calls,
        _: &mut AdmissionReport,
    ) -> Result<(), Refusal> {
        Err(attributes.forbidden("admission control is denying all modifications"))
    }
}
