//! Validation of names, with the server's messages (`k8s.io/apimachinery/pkg/api/validate/content`). Each function
//! returns the error messages for a name; the list is empty for a valid name.

use crate::release::{Release, V1_35};

const LABEL_FMT: &str = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const SUBDOMAIN_FMT: &str = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*";
const DNS1035_FMT: &str = "[a-z]([-a-z0-9]*[a-z0-9])?";
const KEY_FMT: &str = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";
const VALUE_FMT: &str = "(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?";
const KEY_RULE: &str =
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";

/// The part of a name that is validated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameForm {
    /// A complete name.
    Whole,
    /// The prefix of a name to be generated (`generateName`).
    Prefix,
}

fn too_long(max: usize, unit: &str) -> String {
    format!("must be no more than {max} {unit}")
}

/// The unit of length in messages about label keys and values. Messages about names have `characters`, and so did those
/// about labels before 1.35, which moved them to another package (`k8s.io/apimachinery/pkg/api/validate/content`). All
/// lengths are in bytes.
fn label_unit(release: Release) -> &'static str {
    if release.since(V1_35) { "bytes" } else { "characters" }
}

/// `RegexError`
pub fn no_match(rule: &str, fmt: &str, examples: &[&str]) -> String {
    let mut text = format!("{rule} (e.g. ");
    for (i, example) in examples.iter().enumerate() {
        if i > 0 {
            text.push_str(" or ");
        }
        text.push('\'');
        text.push_str(example);
        text.push_str("', ");
    }
    text.push_str("regex used for validation is '");
    text.push_str(fmt);
    text.push_str("')");
    text
}

fn lower_or_digit(b: u8) -> bool {
    b.is_ascii_lowercase() || b.is_ascii_digit()
}

/// Returns true if the name is not empty, its first and last bytes satisfy `edge`, and all others satisfy `inner`.
fn framed(name: &[u8], edge: impl Fn(u8) -> bool, inner: impl Fn(u8) -> bool) -> bool {
    let ends = name.first().is_some_and(|b| edge(*b)) && name.last().is_some_and(|b| edge(*b));
    ends && name.iter().all(|b| inner(*b))
}

fn is_label(name: &[u8]) -> bool {
    framed(name, lower_or_digit, |b| lower_or_digit(b) || b == b'-')
}

fn is_subdomain(name: &[u8]) -> bool {
    name.split(|b| *b == b'.').all(is_label)
}

