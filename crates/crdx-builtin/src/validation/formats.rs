//! Names, ports, paths and other texts that many kinds contain, with the server's messages
//! (`k8s.io/apimachinery/pkg/util/validation`, and helpers of `pkg/apis/core/validation`).

use crate::validation::field_value::{Errors, FieldValue, range};
use crdx_value::Value;
use crdx_value::field::names::{self, NameForm};
use crdx_value::release::{Gate, Release};

/// The largest user and group ID.
const MAX_ID: i64 = i32::MAX as i64;

/// `ValidateDNS1123Label`
pub fn label(errors: &mut Errors, field: &FieldValue<'_, '_>) {
    errors.messages(field, names::dns1123_label(field.text().as_bytes()));
}

/// `ValidateDNS1123Subdomain`
pub fn subdomain(errors: &mut Errors, field: &FieldValue<'_, '_>) {
    errors.messages(field, names::dns1123_subdomain(field.text().as_bytes()));
}

/// `ValidateQualifiedName` and `ValidateLabelName`
pub fn qualified_name(errors: &mut Errors, field: &FieldValue<'_, '_>) {
    errors.messages(field, names::qualified_name(field.text(), errors.release));
}

/// The names of most objects (`NameIsDNSSubdomain`).
pub fn object_name(errors: &mut Errors, field: &FieldValue<'_, '_>) {
    errors.messages(field, names::name_is_subdomain(field.text(), NameForm::Whole));
}

/// `ValidateLabels`
pub fn labels(errors: &mut Errors, field: &FieldValue<'_, '_>) {
    let release = errors.release;
    for (key, value) in field.entries() {
        errors.messages_at(&field.path, key, names::qualified_name(key, release));
        errors.messages_at(&field.path, value.text(), names::label_value(value.text(), release));
    }
}

/// `IsValidPortNum`
pub(crate) fn port_number(errors: &mut Errors, field: &FieldValue<'_, '_>) {
    errors.in_range(field, 1, 65535);
}

/// `ValidatePortNumOrName`
pub(crate) fn port_number_or_name(errors: &mut Errors, field: &FieldValue<'_, '_>) {
    match field.value {
        Value::String(name) => errors.messages(field, port_name(name)),
        _ => port_number(errors, field),
    }
}

/// `IsValidPortName`
pub fn port_name(name: &str) -> Vec<String> {
    let mut messages = Vec::new();
    let mut check = |is_valid: bool, message: &str| {
        if !is_valid {
            messages.push(message.to_owned());
        }
    };
    let is_known = |b: u8| b == b'-' || b.is_ascii_lowercase() || b.is_ascii_digit();
    check(name.len() <= 15, "must be no more than 15 characters");
    check(
        !name.is_empty() && name.bytes().all(is_known),
        "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)",
    );
    check(name.bytes().any(|b| b.is_ascii_lowercase()), "must contain at least one letter (a-z)");
    check(!name.contains("--"), "must not contain consecutive hyphens");
    check(!name.starts_with('-') && !name.ends_with('-'), "must not begin or end with a hyphen");
    messages
}

/// `IsRelaxedEnvVarName` with the gate `RelaxedEnvironmentVariableValidation`, `IsEnvVarName` without.
pub(crate) fn environment_variable_name(name: &str, release: Release) -> Vec<String> {
    if release.enables(Gate::RelaxedEnvironmentVariableValidation) {
        relaxed_environment_variable_name(name)
    } else {
        strict_environment_variable_name(name)
    }
}

/// `IsRelaxedEnvVarName`
pub(crate) fn relaxed_environment_variable_name(name: &str) -> Vec<String> {
    let is_known = |c: char| (c.is_ascii_graphic() || c == ' ') && c != '=';
    if name.is_empty() {
        vec!["environment variable name must be non-empty".to_owned()]
    } else if name.chars().all(is_known) {
        Vec::new()
    } else {
        let rule = "a valid environment variable name must consist only of printable ASCII characters other than '='";
        vec![rule.to_owned()]
    }
}

fn strict_environment_variable_name(name: &str) -> Vec<String> {
    let is_known = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b'_');
    let mut messages = Vec::new();
    let starts = name.bytes().next().is_some_and(|b| !b.is_ascii_digit());
    if !starts || !name.bytes().all(is_known) {
        let rule = "a valid environment variable name must consist of alphabetic characters, digits, '_', '-', or '.', and must not start with a digit";
        let examples = ["my.env-name", "MY_ENV.NAME", "MyEnvName1"];
        messages.push(names::no_match(rule, "[-._a-zA-Z][-._a-zA-Z0-9]*", &examples));
    }
    messages.extend(dots(name));
    messages
}

/// `IsConfigMapKey`
pub(crate) fn config_map_key(key: &str) -> Vec<String> {
    let mut messages = Vec::new();
    if key.len() > 253 {
        messages.push("must be no more than 253 characters".to_owned());
    }
    let is_known = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b'_');
    if key.is_empty() || !key.bytes().all(is_known) {
        let rule = "a valid config key must consist of alphanumeric characters, '-', '_' or '.'";
        messages.push(names::no_match(rule, "[-._a-zA-Z0-9]+", &["key.name", "KEY_NAME", "key-name"]));
    }
    messages.extend(dots(key));
    messages
}

/// `hasChDirPrefix`
fn dots(text: &str) -> Option<String> {
    match text {
        "." | ".." => Some(format!("must not be '{text}'")),
        _ if text.starts_with("..") => Some("must not start with '..'".to_owned()),
        _ => None,
    }
}

