//! Leases.

use crate::validation::field_value::{Errors, FieldValue};
use crdx_value::Value;

/// `ValidateLease` and `ValidateLeaseUpdate`
pub fn validate(errors: &mut Errors, object: &FieldValue<'_, '_>, _: Option<&Value>) {
    let spec = object.child("spec");
    let (duration, transitions) = (spec.child("leaseDurationSeconds"), spec.child("leaseTransitions"));
    if duration.int().is_some_and(|seconds| seconds <= 0) {
        errors.invalid(&duration, "must be greater than 0");
    }
    if transitions.int().is_some_and(|count| count < 0) {
        errors.invalid(&transitions, "must be greater than or equal to 0");
    }
}
