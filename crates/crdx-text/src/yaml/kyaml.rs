//! Writes KYAML like `kubectl -o kyaml` (`sigs.k8s.io/yaml/kyaml`): YAML with braces, quoted strings and trailing commas.

use crdx_value::unicode::{is_letter, is_number, is_print};
use crdx_value::{Value, json};

/// A column of indentation.
const INDENT: &str = "  ";

/// Formats a document with its separator and a final line break.
pub fn to_string(value: &Value) -> String {
    let mut out = "---\n".to_owned();
    write(&mut out, value, 0);
    out.push('\n');
    out
}

/// Formats a node at a level of indentation, without a line break at the end.
pub fn node(value: &Value, level: usize) -> String {
    let mut out = String::new();
    write(&mut out, value, level);
    out
}

fn write(out: &mut String, value: &Value, level: usize) {
    match value {
        Value::Object(members) if !members.is_empty() => {
            out.push_str("{\n");
            for (key, value) in members {
                indent(out, level + 1);
                write_key(out, key);
                out.push_str(": ");
                write(out, value, level + 1);
                out.push_str(",\n");
            }
            indent(out, level);
            out.push('}');
        }
        Value::Array(items) if !items.is_empty() => {
            // Brackets and braces share a line if every item is a container.
            if items.iter().all(|item| matches!(item, Value::Object(_) | Value::Array(_))) {
                for (i, item) in items.iter().enumerate() {
                    out.push_str(if i == 0 { "[" } else { ", " });
                    write(out, item, level);
                }
            } else {
                out.push_str("[\n");
                for item in items {
                    indent(out, level + 1);
                    write(out, item, level + 1);
                    out.push_str(",\n");
                }
                indent(out, level);
            }
            out.push(']');
        }
        Value::String(text) => write_text(out, text, Layout::Folded { level: level + 1 }),
        other => json::write_compact(out, other),
    }
}

fn indent(out: &mut String, level: usize) {
    out.extend(std::iter::repeat_n(INDENT, level));
}

fn write_key(out: &mut String, key: &str) {
    if needs_quotes(key) {
        write_text(out, key, Layout::Compact);
    } else {
        out.push_str(key);
    }
}

/// The layout of a string with several lines.
#[derive(Clone, Copy)]
enum Layout {
    /// The string is on one line, as keys must be.
    Compact,
    /// Each line is on a line of its own, at this level of indentation.
    Folded { level: usize },
}

/// Writes a quoted string.
fn write_text(out: &mut String, text: &str, layout: Layout) {
    let (compact, level) = match layout {
        Layout::Compact => (true, 0),
        Layout::Folded { level } => (false, level),
    };
    let folded = text.contains('\n') && !compact;
    out.push_str(if folded { "\"\\\n" } else { "\"" });
    for c in text.chars() {
        if out.ends_with('\n') {
            indent(out, level);
            // White space at the start of a line would not be read. A space before other text aligns it.
            out.push(if is_space(c) && c != '\n' { '\\' } else { ' ' });
        }
        match c {
            '\n' => out.push_str(if compact { "\\n" } else { "\\n\\\n" }),
            '\t' => out.push_str(if compact { "\\t" } else { "\t" }),
            '"' | '\\' => out.extend(['\\', c]),
            c if is_print(c) => out.push(c),
            c => out.push_str(&escaped(c)),
        }
    }
    if folded {
        if !out.ends_with('\n') {
            out.push_str("\\\n");
        }
        indent(out, level);
    }
    out.push('"');
}

