//! JSON text as Go's `encoding/json` writes it: sorted keys, `<`, `>`, `&`, U+2028 and U+2029 escaped.

use super::{Value, number};
use std::fmt::Write as _;

/// Compact JSON, as `json.Marshal`.
pub fn to_string(v: &Value) -> String {
    let mut out = String::new();
    write_compact(&mut out, v);
    out
}

/// Appends `v` as compact JSON. Recurses as deep as the value, which readers keep below 10,000.
pub fn write_compact(out: &mut String, v: &Value) {
    match v {
        Value::Null => out.push_str("null"),
        Value::Bool(b) => out.push_str(if *b { "true" } else { "false" }),
        Value::Int(i) => {
            let _ = write!(out, "{i}");
        }
        Value::Float(x) => out.push_str(&number::format_json(*x)),
        Value::String(s) => write_string(out, s),
        Value::Array(items) => {
            out.push('[');
            for (i, item) in items.iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                write_compact(out, item);
            }
            out.push(']');
        }
        Value::Object(members) => {
            out.push('{');
            for (i, (key, value)) in members.iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                write_string(out, key);
                out.push(':');
                write_compact(out, value);
            }
            out.push('}');
        }
    }
}

/// Appends `s` as a JSON string.
pub fn write_string(out: &mut String, s: &str) {
    out.push('"');
    let plain = |b: u8| b >= 0x20 && !matches!(b, b'"' | b'\\' | b'<' | b'>' | b'&' | 0xe2);
    if s.bytes().all(plain) {
        out.push_str(s);
    } else {
        for c in s.chars() {
            match c {
                '"' => out.push_str("\\\""),
                '\\' => out.push_str("\\\\"),
                '\n' => out.push_str("\\n"),
                '\r' => out.push_str("\\r"),
                '\t' => out.push_str("\\t"),
                '\u{8}' => out.push_str("\\b"),
                '\u{c}' => out.push_str("\\f"),
                '\0'..='\u{1f}' | '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                    let _ = write!(out, "\\u{:04x}", c as u32);
                }
                c => out.push(c),
            }
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::object;

    #[test]
    fn writes_as_go_does() {
        let v = object([
            ("b", Value::Array(vec![Value::Int(1), Value::Float(1.0), Value::Null])),
            ("a", Value::from("<\u{1}é\u{2028}")),
        ]);
        assert_eq!(to_string(&v), r#"{"a":"\u003c\u0001é\u2028","b":[1,1,null]}"#);
    }
}
