//! URLs (`k8s.io/apiserver/pkg/cel/library/urls.go`).

use super::{CallCost, Overload};
use crate::value::{Error, Map, MapKey, Opaque, Text, Url, Value, parse_request_uri};
use crdx_value::release::V1_32;
use std::sync::Arc;

/// The price of a part that is not longer than the URL.
const SAME_SIZE: CallCost = CallCost::UrlPart { growth: 1 };

pub(crate) const FUNCTIONS: &[Overload] = &[
    Overload::global("url", "string_to_url", "(string) -> kubernetes.URL", CallCost::Transform, parse)
        .from_server(V1_32),
    // Before 1.32, the size of the result was not estimated.
    Overload::global("url", "string_to_url", "(string) -> kubernetes.URL", CallCost::Scan(0), parse)
        .until_server(V1_32),
    Overload::member("getScheme", "url_get_scheme", "(kubernetes.URL) -> string", SAME_SIZE, |args| {
        part(args, |url| url.scheme().to_owned())
    }),
    Overload::member("getHost", "url_get_host", "(kubernetes.URL) -> string", SAME_SIZE, |args| part(args, Url::host)),
    Overload::member("getHostname", "url_get_hostname", "(kubernetes.URL) -> string", SAME_SIZE, |args| {
        part(args, Url::hostname)
    }),
    Overload::member("getPort", "url_get_port", "(kubernetes.URL) -> string", SAME_SIZE, |args| part(args, Url::port)),
    Overload::member(
        "getEscapedPath",
        "url_get_escaped_path",
        "(kubernetes.URL) -> string",
        CallCost::UrlPart { growth: 3 },
        |args| part(args, Url::escaped_path),
    ),
    Overload::member("getQuery", "url_get_query", "(kubernetes.URL) -> map(string, list(string))", SAME_SIZE, query),
    Overload::global("isURL", "is_url_string", "(string) -> bool", CallCost::One, is_url),
];

fn parse<'a>(args: &[Value<'a>]) -> Result<Value<'a>, Error> {
    match args {
        [Value::String(text)] => Url::parse(text)
            .map(|url| Value::Opaque(Arc::new(Opaque::Url(url))))
            .map_err(|e| Error::new(format!("URL parse error during conversion from string: {e}"))),
        _ => Err(Error::no_such_overload()),
    }
}

fn is_url<'a>(args: &[Value<'a>]) -> Result<Value<'a>, Error> {
    match args {
        [Value::String(text)] => Ok(Value::Bool(parse_request_uri(text).is_ok())),
        _ => Err(Error::no_such_overload()),
    }
}

fn only<'v>(args: &'v [Value<'_>]) -> Result<&'v Url, Error> {
    match args {
        [Value::Opaque(o)] => match &**o {
            Opaque::Url(url) => Ok(url),
            _ => Err(Error::no_such_overload()),
        },
        _ => Err(Error::no_such_overload()),
    }
}

fn part<'a>(args: &[Value<'a>], part: fn(&Url) -> String) -> Result<Value<'a>, Error> {
    only(args).map(|url| Value::string(part(url)))
}

fn query<'a>(args: &[Value<'a>]) -> Result<Value<'a>, Error> {
    let entries = only(args)?.query().into_iter();
    let entries = entries.map(|(key, values)| (MapKey::String(Text::from(key)), Value::strings(values))).collect();
    Ok(Value::Map(Map::Shared(Arc::new(entries))))
}
