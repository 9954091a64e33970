//! Parsing of `resourceVersion` parameters.

use crate::server::http::status::Refusal;
use crate::server::registry::store::Revision;
use crdx_value::GoError;
use crdx_value::field::{FieldError, FieldPath};
use crdx_value::quote;

/// Parses a resourceVersion; an empty one is 0.
///
/// # Errors
/// Returns the error message of Go's `strconv.ParseUint`.
pub(in crate::server) fn parse_revision(text: &str) -> Result<u64, GoError> {
    if text.is_empty() {
        return Ok(0);
    }
    let digits = text.bytes().all(|b| b.is_ascii_digit());
    let reason = if digits { "value out of range" } else { "invalid syntax" };
    text.parse()
        .ok()
        .filter(|_| digits)
        .ok_or_else(|| format!("strconv.ParseUint: parsing {}: {reason}", quote::go_quote(text)).into())
}

/// The error message for a resourceVersion that is not a number; `detail` is the error of [`parse_revision`].
pub(in crate::server) fn invalid_revision(text: &str, detail: &GoError) -> String {
    invalid_revision_error(text, detail).to_string()
}

/// The error for a resourceVersion that is not a number.
pub(in crate::server) fn invalid_revision_error(text: &str, detail: &GoError) -> FieldError {
    FieldError::invalid(&FieldPath::new("resourceVersion"), text, detail.as_str())
}

/// Rejects a resourceVersion that is greater than the current one.
pub(in crate::server) fn check_not_ahead(revision: &Revision, wanted: u64) -> Result<(), Refusal> {
    let current = revision.current();
    if wanted > current { Err(Refusal::resource_version_too_large(wanted, current)) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn revisions_are_unsigned() {
        assert_eq!(parse_revision(""), Ok(0));
        assert_eq!(parse_revision("12"), Ok(12));
        assert_eq!(parse_revision("-3"), Err("strconv.ParseUint: parsing \"-3\": invalid syntax".into()));
        assert!(parse_revision("+3").is_err());
    }
}
