//! `find` and `findAll` (`k8s.io/apiserver/pkg/cel/library/regex.go`). The evaluator calls these functions directly,
//! because it caches compiled patterns.

use super::{CallCost, Overload};
use crate::value::{Error, Fuel, Text, Value};
use crdx_regexp::Regexp;

pub(crate) const FUNCTIONS: &[Overload] = &[
    Overload::planned("find", "string_find_string", "(string, string) -> string", CallCost::Find).as_member(),
    Overload::planned("findAll", "string_find_all_string", "(string, string) -> list(string)", CallCost::Find)
        .as_member(),
    Overload::planned("findAll", "string_find_all_string_int", "(string, string, int) -> list(string)", CallCost::Find)
        .as_member(),
];

/// The leftmost match, or an empty string.
pub(crate) fn first_match<'a>(pattern: &Regexp, text: &Text<'a>) -> Value<'a> {
    match pattern.find(text) {
        Some(range) => Value::String(text.slice(range)),
        None => Value::string(""),
    }
}

/// All matches, at most `limit` unless `limit` is negative.
pub(crate) fn all_matches<'a>(pattern: &Regexp, text: &Text<'a>, limit: i64, fuel: &Fuel) -> Result<Value<'a>, Error> {
    let before = fuel.left().saturating_mul(STEPS);
    let mut left = before;
    let ranges = pattern.find_all(text, usize::try_from(limit).ok(), &mut left).map_err(|_| Error::Interrupted);
    fuel.spend(usize::try_from((before - left) / STEPS).unwrap_or(usize::MAX))?;
    let ranges = ranges?;
    fuel.spend(ranges.len().saturating_mul(PART))?;
    Ok(Value::list(ranges.into_iter().map(|range| Value::String(text.slice(range))).collect()))
}

/// Takes the steps for matching a text.
pub(crate) fn spend_match(pattern: &Regexp, text: &str, fuel: &Fuel) -> Result<(), Error> {
    fuel.spend(usize::try_from(pattern.work(text.len()) / STEPS).unwrap_or(usize::MAX))
}

/// The steps of a pattern for a step of an evaluation. They are the most that matching may need.
const STEPS: u64 = 4;

/// The steps for a part of a text: each part of a computed text is a copy.
pub(super) const PART: usize = 4;
