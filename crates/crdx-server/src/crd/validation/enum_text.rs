//! Validation of enumerated strings.

use crdx_value::field::{BoundedErrors, FieldError, FieldPath};

/// Validates a required string that must be one of `accepted`.
pub(crate) fn enum_text(value: &str, accepted: &[&str], path: &FieldPath<'_>, errors: &mut BoundedErrors) {
    if value.is_empty() {
        errors.push(FieldError::required(path, ""));
    } else if !accepted.contains(&value) {
        errors.push(FieldError::not_supported(path, value, accepted));
    }
}