/// `IsHTTPHeaderName`
pub(crate) fn http_header_name(name: &str) -> Vec<String> {
    if !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-') {
        return Vec::new();
    }
    let rule = "a valid HTTP header must consist of alphanumeric characters or '-'";
    vec![names::no_match(rule, "[-A-Za-z0-9]+", &["X-Header-Name"])]
}

/// `IsDNS1123SubdomainWithUnderscore`
pub(crate) fn subdomain_with_underscores(name: &str) -> Vec<String> {
    let mut messages = Vec::new();
    if name.len() > 253 {
        messages.push("must be no more than 253 characters".to_owned());
    }
    let is_edge = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    let is_label = |label: &str| {
        let label = label.strip_prefix('_').unwrap_or(label).as_bytes();
        label.first().is_some_and(|b| is_edge(*b))
            && label.last().is_some_and(|b| is_edge(*b))
            && label.iter().all(|b| is_edge(*b) || matches!(b, b'-' | b'_'))
    };
    if !name.split('.').all(is_label) {
        let rule = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must start and end with an alphanumeric character";
        let pattern = r"_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\._?[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*";
        messages.push(names::no_match(rule, pattern, &["example.com"]));
    }
    messages
}

/// `IsWildcardDNS1123Subdomain`
pub(crate) fn wildcard_subdomain(name: &str) -> Vec<String> {
    let mut messages = Vec::new();
    if name.len() > 253 {
        messages.push("must be no more than 253 characters".to_owned());
    }
    let is_subdomain = |rest: &str| names::dns1123_subdomain(rest.get(..253).unwrap_or(rest).as_bytes()).is_empty();
    if !name.strip_prefix("*.").is_some_and(is_subdomain) {
        let rule = "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character";
        let pattern = r"\*\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*";
        messages.push(names::no_match(rule, pattern, &["*.example.com"]));
    }
    messages
}

/// `IsDomainPrefixedPath`
pub(crate) fn domain_prefixed_path(errors: &mut Errors, field: &FieldValue<'_, '_>) {
    if !errors.require_text(field) {
        return;
    }
    let parts = field.text().split_once('/').filter(|(host, path)| !host.is_empty() && !path.is_empty());
    let Some((host, path)) = parts else {
        return errors.invalid(field, "must be a domain-prefixed path (such as \"acme.io/foo\")");
    };
    errors.messages_at(&field.path, host, names::dns1123_subdomain(host.as_bytes()));
    let is_known = |b: u8| b.is_ascii_alphanumeric() || b"/-._~%!$&'()*+,;=:".contains(&b);
    if !path.bytes().all(is_known) {
        let detail = r"Invalid path (regex used for validation is '[A-Za-z0-9/\-._~%!$&'()*+,;=:]+')";
        errors.invalid_value(&field.path, path, detail);
    }
}

/// `IsValidUserID` and `IsValidGroupID`, if the field is present.
pub(crate) fn user_or_group_id(errors: &mut Errors, field: &FieldValue<'_, '_>) {
    if field.int().is_some_and(|id| !(0..=MAX_ID).contains(&id)) {
        errors.invalid(field, range(0, MAX_ID));
    }
}

/// `validatePathNoBacksteps`
pub(crate) fn path_without_backsteps(errors: &mut Errors, field: &FieldValue<'_, '_>) {
    if has_backsteps(field.text()) {
        errors.invalid(field, "must not contain '..'");
    }
}

/// Returns true if an element of a path is `..`.
pub(crate) fn has_backsteps(path: &str) -> bool {
    path.split('/').any(|element| element == "..")
}

/// `validateLocalDescendingPath`
pub(crate) fn relative_path(errors: &mut Errors, field: &FieldValue<'_, '_>) {
    if field.text().starts_with('/') {
        errors.invalid(field, "must be a relative path");
    }
    path_without_backsteps(errors, field);
}

/// `ValidateLocalNonReservedPath`
pub(crate) fn local_path(errors: &mut Errors, field: &FieldValue<'_, '_>) {
    relative_path(errors, field);
    let path = field.text();
    if path.starts_with("..") && !path.starts_with("../") {
        errors.invalid(field, "must not start with '..'");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn port_names_are_short_lowercase_words() {
        assert_eq!(port_name("http-1"), [""; 0]);
        assert_eq!(port_name("80"), ["must contain at least one letter (a-z)"]);
        assert_eq!(
            port_name("-A--long-port-name-"),
            [
                "must be no more than 15 characters",
                "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)",
                "must not contain consecutive hyphens",
                "must not begin or end with a hyphen",
            ]
        );
    }

    #[test]
    fn names_of_environment_variables_are_relaxed_since_1_32() {
        let count = |name: &str, release: &str| environment_variable_name(name, release.parse().unwrap()).len();
        assert_eq!((count("1 a", "1.31"), count("1 a", "1.32")), (1, 0));
        assert_eq!((count("a=b", "1.32"), count("", "1.32"), count("..", "1.31")), (1, 1, 1));
    }

    #[test]
    fn search_domains_may_contain_underscores() {
        assert_eq!(subdomain_with_underscores("_sip._tcp.abc_d.example.com"), [""; 0]);
        assert_eq!(subdomain_with_underscores("__a").len() + subdomain_with_underscores("a_").len(), 2);
    }
}
