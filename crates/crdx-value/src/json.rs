//! Writes JSON like Go's `encoding/json`: sorted keys; `<`, `>`, `&`, U+2028 and U+2029 are escaped.

use super::{Value, number};
use std::fmt::Write as _;

/// Formats a value as compact JSON, like `json.Marshal`.
pub fn to_string(v: &Value) -> String {
    let mut out = String::new();
    write_compact(&mut out, v);
    out
}

/// Appends `v` as compact JSON. The recursion is bounded by the depth of the value, which decoders limit to 10,000.
pub fn write_compact(out: &mut String, v: &Value) {
    match v {
        Value::Null => out.push_str("null"),
        Value::Bool(b) => out.push_str(if *b { "true" } else { "false" }),
        Value::Int(i) => number::write_int(out, *i),
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
        Value::Object(members) => write_object(out, members.iter().map(|(key, value)| (key.as_str(), value))),
    }
}

/// Appends an object with these members as compact JSON.
fn write_object<'m>(out: &mut String, members: impl IntoIterator<Item = (&'m str, &'m Value)>) {
    out.push('{');
    for (i, (key, value)) in members.into_iter().enumerate() {
        if i > 0 {
            out.push(',');
        }
        write_string(out, key);
        out.push(':');
        write_compact(out, value);
    }
    out.push('}');
}

/// The length of the compact JSON of `v` in bytes.
pub fn length(v: &Value) -> usize {
    usize::MAX - room_after(v, usize::MAX).unwrap_or(0)
}

/// Returns true if the compact JSON of `v` has more than `limit` bytes; stops as soon as this is known.
pub fn is_longer_than(v: &Value, limit: usize) -> bool {
    room_after_bound(v, limit).is_none() && room_after(v, limit).is_none()
}

/// Subtracts the length of the compact JSON of `v` from `left`; `None` if it is longer.
fn room_after(v: &Value, left: usize) -> Option<usize> {
    match v {
        Value::Null => left.checked_sub(4),
        Value::Bool(b) => left.checked_sub(if *b { 4 } else { 5 }),
        Value::Int(_) | Value::Float(_) => left.checked_sub(to_string(v).len()),
        Value::String(s) => left.checked_sub(string_length(s)),
        Value::Array(items) => {
            let left = left.checked_sub(2 + items.len().saturating_sub(1))?;
            items.iter().try_fold(left, |left, item| room_after(item, left))
        }
        Value::Object(members) => {
            let left = left.checked_sub(2 + members.len() + members.len().saturating_sub(1))?;
            members.iter().try_fold(left, |left, (key, value)| room_after(value, left.checked_sub(string_length(key))?))
        }
    }
}

/// Subtracts an upper bound for the length of the compact JSON of `v` from `left`, which takes less time than the length
/// itself; `None` if the JSON may be longer.
fn room_after_bound(v: &Value, left: usize) -> Option<usize> {
    // Most values are scalars of collections, which need no call of this function.
    let below = |value: &Value, left: usize| match value {
        Value::Array(_) | Value::Object(_) => room_after_bound(value, left),
        scalar => left.checked_sub(scalar_bound(scalar)),
    };
    match v {
        Value::Array(items) => {
            let left = left.checked_sub(items.len() + 2)?;
            items.iter().try_fold(left, |left, item| below(item, left))
        }
        Value::Object(members) => {
            let left = left.checked_sub(2)?;
            members.iter().try_fold(left, |left, (key, value)| below(value, left.checked_sub(ESCAPE * key.len() + 4)?))
        }
        scalar => left.checked_sub(scalar_bound(scalar)),
    }
}

/// The maximum length of the escape sequence of a byte.
const ESCAPE: usize = 6;

fn scalar_bound(v: &Value) -> usize {
    const NUMBER: usize = 32;
    match v {
        Value::String(s) => ESCAPE * s.len() + 2,
        _ => NUMBER,
    }
}

