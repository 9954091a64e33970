//! `find` and `findAll` (`k8s.io/apiserver/pkg/cel/library/regex.go`), with patterns that are not constants; constant ones are compiled
//! when the program is planned.

use super::{Overload, Price};
use crate::{
    cel::value::{Error, Text, Value},
    regexp::Regexp,
};

/// The overloads.
pub const FUNCTIONS: &[Overload] = &[
    Overload::member("find", "string_find_string", "(string, string) -> string", Price::Find, find),
    Overload::member("findAll", "string_find_all_string", "(string, string) -> list(string)", Price::Find, find_all),
    Overload::member(
        "findAll",
        "string_find_all_string_int",
        "(string, string, int) -> list(string)",
        Price::Find,
        find_all,
    ),
];

fn compile(pattern: &str) -> Result<Regexp, Error> {
    Regexp::new(pattern).map_err(|e| Error::new(format!("Illegal regex: {e}")))
}

/// The leftmost match, or the empty text.
pub fn first_match<'a>(pattern: &Regexp, text: &Text<'a>) -> Value<'a> {
    match pattern.find(text) {
        Some(range) => Value::String(text.slice(range)),
        None => Value::string(""),
    }
}

/// The matches, at most `limit` unless it is negative.
pub fn all_matches<'a>(pattern: &Regexp, text: &Text<'a>, limit: i64) -> Value<'a> {
    let ranges = pattern.find_all(text, usize::try_from(limit).ok());
    Value::list(ranges.into_iter().map(|range| Value::String(text.slice(range))).collect())
}

fn find<'a>(args: &[Value<'a>]) -> Result<Value<'a>, Error> {
    match args {
        [Value::String(text), Value::String(pattern)] => Ok(first_match(&compile(pattern)?, text)),
        _ => Err(Error::no_such_overload()),
    }
}

fn find_all<'a>(args: &[Value<'a>]) -> Result<Value<'a>, Error> {
    match args {
        [Value::String(text), Value::String(pattern)] => Ok(all_matches(&compile(pattern)?, text, -1)),
        [Value::String(text), Value::String(pattern), Value::Int(limit)] => {
            Ok(all_matches(&compile(pattern)?, text, *limit))
        }
        _ => Err(Error::no_such_overload()),
    }
}
