//! The named formats of the `format` library.

use super::{super::time, parse_request_uri};
use crdx_value::names;
use crdx_value::release::Release;

/// `kubernetes.NamedFormat`
#[derive(Debug)]
pub struct NamedFormat {
    /// The function that returns the format (`format.dns1123Label()`), which is also its name in `format.named()`.
    pub function: &'static str,
    /// The name of the format.
    pub name: &'static str,
    /// The length of the longest pattern, for the cost.
    pub pattern_length: u64,
    check: fn(&str, Release) -> Vec<String>,
}

impl NamedFormat {
    /// The format with this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        FORMATS.iter().find(|format| format.function == name)
    }

    /// Returns true if the text is valid. Releases differ only in error messages.
    pub fn accepts(&self, text: &str) -> bool {
        self.messages(text, Release::OLDEST).is_empty()
    }

    /// The error messages for an invalid text; empty if the text is valid.
    pub fn messages(&self, text: &str, release: Release) -> Vec<String> {
        (self.check)(text, release)
    }
}

const fn format(
    function: &'static str,
    name: &'static str,
    pattern_length: u64,
    check: fn(&str, Release) -> Vec<String>,
) -> NamedFormat {
    NamedFormat { function, name, pattern_length, check }
}

static FORMATS: [NamedFormat; 13] = [
    format("byte", "byte", 84, |s, _| unless(is_base64(s), "invalid base64")),
    format("date", "date", DATE_TIME_PATTERN, |s, _| unless(time::parse_date(s).is_ok(), "invalid date")),
    format("datetime", "datetime", DATE_TIME_PATTERN, |s, _| unless(is_date_time(s), "invalid datetime")),
    format("dns1035Label", "DNS1035Label", 30, |s, _| names::dns1035_label(s.as_bytes())),
    format("dns1035LabelPrefix", "DNS1035LabelPrefix", 30, |s, _| names::dns1035_label(&prefix(s))),
    format("dns1123Label", "DNS1123Label", 30, |s, _| names::dns1123_label(s.as_bytes())),
    format("dns1123LabelPrefix", "DNS1123LabelPrefix", 30, |s, _| names::dns1123_label(&prefix(s))),
    format("dns1123Subdomain", "DNS1123Subdomain", 60, |s, _| names::dns1123_subdomain(s.as_bytes())),
    format("dns1123SubdomainPrefix", "DNS1123SubdomainPrefix", 60, |s, _| names::dns1123_subdomain(&prefix(s))),
    format("labelValue", "LabelValue", 40, names::label_value),
    format("qualifiedName", "QualifiedName", 60, names::qualified_name),
    format("uri", "URI", 1103, |s, _| parse_request_uri(s).err().map(String::from).into_iter().collect()),
    format("uuid", "uuid", UUID_PATTERN, |s, _| unless(is_uuid(s), "does not match the UUID format")),
];

/// The pattern lengths that the server uses for the cost.
const DATE_TIME_PATTERN: u64 = 71;
const UUID_PATTERN: u64 = 70;

fn unless(valid: bool, message: &str) -> Vec<String> {
    if valid { Vec::new() } else { vec![message.to_owned()] }
}

/// A name prefix may end with a dash, and the character before that dash is not checked.
fn prefix(text: &str) -> Vec<u8> {
    match text.as_bytes() {
        [head @ .., _, b'-'] => [head, b"a"].concat(),
        other => other.to_vec(),
    }
}

/// Returns true for non-empty, padded, standard base64.
fn is_base64(text: &str) -> bool {
    let unpadded = text.strip_suffix("==").or_else(|| text.strip_suffix('=')).unwrap_or(text);
    !text.is_empty()
        && text.len().is_multiple_of(4)
        && unpadded.len() % 4 != 1
        && !(unpadded.len().is_multiple_of(4) && unpadded.len() < text.len())
        && unpadded.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'+' || b == b'/')
}

fn is_uuid(text: &str) -> bool {
    let mut rest = text.as_bytes();
    for (i, length) in [8, 4, 4, 4, 12].into_iter().enumerate() {
        if i > 0 {
            rest = rest.strip_prefix(b"-").unwrap_or(rest);
        }
        match rest.split_at_checked(length) {
            Some((group, after)) if group.iter().all(u8::is_ascii_hexdigit) => rest = after,
            _ => return false,
        }
    }
    rest.is_empty()
}

/// Returns true for a date, `t` and a time of day with UTC offset; case-insensitive, and with any character before the
/// fraction.
fn is_date_time(text: &str) -> bool {
    let lower = text.to_lowercase();
    let mut parts = lower.split('t');
    let (Some(date), Some(clock)) = (parts.next(), parts.next()) else {
        return false;
    };
    text.len() >= 4 && time::parse_date(date).is_ok() && is_clock(clock)
}

fn is_clock(text: &str) -> bool {
    fn two<'a>(text: &'a str, most: &str, end: &str) -> Option<&'a str> {
        let (digits, rest) = text.split_at_checked(2)?;
        (digits.bytes().all(|b| b.is_ascii_digit()) && digits <= most).then_some(())?;
        rest.strip_prefix(end)
    }
    fn clock(text: &str) -> Option<()> {
        let rest = two(two(two(text, "23", ":")?, "59", ":")?, "59", "")?;
        let zone = |rest: &str| {
            let offset = |rest: &str| two(two(rest, "99", ":")?, "99", "").filter(|r| r.is_empty()).map(|_| ());
            if rest == "z" { Some(()) } else { offset(rest.strip_prefix(['+', '-'])?) }
        };
        zone(rest).or_else(|| {
            let mut chars = rest.chars();
            chars.next().filter(|c| *c != '\n')?;
            let fraction = chars.as_str();
            let end = fraction.find(|c: char| !c.is_ascii_digit())?;
            (end > 0).then(|| zone(fraction.get(end..)?))?
        })
    }
    clock(text).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn good(format: &str, text: &str) -> bool {
        NamedFormat::named(format).expect(format).messages(text, Release::NEWEST).is_empty()
    }

    #[test]
    fn formats_accept_what_the_server_accepts() {
        for (format, yes, no) in [
            ("byte", &["YWJj", "YWI=", "YQ=="][..], &["", "YQ", "YQ=", "Y===", "YW-j", "YWJj="][..]),
            ("uuid", &["123e4567-e89b-12d3-a456-426614174000", "123E4567e89b12d3a456426614174000"], &["", "123e4567"]),
            ("date", &["2024-02-29"], &["2023-02-29", "2024-1-01", "2024-01-01T"]),
            (
                "datetime",
                &["2024-02-29T23:59:59Z", "2024-02-29t23:59:59,5z", "2024-02-29T23:59:59.123+25:00"],
                &["2024-02-29 23:59:59Z", "2024-02-29T24:00:00Z", "2024-02-29T23:59:59", "2024-02-29T23:59:59.Z"],
            ),
            ("uri", &["http://a", "/a"], &["a", ""]),
            ("dns1123LabelPrefix", &["abc-", "a"], &["-", "a.b"]),
            ("qualifiedName", &["a.b/c", "C"], &["", "/c", "a/b/c"]),
        ] {
            for text in yes {
                assert!(good(format, text), "{format} {text}");
            }
            for text in no {
                assert!(!good(format, text), "{format} {text}");
            }
        }
        assert!(NamedFormat::named("DNS1123Label").is_none());
    }
}
