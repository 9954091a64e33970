//! Optional values (`cel.OptionalTypes`). `or` and `orValue` evaluate their second argument only if necessary, so the
//! evaluator implements them.

use super::{CallCost, Overload};
use crate::value::{Error, Fuel, Value};
use crdx_value::release::{Minor, V1_33};

pub(crate) const FUNCTIONS: &[Overload] = &[
    Overload::global("optional.of", "optional_of", "(V) -> optional(V)", CallCost::One, of).since(Minor(28)),
    Overload::global(
        "optional.ofNonZeroValue",
        "optional_ofNonZeroValue",
        "(V) -> optional(V)",
        CallCost::One,
        of_non_zero,
    )
    .since(Minor(28)),
    Overload::global("optional.none", "optional_none", "() -> optional(V)", CallCost::One, |_| Ok(Value::NONE))
        .since(Minor(28)),
    Overload::member("value", "optional_value", "(optional(V)) -> V", CallCost::One, value).since(Minor(28)),
    Overload::member("hasValue", "optional_hasValue", "(optional(V)) -> bool", CallCost::One, has_value)
        .since(Minor(28)),
    Overload::planned("or", "optional_or_optional", "(optional(V), optional(V)) -> optional(V)", CallCost::Free)
        .as_member()
        .since(Minor(28)),
    Overload::planned("orValue", "optional_orValue_value", "(optional(V), V) -> V", CallCost::Free)
        .as_member()
        .since(Minor(28)),
    // These are from version 1 of the library, which cel-go 0.23 introduced without a way to select another version.
    Overload::member("last", "list_last", "(list(V)) -> optional(V)", CallCost::One, last)
        .since(Minor(28))
        .from_server(V1_33),
    Overload::member("first", "list_first", "(list(V)) -> optional(V)", CallCost::One, first)
        .since(Minor(28))
        .from_server(V1_33),
    Overload::global(
        "optional.unwrap",
        "optional_unwrap",
        "(list(optional(V))) -> list(V)",
        CallCost::One,
        super::unfueled,
    )
    .fueled(unwrap)
    .since(Minor(28))
    .from_server(V1_33),
    Overload::member(
        "unwrapOpt",
        "optional_unwrapOpt",
        "(list(optional(V))) -> list(V)",
        CallCost::One,
        super::unfueled,
    )
    .fueled(unwrap)
    .since(Minor(28))
    .from_server(V1_33),
];

fn of<'a>(args: &[Value<'a>]) -> Result<Value<'a>, Error> {
    match args {
        [value] => Ok(value.clone().some()),
        _ => Err(Error::no_such_overload()),
    }
}

fn of_non_zero<'a>(args: &[Value<'a>]) -> Result<Value<'a>, Error> {
    match args {
        [value] if value.is_zero() => Ok(Value::NONE),
        _ => of(args),
    }
}

fn value<'a>(args: &[Value<'a>]) -> Result<Value<'a>, Error> {
    match args {
        [Value::Optional(Some(value))] => Ok((**value).clone()),
        [Value::Optional(None)] => Err(Error::new("optional.none() dereference")),
        _ => Err(Error::no_such_overload()),
    }
}

fn has_value<'a>(args: &[Value<'a>]) -> Result<Value<'a>, Error> {
    match args {
        [Value::Optional(value)] => Ok(Value::Bool(value.is_some())),
        _ => Err(Error::no_such_overload()),
    }
}

fn at<'a>(args: &[Value<'a>], index: impl Fn(usize) -> Option<usize>) -> Result<Value<'a>, Error> {
    match args {
        [Value::List(list)] => match index(list.len()).and_then(|i| list.get(i)) {
            Some(item) => Ok(item?.some()),
            None => Ok(Value::NONE),
        },
        _ => Err(Error::no_such_overload()),
    }
}

fn first<'a>(args: &[Value<'a>]) -> Result<Value<'a>, Error> {
    at(args, |_| Some(0))
}

fn last<'a>(args: &[Value<'a>]) -> Result<Value<'a>, Error> {
    at(args, |len| len.checked_sub(1))
}

fn unwrap<'a>(args: &[Value<'a>], fuel: &Fuel) -> Result<Value<'a>, Error> {
    let [Value::List(list)] = args else {
        return Err(Error::no_such_overload());
    };
    let mut out = Vec::new();
    for item in list.iter() {
        fuel.visit()?;
        match item? {
            Value::Optional(Some(value)) => out.push((*value).clone()),
            Value::Optional(None) => {}
            other => return Err(Error::new(format!("value {} is not optional", other.plain()))),
        }
    }
    Ok(Value::list(out))
}
