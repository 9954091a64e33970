//! cel-go's list library, version 3 (`ext/lists.go`).

use super::{CallCost, Overload};
use crate::value::{Element, Error, Fuel, List, Value, compare, equal_strictly};
use crdx_value::release::{V1_34, V1_37};
use std::cmp::Ordering;

pub(crate) const FUNCTIONS: &[Overload] = &[
    Overload::member("slice", "list_slice", "(list(T), int, int) -> list(T)", CallCost::Slice, slice).since(V1_34),
    // At run time, a list that is already flat is accepted.
    Overload::planned("flatten", "list_flatten", "(list(list(T))) -> list(T)", CallCost::Flatten)
        .as_member()
        .fueled(flatten)
        .since(V1_34)
        .unguarded(),
    Overload::planned("flatten", "list_flatten_int", "(list(dyn), int) -> list(dyn)", CallCost::Flatten)
        .as_member()
        .fueled(flatten)
        .since(V1_34)
        .unguarded(),
    sorting("list_int_sort", "(list(int)) -> list(int)"),
    sorting("list_uint_sort", "(list(uint)) -> list(uint)"),
    sorting("list_double_sort", "(list(double)) -> list(double)"),
    sorting("list_bool_sort", "(list(bool)) -> list(bool)"),
    sorting("list_google.protobuf.Duration_sort", "(list(duration)) -> list(duration)"),
    sorting("list_google.protobuf.Timestamp_sort", "(list(timestamp)) -> list(timestamp)"),
    sorting("list_string_sort", "(list(string)) -> list(string)"),
    sorting("list_bytes_sort", "(list(bytes)) -> list(bytes)"),
    sorting_by("list_int_sortByAssociatedKeys", "(list(T), list(int)) -> list(T)"),
    sorting_by("list_uint_sortByAssociatedKeys", "(list(T), list(uint)) -> list(T)"),
    sorting_by("list_double_sortByAssociatedKeys", "(list(T), list(double)) -> list(T)"),
    sorting_by("list_bool_sortByAssociatedKeys", "(list(T), list(bool)) -> list(T)"),
    sorting_by("list_google.protobuf.Duration_sortByAssociatedKeys", "(list(T), list(duration)) -> list(T)"),
    sorting_by("list_google.protobuf.Timestamp_sortByAssociatedKeys", "(list(T), list(timestamp)) -> list(T)"),
    sorting_by("list_string_sortByAssociatedKeys", "(list(T), list(string)) -> list(T)"),
    sorting_by("list_bytes_sortByAssociatedKeys", "(list(T), list(bytes)) -> list(T)"),
    Overload::global("lists.range", "lists_range", "(int) -> list(int)", CallCost::Range, range)
        .since(V1_34)
        .from_server(V1_37),
    Overload::global("lists.range", "lists_range", "(int) -> list(int)", CallCost::Range, any_range)
        .since(V1_34)
        .until_server(V1_37),
    Overload::member("reverse", "list_reverse", "(list(T)) -> list(T)", CallCost::Reverse, reverse).since(V1_34),
    Overload::planned("distinct", "list_distinct", "(list(T)) -> list(T)", CallCost::Distinct)
        .as_member()
        .fueled(distinct)
        .since(V1_34),
];

/// An overload of `sort` for one element type.
const fn sorting(id: &'static str, signature: &'static str) -> Overload {
    Overload::member("sort", id, signature, CallCost::Sort(0), super::unfueled).fueled(sort).since(V1_34).unguarded()
}

/// An overload of the expansion of `sortBy` for one key type.
const fn sorting_by(id: &'static str, signature: &'static str) -> Overload {
    Overload::member("@sortByAssociatedKeys", id, signature, CallCost::Sort(1), super::unfueled)
        .fueled(sort_by_keys)
        .since(V1_34)
        .unguarded()
}

/// The maximum length of `lists.range()`.
const MAX_RANGE: i64 = 1_000_000;
/// The maximum number of elements of a result; larger results would exceed the cost limit.
const MAX_ELEMENTS: usize = 4_000_000;

/// The steps of an element of a flattened list, besides the visit: a small expression has lists of millions of elements.
const KEEPING: usize = 2;

fn slice<'a>(args: &[Value<'a>]) -> Result<Value<'a>, Error> {
    let [Value::List(list), Value::Int(start), Value::Int(end)] = args else {
        return Err(Error::no_such_overload());
    };
    let fail = |reason: String| Err(Error::new(format!("cannot slice({start}, {end}), {reason}")));
    let (Ok(first), Ok(last)) = (usize::try_from(*start), usize::try_from(*end)) else {
        return fail("negative indexes not supported".to_owned());
    };
    if first > last {
        return fail("start index must be less than or equal to end index".to_owned());
    }
    if list.len() < last {
        return fail(format!("list is length {}", list.len()));
    }
    if last - first > MAX_ELEMENTS {
        return Err(Error::CostLimitExceeded);
    }
    List::computed((first..last).map_while(|i| list.get(i))).map(Value::List)
}

fn flatten<'a>(args: &[Value<'a>], fuel: &Fuel) -> Result<Value<'a>, Error> {
    let depth = match args {
        [Value::List(_)] => 1,
        [Value::List(_), Value::Int(depth)] => *depth,
        [other] => return Err(Error::new(format!("no such overload: {}.flatten()", declared_name(other)))),
        [other, depth] => {
            let (list, depth) = (declared_name(other), declared_name(depth));
            return Err(Error::new(format!("no such overload: {list}.flatten({depth})")));
        }
        _ => return Err(Error::no_such_overload()),
    };
    let [Value::List(list), ..] = args else {
        return Err(Error::no_such_overload());
    };
    if depth < 0 {
        return Err(Error::new("level must be non-negative"));
    }
    let mut out = Vec::new();
    flatten_into(&mut out, list, depth, fuel)?;
    List::computed(out).map(Value::List)
}

