//! Conversion functions such as `int()`, `string()` and `type()`. Constant conversions are computed when the program is
//! planned.

use super::{CallCost, Overload};
use crate::value::{Error, Value};
use crdx_value::release::V1_37;

pub(crate) const FUNCTIONS: &[Overload] = &[
    Overload::global("type", "type", "(A) -> type(A)", CallCost::One, to_type).unguarded(),
    Overload::global("bool", "bool_to_bool", "(bool) -> bool", CallCost::One, same),
    Overload::global("bool", "string_to_bool", "(string) -> bool", CallCost::One, to_bool),
    Overload::global("bytes", "bytes_to_bytes", "(bytes) -> bytes", CallCost::One, same),
    Overload::global("bytes", "string_to_bytes", "(string) -> bytes", CallCost::Scan(0), to_bytes),
    Overload::global("double", "double_to_double", "(double) -> double", CallCost::One, same),
    Overload::global("double", "int64_to_double", "(int) -> double", CallCost::One, to_double),
    Overload::global("double", "string_to_double", "(string) -> double", CallCost::One, to_double),
    Overload::global("double", "uint64_to_double", "(uint) -> double", CallCost::One, to_double),
    Overload::global("duration", "duration_to_duration", "(duration) -> duration", CallCost::One, same),
    // This overload always fails; cel-go 0.29 removed it.
    Overload::global("duration", "int64_to_duration", "(int) -> duration", CallCost::One, to_duration)
        .until_server(V1_37),
    Overload::global("duration", "string_to_duration", "(string) -> duration", CallCost::One, to_duration),
    Overload::global("dyn", "to_dyn", "(A) -> dyn", CallCost::One, same).unguarded(),
    Overload::global("int", "int64_to_int64", "(int) -> int", CallCost::One, same),
    Overload::global("int", "double_to_int64", "(double) -> int", CallCost::One, to_int),
    Overload::global("int", "duration_to_int64", "(duration) -> int", CallCost::One, to_int),
    Overload::global("int", "string_to_int64", "(string) -> int", CallCost::One, to_int),
    Overload::global("int", "timestamp_to_int64", "(timestamp) -> int", CallCost::One, to_int),
    Overload::global("int", "uint64_to_int64", "(uint) -> int", CallCost::One, to_int),
    Overload::global("string", "string_to_string", "(string) -> string", CallCost::One, to_string),
    Overload::global("string", "bool_to_string", "(bool) -> string", CallCost::One, to_string),
    Overload::global("string", "bytes_to_string", "(bytes) -> string", CallCost::Scan(0), to_string),
    Overload::global("string", "double_to_string", "(double) -> string", CallCost::One, to_string),
    Overload::global("string", "duration_to_string", "(duration) -> string", CallCost::One, to_string),
    Overload::global("string", "int64_to_string", "(int) -> string", CallCost::One, to_string),
    Overload::global("string", "timestamp_to_string", "(timestamp) -> string", CallCost::One, to_string),
    Overload::global("string", "uint64_to_string", "(uint) -> string", CallCost::One, to_string),
    Overload::global("timestamp", "timestamp_to_timestamp", "(timestamp) -> timestamp", CallCost::One, same),
    Overload::global("timestamp", "int64_to_timestamp", "(int) -> timestamp", CallCost::One, to_timestamp),
    Overload::global("timestamp", "string_to_timestamp", "(string) -> timestamp", CallCost::One, to_timestamp),
    Overload::global("uint", "uint64_to_uint64", "(uint) -> uint", CallCost::One, same),
    Overload::global("uint", "double_to_uint64", "(double) -> uint", CallCost::One, to_uint),
    Overload::global("uint", "int64_to_uint64", "(int) -> uint", CallCost::One, to_uint),
    Overload::global("uint", "string_to_uint64", "(string) -> uint", CallCost::One, to_uint),
];

/// Returns true for functions whose calls with a constant argument are computed when the program is planned.
pub(crate) fn is_conversion(function: &str) -> bool {
    FUNCTIONS.iter().any(|overload| overload.function == function)
}

fn only<'v, 'a>(args: &'v [Value<'a>]) -> Result<&'v Value<'a>, Error> {
    args.first().ok_or_else(Error::no_such_overload)
}

fn same<'a>(args: &[Value<'a>]) -> Result<Value<'a>, Error> {
    only(args).cloned()
}

fn to_type<'a>(args: &[Value<'a>]) -> Result<Value<'a>, Error> {
    only(args).map(Value::to_type)
}

fn to_bool<'a>(args: &[Value<'a>]) -> Result<Value<'a>, Error> {
    only(args)?.to_bool()
}

fn to_bytes<'a>(args: &[Value<'a>]) -> Result<Value<'a>, Error> {
    only(args)?.to_bytes()
}

fn to_double<'a>(args: &[Value<'a>]) -> Result<Value<'a>, Error> {
    only(args)?.to_double()
}

fn to_duration<'a>(args: &[Value<'a>]) -> Result<Value<'a>, Error> {
    only(args)?.to_duration()
}

fn to_int<'a>(args: &[Value<'a>]) -> Result<Value<'a>, Error> {
    only(args)?.to_int()
}

/// `string(x)`, including IP addresses and networks.
pub(super) fn to_string<'a>(args: &[Value<'a>]) -> Result<Value<'a>, Error> {
    only(args)?.to_text().map(Value::String)
}

fn to_timestamp<'a>(args: &[Value<'a>]) -> Result<Value<'a>, Error> {
    only(args)?.to_timestamp()
}

fn to_uint<'a>(args: &[Value<'a>]) -> Result<Value<'a>, Error> {
    only(args)?.to_uint()
}
