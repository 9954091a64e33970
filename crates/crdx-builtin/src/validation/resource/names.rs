//! Names of drivers, pools, attributes and capacities.

use crate::validation::core::resources;
use crate::validation::driver_names;
use crate::validation::field_value::{Errors, FieldValue};
use crdx_value::field::{FieldError, names};
use crdx_value::release::{V1_35, V1_36, V1_37, V1_38};

const MAX_ID: usize = 32;
const MAX_POOL: usize = 253;

/// `validatePoolName`
pub(crate) fn pool_name(errors: &mut Errors, name: &FieldValue<'_, '_>) {
    if !errors.require_text(name) {
        return;
    }
    if name.text().len() > MAX_POOL {
        errors.too_long(name, MAX_POOL as i64);
    }
    for part in name.text().split('/') {
        errors.messages_at(&name.path, part, names::dns1123_subdomain(part.as_bytes()));
    }
}

/// `ResourcePoolName` since 1.37, for fields whose type declares the rule.
pub(crate) fn declared_pool_name(errors: &mut Errors, name: &FieldValue<'_, '_>) {
    if !errors.release.since(V1_37) {
        return pool_name(errors, name);
    }
    if !errors.require_text(name) {
        return;
    }
    if name.text().len() > MAX_POOL {
        errors.too_long(name, MAX_POOL as i64);
    }
    for (at, part) in name.text().split('/').enumerate() {
        if part.is_empty() {
            errors.invalid(name, format!("segment {at}: must not be empty"));
            continue;
        }
        let messages = names::dns1123_subdomain(part.as_bytes());
        let messages = messages.into_iter().map(|message| format!("segment {at}: {message}"));
        errors.messages_at(&name.path, part, messages.collect());
    }
}

/// `validateQualifiedName`, for the text `name` at the path of `field`
pub fn qualified_name(errors: &mut Errors, field: &FieldValue<'_, '_>, name: &str) {
    // Before 1.35, these were required values.
    let missing = |errors: &mut Errors, detail: &str| {
        if errors.release.since(V1_35) {
            errors.invalid_value(&field.path, "", detail);
        } else {
            errors.list.push(FieldError::required(&field.path, detail));
        }
    };
    let parts: Vec<&str> = name.split('/').collect();
    match parts.as_slice() {
        [""] if !errors.release.since(V1_35) => missing(errors, "name required"),
        [id] => identifier(errors, field, id),
        [domain, id] => {
            if domain.is_empty() {
                missing(errors, "the domain must not be empty");
            } else {
                let domain = crdx_value::Value::from(*domain);
                driver_names::validate(errors, &FieldValue::new(Some(&domain), field.path));
            }
            if id.is_empty() {
                missing(errors, "the name must not be empty");
            } else {
                identifier(errors, field, id);
            }
        }
        _ if errors.release.since(V1_38) => {
            errors.invalid_value(&field.path, name, "must not contain more than one slash");
        }
        // Before 1.38, the server does not validate other names.
        _ => {}
    }
}

/// `validateFullyQualifiedName`
pub(crate) fn fully_qualified_name(errors: &mut Errors, field: &FieldValue<'_, '_>) {
    qualified_name(errors, field, field.text());
    if field.text().contains('/') {
        return;
    }
    if errors.release.since(V1_35) {
        errors.invalid(field, "a fully qualified name must be a domain and a name separated by a slash");
    } else if !field.text().is_empty() {
        errors.invalid(field, "must include a domain");
    }
}

/// `validateCIdentifier`
fn identifier(errors: &mut Errors, field: &FieldValue<'_, '_>, id: &str) {
    if id.len() > MAX_ID {
        errors.too_long(field, MAX_ID as i64);
    }
    let is_letter = |b: u8| b.is_ascii_alphabetic() || b == b'_';
    let starts = id.bytes().next().is_some_and(is_letter);
    if !starts || !id.bytes().all(|b| is_letter(b) || b.is_ascii_digit()) {
        let rule = "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters or '_'";
        let message = names::no_match(rule, "[A-Za-z_][A-Za-z0-9_]*", &["my_name", "MY_NAME", "MyName"]);
        errors.invalid_value(&field.path, id, message);
    }
}

/// `ExtendedResourceName` since 1.37, before that one message.
pub(crate) fn extended_resource_name(errors: &mut Errors, field: &FieldValue<'_, '_>) {
    const DOMAIN: &str = "kubernetes.io/";
    const REQUESTS: &str = "requests.";
    let name = field.text();
    if !errors.release.since(V1_37) {
        if !resources::is_extended(name, errors.release) {
            errors.invalid_value(&field.path, name, "must be a valid extended resource name");
        }
        return;
    }
    if !name.contains('/') {
        let detail = "a name must be a domain-prefixed path, such as 'example.com/my-prop'";
        errors.invalid_value(&field.path, name, detail);
    } else if name.contains(DOMAIN) {
        errors.invalid_value(&field.path, name, format!("must not have \"{DOMAIN}\" domain"));
    }
    if name.starts_with(REQUESTS) {
        errors.invalid_value(&field.path, name, format!("must not have \"{REQUESTS}\" prefix"));
    }
    errors.messages(field, names::qualified_name(&format!("{REQUESTS}{name}"), errors.release));
}

/// `validateLabelValue`
pub fn label_value(errors: &mut Errors, field: &FieldValue<'_, '_>) {
    errors.messages(field, names::label_value(field.text(), errors.release));
}

/// A key as paths show it (`truncateIfTooLong`).
pub(crate) fn shown_key(key: &str, max: usize) -> String {
    let max = max.max(16);
    if key.len() <= max {
        return key.to_owned();
    }
    let remaining = max - 3;
    let bytes = key.as_bytes();
    let start = bytes.get(..remaining.div_ceil(2)).unwrap_or_default();
    let end = bytes.get(bytes.len() - remaining / 2..).unwrap_or_default();
    format!("{}...{}", String::from_utf8_lossy(start), String::from_utf8_lossy(end))
}

/// Validates each key of a map; since 1.36, its errors are about the map.
pub fn keys(
    errors: &mut Errors,
    map: &FieldValue<'_, '_>,
    max: usize,
    check: impl Fn(&mut Errors, &FieldValue<'_, '_>, &str),
) {
    for (key, value) in map.value.as_object().into_iter().flatten() {
        if errors.release.since(V1_36) {
            check(errors, map, key);
        } else {
            let key_shown = shown_key(key, max);
            check(errors, &FieldValue::new(Some(value), map.path.key(&key_shown)), key);
        }
    }
}
