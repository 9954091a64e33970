//! CIDR networks (`k8s.io/apiserver/pkg/cel/library/cidr.go`).

use super::{CallCost, Overload, conversion, ip};
use crate::value::{Cidr, Error, Ip, Opaque, Value};
use crdx_value::release::{V1_30, V1_32, V1_38};
use std::sync::Arc;

pub(crate) const FUNCTIONS: &[Overload] = &[
    Overload::global("cidr", "string_to_cidr", "(string) -> net.CIDR", CallCost::Scan(0), parse).since(V1_30),
    Overload::member(
        "containsIP",
        "cidr_contains_ip_string",
        "(net.CIDR, string) -> bool",
        CallCost::ContainsIp { parse: true },
        contains_ip,
    )
    .since(V1_30),
    Overload::member(
        "containsIP",
        "cidr_contains_ip_ip",
        "(net.CIDR, net.IP) -> bool",
        CallCost::ContainsIp { parse: false },
        contains_ip,
    )
    .since(V1_30),
    Overload::member(
        "containsCIDR",
        "cidr_contains_cidr_string",
        "(net.CIDR, string) -> bool",
        CallCost::ContainsCidr { parse: true },
        contains_cidr,
    )
    .since(V1_30)
    .from_server(V1_32),
    Overload::member(
        "containsCIDR",
        "cidr_contains_cidr_string",
        "(net.CIDR, string) -> bool",
        CallCost::ContainsCidr { parse: true },
        begins_with_cidr,
    )
    .since(V1_30)
    .until_server(V1_32),
    Overload::member(
        "containsCIDR",
        "cidr_contains_cidr",
        "(net.CIDR, net.CIDR) -> bool",
        CallCost::ContainsCidr { parse: false },
        contains_cidr,
    )
    .since(V1_30)
    .from_server(V1_32),
    Overload::member(
        "containsCIDR",
        "cidr_contains_cidr",
        "(net.CIDR, net.CIDR) -> bool",
        CallCost::ContainsCidr { parse: false },
        begins_with_cidr,
    )
    .since(V1_30)
    .until_server(V1_32),
    Overload::member("ip", "cidr_ip", "(net.CIDR) -> net.IP", CallCost::One, address).since(V1_30),
    Overload::member("prefixLength", "cidr_prefix_length", "(net.CIDR) -> int", CallCost::One, prefix_length)
        .since(V1_30),
    Overload::member("masked", "cidr_masked", "(net.CIDR) -> net.CIDR", CallCost::One, masked).since(V1_30),
    Overload::member("isMask", "cidr_is_mask", "(net.CIDR) -> bool", CallCost::One, is_mask).since(V1_38),
    Overload::global("isCIDR", "is_cidr", "(string) -> bool", CallCost::Scan(0), is_cidr).since(V1_30),
    Overload::global("string", "cidr_to_string", "(net.CIDR) -> string", CallCost::One, conversion::to_string)
        .since(V1_30),
];

fn read(text: &str) -> Result<Cidr, Error> {
    Cidr::parse(text).map_err(|e| Error::new(format!("network address parse error during conversion from string: {e}")))
}

fn value<'a>(cidr: Cidr) -> Value<'a> {
    Value::Opaque(Arc::new(Opaque::Cidr(cidr)))
}

fn parse<'a>(args: &[Value<'a>]) -> Result<Value<'a>, Error> {
    match args {
        [Value::String(text)] => read(text).map(value),
        _ => Err(Error::no_such_overload()),
    }
}

fn as_cidr(value: &Value<'_>) -> Result<Cidr, Error> {
    match value {
        Value::Opaque(o) => match **o {
            Opaque::Cidr(cidr) => Ok(cidr),
            _ => Err(Error::no_such_overload()),
        },
        _ => Err(Error::no_such_overload()),
    }
}

fn only(args: &[Value<'_>]) -> Result<Cidr, Error> {
    match args {
        [value] => as_cidr(value),
        _ => Err(Error::no_such_overload()),
    }
}

fn contains_ip<'a>(args: &[Value<'a>]) -> Result<Value<'a>, Error> {
    let [cidr, other] = args else {
        return Err(Error::no_such_overload());
    };
    let other = match other {
        // The server does not report why the address is invalid.
        Value::String(text) => Ip::parse(text).map_err(|_| Error::no_such_overload())?,
        Value::Opaque(o) => match **o {
            Opaque::Ip(ip) => ip,
            _ => return Err(Error::no_such_overload()),
        },
        _ => return Err(Error::no_such_overload()),
    };
    as_cidr(cidr).map(|cidr| Value::Bool(cidr.contains_ip(other)))
}

fn both(args: &[Value<'_>]) -> Result<(Cidr, Cidr), Error> {
    let [cidr, other] = args else {
        return Err(Error::no_such_overload());
    };
    let other = match other {
        Value::String(text) => read(text)?,
        other => as_cidr(other)?,
    };
    Ok((as_cidr(cidr)?, other))
}

fn contains_cidr<'a>(args: &[Value<'a>]) -> Result<Value<'a>, Error> {
    both(args).map(|(cidr, other)| Value::Bool(cidr.contains_cidr(other)))
}

/// `containsCIDR` before 1.32, which is true only for networks with the same base address (`cidrContainsCIDR`).
fn begins_with_cidr<'a>(args: &[Value<'a>]) -> Result<Value<'a>, Error> {
    both(args).map(|(cidr, other)| {
        Value::Bool(cidr.prefix_length() <= other.prefix_length() && cidr.masked().ip() == other.ip())
    })
}

fn address<'a>(args: &[Value<'a>]) -> Result<Value<'a>, Error> {
    only(args).map(|cidr| ip::value(cidr.ip()))
}

fn prefix_length<'a>(args: &[Value<'a>]) -> Result<Value<'a>, Error> {
    only(args).map(|cidr| Value::Int(i64::from(cidr.prefix_length())))
}

fn masked<'a>(args: &[Value<'a>]) -> Result<Value<'a>, Error> {
    only(args).map(|cidr| value(cidr.masked()))
}

/// Returns true if no bit after the prefix is set.
fn is_mask<'a>(args: &[Value<'a>]) -> Result<Value<'a>, Error> {
    only(args).map(|cidr| Value::Bool(cidr.masked() == cidr))
}

fn is_cidr<'a>(args: &[Value<'a>]) -> Result<Value<'a>, Error> {
    match args {
        [Value::String(text)] => Ok(Value::Bool(Cidr::parse(text).is_ok())),
        _ => Err(Error::no_such_overload()),
    }
}
