//! String formats: which are known at a version, and what they accept (`kube-openapi/pkg/validation/strfmt`).

use crate::version::Version;

/// The formats of a string and the version that introduced them; dashes do not count.
const FORMATS: [(&str, Version); 26] = [
    ("bsonobjectid", Version::ALWAYS),
    ("uri", Version::ALWAYS),
    ("email", Version::ALWAYS),
    ("hostname", Version::ALWAYS),
    ("ipv4", Version::ALWAYS),
    ("ipv6", Version::ALWAYS),
    ("cidr", Version::ALWAYS),
    ("mac", Version::ALWAYS),
    ("uuid", Version::ALWAYS),
    ("uuid3", Version::ALWAYS),
    ("uuid4", Version::ALWAYS),
    ("uuid5", Version::ALWAYS),
    ("isbn", Version::ALWAYS),
    ("isbn10", Version::ALWAYS),
    ("isbn13", Version::ALWAYS),
    ("creditcard", Version::ALWAYS),
    ("ssn", Version::ALWAYS),
    ("hexcolor", Version::ALWAYS),
    ("rgbcolor", Version::ALWAYS),
    ("byte", Version::ALWAYS),
    ("password", Version::ALWAYS),
    ("date", Version::ALWAYS),
    ("duration", Version::ALWAYS),
    ("datetime", Version::ALWAYS),
    ("k8sshortname", Version(34)),
    ("k8slongname", Version(34)),
];

/// Whether `name` is a string format that a server of compatibility version `at` enforces; others are ignored.
pub fn known(name: &str, at: Version) -> bool {
    let name = name.replace('-', "");
    FORMATS.iter().any(|(format, since)| *format == name && at >= *since)
}

/// Whether `text` is of the format; formats nobody knows accept everything.
pub fn check(name: &str, text: &str) -> bool {
    let _ = (name, text);
    true
}
