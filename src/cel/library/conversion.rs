//! Conversion functions such as `int()`, `string()` and `type()`. Constant conversions are computed when the program is
//! planned.

use super::{Overload, Price};
use crate::cel::value::{Error, Value};
use crate::release::V1_37;

/// The overloads.
pub const FUNCTIONS: &[Overload] = &[
    Overload::global("type", "type", "(A) -> type(A)", Price::One, to_type).unguarded(),
    Overload::global("bool", "bool_to_bool", "(bool) -> bool", Price::One, same),
    Overload::global("bool", "string_to_bool", "(string) -> bool", Price::One, to_bool),
    Overload::global("bytes", "bytes_to_bytes", "(bytes) -> bytes", Price::One, same),
    Overload::global("bytes", "string_to_bytes", "(string) -> bytes", Price::Scan(0), to_bytes),
    Overload::global("double", "double_to_double", "(double) -> double", Price::One, same),
    Overload::global("double", "int64_to_double", "(int) -> double", Price::One, to_double),
    Overload::global("double", "string_to_double", "(string) -> double", Price::One, to_double),
    Overload::global("double", "uint64_to_double", "(uint) -> double", Price::One, to_double),
    Overload::global("duration", "duration_to_duration", "(duration) -> duration", Price::One, same),
    // This overload always fails; cel-go 0.29 removed it.
    Overload::global("duration", "int64_to_duration", "(int) -> duration", Price::One, to_duration).until_server(V1_37),
    Overload::global("duration", "string_to_duration", "(string) -> duration", Price::One, to_duration),
    Overload::global("dyn", "to_dyn", "(A) -> dyn", Price::One, same).unguarded(),
    Overload::global("int", "int64_to_int64", "(int) -> int", Price::One, same),
    Overload::global("int", "double_to_int64", "(double) -> int", Price::One, to_int),
    Overload::global("int", "duration_to_int64", "(duration) -> int", Price::One, to_int),
    Overload::global("int", "string_to_int64", "(string) -> int", Price::One, to_int),
    Overload::global("int", "timestamp_to_int64", "(timestamp) -> int", Price::One, to_int),
    Overload::global("int", "uint64_to_int64", "(uint) -> int", Price::One, to_int),
    Overload::global("string", "string_to_string", "(string) -> string", Price::One, to_string),
    Overload::global("string", "bool_to_string", "(bool) -> string", Price::One, to_string),
    Overload::global("string", "bytes_to_string", "(bytes) -> string", Price::Scan(0), to_string),
    Overload::global("string", "double_to_string", "(double) -> string", Price::One, to_string),
    Overload::global("string", "duration_to_string", "(duration) -> string", Price::One, to_string),
    Overload::global("string", "int64_to_string", "(int) -> string", Price::One, to_string),
    Overload::global("string", "timestamp_to_string", "(timestamp) -> string", Price::One, to_string),
    Overload::global("string", "uint64_to_string", "(uint) -> string", Price::One, to_string),
    Overload::global("timestamp", "timestamp_to_timestamp", "(timestamp) -> timestamp", Price::One, same),
    Overload::global("timestamp", "int64_to_timestamp", "(int) -> timestamp", Price::One, to_timestamp),
    Overload::global("timestamp", "string_to_timestamp", "(string) -> timestamp", Price::One, to_timestamp),
    Overload::global("uint", "uint64_to_uint64", "(uint) -> uint", Price::One, same),
    Overload::global("uint", "double_to_uint64", "(double) -> uint", Price::One, to_uint),
    Overload::global("uint", "int64_to_uint64", "(int) -> uint", Price::One, to_uint),
    Overload::global("uint", "string_to_uint64", "(string) -> uint", Price::One, to_uint),
];

/// Returns true for functions whose calls with a constant argument are computed when the program is planned.
pub fn is_conversion(function: &str) -> bool {
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
