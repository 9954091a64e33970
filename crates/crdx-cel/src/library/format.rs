//! Named formats (`k8s.io/apiserver/pkg/cel/library/format.go`).

use super::{CallCost, Overload};
use crate::value::{Error, NamedFormat, Opaque, Value};
use crdx_value::release::{Release, V1_31, V1_35};
use std::sync::Arc;

const CONSTANT: &str = "() -> kubernetes.NamedFormat";

pub(crate) const FUNCTIONS: &[Overload] = &[
    Overload::global("format.byte", "format.byte", CONSTANT, CallCost::One, |_| named("byte")).since(V1_31),
    Overload::global("format.date", "format.date", CONSTANT, CallCost::One, |_| named("date")).since(V1_31),
    Overload::global("format.datetime", "format.datetime", CONSTANT, CallCost::One, |_| named("datetime")).since(V1_31),
    Overload::global("format.dns1035Label", "format.dns1035Label", CONSTANT, CallCost::One, |_| named("dns1035Label"))
        .since(V1_31),
    Overload::global("format.dns1035LabelPrefix", "format.dns1035LabelPrefix", CONSTANT, CallCost::One, |_| {
        named("dns1035LabelPrefix")
    })
    .since(V1_31),
    Overload::global("format.dns1123Label", "format.dns1123Label", CONSTANT, CallCost::One, |_| named("dns1123Label"))
        .since(V1_31),
    Overload::global("format.dns1123LabelPrefix", "format.dns1123LabelPrefix", CONSTANT, CallCost::One, |_| {
        named("dns1123LabelPrefix")
    })
    .since(V1_31),
    Overload::global("format.dns1123Subdomain", "format.dns1123Subdomain", CONSTANT, CallCost::One, |_| {
        named("dns1123Subdomain")
    })
    .since(V1_31),
    Overload::global("format.dns1123SubdomainPrefix", "format.dns1123SubdomainPrefix", CONSTANT, CallCost::One, |_| {
        named("dns1123SubdomainPrefix")
    })
    .since(V1_31),
    Overload::global("format.labelValue", "format.labelValue", CONSTANT, CallCost::One, |_| named("labelValue"))
        .since(V1_31),
    Overload::global("format.qualifiedName", "format.qualifiedName", CONSTANT, CallCost::One, |_| {
        named("qualifiedName")
    })
    .since(V1_31),
    Overload::global("format.uri", "format.uri", CONSTANT, CallCost::One, |_| named("uri")).since(V1_31),
    Overload::global("format.uuid", "format.uuid", CONSTANT, CallCost::One, |_| named("uuid")).since(V1_31),
    Overload::global(
        "format.named",
        "format-named",
        "(string) -> optional(kubernetes.NamedFormat)",
        CallCost::One,
        by_name,
    )
    .since(V1_31),
    Overload::member(
        "validate",
        "format-validate",
        "(kubernetes.NamedFormat, string) -> optional(list(string))",
        CallCost::Validate,
        |args| validate(args, Release::nearest(V1_35.number())),
    )
    .since(V1_31)
    .from_server(V1_35),
    // Before 1.35, the error messages for labels were different.
    Overload::member(
        "validate",
        "format-validate",
        "(kubernetes.NamedFormat, string) -> optional(list(string))",
        CallCost::Validate,
        |args| validate(args, Release::nearest(V1_31.number())),
    )
    .since(V1_31)
    .until_server(V1_35),
];

fn named<'a>(name: &str) -> Result<Value<'a>, Error> {
    let format = NamedFormat::named(name).ok_or_else(Error::no_such_overload)?;
    Ok(Value::Opaque(Arc::new(Opaque::Format(format))))
}

fn by_name<'a>(args: &[Value<'a>]) -> Result<Value<'a>, Error> {
    match args {
        [Value::String(name)] => Ok(named(name).map_or(Value::NONE, Value::some)),
        _ => Err(Error::no_such_overload()),
    }
}

fn validate<'a>(args: &[Value<'a>], release: Release) -> Result<Value<'a>, Error> {
    let [Value::Opaque(o), Value::String(text)] = args else {
        return Err(Error::no_such_overload());
    };
    let Opaque::Format(format) = **o else {
        return Err(Error::no_such_overload());
    };
    let messages = format.messages(text, release);
    Ok(if messages.is_empty() { Value::NONE } else { Value::strings(messages).some() })
}
