//! Comparisons in filters, with the rules of Go templates: an integer and a float cannot be compared, and booleans have
//! no order.

use super::Item;
use crate::GoError;
use crate::Value;
use std::cmp::Ordering;

enum Basic<'a> {
    Bool(bool),
    /// A signed integer or a byte, which can be compared with each other.
    Int(i64),
    Float(f64),
    Text(&'a str),
}

fn basic(item: Item<'_>) -> Result<Basic<'_>, GoError> {
    match item {
        Item::Value(Value::Bool(b)) => Ok(Basic::Bool(*b)),
        Item::Value(Value::Int(i)) => Ok(Basic::Int(*i)),
        Item::Int(i) => Ok(Basic::Int(i)),
        Item::Byte(b) => Ok(Basic::Int(i64::from(b))),
        Item::Value(Value::Float(x)) => Ok(Basic::Float(*x)),
        Item::Value(Value::String(s)) => Ok(Basic::Text(s)),
        Item::Value(Value::Null | Value::Array(_) | Value::Object(_)) | Item::Missing => {
            Err("invalid type for comparison".into())
        }
    }
}

/// Evaluates `left operator right`.
///
/// # Errors
/// Returns Go's message.
pub fn evaluate(left: Item<'_>, operator: &str, right: Item<'_>) -> Result<bool, GoError> {
    let accepts: fn(Ordering) -> bool = match operator {
        "==" => Ordering::is_eq,
        "!=" => Ordering::is_ne,
        "<" => Ordering::is_lt,
        "<=" => Ordering::is_le,
        ">" => Ordering::is_gt,
        ">=" => Ordering::is_ge,
        _ => return Err(format!("unrecognized filter operator {operator}").into()),
    };
    let order = match (basic(left)?, basic(right)?) {
        (Basic::Bool(_), Basic::Bool(_)) if !matches!(operator, "==" | "!=") => {
            return Err("invalid type for comparison".into());
        }
        (Basic::Bool(a), Basic::Bool(b)) => a.cmp(&b),
        (Basic::Int(a), Basic::Int(b)) => a.cmp(&b),
        // NaN cannot occur, because neither JSON nor a template can contain it.
        (Basic::Float(a), Basic::Float(b)) => a.partial_cmp(&b).unwrap_or(Ordering::Equal),
        (Basic::Text(a), Basic::Text(b)) => a.cmp(b),
        _ => return Err("incompatible types for comparison".into()),
    };
    Ok(accepts(order))
}
