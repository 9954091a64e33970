//! Operations on typed values, one file per operation.
//!
//! Follows `structured-merge-diff/typed`. The recursion is bounded by the nesting depth of values, which decoders
//! limit.

pub mod compare;
pub(crate) mod field_set;
pub mod merge;
pub mod reconcile;
pub mod remove;
pub mod validate;

use super::{gofmt, path::PathElement};
use crdx_types::merge::{ListRelation, ListType, Scalar};
use crdx_value::GoError;
use crdx_value::{Value, print, quote::go_quote};

/// An error at a path in a typed value.
#[derive(Clone, Debug, PartialEq)]
pub struct TypeError {
    /// The path, such as `.spec.a[name="b"]`; empty for the root.
    pub path: String,
    /// The same path with the indexes of items, such as `.spec.a[0]`.
    pub value_path: String,
    /// The error message.
    pub message: String,
    /// True if the type has no field of this name.
    pub is_undeclared: bool,
}

/// The errors of a typed value.
pub(crate) type TypeErrors = Vec<TypeError>;

fn error(message: impl Into<String>) -> TypeErrors {
    let (path, value_path) = (String::new(), String::new());
    vec![TypeError { path, value_path, message: message.into(), is_undeclared: false }]
}

fn prefixed(errors: TypeErrors, element: &PathElement) -> TypeErrors {
    let prefixed = |e: TypeError| TypeError {
        path: format!("{element}{}", e.path),
        value_path: format!("{element}{}", e.value_path),
        ..e
    };
    errors.into_iter().map(prefixed).collect()
}

/// Like [`prefixed`], for errors in the item of a list at an index.
fn prefixed_item(errors: TypeErrors, element: &PathElement, index: usize) -> TypeErrors {
    let prefixed = |e: TypeError| TypeError {
        path: format!("{element}{}", e.path),
        value_path: format!("[{index}]{}", e.value_path),
        ..e
    };
    errors.into_iter().map(prefixed).collect()
}

/// Formats errors: a single error alone, or a list under `errors:`.
pub(crate) fn errors_text(errors: &[TypeError]) -> String {
    let line = |e: &TypeError| if e.path.is_empty() { e.message.clone() } else { format!("{}: {}", e.path, e.message) };
    match errors {
        [one] => line(one),
        many => {
            let mut text = "errors:".to_owned();
            for error in many {
                text.push_str("\n  ");
                text.push_str(&line(error));
            }
            text
        }
    }
}

/// The path element of an item of a set or map list.
///
/// # Errors
/// Returns the message if the item has no such element.
fn item_element(list: &ListType, item: &Value) -> Result<PathElement, GoError> {
    match &list.relation {
        ListRelation::Atomic => Err("invalid indexing of non-associative list".into()),
        ListRelation::Keyed(keys) if !keys.is_empty() => keyed_element(list, keys, item),
        _ => match item {
            Value::Object(_) => Err("associative list without keys has an element that's a map type".into()),
            Value::Array(_) => Err("not supported: associative list with lists as elements".into()),
            Value::Null => Err("associative list without keys has an element that's an explicit null".into()),
            scalar => Ok(PathElement::Value(scalar.clone())),
        },
    }
}

fn keyed_element(list: &ListType, keys: &[String], item: &Value) -> Result<PathElement, GoError> {
    let members = match item {
        Value::Object(members) => members,
        Value::Null => return Err("associative list with keys may not have a null element".into()),
        _ => return Err("associative list with keys may not have non-map elements".into()),
    };
    let mut found = Vec::new();
    for key in keys {
        if let Some(value) = members.get(key) {
            found.push((key.clone(), value.clone()));
            continue;
        }
        let Some(map) = &list.items.resolve().map else {
            let reason = "associative list may not have non-map types";
            return Err(format!("couldn't find default value for {key}: {reason}").into());
        };
        if let Some(default) = map.fields.get(key).and_then(|f| f.default.as_ref()) {
            found.push((key.clone(), default.clone()));
        } else if list.all_keys {
            return Err(format!(
                "associative list with keys has an element that omits key field {} (and doesn't have default value)",
                go_quote(key)
            )
            .into());
        }
    }
    if found.is_empty() {
        let keys: Vec<_> = keys.iter().map(|k| go_quote(k)).collect();
        return Err(format!(
            "associative list with keys has an element that omits all key fields [{}] (and doesn't have default values for any key fields)",
            keys.join(" ")
        ).into());
    }
    found.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(PathElement::Key(found))
}

fn scalar_error(scalar: Scalar, value: Option<&Value>, prefix: &str) -> Option<String> {
    let value = value.filter(|v| !v.is_null())?;
    let fits = match scalar {
        Scalar::Numeric => matches!(value, Value::Int(_) | Value::Float(_)),
        Scalar::String => matches!(value, Value::String(_)),
        Scalar::Boolean => matches!(value, Value::Bool(_)),
        Scalar::Untyped => !matches!(value, Value::Array(_) | Value::Object(_)),
    };
    if fits {
        return None;
    }
    Some(match scalar {
        Scalar::Numeric => format!("{prefix}expected numeric (int or float), got {}", print::type_name(value)),
        Scalar::String => format!("{prefix}expected string, got {}", gofmt::wrapped_sharp_v(value)),
        Scalar::Boolean => format!("{prefix}expected boolean, got {}", gofmt::wrapped_v(value)),
        Scalar::Untyped => format!("{prefix}expected any scalar, got {}", gofmt::wrapped_v(value)),
    })
}

/// The error of a scalar if neither the old nor the new value has the type.
fn scalar_pair_errors(scalar: Scalar, old: Option<&Value>, new: Option<&Value>) -> TypeErrors {
    match (scalar_error(scalar, old, "lhs: "), scalar_error(scalar, new, "rhs: ")) {
        (Some(old), Some(new)) => [error(old), error(new)].concat(),
        _ => Vec::new(),
    }
}

/// The items, if the value is a list.
fn as_list(value: Option<&Value>) -> Option<&[Value]> {
    value.and_then(Value::as_array)
}
