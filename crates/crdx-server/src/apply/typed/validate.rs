//! Validates a value against its type (`typed/validate.go`).

use super::{TypeError, TypeErrors, error, item_element, prefixed, prefixed_item, scalar_error};
use crate::apply::{gofmt, path::PathElement};
use crdx_types::merge::{Choice, ListRelation, ListType, MapType, Type};
use crdx_value::Value;
use crdx_value::release::{Release, V1_34};
use std::collections::BTreeSet;

/// The options of a validation.
#[derive(Clone, Copy, Debug)]
pub struct Validation {
    /// True if sets and keyed lists may contain an item more than once.
    pub allow_duplicates: bool,
    /// True before 1.34 (structured-merge-diff before v6): the message about a value that is not a list or map is used
    /// as a format string, so that its `%` are expanded.
    pub printf: bool,
}

impl Validation {
    /// Returns the options of a server of `release`.
    pub fn new(release: Release, allow_duplicates: bool) -> Self {
        Self { allow_duplicates, printf: !release.since(V1_34) }
    }

    /// Returns the error for a value that is not a list or map.
    fn expected(self, kind: &str, value: &Value) -> TypeErrors {
        let text = format!("expected {kind}, got {}", gofmt::wrapped_v(value));
        error(if self.printf { gofmt::printf(&text) } else { text })
    }
}

/// Validates a value.
pub fn validate(ty: &Type, value: &Value, how: Validation) -> TypeErrors {
    match ty.choice_for(value) {
        Some(Choice::Scalar(scalar)) => scalar_error(scalar, Some(value), "").map(error).unwrap_or_default(),
        Some(Choice::List(list)) => validate_list(list, value, how),
        Some(Choice::Map(map)) => validate_map(map, value, how),
        None => error("schema error: invalid atom: inlined"),
    }
}

fn validate_list(list: &ListType, value: &Value, how: Validation) -> TypeErrors {
    let items = match value {
        Value::Null => return Vec::new(),
        Value::Array(items) => items,
        other => return how.expected("list", other),
    };
    let (mut errors, mut seen) = (Vec::new(), BTreeSet::new());
    let ty = list.items.resolve();
    for (index, item) in items.iter().enumerate() {
        let element = if list.relation == ListRelation::Atomic {
            PathElement::Index(index)
        } else {
            match item_element(list, item) {
                Ok(element) => element,
                Err(reason) => {
                    errors.extend(error(format!("element {index}: {reason}")));
                    return errors;
                }
            }
        };
        if list.relation != ListRelation::Atomic && !how.allow_duplicates && !seen.insert(element.clone()) {
            errors.extend(error(format!("duplicate entries for key {element}")));
        }
        let below = validate(ty, item, how);
        if !below.is_empty() {
            errors.extend(prefixed_item(below, &element, index));
        }
    }
    errors
}

fn validate_map(map: &MapType, value: &Value, how: Validation) -> TypeErrors {
    let members = match value {
        Value::Null => return Vec::new(),
        Value::Object(members) => members,
        other => return how.expected("map", other),
    };
    let mut errors = Vec::new();
    for (name, member) in members {
        let element = || PathElement::Field(name.clone());
        let Some(ty) = map.type_of(name) else {
            let undeclared = error("field not declared in schema").into_iter();
            let undeclared = undeclared.map(|e| TypeError { is_undeclared: true, ..e }).collect();
            errors.extend(prefixed(undeclared, &element()));
            // For a map, the server stops at the first error.
            break;
        };
        let below = validate(ty, member, how);
        if !below.is_empty() {
            errors.extend(prefixed(below, &element()));
        }
    }
    errors
}
