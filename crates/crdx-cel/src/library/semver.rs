//! Semantic versions (`k8s.io/apiserver/pkg/cel/library/semverlib.go`).

use super::{CallCost, Overload};
use crate::value::{Error, Opaque, Semver, Value};
use crdx_value::GoError;
use crdx_value::release::V1_33;
use std::{cmp::Ordering, sync::Arc};

const COMPARES: &str = "(kubernetes.Semver, kubernetes.Semver) -> bool";

pub(crate) const FUNCTIONS: &[Overload] = &[
    Overload::global("semver", "string_to_semver", "(string) -> kubernetes.Semver", CallCost::Scan(0), parse)
        .since(V1_33),
    Overload::global(
        "semver",
        "string_bool_to_semver",
        "(string, bool) -> kubernetes.Semver",
        CallCost::Scan(0),
        parse,
    )
    .since(V1_33),
    Overload::global("isSemver", "is_semver_string", "(string) -> bool", CallCost::Scan(0), is_semver).since(V1_33),
    Overload::global("isSemver", "is_semver_string_bool", "(string, bool) -> bool", CallCost::Scan(0), is_semver)
        .since(V1_33),
    Overload::member("isGreaterThan", "semver_is_greater_than", COMPARES, CallCost::One, |args| {
        compare(args, |order| Value::Bool(order.is_gt()))
    })
    .since(V1_33),
    Overload::member("isLessThan", "semver_is_less_than", COMPARES, CallCost::One, |args| {
        compare(args, |order| Value::Bool(order.is_lt()))
    })
    .since(V1_33),
    Overload::member(
        "compareTo",
        "semver_compare_to",
        "(kubernetes.Semver, kubernetes.Semver) -> int",
        CallCost::One,
        |args| compare(args, |order| Value::Int(order as i64)),
    )
    .since(V1_33),
    Overload::member("major", "semver_major", "(kubernetes.Semver) -> int", CallCost::One, |args| {
        part(args, |v| v.major)
    })
    .since(V1_33),
    Overload::member("minor", "semver_minor", "(kubernetes.Semver) -> int", CallCost::One, |args| {
        part(args, |v| v.minor)
    })
    .since(V1_33),
    Overload::member("patch", "semver_patch", "(kubernetes.Semver) -> int", CallCost::One, |args| {
        part(args, |v| v.patch)
    })
    .since(V1_33),
];

fn read(args: &[Value<'_>]) -> Result<Result<Semver, GoError>, Error> {
    match args {
        [Value::String(text)] | [Value::String(text), Value::Bool(false)] => Ok(Semver::parse(text)),
        [Value::String(text), Value::Bool(true)] => Ok(Semver::parse_normalized(text)),
        _ => Err(Error::no_such_overload()),
    }
}

fn parse<'a>(args: &[Value<'a>]) -> Result<Value<'a>, Error> {
    read(args)?.map(|version| Value::Opaque(Arc::new(Opaque::Semver(version)))).map_err(Error::new)
}

fn is_semver<'a>(args: &[Value<'a>]) -> Result<Value<'a>, Error> {
    read(args).map(|version| Value::Bool(version.is_ok()))
}

fn version<'v>(value: &'v Value<'_>) -> Result<&'v Semver, Error> {
    match value {
        Value::Opaque(o) => match &**o {
            Opaque::Semver(version) => Ok(version),
            _ => Err(Error::no_such_overload()),
        },
        _ => Err(Error::no_such_overload()),
    }
}

fn part<'a>(args: &[Value<'a>], part: fn(&Semver) -> u64) -> Result<Value<'a>, Error> {
    match args {
        // Like Go, this conversion wraps around.
        [value] => version(value).map(|v| Value::Int(part(v) as i64)),
        _ => Err(Error::no_such_overload()),
    }
}

fn compare<'a>(args: &[Value<'a>], result: fn(Ordering) -> Value<'a>) -> Result<Value<'a>, Error> {
    match args {
        [a, b] => Ok(result(version(a)?.compare(version(b)?))),
        _ => Err(Error::no_such_overload()),
    }
}
