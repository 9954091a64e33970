//! Equality. cel-go's own lists and maps of different types are unequal; lists and objects of a document report a type
//! mismatch as an error.

use super::{Error, Fuel, List, Map, Value, number};
use crate::decl::ListKind;
use crdx_value as value;
use crdx_value::release::V1_34;
use std::cmp::Ordering;

/// `a == b`
pub fn equal(a: &Value<'_>, b: &Value<'_>, fuel: &Fuel) -> Result<bool, Error> {
    match (a, b) {
        (Value::Null, Value::Null) => Ok(true),
        (Value::Null, _) | (_, Value::Null) => Ok(false),
        _ => equal_strictly(a, b, fuel),
    }
}

/// The equality implemented by the left value's type, without special treatment of null.
pub(crate) fn equal_strictly(a: &Value<'_>, b: &Value<'_>, fuel: &Fuel) -> Result<bool, Error> {
    fuel.visit()?;
    Ok(match (a, b) {
        (Value::Null, _) => matches!(b, Value::Null),
        (Value::Bool(a), Value::Bool(b)) => a == b,
        (Value::String(a), Value::String(b)) => {
            fuel.scan(a.len().min(b.len()))?;
            a == b
        }
        (Value::Bytes(a), Value::Bytes(b)) => {
            fuel.scan(a.len().min(b.len()))?;
            a == b
        }
        (Value::Timestamp(a), Value::Timestamp(b)) => a.is_same_instant(b),
        (Value::Duration(a), Value::Duration(b)) => a == b,
        (Value::Type(a), Value::Type(b)) => a == b,
        (Value::Int(_) | Value::Uint(_) | Value::Double(_), Value::Int(_) | Value::Uint(_) | Value::Double(_)) => {
            number::compare(a, b) == Some(Ordering::Equal)
        }
        (Value::Optional(a), Value::Optional(b)) => match (a, b) {
            (None, None) => true,
            (Some(a), Some(b)) => equal_strictly(a, b, fuel)?,
            _ => false,
        },
        (Value::List(a), Value::List(b)) => return equal_lists(a, b, fuel),
        (Value::Map(a), Value::Map(b)) => return equal_maps(a, b, fuel),
        (Value::Opaque(a), Value::Opaque(b)) => return a.equal(b).ok_or_else(Error::no_such_overload),
        (Value::Opaque(_), _) => return Err(Error::no_such_overload()),
        (Value::Message(a), Value::Message(b)) => return a.equal(b, fuel),
        (Value::List(a), _) if a.is_strict() => return Err(Error::no_such_overload()),
        (Value::Map(a), _) if a.is_strict() => return Err(Error::no_such_overload()),
        _ => false,
    })
}

/// `a == b` where reading `b` may have failed. A scalar is then unequal; a list or map of a document returns the error.
fn equal_to_read(a: &Value<'_>, b: Result<Value<'_>, Error>, fuel: &Fuel) -> Result<bool, Error> {
    match (a, b) {
        (_, Ok(b)) => equal_strictly(a, &b, fuel),
        (Value::List(_) | Value::Map(_) | Value::Opaque(_), Err(e)) => Err(e),
        (_, Err(_)) => Ok(false),
    }
}

fn equal_lists(a: &List<'_>, b: &List<'_>, fuel: &Fuel) -> Result<bool, Error> {
    if a.len() != b.len() {
        return Ok(false);
    }
    match a.kind() {
        ListKind::Set => return a.equal_as_set(b, fuel),
        ListKind::Map(keys) => return a.equal_as_map(b, keys, fuel),
        ListKind::Atomic => {}
    }
    let strict = a.is_strict();
    let mut failed = None;
    for (x, y) in a.iter().zip(b.iter()) {
        let outcome = match (x, y) {
            (Ok(x), y) if strict => equal_to_read(&x, y, fuel),
            (Ok(x), Ok(y)) => equal(&x, &y, fuel),
            (Err(e), _) | (_, Err(e)) => Err(e),
        };
        match outcome {
            Ok(true) => {}
            Ok(false) => return Ok(false),
            Err(e) if strict || e.is_fatal() => return Err(e),
            Err(e) => failed = failed.or(Some(e)),
        }
    }
    // A plain list treats elements that cannot be compared as equal; a concatenated list returns the error.
    match failed {
        Some(e) if a.is_joined() => Err(e),
        _ => Ok(true),
    }
}

fn equal_maps(a: &Map<'_>, b: &Map<'_>, fuel: &Fuel) -> Result<bool, Error> {
    if a.len() != b.len() {
        return Ok(false);
    }
    fuel.spend(a.len())?;
    if let Map::Json(members, _) = a {
        return equal_members(a, members, b, fuel);
    }
    for key in a.keys() {
        let (Some(x), Some(y)) = (a.find(&key), b.find(&key)) else {
            return Ok(false);
        };
        // Values that cannot be compared are treated as equal, like in cel-go's maps.
        if let (Ok(x), Ok(y)) = (x, y) {
            match equal(&x, &y, fuel) {
                Ok(false) => return Ok(false),
                Err(error) if error.is_fatal() => return Err(error),
                _ => {}
            }
        }
    }
    Ok(true)
}

fn equal_members(a: &Map<'_>, members: &value::Map, b: &Map<'_>, fuel: &Fuel) -> Result<bool, Error> {
    for name in members.keys().filter(|name| a.is_declared(name)) {
        match (a.find_json(name), b.find_json(name)) {
            // A null field counts as missing; before 1.34, it is unequal to every other one.
            (None, None) if fuel.server() >= V1_34 => {}
            (Some(x), Some(y)) => {
                if !equal_to_read(&x?, y, fuel)? {
                    return Ok(false);
                }
            }
            _ => return Ok(false),
        }
    }
    for (name, value) in members {
        if a.is_declared(name) {
            continue;
        }
        // Members without a declared type are compared as JSON, and only if both sides have them.
        let Map::Json(others, _) = b else {
            return Err(Error::no_such_overload());
        };
        if others.get(name).is_some_and(|other| other != value) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// `item in list`
pub fn contains(list: &List<'_>, item: &Value<'_>, fuel: &Fuel) -> Result<bool, Error> {
    let mut failed = None;
    for element in list.iter() {
        let outcome = match element {
            // A list of a document uses the equality of its element, a plain list that of `item`.
            Ok(element) if list.is_of_document() => equal_strictly(&element, item, fuel),
            Ok(element) => equal_strictly(item, &element, fuel),
            Err(e) => Err(e),
        };
        match outcome {
            Ok(true) => return Ok(true),
            Ok(false) => {}
            Err(e) if e.is_fatal() => return Err(e),
            Err(e) => failed = failed.or(Some(e)),
        }
    }
    match failed {
        Some(e) if list.is_of_document() => Err(e),
        _ => Ok(false),
    }
}
