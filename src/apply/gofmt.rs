//! Values as Go's `%v` and `%#v` print them inside structured-merge-diff's messages.

use crate::value::{Value, number, quote::go_quote};

/// `%T` of the value inside.
pub(super) fn go_type(v: &Value) -> &'static str {
    match v {
        Value::Null => "<nil>",
        Value::Bool(_) => "bool",
        Value::Int(_) => "int64",
        Value::Float(_) => "float64",
        Value::String(_) => "string",
        Value::Array(_) => "[]interface {}",
        Value::Object(_) => "map[string]interface {}",
    }
}

/// `%v` of a `value.Value`: the wrapper is a pointer to a struct.
pub(super) fn wrapped_v(v: &Value) -> String {
    format!("&{{{}}}", plain_v(v))
}

fn plain_v(v: &Value) -> String {
    match v {
        Value::Null => "<nil>".to_owned(),
        Value::Bool(b) => b.to_string(),
        Value::Int(i) => i.to_string(),
        Value::Float(x) => number::format_v(*x),
        Value::String(s) => s.clone(),
        Value::Array(items) => format!("[{}]", items.iter().map(plain_v).collect::<Vec<_>>().join(" ")),
        Value::Object(members) => {
            let members: Vec<_> = members.iter().map(|(k, v)| format!("{k}:{}", plain_v(v))).collect();
            format!("map[{}]", members.join(" "))
        }
    }
}

/// `%#v` of a `value.Value`.
pub(super) fn wrapped_sharp_v(v: &Value) -> String {
    format!("&value.valueUnstructured{{Value:{}}}", sharp_v(v))
}

fn sharp_v(v: &Value) -> String {
    match v {
        Value::Null => "interface {}(nil)".to_owned(),
        Value::String(s) => go_quote(s),
        Value::Array(items) => {
            format!("[]interface {{}}{{{}}}", items.iter().map(sharp_v).collect::<Vec<_>>().join(", "))
        }
        Value::Object(members) => {
            let members: Vec<_> = members.iter().map(|(k, v)| format!("{}:{}", go_quote(k), sharp_v(v))).collect();
            format!("map[string]interface {{}}{{{}}}", members.join(", "))
        }
        other => plain_v(other),
    }
}
