//! `<`, `<=`, `>`, `>=`; numbers compare across types.

use super::{CallCost, Overload, unknown_operand};
use crate::value::{Error, Fuel, Value, compare};
use crdx_value::release::V1_38;
use std::cmp::Ordering;

pub(crate) const FUNCTIONS: &[Overload] = &[
    Overload::comparison("_<_", "less_bool", "(bool, bool) -> bool", CallCost::One, less),
    Overload::comparison("_<_", "less_int64", "(int, int) -> bool", CallCost::One, less),
    Overload::comparison("_<_", "less_int64_double", "(int, double) -> bool", CallCost::One, less),
    Overload::comparison("_<_", "less_int64_uint64", "(int, uint) -> bool", CallCost::One, less),
    Overload::comparison("_<_", "less_uint64", "(uint, uint) -> bool", CallCost::One, less),
    Overload::comparison("_<_", "less_uint64_double", "(uint, double) -> bool", CallCost::One, less),
    Overload::comparison("_<_", "less_uint64_int64", "(uint, int) -> bool", CallCost::One, less),
    Overload::comparison("_<_", "less_double", "(double, double) -> bool", CallCost::One, less),
    Overload::comparison("_<_", "less_double_int64", "(double, int) -> bool", CallCost::One, less),
    Overload::comparison("_<_", "less_double_uint64", "(double, uint) -> bool", CallCost::One, less),
    Overload::comparison("_<_", "less_string", "(string, string) -> bool", CallCost::Compare, less),
    Overload::comparison("_<_", "less_bytes", "(bytes, bytes) -> bool", CallCost::Compare, less),
    Overload::comparison("_<_", "less_timestamp", "(timestamp, timestamp) -> bool", CallCost::One, less),
    Overload::comparison("_<_", "less_duration", "(duration, duration) -> bool", CallCost::One, less),
    Overload::comparison("_<=_", "less_equals_bool", "(bool, bool) -> bool", CallCost::One, less_equals),
    Overload::comparison("_<=_", "less_equals_int64", "(int, int) -> bool", CallCost::One, less_equals),
    Overload::comparison("_<=_", "less_equals_int64_double", "(int, double) -> bool", CallCost::One, less_equals),
    Overload::comparison("_<=_", "less_equals_int64_uint64", "(int, uint) -> bool", CallCost::One, less_equals),
    Overload::comparison("_<=_", "less_equals_uint64", "(uint, uint) -> bool", CallCost::One, less_equals),
    Overload::comparison("_<=_", "less_equals_uint64_double", "(uint, double) -> bool", CallCost::One, less_equals),
    Overload::comparison("_<=_", "less_equals_uint64_int64", "(uint, int) -> bool", CallCost::One, less_equals),
    Overload::comparison("_<=_", "less_equals_double", "(double, double) -> bool", CallCost::One, less_equals),
    Overload::comparison("_<=_", "less_equals_double_int64", "(double, int) -> bool", CallCost::One, less_equals),
    Overload::comparison("_<=_", "less_equals_double_uint64", "(double, uint) -> bool", CallCost::One, less_equals),
    Overload::comparison("_<=_", "less_equals_string", "(string, string) -> bool", CallCost::Compare, less_equals),
    Overload::comparison("_<=_", "less_equals_bytes", "(bytes, bytes) -> bool", CallCost::Compare, less_equals),
    Overload::comparison("_<=_", "less_equals_timestamp", "(timestamp, timestamp) -> bool", CallCost::One, less_equals),
    Overload::comparison("_<=_", "less_equals_duration", "(duration, duration) -> bool", CallCost::One, less_equals),
    Overload::comparison("_>_", "greater_bool", "(bool, bool) -> bool", CallCost::One, greater),
    Overload::comparison("_>_", "greater_int64", "(int, int) -> bool", CallCost::One, greater),
    Overload::comparison("_>_", "greater_int64_double", "(int, double) -> bool", CallCost::One, greater),
    Overload::comparison("_>_", "greater_int64_uint64", "(int, uint) -> bool", CallCost::One, greater),
    Overload::comparison("_>_", "greater_uint64", "(uint, uint) -> bool", CallCost::One, greater),
    Overload::comparison("_>_", "greater_uint64_double", "(uint, double) -> bool", CallCost::One, greater),
    Overload::comparison("_>_", "greater_uint64_int64", "(uint, int) -> bool", CallCost::One, greater),
    Overload::comparison("_>_", "greater_double", "(double, double) -> bool", CallCost::One, greater),
    Overload::comparison("_>_", "greater_double_int64", "(double, int) -> bool", CallCost::One, greater),
    Overload::comparison("_>_", "greater_double_uint64", "(double, uint) -> bool", CallCost::One, greater),
    Overload::comparison("_>_", "greater_string", "(string, string) -> bool", CallCost::Compare, greater),
    Overload::comparison("_>_", "greater_bytes", "(bytes, bytes) -> bool", CallCost::Compare, greater),
    Overload::comparison("_>_", "greater_timestamp", "(timestamp, timestamp) -> bool", CallCost::One, greater),
    Overload::comparison("_>_", "greater_duration", "(duration, duration) -> bool", CallCost::One, greater),
    Overload::comparison("_>=_", "greater_equals_bool", "(bool, bool) -> bool", CallCost::One, greater_equals),
    Overload::comparison("_>=_", "greater_equals_int64", "(int, int) -> bool", CallCost::One, greater_equals),
    Overload::comparison("_>=_", "greater_equals_int64_double", "(int, double) -> bool", CallCost::One, greater_equals),
    Overload::comparison("_>=_", "greater_equals_int64_uint64", "(int, uint) -> bool", CallCost::One, greater_equals),
    Overload::comparison("_>=_", "greater_equals_uint64", "(uint, uint) -> bool", CallCost::One, greater_equals),
    Overload::comparison(
        "_>=_",
        "greater_equals_uint64_double",
        "(uint, double) -> bool",
        CallCost::One,
        greater_equals,
    ),
    Overload::comparison("_>=_", "greater_equals_uint64_int64", "(uint, int) -> bool", CallCost::One, greater_equals),
    Overload::comparison("_>=_", "greater_equals_double", "(double, double) -> bool", CallCost::One, greater_equals),
    Overload::comparison("_>=_", "greater_equals_double_int64", "(double, int) -> bool", CallCost::One, greater_equals),
    Overload::comparison(
        "_>=_",
        "greater_equals_double_uint64",
        "(double, uint) -> bool",
        CallCost::One,
        greater_equals,
    ),
    Overload::comparison(
        "_>=_",
        "greater_equals_string",
        "(string, string) -> bool",
        CallCost::Compare,
        greater_equals,
    ),
    Overload::comparison("_>=_", "greater_equals_bytes", "(bytes, bytes) -> bool", CallCost::Compare, greater_equals),
    Overload::comparison(
        "_>=_",
        "greater_equals_timestamp",
        "(timestamp, timestamp) -> bool",
        CallCost::One,
        greater_equals,
    ),
    Overload::comparison(
        "_>=_",
        "greater_equals_duration",
        "(duration, duration) -> bool",
        CallCost::One,
        greater_equals,
    ),
];

