//! Texts of which only a few are accepted.

use crate::field::{ErrorList, FieldError, FieldPath};

/// A required text that must be one of a few.
pub fn enum_text(value: &str, accepted: &[&str], path: &FieldPath<'_>, errors: &mut ErrorList) {
    if value.is_empty() {
        errors.push(FieldError::required(path, ""));
    } else if !accepted.contains(&value) {
        errors.push(FieldError::not_supported(path, value, accepted));
    }
}
