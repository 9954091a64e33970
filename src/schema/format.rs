//! String formats: which ones a version knows, and which texts they accept (`kube-openapi/pkg/validation/strfmt`).
//!
//! The checks are those of Go's functions, not those of the RFCs; each one's documentation says where they differ. Those
//! that CEL's `format` library has as well are shared with it.

mod email;
mod ip;
mod name;
mod number;

use crate::cel::value::{Format as Named, parse_request_uri, time};
use crate::version::Version;

/// A format: its name without dashes, the version that introduced it to CRDs, what it accepts.
type Format = (&'static str, Version, fn(&str) -> bool);

const FORMATS: [Format; 26] = [
    ("bsonobjectid", Version::ALWAYS, |s| s.len() == 24 && s.bytes().all(|b| b.is_ascii_hexdigit())),
    // Relative only when it begins with a slash.
    ("uri", Version::ALWAYS, |s| parse_request_uri(s).is_ok()),
    ("email", Version::ALWAYS, email::is_address),
    ("hostname", Version::ALWAYS, name::is_hostname),
    ("ipv4", Version::ALWAYS, ip::is_ipv4),
    ("ipv6", Version::ALWAYS, ip::is_ipv6),
    ("cidr", Version::ALWAYS, ip::is_cidr),
    ("mac", Version::ALWAYS, ip::is_mac),
    ("uuid", Version::ALWAYS, |s| number::is_uuid(s, None)),
    ("uuid3", Version::ALWAYS, |s| number::is_uuid(s, Some(b'3'))),
    ("uuid4", Version::ALWAYS, |s| number::is_uuid(s, Some(b'4'))),
    ("uuid5", Version::ALWAYS, |s| number::is_uuid(s, Some(b'5'))),
    ("isbn", Version::ALWAYS, |s| number::is_isbn10(s) || number::is_isbn13(s)),
    ("isbn10", Version::ALWAYS, number::is_isbn10),
    ("isbn13", Version::ALWAYS, number::is_isbn13),
    ("creditcard", Version::ALWAYS, number::is_credit_card),
    ("ssn", Version::ALWAYS, number::is_social_security_number),
    ("hexcolor", Version::ALWAYS, number::is_hex_color),
    ("rgbcolor", Version::ALWAYS, number::is_rgb_color),
    ("byte", Version::ALWAYS, |s| named("byte", s)),
    ("password", Version::ALWAYS, |_| true),
    ("date", Version::ALWAYS, |s| time::parse_date(s).is_ok()),
    ("duration", Version::ALWAYS, |s| time::parse_format_duration(s).is_ok()),
    ("datetime", Version::ALWAYS, |s| named("datetime", s)),
    ("k8sshortname", Version(34), name::is_short_name),
    ("k8slongname", Version(34), name::is_long_name),
];

/// One of the formats of CEL's `format` library.
fn named(name: &str, text: &str) -> bool {
    Named::named(name).is_none_or(|format| format.complaints(text).is_empty())
}

/// The format of that name; dashes do not count.
fn find(name: &str) -> Option<&'static Format> {
    let letters = || name.bytes().filter(|b| *b != b'-');
    FORMATS.iter().find(|(known, ..)| known.bytes().eq(letters()))
}

/// Whether `name` is a string format that a server of compatibility version `at` enforces; others are ignored.
pub fn known(name: &str, at: Version) -> bool {
    find(name).is_some_and(|(_, since, _)| at >= *since)
}

/// Whether `text` is of the format; unknown formats accept everything.
pub fn check(name: &str, text: &str) -> bool {
    find(name).is_none_or(|(.., accepts)| accepts(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_ignore_dashes_and_know_their_version() {
        assert!(known("date-time", Version::ALWAYS) && known("d-a-t-e", Version::ALWAYS));
        assert!(known("k8s-short-name", Version(34)) && !known("k8s-short-name", Version(33)));
        assert!(!known("int32", Version::CURRENT) && !known("", Version::CURRENT) && !known("Date", Version::CURRENT));
        assert!(check("nobody-knows", "anything"));
        assert!(!check("date-time", "anything"));
    }
}
