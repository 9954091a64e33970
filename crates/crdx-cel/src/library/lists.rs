//! Kubernetes' list functions (`k8s.io/apiserver/pkg/cel/library/lists.go`).

use super::{CallCost, Overload, arithmetic::add};
use crate::value::{Duration, Error, Fuel, List, Value, compare, equal_strictly};
use crdx_value::release::V1_37;
use std::cmp::Ordering;

pub(crate) const FUNCTIONS: &[Overload] = &[
    Overload::member("isSorted", "list_int_is_sorted_bool", "(list(int)) -> bool", CallCost::Walk, is_sorted),
    Overload::member("isSorted", "list_uint_is_sorted_bool", "(list(uint)) -> bool", CallCost::Walk, is_sorted),
    Overload::member("isSorted", "list_double_is_sorted_bool", "(list(double)) -> bool", CallCost::Walk, is_sorted),
    Overload::member("isSorted", "list_bool_is_sorted_bool", "(list(bool)) -> bool", CallCost::Walk, is_sorted),
    Overload::member("isSorted", "list_duration_is_sorted_bool", "(list(duration)) -> bool", CallCost::Walk, is_sorted),
    Overload::member(
        "isSorted",
        "list_timestamp_is_sorted_bool",
        "(list(timestamp)) -> bool",
        CallCost::Walk,
        is_sorted,
    ),
    Overload::member("isSorted", "list_string_is_sorted_bool", "(list(string)) -> bool", CallCost::Walk, is_sorted),
    Overload::member("isSorted", "list_bytes_is_sorted_bool", "(list(bytes)) -> bool", CallCost::Walk, is_sorted),
    Overload::member("sum", "list_int_sum_int", "(list(int)) -> int", CallCost::Walk, super::unfueled)
        .fueled(|args, fuel| sum(Value::Int(0), args, fuel)),
    Overload::member("sum", "list_uint_sum_uint", "(list(uint)) -> uint", CallCost::Walk, super::unfueled)
        .fueled(|args, fuel| sum(Value::Uint(0), args, fuel)),
    Overload::member("sum", "list_double_sum_double", "(list(double)) -> double", CallCost::Walk, super::unfueled)
        .fueled(|args, fuel| sum(Value::Double(0.0), args, fuel)),
    Overload::member(
        "sum",
        "list_duration_sum_duration",
        "(list(duration)) -> duration",
        CallCost::Walk,
        super::unfueled,
    )
    .fueled(|args, fuel| sum(Value::Duration(Duration(0)), args, fuel)),
    Overload::member("max", "list_int_max_int", "(list(int)) -> int", CallCost::Walk, max),
    Overload::member("max", "list_uint_max_uint", "(list(uint)) -> uint", CallCost::Walk, max),
    Overload::member("max", "list_double_max_double", "(list(double)) -> double", CallCost::Walk, max),
    Overload::member("max", "list_bool_max_bool", "(list(bool)) -> bool", CallCost::Walk, max),
    Overload::member("max", "list_duration_max_duration", "(list(duration)) -> duration", CallCost::Walk, max),
    Overload::member("max", "list_timestamp_max_timestamp", "(list(timestamp)) -> timestamp", CallCost::Walk, max),
    Overload::member("max", "list_string_max_string", "(list(string)) -> string", CallCost::Walk, max),
    Overload::member("max", "list_bytes_max_bytes", "(list(bytes)) -> bytes", CallCost::Walk, max),
    Overload::member("min", "list_int_min_int", "(list(int)) -> int", CallCost::Walk, min),
    Overload::member("min", "list_uint_min_uint", "(list(uint)) -> uint", CallCost::Walk, min),
    Overload::member("min", "list_double_min_double", "(list(double)) -> double", CallCost::Walk, min),
    Overload::member("min", "list_bool_min_bool", "(list(bool)) -> bool", CallCost::Walk, min),
    Overload::member("min", "list_duration_min_duration", "(list(duration)) -> duration", CallCost::Walk, min),
    Overload::member("min", "list_timestamp_min_timestamp", "(list(timestamp)) -> timestamp", CallCost::Walk, min),
    Overload::member("min", "list_string_min_string", "(list(string)) -> string", CallCost::Walk, min),
    Overload::member("min", "list_bytes_min_bytes", "(list(bytes)) -> bytes", CallCost::Walk, min),
    Overload::planned("indexOf", "list_a_index_of_int", "(list(A), A) -> int", CallCost::Walk)
        .as_member()
        .fueled(index_of),
    Overload::planned("lastIndexOf", "list_a_last_index_of_int", "(list(A), A) -> int", CallCost::Walk)
        .as_member()
        .fueled(last_index_of),
    Overload::planned("includes", "list_includes_dyn_dyn", "(dyn, dyn) -> bool", CallCost::Walk)
        .as_member()
        .fueled(includes)
        .since(V1_37),
];

