//! Formats values like Go's `fmt`: `%v`, `%#v` and `%T`.

use super::{Value, number, quote};
use std::fmt::Write as _;

/// `%T` of the value in the server's representation.
pub fn type_name(v: &Value) -> &'static str {
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

/// The `reflect.Kind` of the value in the server's representation.
pub fn kind_name(v: &Value) -> &'static str {
    match v {
        Value::Null => "invalid",
        Value::Bool(_) => "bool",
        Value::Int(_) => "int64",
        Value::Float(_) => "float64",
        Value::String(_) => "string",
        Value::Array(_) => "slice",
        Value::Object(_) => "map",
    }
}

/// `%v`: `map[a:1 b:[x y]]`, with strings unquoted.
pub fn format_v(v: &Value) -> String {
    let mut out = String::new();
    write_v(&mut out, v);
    out
}

fn write_v(out: &mut String, v: &Value) {
    match v {
        Value::Null => out.push_str("<nil>"),
        Value::Bool(b) => out.push_str(if *b { "true" } else { "false" }),
        Value::Int(i) => {
            let _ = write!(out, "{i}");
        }
        Value::Float(x) => out.push_str(&number::format_v(*x)),
        Value::String(s) => out.push_str(s),
        Value::Array(items) => {
            out.push('[');
            for (i, item) in items.iter().enumerate() {
                if i > 0 {
                    out.push(' ');
                }
                write_v(out, item);
            }
            out.push(']');
        }
        Value::Object(members) => {
            out.push_str("map[");
            for (i, (key, value)) in members.iter().enumerate() {
                if i > 0 {
                    out.push(' ');
                }
                out.push_str(key);
                out.push(':');
                write_v(out, value);
            }
            out.push(']');
        }
    }
}

/// `%s`, which is meant for strings: `map[a:%!s(int64=1) b:[x %!s(<nil>)]]`
pub fn format_s(v: &Value) -> String {
    match v {
        Value::String(text) => text.clone(),
        Value::Null => "%!s(<nil>)".to_owned(),
        Value::Array(items) => format!("[{}]", items.iter().map(format_s).collect::<Vec<_>>().join(" ")),
        Value::Object(members) => {
            let members = members.iter().map(|(key, value)| format!("{key}:{}", format_s(value)));
            format!("map[{}]", members.collect::<Vec<_>>().join(" "))
        }
        other => format!("%!s({}={})", type_name(other), format_v(other)),
    }
}

/// `%#v`: `map[string]interface {}{"a":1, "b":[]interface {}{"x"}}`
pub fn go_syntax(v: &Value) -> String {
    let mut out = String::new();
    write_go_syntax(&mut out, v);
    out
}

/// Appends [`go_syntax`] of a value.
pub fn write_go_syntax(out: &mut String, v: &Value) {
    match v {
        Value::Null => out.push_str("interface {}(nil)"),
        Value::String(s) => out.push_str(&quote::go_quote(s)),
        Value::Bool(_) | Value::Int(_) | Value::Float(_) => write_v(out, v),
        Value::Array(items) => {
            out.push_str("[]interface {}{");
            for (i, item) in items.iter().enumerate() {
                if i > 0 {
                    out.push_str(", ");
                }
                write_go_syntax(out, item);
            }
            out.push('}');
        }
        Value::Object(members) => {
            out.push_str("map[string]interface {}{");
            for (i, (key, value)) in members.iter().enumerate() {
                if i > 0 {
                    out.push_str(", ");
                }
                out.push_str(&quote::go_quote(key));
                out.push(':');
                write_go_syntax(out, value);
            }
            out.push('}');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object;

    #[test]
    fn values_are_formatted_like_percent_v() {
        let v = object([
            ("b", Value::Array(vec![Value::Int(1), Value::Null, Value::from("x y")])),
            ("a", Value::Float(1e21)),
        ]);
        assert_eq!(format_v(&v), "map[a:1e+21 b:[1 <nil> x y]]");
    }

    #[test]
    fn values_other_than_strings_are_marked_in_percent_s() {
        let v = object([
            ("b", Value::Array(vec![Value::Int(1), Value::Null, Value::from("x y")])),
            ("a", Value::Bool(true)),
        ]);
        assert_eq!(format_s(&v), "map[a:%!s(bool=true) b:[%!s(int64=1) %!s(<nil>) x y]]");
        assert_eq!(format_s(&Value::Null), "%!s(<nil>)");
    }
}