/// The type of a value as written in declarations.
fn declared_name<'v>(value: &'v Value<'_>) -> &'v str {
    match value {
        Value::List(_) => "list(dyn)",
        Value::Map(_) => "map(dyn, dyn)",
        Value::Optional(_) => "optional_type(dyn)",
        other => other.type_name(),
    }
}

/// The recursion is bounded by the nesting depth of the document or expression.
fn flatten_into<'a>(out: &mut Vec<Element<'a>>, list: &List<'a>, depth: i64, fuel: &Fuel) -> Result<(), Error> {
    for item in list.iter() {
        fuel.visit()?;
        match item {
            Ok(Value::List(inner)) if depth > 0 => flatten_into(out, &inner, depth - 1, fuel)?,
            item => {
                fuel.spend(KEEPING)?;
                out.push(item);
            }
        }
    }
    Ok(())
}

fn range<'a>(args: &[Value<'a>]) -> Result<Value<'a>, Error> {
    match args {
        [Value::Int(n)] if *n > MAX_RANGE => {
            Err(Error::new(format!("lists.range: size {n} exceeds maximum allowed ({MAX_RANGE})")))
        }
        [Value::Int(n)] => usize::try_from(*n)
            .map(|n| Value::List(List::Range(n)))
            .map_err(|_| Error::new(format!("lists.range: size must be non-negative, got {n}"))),
        _ => Err(Error::no_such_overload()),
    }
}

/// `lists.range` before cel-go 0.29: any size is allowed, and a negative size gives an empty list.
fn any_range<'a>(args: &[Value<'a>]) -> Result<Value<'a>, Error> {
    match args {
        [Value::Int(n)] if *n > MAX_RANGE => Err(Error::CostLimitExceeded),
        [Value::Int(n)] => Ok(Value::List(List::Range(usize::try_from(*n).unwrap_or(0)))),
        _ => Err(Error::no_such_overload()),
    }
}

fn reverse<'a>(args: &[Value<'a>]) -> Result<Value<'a>, Error> {
    match args {
        [Value::List(list)] if list.len() > MAX_ELEMENTS => Err(Error::CostLimitExceeded),
        [Value::List(list)] => List::computed((0..list.len()).rev().map_while(|i| list.get(i))).map(Value::List),
        _ => Err(Error::no_such_overload()),
    }
}

fn distinct<'a>(args: &[Value<'a>], fuel: &Fuel) -> Result<Value<'a>, Error> {
    let [Value::List(list)] = args else {
        return Err(Error::no_such_overload());
    };
    if list.is_empty() {
        return Ok(Value::List(list.clone()));
    }
    let mut out: Vec<Element<'a>> = Vec::new();
    for element in list.iter() {
        let mut known = false;
        // An element that does not match the declared type equals no other.
        let Ok(item) = &element else {
            out.push(element);
            continue;
        };
        for seen in out.iter().flatten() {
            known = match equal_strictly(item, seen, fuel) {
                Err(error) if error.is_fatal() => return Err(error),
                same => same == Ok(true),
            };
            if known {
                break;
            }
        }
        if !known {
            out.push(element);
        }
    }
    List::computed(out).map(Value::List)
}

fn sort<'a>(args: &[Value<'a>], fuel: &Fuel) -> Result<Value<'a>, Error> {
    match args {
        [Value::List(list)] => sort_by(list, list, fuel),
        [other] => Err(super::unknown_operand("sort", other)),
        _ => Err(Error::no_such_overload()),
    }
}

fn sort_by_keys<'a>(args: &[Value<'a>], fuel: &Fuel) -> Result<Value<'a>, Error> {
    match args {
        [Value::List(list), Value::List(keys)] => sort_by(list, keys, fuel),
        [other, _] => Err(super::unknown_operand("@sortByAssociatedKeys", other)),
        _ => Err(Error::no_such_overload()),
    }
}

fn sort_by<'a>(list: &List<'a>, keys: &List<'a>, fuel: &Fuel) -> Result<Value<'a>, Error> {
    if list.len() != keys.len() {
        return Err(Error::new(format!(
            "@sortByAssociatedKeys() expected a list of the same size as the associated keys list, but got {} and {} elements respectively",
            list.len(),
            keys.len()
        )));
    }
    // The price is that of a list of a known type only.
    let comparisons = keys.len().saturating_mul(keys.len().max(1).ilog2() as usize + 1);
    fuel.spend(comparisons)?;
    let mut key_type = None;
    let mut checked = Vec::with_capacity(keys.len());
    for key in keys.iter() {
        // A key that does not match its declared type is an error value, which has a type of its own.
        let key = match (key, key_type.is_some()) {
            (Ok(key), _) => key,
            (Err(Error::Failed(_)), true) => return Err(Error::new("list elements must have the same type")),
            (Err(Error::Failed(_)), false) => return Err(Error::new("list elements must be comparable")),
            (Err(error), _) => return Err(error),
        };
        if key_type.is_none() && !key.is_comparable() {
            return Err(Error::new("list elements must be comparable"));
        }
        if *key_type.get_or_insert_with(|| key.type_name().to_owned()) != *key.type_name() {
            return Err(Error::new("list elements must have the same type"));
        }
        checked.push(key);
    }
    if checked.is_empty() {
        return Ok(Value::List(list.clone()));
    }
    let mut pairs: Vec<_> = checked.into_iter().zip(list.iter()).collect();
    pairs.sort_by(|(a, _), (b, _)| compare(a, b).unwrap_or(Ordering::Equal));
    List::computed(pairs.into_iter().map(|(_, item)| item)).map(Value::List)
}
