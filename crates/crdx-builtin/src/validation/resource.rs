//! `resource.k8s.io` (`pkg/apis/resource/validation`), and what its kinds have in common.

pub(crate) mod device_class;
pub(crate) mod device_taint_rule;
pub(crate) mod names;
pub(crate) mod request_policy;
pub(crate) mod resource_claim;
pub(crate) mod resource_claim_template;
pub(crate) mod resource_slice;
pub(crate) mod selectors;

use crate::validation::field_value::{Errors, FieldValue};
use crate::validation::{driver_names, versioned};
use crdx_value::field::FieldError;
use crdx_value::json;
use crdx_value::release::{V1_35, V1_37};
use std::collections::HashSet;

/// The maximum numbers of selectors, requests, constraints and configurations.
pub(crate) const MAX_LIST: usize = 32;
const MAX_PARAMETERS: usize = 10 << 10;
/// The key and the type of the items of a list of strings
pub(crate) const TEXTS: (&str, &str) = ("", "");

/// The state of a part of an object: some rules, such as limits on sizes, do not apply to parts that are already stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AlreadyStored {
    No,
    Yes,
    /// An update changes a part that is immutable: the rules are those of a stored part, but its expressions are new.
    Changed,
}

/// `validateSlice`: reports a list that is too long, which is not validated further. Returns true if it is not.
pub(crate) fn fits(errors: &mut Errors, list: &FieldValue<'_, '_>, max: usize) -> bool {
    let fits = list.len() <= max;
    if !fits {
        errors.too_many(list, list.len(), max as i64);
    }
    fits
}

/// Reports items of a versioned type whose key an earlier item has. Before 1.35, the errors are about the key. Since 1.37,
/// the rule is declared in most types, whose errors show the item.
pub(crate) fn unique(errors: &mut Errors, list: &FieldValue<'_, '_>, (key, type_): (&str, &str)) {
    let mut seen = HashSet::new();
    for item in list.items() {
        let text = if key.is_empty() { item.text() } else { item.value.str_at(&[key]).unwrap_or_default() };
        if seen.insert(text) {
            continue;
        }
        let shown = if errors.release.since(V1_37) && !key.is_empty() {
            versioned::bad_value(type_, item.value, errors.release)
        } else {
            text.into()
        };
        let is_about_key = !key.is_empty() && !errors.release.since(V1_35);
        let path = if is_about_key { item.path.child(key) } else { item.path };
        errors.list.push(FieldError::duplicate(&path, shown));
    }
}

/// `validateDeviceConfiguration`
pub(crate) fn opaque(errors: &mut Errors, configuration: &FieldValue<'_, '_>, stored: AlreadyStored) {
    let opaque = configuration.child("opaque");
    if !opaque.is_set() {
        return errors.required(&opaque, "");
    }
    driver_names::declared(errors, &opaque.child("driver"));
    any_object(errors, &opaque.child("parameters"), stored);
}

/// `validateRawExtension`
pub(crate) fn any_object(errors: &mut Errors, field: &FieldValue<'_, '_>, stored: AlreadyStored) {
    if !field.is_set() {
        errors.required(field, "");
    } else if stored == AlreadyStored::No && json::to_string(field.value).len() > MAX_PARAMETERS {
        errors.too_long(field, MAX_PARAMETERS as i64);
    } else if field.value.as_object().is_none() {
        errors.invalid_value(&field.path, "<value omitted>", "must be a valid JSON object");
    }
}

#[cfg(test)]
mod tests;
