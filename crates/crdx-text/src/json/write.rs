//! Writes indented JSON, like `kubectl -o json` (`json.MarshalIndent` with four spaces) and the server's `?pretty=1`.

use crate::TooLong;
use crdx_value::{Value, json};

/// The output of `kubectl -o json`: four spaces, and a final line break.
pub fn kubectl(v: &Value) -> String {
    let mut out = indented(v, "    ");
    out.push('\n');
    out
}

/// As [`kubectl`], for an output of at most `limit` bytes. The indentation of deeply nested values is much longer than they are.
///
/// # Errors
/// The output would be longer.
pub fn kubectl_within(v: &Value, limit: usize) -> Result<String, TooLong> {
    let mut out = String::new();
    write(&mut out, v, "    ", 0, limit);
    out.push('\n');
    if out.len() > limit { Err(TooLong(limit)) } else { Ok(out) }
}

/// `json.MarshalIndent(v, "", indent)`: empty containers stay on one line, no final line break.
pub fn indented(v: &Value, indent: &str) -> String {
    let mut out = String::new();
    write(&mut out, v, indent, 0, usize::MAX);
    out
}

fn line(out: &mut String, indent: &str, level: usize, limit: usize) {
    if out.len() > limit {
        return;
    }
    out.push('\n');
    for _ in 0..level {
        out.push_str(indent);
    }
}

/// Writes a value. It may stop when the output is longer than `limit`.
fn write(out: &mut String, v: &Value, indent: &str, level: usize, limit: usize) {
    match v {
        _ if out.len() > limit => {}
        Value::Array(items) if !items.is_empty() => {
            for (i, item) in items.iter().enumerate() {
                out.push(if i == 0 { '[' } else { ',' });
                line(out, indent, level + 1, limit);
                write(out, item, indent, level + 1, limit);
            }
            line(out, indent, level, limit);
            out.push(']');
        }
        Value::Object(members) if !members.is_empty() => {
            for (i, (key, value)) in members.iter().enumerate() {
                out.push(if i == 0 { '{' } else { ',' });
                line(out, indent, level + 1, limit);
                json::write_string(out, key);
                out.push_str(": ");
                write(out, value, indent, level + 1, limit);
            }
            line(out, indent, level, limit);
            out.push('}');
        }
        v => json::write_compact(out, v),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::read;

    /// Arrays and objects in each other.
    fn nested(levels: usize) -> Value {
        (0..levels).fold(Value::Null, |inner, _| Value::from(vec![Value::Object([("a".to_owned(), inner)].into())]))
    }

    #[test]
    fn the_output_may_be_limited_while_it_is_written() {
        let v = nested(500);
        let whole = kubectl(&v);
        assert!(whole.len() > 100 * json::to_string(&v).len());
        assert_eq!(kubectl_within(&v, whole.len()).as_deref(), Ok(whole.as_str()));
        assert_eq!(kubectl_within(&v, whole.len() - 1), Err(TooLong(whole.len() - 1)));
        // Beyond the limit, only the end of a line and the brackets of its level are written.
        let mut out = String::new();
        write(&mut out, &v, "    ", 0, 10_000);
        assert!(out.len() > 10_000 && out.len() < 15_000, "{}", out.len());
    }

    #[test]
    fn prints_as_kubectl() {
        let v = read(br#"{"b":[],"a":{"x":[1,{"y":"<"}],"e":{}}}"#).unwrap();
        let want = r#"{
    "a": {
        "e": {},
        "x": [
            1,
            {
                "y": "\u003c"
            }
        ]
    },
    "b": []
}
"#;
        assert_eq!(kubectl(&v), want);
    }
}