fn order<'a>(
    fuel: &Fuel,
    function: &str,
    args: &[Value<'a>],
    accept: fn(Ordering) -> bool,
) -> Result<Value<'a>, Error> {
    let is_nan = |value: &Value<'_>| matches!(value, Value::Double(number) if number.is_nan());
    match args {
        // Before cel-go 0.33, NaN has no order.
        [a, b] if a.is_comparable() && fuel.server() >= V1_38 && (is_nan(a) || is_nan(b)) => Ok(Value::Bool(false)),
        [a, b] if a.is_comparable() => compare(a, b).map(|order| Value::Bool(accept(order))),
        [a, _] => Err(unknown_operand(function, a)),
        _ => Err(Error::no_such_overload()),
    }
}

fn less<'a>(args: &[Value<'a>], fuel: &Fuel) -> Result<Value<'a>, Error> {
    order(fuel, "_<_", args, Ordering::is_lt)
}

fn less_equals<'a>(args: &[Value<'a>], fuel: &Fuel) -> Result<Value<'a>, Error> {
    order(fuel, "_<=_", args, Ordering::is_le)
}

fn greater<'a>(args: &[Value<'a>], fuel: &Fuel) -> Result<Value<'a>, Error> {
    order(fuel, "_>_", args, Ordering::is_gt)
}

fn greater_equals<'a>(args: &[Value<'a>], fuel: &Fuel) -> Result<Value<'a>, Error> {
    order(fuel, "_>=_", args, Ordering::is_ge)
}