fn is_key(name: &[u8]) -> bool {
    framed(name, |b| b.is_ascii_alphanumeric(), |b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'))
}

/// `IsDNS1123Label`
pub fn dns1123_label(name: &[u8]) -> Vec<String> {
    let mut messages = Vec::new();
    if name.len() > 63 {
        messages.push(too_long(63, "characters"));
    }
    if !is_label(name) {
        messages.push(if is_subdomain(name) {
            "must not contain dots".to_owned()
        } else {
            let rule = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character";
            no_match(rule, LABEL_FMT, &["my-name", "123-abc"])
        });
    }
    messages
}

/// `IsDNS1123Subdomain`
pub fn dns1123_subdomain(name: &[u8]) -> Vec<String> {
    subdomain(name, "characters")
}

fn subdomain(name: &[u8], unit: &str) -> Vec<String> {
    let mut messages = Vec::new();
    if name.len() > 253 {
        messages.push(too_long(253, unit));
    }
    if !is_subdomain(name) {
        let rule = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character";
        messages.push(no_match(rule, SUBDOMAIN_FMT, &["example.com"]));
    }
    messages
}

/// `IsDNS1123Subdomain` in `k8s.io/apimachinery/pkg/api/validate/content`, which counts bytes
pub fn long_name(name: &str) -> Vec<String> {
    subdomain(name.as_bytes(), "bytes")
}

/// `IsDNS1035Label`
pub fn dns1035_label(name: &[u8]) -> Vec<String> {
    let mut messages = Vec::new();
    if name.len() > 63 {
        messages.push(too_long(63, "characters"));
    }
    if !is_label(name) || !name.first().is_some_and(u8::is_ascii_lowercase) {
        let rule = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character";
        messages.push(no_match(rule, DNS1035_FMT, &["my-name", "abc-123"]));
    }
    messages
}

/// Returns true for a finalizer of Kubernetes that needs no prefix (`IsStandardFinalizerName`).
pub fn is_standard_finalizer(name: &str) -> bool {
    matches!(name, "foregroundDeletion" | "kubernetes" | "orphan")
}

/// `IsLabelKey` since 1.35, `IsQualifiedName` before.
pub fn qualified_name(value: &str, release: Release) -> Vec<String> {
    let unit = label_unit(release);
    let mut messages = Vec::new();
    let mut parts = value.split('/');
    let name = match (parts.next(), parts.next(), parts.next()) {
        (Some(prefix), Some(name), None) => {
            if prefix.is_empty() {
                messages.push("prefix part must be non-empty".to_owned());
            } else {
                let inner = subdomain(prefix.as_bytes(), unit);
                messages.extend(inner.into_iter().map(|c| format!("prefix part {c}")));
            }
            name
        }
        (Some(name), None, _) => name,
        _ => {
            let rule = no_match(KEY_RULE, KEY_FMT, &["MyName", "my.name", "123-abc"]);
            let hint = "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')";
            let what = if release.since(V1_35) { "a valid label key" } else { "a qualified name" };
            return vec![format!("{what} {rule} {hint}")];
        }
    };
    if name.is_empty() {
        messages.push("name part must be non-empty".to_owned());
    } else if name.len() > 63 {
        messages.push(format!("name part {}", too_long(63, unit)));
    }
    if !is_key(name.as_bytes()) {
        messages.push(format!("name part {}", no_match(KEY_RULE, KEY_FMT, &["MyName", "my.name", "123-abc"])));
    }
    messages
}

/// `IsLabelValue`
pub fn label_value(value: &str, release: Release) -> Vec<String> {
    let mut messages = Vec::new();
    if value.len() > 63 {
        messages.push(too_long(63, label_unit(release)));
    }
    if !value.is_empty() && !is_key(value.as_bytes()) {
        let rule = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
        messages.push(no_match(rule, VALUE_FMT, &["MyValue", "my_value", "12345"]));
    }
    messages
}

/// `IsPathSegmentName`, or `IsPathSegmentPrefix` for a prefix.
pub fn path_segment(name: &str, form: NameForm) -> Vec<String> {
    if form == NameForm::Whole && matches!(name, "." | "..") {
        return vec![format!("may not be '{name}'")];
    }
    ['/', '%'].iter().filter(|c| name.contains(**c)).map(|c| format!("may not contain '{c}'")).collect()
}

/// `NameIsDNSSubdomain`. A prefix may end with a dash, and the character before that dash is not checked.
pub fn name_is_subdomain(name: &str, form: NameForm) -> Vec<String> {
    masked(name, form, dns1123_subdomain)
}

/// `NameIsDNSLabel`
pub fn name_is_label(name: &str, form: NameForm) -> Vec<String> {
    masked(name, form, dns1123_label)
}

/// `NameIsDNS1035Label`
pub fn name_is_dns1035_label(name: &str, form: NameForm) -> Vec<String> {
    masked(name, form, dns1035_label)
}

/// `maskTrailingDash`
fn masked(name: &str, form: NameForm, check: impl Fn(&[u8]) -> Vec<String>) -> Vec<String> {
    match name.as_bytes() {
        [head @ .., _, b'-'] if form == NameForm::Prefix => check(&[head, b"a"].concat()),
        bytes => check(bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn good_names_pass() {
        assert!(dns1123_subdomain(b"a.b-c.0").is_empty());
        assert!(dns1123_label(b"a-b").is_empty());
        assert!(dns1035_label(b"a1").is_empty());
        assert!(qualified_name("example.com/My_Name.1", Release::NEWEST).is_empty());
        assert!(label_value("", Release::NEWEST).is_empty());
        assert!(name_is_subdomain("abc-", NameForm::Prefix).is_empty());
    }

    #[test]
    fn messages_equal_the_servers() {
        assert_eq!(dns1123_label(b"a.b"), ["must not contain dots"]);
        assert_eq!(
            dns1123_subdomain(b"A"),
            [
                "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
            ]
        );
        assert_eq!(
            qualified_name("/", Release::NEWEST),
            [
                "prefix part must be non-empty",
                "name part must be non-empty",
                "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
            ]
        );
        let long = "a".repeat(64);
        let texts = |minor| {
            let release = Release::new(minor).unwrap();
            [qualified_name(&long, release), label_value(&long, release), qualified_name("a/b/c", release)].concat()
        };
        assert!(texts(35)[0].ends_with("63 bytes") && texts(35)[1].ends_with("63 bytes"));
        assert!(texts(34)[0].ends_with("63 characters") && texts(34)[1].ends_with("63 characters"));
        assert!(texts(35)[2].starts_with("a valid label key") && texts(34)[2].starts_with("a qualified name"));
        assert_eq!(path_segment("..", NameForm::Whole), ["may not be '..'"]);
        assert_eq!(path_segment("a/%", NameForm::Prefix), ["may not contain '/'", "may not contain '%'"]);
    }
}
