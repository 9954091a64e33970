//! Quantities (`k8s.io/apiserver/pkg/cel/library/quantity.go`).

use super::{CallCost, Function, Overload};
use crate::value::{Error, Opaque, Quantity, Value};
use crdx_value::GoError;
use crdx_value::release::{Minor, V1_37, V1_38};
use std::{cmp::Ordering, sync::Arc};

const ONE: &str = "(kubernetes.Quantity, kubernetes.Quantity) -> bool";

pub(crate) const FUNCTIONS: &[Overload] = &[
    from_text(|args| parse(args, V1_37)).until_server(V1_38),
    from_text(|args| parse(args, V1_38)).from_server(V1_38),
    check(|args| is_quantity(args, V1_37)).until_server(V1_38),
    check(|args| is_quantity(args, V1_38)).from_server(V1_38),
    Overload::global("sign", "quantity_sign", "(kubernetes.Quantity) -> int", CallCost::One, |args| {
        only(args, |q| Ok(Value::Int(q.sign())))
    })
    .since(Minor(28)),
    Overload::member("isGreaterThan", "quantity_is_greater_than", ONE, CallCost::One, |args| {
        compare(args, |order| Value::Bool(order.is_gt()))
    })
    .since(Minor(28)),
    Overload::member("isLessThan", "quantity_is_less_than", ONE, CallCost::One, |args| {
        compare(args, |order| Value::Bool(order.is_lt()))
    })
    .since(Minor(28)),
    Overload::member(
        "compareTo",
        "quantity_compare_to",
        "(kubernetes.Quantity, kubernetes.Quantity) -> int",
        CallCost::One,
        |args| compare(args, |order| Value::Int(order as i64)),
    )
    .since(Minor(28)),
    Overload::member(
        "asApproximateFloat",
        "quantity_get_float",
        "(kubernetes.Quantity) -> double",
        CallCost::One,
        |args| only(args, |q| Ok(Value::Double(q.as_float()))),
    )
    .since(Minor(28)),
    Overload::member("asInteger", "quantity_get_int", "(kubernetes.Quantity) -> int", CallCost::One, |args| {
        only(args, |q| q.as_int().map(Value::Int).ok_or_else(|| Error::new("cannot convert value to integer")))
    })
    .since(Minor(28)),
    Overload::member("isInteger", "quantity_is_integer", "(kubernetes.Quantity) -> bool", CallCost::One, |args| {
        only(args, |q| Ok(Value::Bool(q.as_int().is_some())))
    })
    .since(Minor(28)),
    Overload::member(
        "add",
        "quantity_add",
        "(kubernetes.Quantity, kubernetes.Quantity) -> kubernetes.Quantity",
        CallCost::One,
        |args| combine(args, Quantity::add),
    )
    .since(Minor(28)),
    Overload::member(
        "add",
        "quantity_add_int",
        "(kubernetes.Quantity, int) -> kubernetes.Quantity",
        CallCost::One,
        |args| combine(args, Quantity::add),
    )
    .since(Minor(28)),
    Overload::member(
        "sub",
        "quantity_sub",
        "(kubernetes.Quantity, kubernetes.Quantity) -> kubernetes.Quantity",
        CallCost::One,
        |args| combine(args, Quantity::sub),
    )
    .since(Minor(28)),
    Overload::member(
        "sub",
        "quantity_sub_int",
        "(kubernetes.Quantity, int) -> kubernetes.Quantity",
        CallCost::One,
        |args| combine(args, Quantity::sub),
    )
    .since(Minor(28)),
];

const fn from_text(call: Function) -> Overload {
    Overload::global("quantity", "string_to_quantity", "(string) -> kubernetes.Quantity", CallCost::Scan(0), call)
        .since(Minor(28))
}

const fn check(call: Function) -> Overload {
    Overload::global("isQuantity", "is_quantity_string", "(string) -> bool", CallCost::Scan(0), call).since(Minor(28))
}

fn value<'a>(quantity: Opaque) -> Value<'a> {
    Value::Opaque(Arc::new(quantity))
}

fn parse<'a>(args: &[Value<'a>], server: Minor) -> Result<Value<'a>, Error> {
    match args {
        [Value::String(text)] => Quantity::parse(text, server)
            .map(|amount| value(Opaque::Quantity { amount, computed: false }))
            .map_err(Error::new),
        _ => Err(Error::no_such_overload()),
    }
}

fn is_quantity<'a>(args: &[Value<'a>], server: Minor) -> Result<Value<'a>, Error> {
    match args {
        [Value::String(text)] => Ok(Value::Bool(Quantity::parse(text, server).is_ok())),
        _ => Err(Error::no_such_overload()),
    }
}

fn amount<'v>(value: &'v Value<'_>) -> Result<&'v Quantity, Error> {
    match value {
        Value::Opaque(o) => match &**o {
            Opaque::Quantity { amount, .. } => Ok(amount),
            _ => Err(Error::no_such_overload()),
        },
        _ => Err(Error::no_such_overload()),
    }
}

fn only<'a>(args: &[Value<'a>], read: fn(&Quantity) -> Result<Value<'a>, Error>) -> Result<Value<'a>, Error> {
    match args {
        [value] => read(amount(value)?),
        _ => Err(Error::no_such_overload()),
    }
}

fn compare<'a>(args: &[Value<'a>], result: fn(Ordering) -> Value<'a>) -> Result<Value<'a>, Error> {
    match args {
        [a, b] => Ok(result(amount(a)?.compare(amount(b)?))),
        _ => Err(Error::no_such_overload()),
    }
}

fn combine<'a>(
    args: &[Value<'a>],
    combine: fn(&Quantity, &Quantity) -> Result<Quantity, GoError>,
) -> Result<Value<'a>, Error> {
    let result = match args {
        [a, Value::Int(b)] => combine(amount(a)?, &Quantity::from_int(*b)),
        [a, b] => combine(amount(a)?, amount(b)?),
        _ => return Err(Error::no_such_overload()),
    };
    result.map(|amount| value(Opaque::Quantity { amount, computed: true })).map_err(Error::new)
}