fn only<'v, 'a>(args: &'v [Value<'a>]) -> Result<&'v List<'a>, Error> {
    match args {
        [Value::List(list)] => Ok(list),
        _ => Err(Error::no_such_overload()),
    }
}

fn comparable(value: Value<'_>) -> Result<Value<'_>, Error> {
    if value.is_comparable() { Ok(value) } else { Err(Error::no_such_overload()) }
}

/// `isSorted`. Elements that cannot be compared count as sorted.
fn is_sorted<'a>(args: &[Value<'a>]) -> Result<Value<'a>, Error> {
    let mut previous = None;
    for item in only(args)?.iter() {
        let item = comparable(item?)?;
        if previous.is_some_and(|previous| compare(&previous, &item) == Ok(Ordering::Greater)) {
            return Ok(Value::Bool(false));
        }
        previous = Some(item);
    }
    Ok(Value::Bool(true))
}

fn sum<'a>(zero: Value<'a>, args: &[Value<'a>], fuel: &Fuel) -> Result<Value<'a>, Error> {
    only(args)?.iter().try_fold(zero, |sum, item| add(&[sum, item?], fuel))
}

fn best<'a>(name: &str, args: &[Value<'a>], worse: Ordering) -> Result<Value<'a>, Error> {
    let mut best = None;
    for item in only(args)?.iter() {
        let item = comparable(item?)?;
        best = Some(match best {
            Some(best) if compare(&best, &item) != Ok(worse) => best,
            _ => item,
        });
    }
    best.ok_or_else(|| Error::new(format!("{name} called on empty list")))
}

fn min<'a>(args: &[Value<'a>]) -> Result<Value<'a>, Error> {
    best("min", args, Ordering::Greater)
}

fn max<'a>(args: &[Value<'a>]) -> Result<Value<'a>, Error> {
    best("max", args, Ordering::Less)
}

fn is_at(list: &List<'_>, index: usize, item: &Value<'_>, fuel: &Fuel) -> bool {
    // The evaluation ends with an error when no fuel is left.
    fuel.is_empty() || matches!(list.get(index), Some(Ok(element)) if equal_strictly(&element, item, fuel) == Ok(true))
}

fn position<'a>(
    args: &[Value<'a>],
    fuel: &Fuel,
    find: impl Fn(usize, &dyn Fn(usize) -> bool) -> Option<usize>,
) -> Result<Value<'a>, Error> {
    match args {
        [Value::List(list), item] => {
            let found = find(list.len(), &|index| is_at(list, index, item, fuel));
            Ok(Value::Int(found.map_or(-1, |index| index as i64)))
        }
        _ => Err(Error::no_such_overload()),
    }
}

fn index_of<'a>(args: &[Value<'a>], fuel: &Fuel) -> Result<Value<'a>, Error> {
    position(args, fuel, |len, is_at| (0..len).find(|index| is_at(*index)))
}

fn last_index_of<'a>(args: &[Value<'a>], fuel: &Fuel) -> Result<Value<'a>, Error> {
    position(args, fuel, |len, is_at| (0..len).rev().find(|index| is_at(*index)))
}

/// `includes`: true if a list contains the element, or if a value that is not a list equals it.
fn includes<'a>(args: &[Value<'a>], fuel: &Fuel) -> Result<Value<'a>, Error> {
    match args {
        [Value::List(list), item] => Ok(Value::Bool((0..list.len()).any(|index| is_at(list, index, item, fuel)))),
        [value, item] => Ok(Value::Bool(equal_strictly(value, item, fuel) == Ok(true))),
        _ => Err(Error::no_such_overload()),
    }
}
