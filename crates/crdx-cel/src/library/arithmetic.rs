//! `+ - * / %` and negation, with overflow errors.

use super::{CallCost, Overload, unknown_operand};
use crate::value::time::overflow;
use crate::value::{Error, Fuel, Text, Value};

pub(crate) const FUNCTIONS: &[Overload] = &[
    Overload::global("_+_", "add_bytes", "(bytes, bytes) -> bytes", CallCost::Concatenate, super::unfueled)
        .fueled(add)
        .unguarded(),
    Overload::global("_+_", "add_double", "(double, double) -> double", CallCost::One, super::unfueled)
        .fueled(add)
        .unguarded(),
    Overload::global(
        "_+_",
        "add_duration_duration",
        "(duration, duration) -> duration",
        CallCost::One,
        super::unfueled,
    )
    .fueled(add)
    .unguarded(),
    Overload::global(
        "_+_",
        "add_duration_timestamp",
        "(duration, timestamp) -> timestamp",
        CallCost::One,
        super::unfueled,
    )
    .fueled(add)
    .unguarded(),
    Overload::global(
        "_+_",
        "add_timestamp_duration",
        "(timestamp, duration) -> timestamp",
        CallCost::One,
        super::unfueled,
    )
    .fueled(add)
    .unguarded(),
    Overload::global("_+_", "add_int64", "(int, int) -> int", CallCost::One, super::unfueled).fueled(add).unguarded(),
    Overload::global("_+_", "add_list", "(list(A), list(A)) -> list(A)", CallCost::One, super::unfueled)
        .fueled(add)
        .unguarded(),
    Overload::global("_+_", "add_string", "(string, string) -> string", CallCost::Concatenate, super::unfueled)
        .fueled(add)
        .unguarded(),
    Overload::global("_+_", "add_uint64", "(uint, uint) -> uint", CallCost::One, super::unfueled)
        .fueled(add)
        .unguarded(),
    Overload::global("_-_", "subtract_double", "(double, double) -> double", CallCost::One, subtract).unguarded(),
    Overload::global("_-_", "subtract_duration_duration", "(duration, duration) -> duration", CallCost::One, subtract)
        .unguarded(),
    Overload::global("_-_", "subtract_int64", "(int, int) -> int", CallCost::One, subtract).unguarded(),
    Overload::global(
        "_-_",
        "subtract_timestamp_duration",
        "(timestamp, duration) -> timestamp",
        CallCost::One,
        subtract,
    )
    .unguarded(),
    Overload::global(
        "_-_",
        "subtract_timestamp_timestamp",
        "(timestamp, timestamp) -> duration",
        CallCost::One,
        subtract,
    )
    .unguarded(),
    Overload::global("_-_", "subtract_uint64", "(uint, uint) -> uint", CallCost::One, subtract).unguarded(),
    Overload::global("_*_", "multiply_double", "(double, double) -> double", CallCost::One, multiply).unguarded(),
    Overload::global("_*_", "multiply_int64", "(int, int) -> int", CallCost::One, multiply).unguarded(),
    Overload::global("_*_", "multiply_uint64", "(uint, uint) -> uint", CallCost::One, multiply).unguarded(),
    Overload::global("_/_", "divide_double", "(double, double) -> double", CallCost::One, divide).unguarded(),
    Overload::global("_/_", "divide_int64", "(int, int) -> int", CallCost::One, divide).unguarded(),
    Overload::global("_/_", "divide_uint64", "(uint, uint) -> uint", CallCost::One, divide).unguarded(),
    Overload::global("_%_", "modulo_int64", "(int, int) -> int", CallCost::One, modulo).unguarded(),
    Overload::global("_%_", "modulo_uint64", "(uint, uint) -> uint", CallCost::One, modulo).unguarded(),
    Overload::global("-_", "negate_double", "(double) -> double", CallCost::One, negate).unguarded(),
    Overload::global("-_", "negate_int64", "(int) -> int", CallCost::One, negate).unguarded(),
];

fn int<'a>(result: Option<i64>) -> Result<Value<'a>, Error> {
    result.map(Value::Int).ok_or_else(|| Error::new("integer overflow"))
}

fn uint<'a>(result: Option<u64>) -> Result<Value<'a>, Error> {
    result.map(Value::Uint).ok_or_else(|| Error::new("unsigned integer overflow"))
}

/// The error for operands that cannot be combined: if the left operand has one of `types`, the right operand causes the
/// error.
fn operand_error(operand: &Value<'_>, function: &str, types: &[&str]) -> Error {
    if types.contains(&operand.type_name()) { Error::no_such_overload() } else { unknown_operand(function, operand) }
}

