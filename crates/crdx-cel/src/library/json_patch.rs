//! Functions for JSON patch expressions (`k8s.io/apiserver/pkg/cel/library/jsonpatch.go`).

use super::{CallCost, Overload};
use crate::value::{Error, Value};

pub(crate) const FUNCTIONS: &[Overload] = &[Overload::global(
    "jsonpatch.escapeKey",
    "string_jsonpatch_escapeKey_string",
    "(string) -> string",
    CallCost::Transform,
    escape_key,
)];

fn escape_key<'a>(args: &[Value<'a>]) -> Result<Value<'a>, Error> {
    let [Value::String(key)] = args else { return Err(Error::no_such_overload()) };
    let mut escaped = String::with_capacity(key.len());
    for c in key.chars() {
        match c {
            '/' => escaped.push_str("~1"),
            '~' => escaped.push_str("~0"),
            other => escaped.push(other),
        }
    }
    Ok(Value::string(escaped))
}
