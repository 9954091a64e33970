//! Validates a value against its type (`typed/validate.go`).

use super::{TypeErrors, error, item_element, prefixed, scalar_error};
use crate::apply::{
    gofmt,
    path::PathElement,
    types::{Choice, ListRelation, ListType, MapType, Type},
};
use crate::value::Value;
use std::collections::BTreeSet;

/// Validates a value. Sets and map lists may contain duplicate items only if `allow_duplicates`.
pub fn validate(ty: &Type, value: &Value, allow_duplicates: bool) -> TypeErrors {
    match ty.choice_for(value) {
        Some(Choice::Scalar(scalar)) => scalar_error(scalar, Some(value), "").map(error).unwrap_or_default(),
        Some(Choice::List(list)) => validate_list(list, value, allow_duplicates),
        Some(Choice::Map(map)) => validate_map(map, value, allow_duplicates),
        None => error("schema error: invalid atom: inlined"),
    }
}

fn validate_list(list: &ListType, value: &Value, allow_duplicates: bool) -> TypeErrors {
    let items = match value {
        Value::Null => return Vec::new(),
        Value::Array(items) => items,
        other => return error(format!("expected list, got {}", gofmt::wrapped_v(other))),
    };
    let (mut errors, mut seen) = (Vec::new(), BTreeSet::new());
    for (index, item) in items.iter().enumerate() {
        let element = if list.relation == ListRelation::Atomic {
            PathElement::Index(index)
        } else {
            match item_element(list, item) {
                Ok(element) => element,
                Err(why) => {
                    errors.extend(error(format!("element {index}: {why}")));
                    return errors;
                }
            }
        };
        if list.relation != ListRelation::Atomic && !seen.insert(element.clone()) && !allow_duplicates {
            errors.extend(error(format!("duplicate entries for key {element}")));
        }
        errors.extend(prefixed(validate(list.items.resolve(), item, allow_duplicates), &element));
    }
    errors
}

fn validate_map(map: &MapType, value: &Value, allow_duplicates: bool) -> TypeErrors {
    let members = match value {
        Value::Null => return Vec::new(),
        Value::Object(members) => members,
        other => return error(format!("expected map, got {}", gofmt::wrapped_v(other))),
    };
    let mut errors = Vec::new();
    for (name, member) in members {
        let element = PathElement::Field(name.clone());
        let Some(ty) = map.type_of(name) else {
            errors.extend(prefixed(error("field not declared in schema"), &element));
            // For a map, the server stops at the first error.
            break;
        };
        errors.extend(prefixed(validate(ty, member, allow_duplicates), &element));
    }
    errors
}
