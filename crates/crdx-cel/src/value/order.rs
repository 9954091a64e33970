//! Ordering for `<`, `<=`, `>` and `>=`.

use super::{Error, Value, number};
use std::cmp::Ordering;

/// The order of `a` and `b`.
///
/// # Errors
/// Returns an error if their types have no order.
pub fn compare(a: &Value<'_>, b: &Value<'_>) -> Result<Ordering, Error> {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => Ok(a.cmp(b)),
        (Value::Int(_) | Value::Uint(_) | Value::Double(_), Value::Int(_) | Value::Uint(_) | Value::Double(_)) => {
            number::compare(a, b).ok_or_else(|| Error::new("NaN values cannot be ordered"))
        }
        (Value::Double(d), _) if d.is_nan() => Err(Error::new("NaN values cannot be ordered")),
        (Value::Bool(a), Value::Bool(b)) => Ok(a.cmp(b)),
        (Value::String(a), Value::String(b)) => Ok(a.as_bytes().cmp(b.as_bytes())),
        (Value::Bytes(a), Value::Bytes(b)) => Ok(a.cmp(b)),
        (Value::Timestamp(a), Value::Timestamp(b)) => Ok(a.instant().cmp(&b.instant())),
        (Value::Duration(a), Value::Duration(b)) => Ok(a.cmp(b)),
        _ => Err(Error::no_such_overload()),
    }
}

impl Value<'_> {
    /// Returns true if the type of the value is ordered.
    pub(crate) fn is_comparable(&self) -> bool {
        !matches!(self, Self::Null | Self::List(_) | Self::Map(_) | Self::Type(_) | Self::Optional(_) | Self::Opaque(_))
    }
}
