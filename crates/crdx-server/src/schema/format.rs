//! String formats: which formats a version supports, and which strings they accept
//! (`kube-openapi/pkg/validation/strfmt`).
//!
//! The checks follow Go's functions rather than the RFCs; the documentation of each function lists the differences.
//! Formats that CEL's `format` library also has share its implementation.

mod email;
mod ip;
mod name;
mod number;

use crdx_cel::value::{NamedFormat as Named, parse_request_uri, time};
use crdx_value::duration;
use crdx_value::release::Minor;
pub use ip::is_sloppy_ip;

/// A format: its name without dashes, the version that introduced it for CRDs, and its check.
type FormatCheck = (&'static str, Minor, fn(&str) -> bool);

const FORMATS: [FormatCheck; 26] = [
    ("bsonobjectid", Minor::ALWAYS, |s| s.len() == 24 && s.bytes().all(|b| b.is_ascii_hexdigit())),
    // A URI may be relative only if it starts with a slash.
    ("uri", Minor::ALWAYS, |s| parse_request_uri(s).is_ok()),
    ("email", Minor::ALWAYS, email::is_address),
    ("hostname", Minor::ALWAYS, name::is_hostname),
    ("ipv4", Minor::ALWAYS, ip::is_ipv4),
    ("ipv6", Minor::ALWAYS, ip::is_ipv6),
    ("cidr", Minor::ALWAYS, ip::is_cidr),
    ("mac", Minor::ALWAYS, ip::is_mac),
    ("uuid", Minor::ALWAYS, |s| number::is_uuid(s, None)),
    ("uuid3", Minor::ALWAYS, |s| number::is_uuid(s, Some(b'3'))),
    ("uuid4", Minor::ALWAYS, |s| number::is_uuid(s, Some(b'4'))),
    ("uuid5", Minor::ALWAYS, |s| number::is_uuid(s, Some(b'5'))),
    ("isbn", Minor::ALWAYS, |s| number::is_isbn10(s) || number::is_isbn13(s)),
    ("isbn10", Minor::ALWAYS, number::is_isbn10),
    ("isbn13", Minor::ALWAYS, number::is_isbn13),
    ("creditcard", Minor::ALWAYS, number::is_credit_card),
    ("ssn", Minor::ALWAYS, number::is_social_security_number),
    ("hexcolor", Minor::ALWAYS, number::is_hex_color),
    ("rgbcolor", Minor::ALWAYS, number::is_rgb_color),
    ("byte", Minor::ALWAYS, |s| named("byte", s)),
    ("password", Minor::ALWAYS, |_| true),
    ("date", Minor::ALWAYS, |s| time::parse_date(s).is_ok()),
    ("duration", Minor::ALWAYS, |s| duration::parse_format_duration(s).is_ok()),
    ("datetime", Minor::ALWAYS, |s| named("datetime", s)),
    ("k8sshortname", Minor(34), name::is_short_name),
    ("k8slongname", Minor(34), name::is_long_name),
];

/// Checks a format of CEL's `format` library.
fn named(name: &str, text: &str) -> bool {
    Named::named(name).is_none_or(|format| format.accepts(text))
}

/// The format with this name, ignoring dashes.
fn find(name: &str) -> Option<&'static FormatCheck> {
    let letters = || name.bytes().filter(|b| *b != b'-');
    FORMATS.iter().find(|(known, ..)| known.bytes().eq(letters()))
}

/// Returns true if `name` is a string format that a server of compatibility version `at` enforces. Other formats are
/// ignored.
pub fn known(name: &str, at: Minor) -> bool {
    find(name).is_some_and(|(_, since, _)| at >= *since)
}

/// Returns true if `text` has the format; unknown formats accept every text.
pub fn check(name: &str, text: &str) -> bool {
    find(name).is_none_or(|(.., accepts)| accepts(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn format_names_ignore_dashes_and_depend_on_the_version() {
        assert!(known("date-time", Minor::ALWAYS) && known("d-a-t-e", Minor::ALWAYS));
        assert!(known("k8s-short-name", Minor(34)) && !known("k8s-short-name", Minor(33)));
        assert!(!known("int32", Minor::NEVER) && !known("", Minor::NEVER) && !known("Date", Minor::NEVER));
        assert!(check("nobody-knows", "anything"));
        assert!(!check("date-time", "anything"));
    }
}
