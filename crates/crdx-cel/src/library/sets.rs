//! Set operations on lists (`ext/sets.go`).

use super::{CallCost, Overload};
use crate::value::{self, Error, Fuel, List, Value};
use crdx_value::release::Minor;

pub(crate) const FUNCTIONS: &[Overload] = &[
    Overload::planned("sets.contains", "list_sets_contains_list", "(list(T), list(T)) -> bool", CallCost::Sets(1))
        .fueled(contains)
        .since(Minor(29)),
    Overload::planned("sets.equivalent", "list_sets_equivalent_list", "(list(T), list(T)) -> bool", CallCost::Sets(2))
        .fueled(equivalent)
        .since(Minor(29)),
    Overload::planned("sets.intersects", "list_sets_intersects_list", "(list(T), list(T)) -> bool", CallCost::Sets(1))
        .fueled(intersects)
        .since(Minor(29)),
];

fn both<'v, 'a>(args: &'v [Value<'a>]) -> Result<(&'v List<'a>, &'v List<'a>), Error> {
    match args {
        [Value::List(a), Value::List(b)] => Ok((a, b)),
        _ => Err(Error::no_such_overload()),
    }
}

fn contains_all(list: &List<'_>, items: &List<'_>, fuel: &Fuel) -> Result<bool, Error> {
    for item in items.iter() {
        let found = match item {
            Ok(item) => value::contains(list, &item, fuel)?,
            // A list of a document returns the error of an item that does not match its declared type; in other lists
            // such an item equals no element.
            Err(Error::Failed(_)) if !list.is_of_document() => false,
            Err(error) => return Err(error),
        };
        if !found {
            return Ok(false);
        }
    }
    Ok(true)
}

fn contains<'a>(args: &[Value<'a>], fuel: &Fuel) -> Result<Value<'a>, Error> {
    let (list, items) = both(args)?;
    contains_all(list, items, fuel).map(Value::Bool)
}

fn equivalent<'a>(args: &[Value<'a>], fuel: &Fuel) -> Result<Value<'a>, Error> {
    let (a, b) = both(args)?;
    Ok(Value::Bool(contains_all(a, b, fuel)? && contains_all(b, a, fuel)?))
}

fn intersects<'a>(args: &[Value<'a>], fuel: &Fuel) -> Result<Value<'a>, Error> {
    let (a, b) = both(args)?;
    for item in a.iter() {
        match item.and_then(|item| value::contains(b, &item, fuel)) {
            Ok(false) | Err(Error::Failed(_) | Error::Unknown(_)) => {}
            found => return found.map(Value::Bool),
        }
    }
    Ok(Value::Bool(false))
}
