//! `in` and `size()`.

use super::{CallCost, Overload, unknown_operand};
use crate::value::{Error, Fuel, Opaque, Value, contains};

pub(crate) const FUNCTIONS: &[Overload] = &[
    Overload::planned("@in", "in_list", "(A, list(A)) -> bool", CallCost::Search).fueled(is_in).unguarded(),
    Overload::planned("@in", "in_map", "(A, map(A, B)) -> bool", CallCost::One).fueled(is_in).unguarded(),
    Overload::global("size", "size_bytes", "(bytes) -> int", CallCost::One, size).unguarded(),
    Overload::member("size", "bytes_size", "(bytes) -> int", CallCost::One, size).unguarded(),
    Overload::global("size", "size_list", "(list(A)) -> int", CallCost::One, size).unguarded(),
    Overload::member("size", "list_size", "(list(A)) -> int", CallCost::One, size).unguarded(),
    Overload::global("size", "size_map", "(map(A, B)) -> int", CallCost::One, size).unguarded(),
    Overload::member("size", "map_size", "(map(A, B)) -> int", CallCost::One, size).unguarded(),
    Overload::global("size", "size_string", "(string) -> int", CallCost::One, size).unguarded(),
    Overload::member("size", "string_size", "(string) -> int", CallCost::One, size).unguarded(),
];

fn is_in<'a>(args: &[Value<'a>], fuel: &Fuel) -> Result<Value<'a>, Error> {
    match args {
        [item, Value::List(list)] => contains(list, item, fuel).map(Value::Bool),
        [key, Value::Map(map)] => map.contains(key).map(Value::Bool),
        _ => Err(Error::no_such_overload()),
    }
}

fn size<'a>(args: &[Value<'a>]) -> Result<Value<'a>, Error> {
    match args {
        // IP addresses and networks have a size for the cost only; `size()` does not accept them.
        [Value::Opaque(o)] if matches!(**o, Opaque::Ip(_) | Opaque::Cidr(_)) => {
            Err(Error::new("no such overload: size"))
        }
        [value] => value.size().map(|n| Value::Int(n as i64)).ok_or_else(|| unknown_operand("size", value)),
        _ => Err(Error::no_such_overload()),
    }
}
