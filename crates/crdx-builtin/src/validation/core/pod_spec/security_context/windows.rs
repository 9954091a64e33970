//! The options for Windows (`validateWindowsSecurityContextOptions`).

use crate::validation::field_value::{Errors, FieldValue};
use crate::validation::formats;

const MAX_CREDENTIALS: usize = 64 << 10;
const MAX_DOMAIN: usize = 256;
const MAX_USER: usize = 104;

/// Validates the options, if they are present.
pub fn options(errors: &mut Errors, options: &FieldValue<'_, '_>) {
    let name = options.child("gmsaCredentialSpecName");
    if name.is_set() {
        formats::subdomain(errors, &name);
    }
    let credentials = options.child("gmsaCredentialSpec");
    if credentials.is_set() {
        match credentials.text().len() {
            0 => errors.invalid(&credentials, "gmsaCredentialSpec cannot be an empty string"),
            1..=MAX_CREDENTIALS => {}
            _ => errors.invalid(&credentials, "gmsaCredentialSpec size must be under 64 KiB"),
        }
    }
    let user = options.child("runAsUserName");
    if user.is_set() {
        user_name(errors, &user);
    }
}

fn user_name(errors: &mut Errors, field: &FieldValue<'_, '_>) {
    let text = field.text();
    if text.is_empty() {
        return errors.invalid(field, "runAsUserName cannot be an empty string");
    }
    if text.chars().any(|c| c.is_ascii_control()) {
        return errors.invalid(field, "runAsUserName cannot contain control characters");
    }
    let (domain, user) = match text.split_once('\\') {
        Some((_, rest)) if rest.contains('\\') => {
            return errors.invalid(field, "runAsUserName cannot contain more than one backslash");
        }
        Some((domain, user)) => (Some(domain), user),
        None => (None, text),
    };
    if domain.is_some_and(|domain| domain.len() >= MAX_DOMAIN) {
        errors.invalid(field, format!("runAsUserName's Domain length must be under {MAX_DOMAIN} characters"));
    }
    if domain.is_some_and(|domain| !is_net_bios_name(domain) && !is_dns_name(domain)) {
        errors.invalid(field, "runAsUserName's Domain doesn't match the NetBios nor the DNS format");
    }
    match user.len() {
        0 => errors.invalid(field, "runAsUserName's User cannot be empty"),
        1..=MAX_USER => {}
        _ => {
            let detail = format!("runAsUserName's User length must not be longer than {MAX_USER} characters");
            errors.invalid(field, detail);
        }
    }
    if !user.is_empty() && user.chars().all(|c| matches!(c, '.' | ' ')) {
        errors.invalid(field, "runAsUserName's User cannot contain only periods or spaces");
    }
    let is_excluded = |c: char| r#""/\:;|=,+*?<>@[]"#.contains(c);
    if user.contains(is_excluded) {
        let detail = r#"runAsUserName's User cannot contain the following characters: "/\:;|=,+*?<>@[]"#;
        errors.invalid(field, detail);
    }
}

fn is_net_bios_name(domain: &str) -> bool {
    let is_excluded = |c: char| r#"\/:*?"<>|"#.contains(c);
    (1..=15).contains(&domain.chars().count()) && !domain.starts_with('.') && !domain.contains(is_excluded)
}

fn is_dns_name(domain: &str) -> bool {
    domain.split('.').all(|label| {
        let bytes = label.as_bytes();
        bytes.len() <= 63
            && bytes.first().is_some_and(u8::is_ascii_alphanumeric)
            && bytes.last().is_some_and(u8::is_ascii_alphanumeric)
            && bytes.iter().all(|b| b.is_ascii_alphanumeric() || *b == b'-')
    })
}
