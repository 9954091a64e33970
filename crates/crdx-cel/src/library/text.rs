//! `contains`, `startsWith`, `endsWith` and `matches`.

use super::{CallCost, Overload, unknown_operand};
use crate::value::{Error, Value};
use crdx_value::release::V1_37;

pub(crate) const FUNCTIONS: &[Overload] = &[
    Overload::member("contains", "contains_string", "(string, string) -> bool", CallCost::Contains, |args| {
        both(args, |s, part| s.contains(part))
    })
    .unguarded(),
    Overload::member("endsWith", "ends_with_string", "(string, string) -> bool", CallCost::Scan(1), ends_with)
        .unguarded()
        .from_server(V1_37),
    Overload::member("endsWith", "ends_with_string", "(string, string) -> bool", CallCost::Affix, ends_with)
        .unguarded()
        .until_server(V1_37),
    Overload::member("startsWith", "starts_with_string", "(string, string) -> bool", CallCost::Scan(1), starts_with)
        .unguarded()
        .from_server(V1_37),
    Overload::member("startsWith", "starts_with_string", "(string, string) -> bool", CallCost::Affix, starts_with)
        .unguarded()
        .until_server(V1_37),
    // Before cel-go 0.29, only the member function has a cost.
    Overload::global("matches", "matches", "(string, string) -> bool", CallCost::Match, matches)
        .unguarded()
        .from_server(V1_37),
    Overload::global("matches", "matches", "(string, string) -> bool", CallCost::One, matches)
        .unguarded()
        .until_server(V1_37),
    Overload::member("matches", "matches_string", "(string, string) -> bool", CallCost::Match, matches).unguarded(),
];

fn both<'a>(args: &[Value<'a>], test: fn(&str, &str) -> bool) -> Result<Value<'a>, Error> {
    match args {
        [Value::String(a), Value::String(b)] => Ok(Value::Bool(test(a, b))),
        _ => Err(Error::no_such_overload()),
    }
}

fn starts_with<'a>(args: &[Value<'a>]) -> Result<Value<'a>, Error> {
    both(args, |text, start| text.starts_with(start))
}

fn ends_with<'a>(args: &[Value<'a>]) -> Result<Value<'a>, Error> {
    both(args, |text, end| text.ends_with(end))
}

/// Returns the error for arguments that are not strings. The evaluator handles strings, because it caches compiled
/// patterns.
fn matches<'a>(args: &[Value<'a>]) -> Result<Value<'a>, Error> {
    match args {
        [operand, _] if operand.as_str().is_none() => Err(unknown_operand("matches", operand)),
        _ => Err(Error::no_such_overload()),
    }
}
