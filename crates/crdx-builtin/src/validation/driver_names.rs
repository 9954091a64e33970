//! Names of CSI and DRA drivers (`ValidateCSIDriverName`).

use crate::validation::core::pod_spec::volumes::sources;
use crate::validation::field_value::{Errors, FieldValue};
use crdx_value::field::{BadValue, ErrorType, FieldError, names};
use crdx_value::release::V1_37;

const MAX_NAME: usize = 63;
const MAX_SUBDOMAIN: usize = 253;

/// The name of a driver.
pub fn validate(errors: &mut Errors, name: &FieldValue<'_, '_>) {
    sources::csi_driver_name(errors, name);
}

/// The name of a driver whose rules the type declares since 1.37, with other messages.
pub fn declared(errors: &mut Errors, name: &FieldValue<'_, '_>) {
    if !errors.release.since(V1_37) {
        return validate(errors, name);
    }
    if !errors.require_text(name) {
        return;
    }
    errors.messages(name, caseless_subdomain(name.text()));
    if name.text().chars().count() > MAX_NAME {
        let detail = format!("may not be more than {MAX_NAME} characters");
        errors.list.push(FieldError::new(ErrorType::TooLong, &name.path, BadValue::Omitted, detail));
    }
}

/// `IsDNS1123SubdomainCaseless`
fn caseless_subdomain(name: &str) -> Vec<String> {
    let mut messages = Vec::new();
    if name.len() > MAX_SUBDOMAIN {
        messages.push(format!("must be no more than {MAX_SUBDOMAIN} bytes"));
    }
    let is_label = |label: &str| {
        let is_inner = |b: u8| b.is_ascii_alphanumeric() || b == b'-';
        !label.is_empty() && label.bytes().all(is_inner) && !label.starts_with('-') && !label.ends_with('-')
    };
    if !name.split('.').all(is_label) {
        let rule = "an RFC 1123 subdomain must consist of alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character";
        let pattern = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*";
        messages.push(names::no_match(rule, pattern, &["Example.com"]));
    }
    messages
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_may_have_capital_letters() {
        assert_eq!(caseless_subdomain("A.b-c.d"), [""; 0]);
        for name in ["", "-", "a..b", "a_b", "a-.b"] {
            assert_eq!(caseless_subdomain(name).len(), 1, "{name}");
        }
        assert_eq!(caseless_subdomain(&"x".repeat(254)), ["must be no more than 253 bytes"]);
    }
}
