//! `contains`, `startsWith`, `endsWith` and `matches`.

use super::{Overload, Price, unknown_operand};
use crate::cel::value::{Error, Value};

/// The overloads.
pub const FUNCTIONS: &[Overload] = &[
    Overload::member("contains", "contains_string", "(string, string) -> bool", Price::Contains, |args| {
        both(args, |s, part| s.contains(part))
    })
    .unguarded(),
    Overload::member("endsWith", "ends_with_string", "(string, string) -> bool", Price::Scan(1), |args| {
        both(args, |s, end| s.ends_with(end))
    })
    .unguarded(),
    Overload::member("startsWith", "starts_with_string", "(string, string) -> bool", Price::Scan(1), |args| {
        both(args, |s, start| s.starts_with(start))
    })
    .unguarded(),
    Overload::global("matches", "matches", "(string, string) -> bool", Price::Match, matches).unguarded(),
    Overload::member("matches", "matches_string", "(string, string) -> bool", Price::Match, matches).unguarded(),
];

fn both<'a>(args: &[Value<'a>], test: fn(&str, &str) -> bool) -> Result<Value<'a>, Error> {
    match args {
        [Value::String(a), Value::String(b)] => Ok(Value::Bool(test(a, b))),
        _ => Err(Error::no_such_overload()),
    }
}

/// The error for anything but strings; the evaluator does the rest, because it keeps compiled patterns.
fn matches<'a>(args: &[Value<'a>]) -> Result<Value<'a>, Error> {
    match args {
        [operand, _] if operand.as_str().is_none() => Err(unknown_operand("matches", operand)),
        _ => Err(Error::no_such_overload()),
    }
}