/// `a + b`, also used by `sum()`.
pub(super) fn add<'a>(args: &[Value<'a>], fuel: &Fuel) -> Result<Value<'a>, Error> {
    match args {
        [Value::Int(a), Value::Int(b)] => int(a.checked_add(*b)),
        [Value::Uint(a), Value::Uint(b)] => uint(a.checked_add(*b)),
        [Value::Double(a), Value::Double(b)] => Ok(Value::Double(a + b)),
        [Value::String(a), Value::String(b)] => Ok(if a.is_empty() {
            Value::String(b.clone())
        } else if b.is_empty() {
            Value::String(a.clone())
        } else {
            fuel.write(a.len() + b.len())?;
            Value::String(Text::Shared([&**a, &**b].concat().into()))
        }),
        [Value::Bytes(a), Value::Bytes(b)] => {
            fuel.write(a.len() + b.len())?;
            Ok(Value::Bytes([&**a, &**b].concat().into()))
        }
        [Value::List(a), Value::List(b)] => a.concat(b, fuel).map(Value::List),
        [Value::Duration(a), Value::Duration(b)] => a.plus(*b).map(Value::Duration).ok_or_else(overflow),
        [Value::Duration(d), Value::Timestamp(t)] | [Value::Timestamp(t), Value::Duration(d)] => {
            t.plus(*d).map(Value::Timestamp)
        }
        [a, _] => Err(operand_error(a, "_+_", &["int", "uint", "double", "bytes", "list"])),
        _ => Err(Error::no_such_overload()),
    }
}

fn subtract<'a>(args: &[Value<'a>]) -> Result<Value<'a>, Error> {
    match args {
        [Value::Int(a), Value::Int(b)] => int(a.checked_sub(*b)),
        [Value::Uint(a), Value::Uint(b)] => uint(a.checked_sub(*b)),
        [Value::Double(a), Value::Double(b)] => Ok(Value::Double(a - b)),
        [Value::Duration(a), Value::Duration(b)] => a.minus(*b).map(Value::Duration).ok_or_else(overflow),
        [Value::Timestamp(t), Value::Duration(d)] => t.minus(*d).map(Value::Timestamp),
        [Value::Timestamp(a), Value::Timestamp(b)] => a.since(b).map(Value::Duration),
        [a, _] => Err(operand_error(a, "_-_", &["int", "uint", "double"])),
        _ => Err(Error::no_such_overload()),
    }
}

fn multiply<'a>(args: &[Value<'a>]) -> Result<Value<'a>, Error> {
    match args {
        [Value::Int(a), Value::Int(b)] => int(a.checked_mul(*b)),
        [Value::Uint(a), Value::Uint(b)] => uint(a.checked_mul(*b)),
        [Value::Double(a), Value::Double(b)] => Ok(Value::Double(a * b)),
        [a, _] => Err(operand_error(a, "_*_", &["int", "uint", "double"])),
        _ => Err(Error::no_such_overload()),
    }
}

fn divide<'a>(args: &[Value<'a>]) -> Result<Value<'a>, Error> {
    match args {
        [Value::Int(_), Value::Int(0)] | [Value::Uint(_), Value::Uint(0)] => Err(Error::new("division by zero")),
        [Value::Int(a), Value::Int(b)] => int(a.checked_div(*b)),
        [Value::Uint(a), Value::Uint(b)] => uint(a.checked_div(*b)),
        [Value::Double(a), Value::Double(b)] => Ok(Value::Double(a / b)),
        [a, _] => Err(operand_error(a, "_/_", &["int", "uint", "double"])),
        _ => Err(Error::no_such_overload()),
    }
}

fn modulo<'a>(args: &[Value<'a>]) -> Result<Value<'a>, Error> {
    match args {
        [Value::Int(_), Value::Int(0)] | [Value::Uint(_), Value::Uint(0)] => Err(Error::new("modulus by zero")),
        [Value::Int(a), Value::Int(b)] => int(a.checked_rem(*b)),
        [Value::Uint(a), Value::Uint(b)] => uint(a.checked_rem(*b)),
        [a, _] => Err(operand_error(a, "_%_", &["int", "uint"])),
        _ => Err(Error::no_such_overload()),
    }
}

fn negate<'a>(args: &[Value<'a>]) -> Result<Value<'a>, Error> {
    match args {
        [Value::Int(i)] => int(i.checked_neg()),
        [Value::Double(d)] => Ok(Value::Double(-d)),
        [Value::Duration(d)] => d.negate().map(Value::Duration).ok_or_else(overflow),
        [other] => Err(operand_error(other, "-_", &["bool"])),
        _ => Err(Error::no_such_overload()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(call: super::super::Function, args: &[Value<'static>]) -> String {
        call(args).map_or_else(|e| e.to_string(), |v| v.to_string())
    }

    #[test]
    fn errors_say_which_operand_is_wrong() {
        let sum = |a, b| add(&[a, b], &Fuel::default()).unwrap_err().to_string();
        assert_eq!(sum(Value::Int(1), Value::Uint(1)), "no such overload");
        assert_eq!(sum(Value::Bool(true), Value::Int(1)), "no such overload: _+_");
        assert_eq!(failure(subtract, &[Value::string("a"), Value::string("b")]), "no such overload");
        assert_eq!(failure(subtract, &[Value::list(vec![]), Value::Int(1)]), "no such overload: _-_");
        assert_eq!(failure(multiply, &[Value::Int(i64::MAX), Value::Int(2)]), "integer overflow");
        assert_eq!(failure(subtract, &[Value::Uint(1), Value::Uint(2)]), "unsigned integer overflow");
        assert_eq!(failure(divide, &[Value::Int(i64::MIN), Value::Int(-1)]), "integer overflow");
        assert_eq!(failure(modulo, &[Value::Int(1), Value::Int(0)]), "modulus by zero");
        assert_eq!(failure(divide, &[Value::Double(1.0), Value::Double(0.0)]), "+Inf");
    }
}