fn escaped(c: char) -> String {
    match c {
        '\x07' => "\\a".to_owned(),
        '\x08' => "\\b".to_owned(),
        '\x0b' => "\\v".to_owned(),
        '\x0c' => "\\f".to_owned(),
        '\r' => "\\r".to_owned(),
        '\0' => "\\0".to_owned(),
        '\x1b' => "\\e".to_owned(),
        '\u{85}' => "\\N".to_owned(),
        '\u{a0}' => "\\_".to_owned(),
        '\u{2028}' => "\\L".to_owned(),
        '\u{2029}' => "\\P".to_owned(),
        c if c.is_ascii() => format!("\\x{:02x}", u32::from(c)),
        c if u32::from(c) < 0x10000 => format!("\\u{:04x}", u32::from(c)),
        c => format!("\\U{:08x}", u32::from(c)),
    }
}

/// `unicode.IsSpace`
fn is_space(c: char) -> bool {
    c.is_whitespace()
}

/// Returns true if a key cannot be written without quotes.
fn needs_quotes(key: &str) -> bool {
    let length = key.chars().count();
    let is_allowed = |(i, c): (usize, char)| {
        is_letter(c) || is_number(c) || c == '_' || (i > 0 && i + 1 < length && matches!(c, '-' | '.' | '/'))
    };
    key.is_empty() || is_ambiguous(key) || !key.chars().enumerate().all(is_allowed)
}

/// Returns true if a YAML parser could read the text as something else than a string. Texts with other characters than
/// those of [`needs_quotes`] are quoted anyway.
fn is_ambiguous(text: &str) -> bool {
    const WORDS: [&str; 11] = ["null", "true", "false", "t", "f", "y", "n", "yes", "no", "on", "off"];
    let plain = text.replace('_', "");
    WORDS.contains(&text.to_ascii_lowercase().as_str()) || is_int(&plain) || is_float(&plain) || is_date(text)
}

/// `strconv.ParseFloat`, which fails for numbers out of range, for a text without sign and underscores.
fn is_float(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    if let Some((mantissa, exponent)) = lower.strip_prefix("0x").and_then(|hex| hex.split_once('p')) {
        let digits = mantissa.replacen('.', "", 1);
        let is_hex = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_hexdigit());
        return is_hex && exponent.parse::<i32>().is_ok_and(|exponent| exponent <= f64::MAX_EXP);
    }
    let is_special = ["inf", "infinity", "nan"].contains(&lower.as_str());
    lower.parse::<f64>().is_ok_and(|number| is_special || number.is_finite())
}

/// `strconv.ParseInt` with any base, for a text without sign and underscores.
fn is_int(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let (digits, base) = match lower.strip_prefix('0') {
        Some(rest) if !rest.is_empty() => match rest.split_at_checked(1) {
            Some(("x", digits)) => (digits, 16),
            Some(("b", digits)) => (digits, 2),
            Some(("o", digits)) => (digits, 8),
            _ => (rest, 8),
        },
        _ => (lower.as_str(), 10),
    };
    !digits.starts_with(['+', '-']) && i64::from_str_radix(digits, base).is_ok()
}

/// A date of the form 2006-1-2.
fn is_date(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let [year, month, day] = parts.as_slice() else { return false };
    let number = |part: &str, lengths: std::ops::RangeInclusive<usize>| {
        let is_number = lengths.contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit());
        part.parse::<u32>().ok().filter(|_| is_number)
    };
    let (Some(year), Some(month), Some(day)) = (number(year, 4..=4), number(month, 1..=2), number(day, 1..=2)) else {
        return false;
    };
    let is_leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let days = match month {
        2 => 28 + u32::from(is_leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => 0,
    };
    (1..=days).contains(&day)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::read;

    // tests/facts/yaml.rs compares random values with kubectl's.
    #[test]
    fn a_list_of_containers_shares_its_lines() {
        let value = read(br#"{"l":[{"a":"1"},{},[2]],"m":[],"n":" x\ny","true":[1,{}]}"#).unwrap();
        let expected = r#"---
{
  l: [{
    a: "1",
  }, {}, [
    2,
  ]],
  m: [],
  "n": "\
    \ x\n\
     y\
    ",
  "true": [
    1,
    {},
  ],
}
"#;
        assert_eq!(to_string(&value), expected);
    }
}
