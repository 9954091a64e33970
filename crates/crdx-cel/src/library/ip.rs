//! IP addresses (`k8s.io/apiserver/pkg/cel/library/ip.go`).

use super::{CallCost, Overload, conversion};
use crate::value::{Error, Ip, Opaque, Value};
use crdx_value::release::V1_30;
use std::sync::Arc;

pub(crate) const FUNCTIONS: &[Overload] = &[
    Overload::global("ip", "string_to_ip", "(string) -> net.IP", CallCost::Scan(0), parse).since(V1_30),
    Overload::member("family", "ip_family", "(net.IP) -> int", CallCost::One, family).since(V1_30),
    Overload::global("ip.isCanonical", "ip_is_canonical", "(string) -> bool", CallCost::ScanTwice, is_canonical)
        .since(V1_30),
    Overload::member("isUnspecified", "ip_is_unspecified", "(net.IP) -> bool", CallCost::One, |args| {
        is(args, |ip| ip.0.is_unspecified())
    })
    .since(V1_30),
    Overload::member("isLoopback", "ip_is_loopback", "(net.IP) -> bool", CallCost::One, |args| {
        is(args, |ip| ip.0.is_loopback())
    })
    .since(V1_30),
    Overload::member("isLinkLocalMulticast", "ip_is_link_local_multicast", "(net.IP) -> bool", CallCost::One, |args| {
        is(args, Ip::is_link_local_multicast)
    })
    .since(V1_30),
    Overload::member("isLinkLocalUnicast", "ip_is_link_local_unicast", "(net.IP) -> bool", CallCost::One, |args| {
        is(args, Ip::is_link_local_unicast)
    })
    .since(V1_30),
    Overload::member("isGlobalUnicast", "ip_is_global_unicast", "(net.IP) -> bool", CallCost::One, |args| {
        is(args, Ip::is_global_unicast)
    })
    .since(V1_30),
    Overload::global("isIP", "is_ip", "(string) -> bool", CallCost::Scan(0), is_ip).since(V1_30),
    Overload::global("string", "ip_to_string", "(net.IP) -> string", CallCost::One, conversion::to_string).since(V1_30),
];

/// `ip(text)`
pub(super) fn parse<'a>(args: &[Value<'a>]) -> Result<Value<'a>, Error> {
    match args {
        [Value::String(text)] => Ip::parse(text).map(value).map_err(Error::new),
        _ => Err(Error::no_such_overload()),
    }
}

/// Wraps an IP address as a CEL value.
pub(super) fn value<'a>(ip: Ip) -> Value<'a> {
    Value::Opaque(Arc::new(Opaque::Ip(ip)))
}

fn is<'a>(args: &[Value<'a>], test: fn(Ip) -> bool) -> Result<Value<'a>, Error> {
    only(args).map(|ip| Value::Bool(test(ip)))
}

fn only(args: &[Value<'_>]) -> Result<Ip, Error> {
    match args {
        [Value::Opaque(o)] => match **o {
            Opaque::Ip(ip) => Ok(ip),
            _ => Err(Error::no_such_overload()),
        },
        _ => Err(Error::no_such_overload()),
    }
}

fn family<'a>(args: &[Value<'a>]) -> Result<Value<'a>, Error> {
    only(args).map(|ip| Value::Int(if ip.0.is_ipv4() { 4 } else { 6 }))
}

fn is_canonical<'a>(args: &[Value<'a>]) -> Result<Value<'a>, Error> {
    match args {
        [Value::String(text)] => Ip::parse(text).map(|ip| Value::Bool(ip.to_string() == **text)).map_err(Error::new),
        _ => Err(Error::no_such_overload()),
    }
}

fn is_ip<'a>(args: &[Value<'a>]) -> Result<Value<'a>, Error> {
    match args {
        [Value::String(text)] => Ok(Value::Bool(Ip::parse(text).is_ok())),
        _ => Err(Error::no_such_overload()),
    }
}
