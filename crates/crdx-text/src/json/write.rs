//! Writes indented JSON, like `kubectl -o json` (`json.MarshalIndent` with four spaces) and the server's `?pretty=1`.

use crdx_value::{Value, json};

/// The output of `kubectl -o json`: four spaces, and a final line break.
pub fn kubectl(v: &Value) -> String {
    let mut out = indented(v, "    ");
    out.push('\n');
    out
}

/// `json.MarshalIndent(v, "", indent)`: empty containers stay on one line, no final line break.
pub fn indented(v: &Value, indent: &str) -> String {
    let mut out = String::new();
    write(&mut out, v, indent, 0);
    out
}

fn line(out: &mut String, indent: &str, level: usize) {
    out.push('\n');
    for _ in 0..level {
        out.push_str(indent);
    }
}

fn write(out: &mut String, v: &Value, indent: &str, level: usize) {
    match v {
        Value::Array(items) if !items.is_empty() => {
            for (i, item) in items.iter().enumerate() {
                out.push(if i == 0 { '[' } else { ',' });
                line(out, indent, level + 1);
                write(out, item, indent, level + 1);
            }
            line(out, indent, level);
            out.push(']');
        }
        Value::Object(members) if !members.is_empty() => {
            for (i, (key, value)) in members.iter().enumerate() {
                out.push(if i == 0 { '{' } else { ',' });
                line(out, indent, level + 1);
                json::write_string(out, key);
                out.push_str(": ");
                write(out, value, indent, level + 1);
            }
            line(out, indent, level);
            out.push('}');
        }
        v => json::write_compact(out, v),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::read;

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
