//! Apply configurations: merges them into the object with the types of the published OpenAPI schema
//! (`mutating/patch/smd.go`).

use super::MutationFailure;
use super::native::{self, NativeStep, NativeValue};
use crate::apply::path::PathElement;
use crate::apply::typed::{
    errors_text,
    merge::merge,
    validate::{Validation, validate},
};
use crdx_cel::value::{Message, Value as CelValue, message::OBJECT};
use crdx_types::merge::{Choice, ListRelation, Scalar, Type};
use crdx_value::steps::{Spent, Steps};
use crdx_value::{Value, quote};
use std::collections::VecDeque;

/// The validation of releases since 1.36, in which mutating policies are enabled by default.
const VALIDATION: Validation = Validation { allow_duplicates: false, printf: false };

/// Applies a configuration to the object.
///
/// # Errors
/// Returns the server's message if the configuration cannot be applied.
pub fn apply(value: &CelValue<'_>, object: &Value, types: &Type, steps: &Steps) -> Result<Value, MutationFailure> {
    let CelValue::Message(message) = value else {
        let reason = format!("unsupported return type from ApplyConfiguration expression: {}", value.type_name());
        return Err(reason.into());
    };
    let mut errors = Vec::new();
    check_names(value, &mut vec![OBJECT.to_owned()], &mut errors, steps)?;
    if !errors.is_empty() {
        return Err(format!("type mismatch: {}", errors.join("\n")).into());
    }
    merged(message, object, types, steps)
}

/// `CheckTypeNamesMatchFieldPathNames`: the name of a type must match the path to it.
///
/// # Errors
/// Returns an error if no steps are left.
pub(crate) fn check_names(
    value: &CelValue<'_>,
    path: &mut Vec<String>,
    errors: &mut Vec<String>,
    steps: &Steps,
) -> Result<(), Spent> {
    steps.take(1)?;
    match value {
        CelValue::Message(message) if message.is_object() => {
            let expected = path.join(".");
            if *message.type_name != expected {
                steps.take(2 * expected.len() as u64)?;
                errors.push(format!(
                    "unexpected type name {}, expected {}, which matches field name path from root Object type",
                    quote::go_quote(&message.type_name),
                    quote::go_quote(&expected)
                ));
            }
            for (name, field) in &message.fields {
                path.push(name.to_string());
                check_names(field, path, errors, steps)?;
                path.pop();
            }
        }
        CelValue::List(list) => {
            for item in list.iter().flatten() {
                check_names(&item, path, errors, steps)?;
            }
        }
        CelValue::Map(map) => {
            for (_, item) in map.entries().unwrap_or_default() {
                check_names(&item, path, errors, steps)?;
            }
        }
        CelValue::Optional(Some(inner)) => check_names(inner, path, errors, steps)?,
        _ => {}
    }
    Ok(())
}

fn merged(message: &Message<'_>, object: &Value, types: &Type, steps: &Steps) -> Result<Value, MutationFailure> {
    let mut native_values = Vec::new();
    let mut patch = native::object(message, &mut native_values, steps)
        .map_err(|error| error.within(|error| format!("invalid return type: {error}")))?;
    for key in ["apiVersion", "kind"] {
        if let Some(own) = object.get(key) {
            patch.insert(key.to_owned(), own.clone());
        }
    }
    let patch = Value::Object(patch);
    let failed =
        |what: &str, error: String| MutationFailure::OfPolicy(format!("error applying patch: {what}: {error}"));
    let mut errors = validate(types, &patch, VALIDATION);
    errors.extend(native_values.iter().filter_map(|value| native_value_error(types, &patch, value)));
    if !errors.is_empty() {
        return Err(failed("failed to convert patch object to typed object", errors_text(&errors)));
    }
    let mut atomics = VecDeque::new();
    find_atomics(types, &patch, String::new(), &mut atomics);
    if !atomics.is_empty() {
        let error = format!("may not mutate atomic arrays, maps or structs: {}", Vec::from(atomics).join(", "));
        return Err(failed("invalid ApplyConfiguration", error));
    }
    let errors = validate(types, object, Validation { allow_duplicates: true, ..VALIDATION });
    if !errors.is_empty() {
        return Err(failed("failed to convert original object to typed object", errors_text(&errors)));
    }
    merge(types, object, &patch).map_err(|errors| failed("failed to merge patch", errors_text(&errors)))
}

/// Returns the error for a Go value without a JSON form if the schema requires a type.
fn native_value_error(
    types: &Type,
    patch: &Value,
    native_value: &NativeValue,
) -> Option<crate::apply::typed::TypeError> {
    let mut path = String::new();
    let (mut at, mut value) = (types, patch);
    for step in &native_value.path {
        match (at.choice_for(value)?, step) {
            (Choice::Map(map), NativeStep::Key(key)) => {
                path.push_str(&PathElement::Field(key.clone()).to_string());
                at = map.type_of(key)?;
                value = value.get(key)?;
            }
            (Choice::List(list), NativeStep::Index(index)) => {
                path.push_str(&PathElement::Index(*index).to_string());
                at = list.items.resolve();
                value = value.as_array()?.get(*index)?;
            }
            _ => return None,
        }
    }
    let wrapped = format!("&value.valueUnstructured{{Value:{}}}", native_value.go_syntax);
    let message = match at.choice_for(&Value::Null)? {
        Choice::Map(_) => format!("expected map, got &{{{}}}", native_value.printed),
        Choice::List(_) => format!("expected list, got &{{{}}}", native_value.printed),
        Choice::Scalar(Scalar::Numeric) => format!("expected numeric (int or float), got {}", native_value.go_type),
        Choice::Scalar(Scalar::String) => format!("expected string, got {wrapped}"),
        Choice::Scalar(Scalar::Boolean) => format!("expected boolean, got {wrapped}"),
        Choice::Scalar(Scalar::Untyped) => return None,
    };
    Some(crate::apply::typed::TypeError { value_path: path.clone(), path, message, is_undeclared: false })
}

/// Finds the paths of atomic lists, maps and structs that a configuration sets: applying it would remove their other
/// members.
fn find_atomics(types: &Type, value: &Value, path: String, found: &mut VecDeque<String>) {
    match (types.choice_for(value), value) {
        (Some(Choice::Map(map)), Value::Object(members)) => {
            for (name, member) in members {
                if let Some(field) = map.fields.get(name) {
                    let path = format!("{path}{}", PathElement::Field(name.clone()));
                    find_atomics(field.type_.resolve(), member, path, found);
                }
            }
            if map.atomic {
                found.push_front(path);
            }
        }
        (Some(Choice::List(list)), Value::Array(items)) => {
            if list.relation == ListRelation::Atomic {
                found.push_back(path.clone());
            }
            for (index, item) in items.iter().enumerate() {
                let path = format!("{path}{}", PathElement::Index(index));
                find_atomics(list.items.resolve(), item, path, found);
            }
        }
        _ => {}
    }
}