/// The length of `s` as a JSON string, in bytes.
fn string_length(s: &str) -> usize {
    let mut rest = s;
    let mut length = 2;
    let mut escape = String::new();
    while let Some(at) = first_escape(rest.as_bytes())
        && let Some(tail) = rest.get(at..)
    {
        let mut chars = tail.chars();
        escape.clear();
        chars.next().into_iter().for_each(|c| write_char(&mut escape, c));
        length += at + escape.len();
        rest = chars.as_str();
    }
    length + rest.len()
}

/// Appends `s` as a JSON string.
pub fn write_string(out: &mut String, s: &str) {
    out.push('"');
    let mut rest = s;
    while let Some(at) = first_escape(rest.as_bytes())
        && let Some((plain, tail)) = rest.split_at_checked(at)
    {
        out.push_str(plain);
        let mut chars = tail.chars();
        if let Some(c) = chars.next() {
            write_char(out, c);
        }
        rest = chars.as_str();
    }
    out.push_str(rest);
    out.push('"');
}

fn write_char(out: &mut String, c: char) {
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

/// The index of the first byte that [`may_be_escaped`]. Most strings have none, so eight bytes are tested at a time.
fn first_escape(bytes: &[u8]) -> Option<usize> {
    let (words, _) = bytes.as_chunks::<8>();
    let plain = words.iter().take_while(|word| !has_escape(u64::from_le_bytes(**word))).count() * 8;
    let rest = bytes.get(plain..)?;
    rest.iter().position(|b| may_be_escaped(*b)).map(|at| plain + at)
}

/// Returns true if one of eight bytes may be escaped, by the usual test for a zero byte. A byte that follows one that
/// may be escaped can be mistaken for another.
fn has_escape(word: u64) -> bool {
    const ONES: u64 = u64::MAX / 0xff;
    const HIGH: u64 = ONES << 7;
    let zero = |word: u64| word.wrapping_sub(ONES) & !word;
    let equal = |byte: u8| zero(word ^ (ONES * u64::from(byte)));
    let control = word.wrapping_sub(ONES * 0x20) & !word;
    // `<` and `>` differ in one bit.
    let angle = zero((word | (ONES * 2)) ^ (ONES * u64::from(b'>')));
    (control | equal(b'"') | equal(b'\\') | equal(b'&') | angle | equal(0xe2)) & HIGH != 0
}

/// Returns true for the first byte of a character that a JSON string may escape.
fn may_be_escaped(b: u8) -> bool {
    static TABLE: [bool; 256] = {
        let mut table = [false; 256];
        let mut b = 0;
        while b < 256 {
            #[allow(clippy::indexing_slicing)] // an index below 256
            {
                table[b] = b < 0x20 || matches!(b as u8, b'"' | b'\\' | b'<' | b'>' | b'&' | 0xe2);
            }
            b += 1;
        }
        table
    };
    TABLE.get(usize::from(b)).copied().unwrap_or(true)
}

/// The name of a value's type in the errors of `encoding/json`.
pub fn go_kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Int(_) | Value::Float(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object;

    #[test]
    fn every_byte_that_may_be_escaped_is_found_at_every_position() {
        for byte in 0..=u8::MAX {
            for (at, length) in [(0, 1), (0, 8), (3, 8), (7, 8), (8, 9), (12, 30), (29, 30)] {
                for plain in [b'a', b' ', b'~', 0xff, 0x80] {
                    let mut bytes = vec![plain; length];
                    bytes[at] = byte;
                    assert_eq!(first_escape(&bytes), may_be_escaped(byte).then_some(at), "{byte} at {at} of {length}");
                }
            }
        }
    }

    #[test]
    fn json_is_written_like_go() {
        let v = object([
            ("b", Value::Array(vec![Value::Int(1), Value::Float(1.0), Value::Null])),
            ("a", Value::from("<\u{1}é\u{2028}")),
        ]);
        assert_eq!(to_string(&v), r#"{"a":"\u003c\u0001é\u2028","b":[1,1,null]}"#);
        let length = to_string(&v).len();
        assert_eq!(super::length(&v), length);
        assert!(!is_longer_than(&v, length) && is_longer_than(&v, length - 1));
        assert!(room_after_bound(&v, length).is_none() && room_after_bound(&v, 10 * length).is_some());
    }
}
