//! Validates `x-kubernetes-list-type`, `x-kubernetes-list-map-keys` and `x-kubernetes-map-type`.

use super::golang;
use super::options::ValidationOptions;
use crate::schema::{Items, Schema};
use crdx_value::Value;
use crdx_value::field::{BadValue, BoundedErrors, FieldError, FieldPath};
use crdx_value::release::Release;
use std::collections::BTreeSet;

/// Validates one node.
pub fn validate(s: &Schema, options: &ValidationOptions, path: &FieldPath<'_>, errors: &mut BoundedErrors) {
    type_fits(
        s,
        s.x_map_type.as_deref(),
        "object",
        "must be object if x-kubernetes-map-type is specified",
        path,
        errors,
    );
    one_of(s.x_map_type.as_deref(), "x-kubernetes-map-type", &["atomic", "granular"], path, errors);
    let list_type = s.x_list_type.as_deref();
    if list_type.is_some() && s.type_ != "array" {
        type_fits(s, list_type, "array", "must be array if x-kubernetes-list-type is specified", path, errors);
    } else if options.atomic_sets {
        atomic_items(s, path, options.release, errors);
    }
    one_of(list_type, "x-kubernetes-list-type", &["atomic", "set", "map"], path, errors);
    if !s.x_list_map_keys.is_empty() && list_type != Some("map") {
        let detail = "must be map if x-kubernetes-list-map-keys is non-empty";
        let path = path.child("x-kubernetes-list-type");
        errors.push(match list_type {
            None => FieldError::required(&path, detail),
            Some(other) => FieldError::invalid(&path, other, detail),
        });
    }
    if list_type == Some("map") {
        map_keys(s, path, options.release, errors);
    }
    if options.list_map_keys {
        loose_keys(s, path, errors);
    }
}

fn type_fits(
    s: &Schema,
    extension: Option<&str>,
    type_: &str,
    detail: &str,
    path: &FieldPath<'_>,
    errors: &mut BoundedErrors,
) {
    if extension.is_some() && s.type_ != type_ {
        let path = path.child("type");
        errors.push(if s.type_.is_empty() {
            FieldError::required(&path, detail)
        } else {
            FieldError::invalid(&path, s.type_.as_str(), detail)
        });
    }
}

fn one_of(value: Option<&str>, name: &str, supported: &[&str], path: &FieldPath<'_>, errors: &mut BoundedErrors) {
    if let Some(value) = value.filter(|v| !supported.contains(v)) {
        errors.push(FieldError::not_supported(&path.child(name), value, supported));
    }
}

/// Returns true if the items of a set are lists or objects that are not atomic. By default, lists are atomic and
/// objects granular.
pub(crate) fn is_non_atomic_set(s: &Schema) -> bool {
    s.x_list_type.as_deref() == Some("set")
        && s.items_schema().is_some_and(|items| match items.type_.as_str() {
            "array" => items.x_list_type.as_deref().is_some_and(|t| t != "atomic"),
            "object" => items.x_map_type.as_deref() != Some("atomic"),
            _ => false,
        })
}

fn atomic_items(s: &Schema, path: &FieldPath<'_>, release: Release, errors: &mut BoundedErrors) {
    let Some(items) = s.items_schema().filter(|_| is_non_atomic_set(s)) else { return };
    let name = if items.type_ == "array" { "x-kubernetes-list-type" } else { "x-kubernetes-map-type" };
    // The error shows the list type in both cases, even for items that are not lists.
    let shown = items.x_list_type.as_deref();
    let shown = shown.map_or(BadValue::new(&Value::Null, release), |text| golang::text(text, release));
    let detail = "must be atomic as item of a list with x-kubernetes-list-type=set";
    errors.push(FieldError::invalid(&path.child("items").child(name), shown, detail));
}

fn map_keys(s: &Schema, path: &FieldPath<'_>, release: Release, errors: &mut BoundedErrors) {
    let keys_path = path.child("x-kubernetes-list-map-keys");
    if s.x_list_map_keys.is_empty() {
        errors.push(FieldError::required(&keys_path, "must not be empty if x-kubernetes-list-type is map"));
    }
    let path = path.child("items");
    let items = match &s.items {
        None => {
            errors.push(FieldError::required(&path, "must have a schema if x-kubernetes-list-type is map"));
            return;
        }
        Some(items @ Items::Schemas(_)) => {
            let detail = "must only have a single schema if x-kubernetes-list-type is map";
            errors.push(FieldError::invalid(&path, golang::items(items, release), detail));
            return;
        }
        Some(Items::Schema(items)) => items,
    };
    if items.type_ != "object" {
        let detail = "must be object if parent array's x-kubernetes-list-type is map";
        errors.push(FieldError::invalid(&path.child("type"), items.type_.as_str(), detail));
        return;
    }
    let shown_keys = || BadValue::strings(s.x_list_map_keys.iter().map(String::as_str), release);
    let mut seen = BTreeSet::new();
    for key in &s.x_list_map_keys {
        match items.properties.get(key) {
            Some(property) if matches!(property.type_.as_str(), "array" | "object") => {
                let detail = "must be a scalar type if parent array's x-kubernetes-list-type is map";
                let path = path.child("properties");
                let path = path.key(key);
                errors.push(FieldError::invalid(&path.child("type"), items.type_.as_str(), detail));
            }
            Some(_) => {}
            None => {
                let detail = "entries must all be names of item properties";
                errors.push(FieldError::invalid(&keys_path, shown_keys(), detail));
            }
        }
        if !seen.insert(key) {
            let detail = "must not contain duplicate entries";
            errors.push(FieldError::invalid(&keys_path, shown_keys(), detail));
        }
    }
}

/// Returns true if [`loose_keys`] reports an error.
pub(crate) fn has_loose_keys(s: &Schema) -> bool {
    let mut errors = BoundedErrors::default();
    loose_keys(s, &FieldPath::new(""), &mut errors);
    !errors.is_empty()
}

/// Items of sets and maps must not be nullable, and map keys must be required or have a default.
fn loose_keys(s: &Schema, path: &FieldPath<'_>, errors: &mut BoundedErrors) {
    let Some(list_type) = s.x_list_type.as_deref().filter(|t| matches!(*t, "set" | "map")) else { return };
    let Some(items) = s.items_schema() else { return };
    let path = path.child("items");
    if items.nullable {
        let detail = format!("cannot be nullable when x-kubernetes-list-type is {list_type}");
        errors.push(FieldError::forbidden(&path.child("nullable"), detail));
    }
    if list_type != "map" {
        return;
    }
    let properties = path.child("properties");
    for key in &s.x_list_map_keys {
        let Some(property) = items.properties.get(key) else { continue };
        let path = properties.key(key);
        if property.default.is_none() && !items.required.contains(key) {
            let detail =
                "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property";
            errors.push(FieldError::required(&path.child("default"), detail));
        }
        if property.nullable {
            let detail = "this property is in x-kubernetes-list-map-keys, so it cannot be nullable";
            errors.push(FieldError::forbidden(&path.child("nullable"), detail));
        }
    }
}
