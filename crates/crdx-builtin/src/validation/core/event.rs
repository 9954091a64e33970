//! Events of the core group, which older clients write: `events.k8s.io` has the same objects.

use crate::validation::events::event::validate_core;
use crate::validation::field_value::{Errors, FieldValue};
use crdx_value::Value;

/// `ValidateEventCreate` and `ValidateEventUpdate` (legacy)
pub(crate) fn validate(errors: &mut Errors, object: &FieldValue<'_, '_>, _: Option<&Value>) {
    validate_core(errors, object);
}
