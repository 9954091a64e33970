//! Formats values like Go's `%v` and `%#v` in the messages of structured-merge-diff.

use crate::value::{Value, print, quote::go_quote};

/// `%v` of a `value.Value`, which is a pointer to a struct.
pub(super) fn wrapped_v(v: &Value) -> String {
    format!("&{{{}}}", print::format_v(v))
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
        other => print::format_v(other),
    }
}
