//! Path elements: the names of fields, and of items in set and map lists.
//!
//! Follows `structured-merge-diff/fieldpath/{element,path,serialize-pe}.go`.

use crdx_value::GoError;
use crdx_value::release::{Release, V1_38};
use crdx_value::{Value, json, number, quote::go_quote};
use std::{cmp::Ordering, fmt, fmt::Write as _};

/// An element of a path. Elements are ordered as on the server: fields, keys, values, indexes.
#[derive(Clone, Debug)]
pub enum PathElement {
    /// A field of a map.
    Field(String),
    /// The item of a map list with these key values, sorted by key name.
    Key(Vec<(String, Value)>),
    /// The item of a set list with this value.
    Value(Value),
    /// The item of an atomic list at this index.
    Index(usize),
}

/// A path from the root.
pub type Path = Vec<PathElement>;

/// Formats a path for error messages: `.spec.list[k="a"]`.
pub(crate) fn path_text(path: &[PathElement]) -> String {
    path.iter().fold(String::new(), |mut text, element| {
        let _ = write!(text, "{element}");
        text
    })
}

/// The JSON of values in the keys of `fieldsV1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeyFormat {
    /// With `<`, `>`, `&` and line separators escaped, as `encoding/json` does.
    Escaped,
    /// As `encoding/json/v2` writes them; structured-merge-diff uses it since v7.
    Plain,
}

impl KeyFormat {
    /// The format of a release.
    pub(crate) fn of(release: Release) -> Self {
        if release.since(V1_38) { Self::Plain } else { Self::Escaped }
    }
}

/// Replaces the escapes of the characters that are special in HTML and JavaScript by the characters.
fn without_html_escapes(json: &str) -> String {
    let mut plain = String::with_capacity(json.len());
    let mut rest = json;
    while let Some((before, escape)) = rest.split_once('\\') {
        plain.push_str(before);
        let decoded = match escape.get(..5) {
            Some("u003c") => "<",
            Some("u003e") => ">",
            Some("u0026") => "&",
            Some("u2028") => "\u{2028}",
            Some("u2029") => "\u{2029}",
            _ => "",
        };
        let length = if decoded.is_empty() { escape.chars().next().map_or(0, char::len_utf8) } else { 5 };
        let (sequence, after) = escape.split_at_checked(length).unwrap_or((escape, ""));
        if decoded.is_empty() {
            plain.push('\\');
            plain.push_str(sequence);
        } else {
            plain.push_str(decoded);
        }
        rest = after;
    }
    plain + rest
}

impl PathElement {
    /// The element as a key of `fieldsV1`: `f:name`, `k:{"k":"a"}`, `v:"x"`, `i:0`.
    pub(crate) fn to_key(&self, format: KeyFormat) -> String {
        let key = self.escaped_key();
        match (self, format) {
            (Self::Key(_) | Self::Value(_), KeyFormat::Plain) if key.contains('\\') => without_html_escapes(&key),
            _ => key,
        }
    }

    fn escaped_key(&self) -> String {
        match self {
            Self::Field(name) => ["f:", name].concat(),
            Self::Key(fields) => {
                let mut text = "k:{".to_owned();
                for (i, (name, value)) in fields.iter().enumerate() {
                    if i > 0 {
                        text.push(',');
                    }
                    json::write_string(&mut text, name);
                    text.push(':');
                    json::write_compact(&mut text, value);
                }
                text.push('}');
                text
            }
            Self::Value(value) => format!("v:{}", json::to_string(value)),
            Self::Index(index) => format!("i:{index}"),
        }
    }

    /// Parses the result of [`Self::to_key`]; `Ok(None)` for an unknown kind of element.
    ///
    /// # Errors
    /// Returns the server's message for a malformed element.
    pub(crate) fn from_key(key: &str) -> Result<Option<Self>, GoError> {
        let Some((kind, rest)) = key.split_at_checked(2) else {
            return Err("key must be 2 characters long:".into());
        };
        if !kind.ends_with(':') {
            return Err(format!("missing colon: {key}").into());
        }
        let read = |text: &str| crdx_text::json::read(text.as_bytes()).map(as_float).map_err(|e| e.message);
        Ok(match kind {
            "f:" => Some(Self::Field(rest.to_owned())),
            "v:" => Some(Self::Value(read(rest)?)),
            "k:" => match read(rest)? {
                Value::Object(fields) => Some(Self::Key(fields.into_iter().collect())),
                _ => return Err(format!("not a key: {key}").into()),
            },
            "i:" => Some(Self::Index(rest.parse().map_err(|_| format!("not an index: {key}"))?)),
            _ => None,
        })
    }

    fn rank(&self) -> u8 {
        match self {
            Self::Field(_) => 0,
            Self::Key(_) => 1,
            Self::Value(_) => 2,
            Self::Index(_) => 3,
        }
    }
}

impl Ord for PathElement {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Field(a), Self::Field(b)) => a.cmp(b),
            (Self::Key(a), Self::Key(b)) => {
                for ((name, value), (other_name, other_value)) in a.iter().zip(b) {
                    let order = name.cmp(other_name).then_with(|| compare(value, other_value));
                    if order != Ordering::Equal {
                        return order;
                    }
                }
                a.len().cmp(&b.len())
            }
            (Self::Value(a), Self::Value(b)) => compare(a, b),
            (Self::Index(a), Self::Index(b)) => a.cmp(b),
            _ => self.rank().cmp(&other.rank()),
        }
    }
}

impl PartialOrd for PathElement {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for PathElement {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for PathElement {}

impl fmt::Display for PathElement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Field(name) => write!(f, ".{name}"),
            Self::Key(fields) => {
                let fields: Vec<_> = fields.iter().map(|(name, value)| format!("{name}={}", text(value))).collect();
                write!(f, "[{}]", fields.join(","))
            }
            Self::Value(value) => write!(f, "[={}]", text(value)),
            Self::Index(index) => write!(f, "[{index}]"),
        }
    }
}

/// A value as structured-merge-diff reads it from managedFields: numbers are floats, which changes the digits of large
/// integers.
fn as_float(v: Value) -> Value {
    const EXACT: u64 = 1 << f64::MANTISSA_DIGITS;
    match v {
        Value::Int(i) if i.unsigned_abs() > EXACT => Value::Float(i as f64),
        Value::Array(items) => Value::Array(items.into_iter().map(as_float).collect()),
        Value::Object(members) => Value::Object(members.into_iter().map(|(k, v)| (k, as_float(v))).collect()),
        v => v,
    }
}

/// Formats a value for error messages (`value.ToString`).
fn text(v: &Value) -> String {
    match v {
        Value::Null => "null".to_owned(),
        Value::Bool(b) => b.to_string(),
        Value::Int(i) => i.to_string(),
        Value::Float(x) => number::format_v(*x),
        Value::String(s) => go_quote(s),
        Value::Array(items) => format!("[{}]", items.iter().map(text).collect::<Vec<_>>().join(",")),
        Value::Object(members) => members.iter().fold(String::new(), |mut out, (k, v)| {
            let _ = write!(out, "{k}={}", text(v));
            out
        }),
    }
}

/// A total order on values in which integers and floats are compared numerically (`value.Compare`).
pub fn compare(a: &Value, b: &Value) -> Ordering {
    fn rank(v: &Value) -> u8 {
        match v {
            Value::Int(_) | Value::Float(_) => 0,
            Value::String(_) => 1,
            Value::Bool(_) => 2,
            Value::Array(_) => 3,
            Value::Object(_) => 4,
            Value::Null => 5,
        }
    }
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => a.cmp(b),
        (Value::Float(a), Value::Float(b)) => a.total_cmp(b),
        (Value::Int(a), Value::Float(b)) => (*a as f64).total_cmp(b),
        (Value::Float(a), Value::Int(b)) => a.total_cmp(&(*b as f64)),
        (Value::String(a), Value::String(b)) => a.cmp(b),
        (Value::Bool(a), Value::Bool(b)) => a.cmp(b),
        (Value::Array(a), Value::Array(b)) => {
            let items = a.iter().zip(b).map(|(a, b)| compare(a, b)).find(|o| o.is_ne());
            items.unwrap_or_else(|| a.len().cmp(&b.len()))
        }
        (Value::Object(a), Value::Object(b)) => {
            let members = a.iter().zip(b).map(|((ka, a), (kb, b))| ka.cmp(kb).then_with(|| compare(a, b)));
            members.into_iter().find(|o| o.is_ne()).unwrap_or_else(|| a.len().cmp(&b.len()))
        }
        _ => rank(a).cmp(&rank(b)),
    }
}

/// Returns true if two values are equal; `1` equals `1.0` (`value.Equals`).
pub fn equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|((ka, a), (kb, b))| ka == kb && equal(a, b))
        }
        (Value::Int(i), Value::Float(x)) | (Value::Float(x), Value::Int(i)) => *i as f64 == *x,
        _ => a == b,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_have_two_texts() {
        let key = PathElement::Key(vec![("k".to_owned(), Value::from("a")), ("p".to_owned(), Value::Int(1))]);
        assert_eq!(key.to_string(), "[k=\"a\",p=1]");
        assert_eq!(key.to_key(KeyFormat::Escaped), "k:{\"k\":\"a\",\"p\":1}");
        assert_eq!(PathElement::from_key(&key.to_key(KeyFormat::Escaped)), Ok(Some(key)));
        assert_eq!(PathElement::from_key("z:1"), Ok(None));
        assert!(PathElement::from_key("v:{").is_err() && PathElement::from_key("f").is_err());
        assert_eq!(PathElement::Value(Value::Int(1)), PathElement::Value(Value::Float(1.0)));
        // The server's digits of a large integer in a set, after it has read them once.
        let large = PathElement::from_key("v:9223372036854775807").unwrap().unwrap();
        assert_eq!(large.to_key(KeyFormat::Escaped), "v:9223372036854776000");
        assert_eq!(large, PathElement::Value(Value::Int(i64::MAX)));
    }

    #[test]
    fn since_1_38_keys_have_no_html_escapes() {
        let key = |text: &str, release: &str| {
            PathElement::Value(Value::from(text)).to_key(KeyFormat::of(release.parse().unwrap()))
        };
        assert_eq!(key("a<b&\u{2028}\\u003c\n", "1.37"), r#"v:"a\u003cb\u0026\u2028\\u003c\n""#);
        assert_eq!(key("a<b&\u{2028}\\u003c\n", "1.38"), "v:\"a<b&\u{2028}\\\\u003c\\n\"");
        assert_eq!(PathElement::Field("<".to_owned()).to_key(KeyFormat::Plain), "f:<");
    }
}
