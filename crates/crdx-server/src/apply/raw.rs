//! JSON with the source texts of scalars. The `test` operation of a JSON patch compares source texts rather than
//! values: 1.5 and 1.50 differ. Errors show numbers of a merge patch as they were written.

use crdx_text as text;
use crdx_value::{Value, json};
use std::collections::BTreeMap;

/// A JSON value whose scalars are source texts.
#[derive(Clone, Debug, PartialEq)]
pub enum Raw {
    /// `null`
    Null,
    /// The source text of a string, number or boolean.
    Scalar(String),
    /// The items.
    Array(Vec<Raw>),
    /// The members; of duplicate keys, the last one.
    Object(BTreeMap<String, Raw>),
}

impl Raw {
    /// Parses valid JSON; `None` if the text is invalid.
    pub fn read(text: &str) -> Option<Self> {
        let mut reader = RawReader { rest: text };
        let value = reader.value()?;
        reader.skip_space();
        reader.rest.is_empty().then_some(value)
    }

    /// The member of an object.
    pub fn get(&self, key: &str) -> Option<&Raw> {
        if let Self::Object(members) = self { members.get(key) } else { None }
    }

    /// The item of an array.
    pub fn item(&self, index: usize) -> Option<&Raw> {
        if let Self::Array(items) = self { items.get(index) } else { None }
    }

    /// Returns true if the server's encoding of `value` equals this source text.
    pub fn is(&self, value: &Value) -> bool {
        match (self, value) {
            (Self::Object(wanted), Value::Object(have)) => {
                wanted.len() == have.len()
                    && have
                        .iter()
                        .zip(wanted)
                        .all(|((k, v), (wk, wv))| k == wk && if v.is_null() { *wv == Self::Null } else { wv.is(v) })
            }
            (Self::Array(wanted), Value::Array(have)) => {
                wanted.len() == have.len() && have.iter().zip(wanted).all(|(v, w)| !v.is_null() && w.is(v))
            }
            (Self::Scalar(wanted), Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::String(_)) => {
                json::to_string(value) == *wanted
            }
            _ => false,
        }
    }
}

/// The JSON of `value`, with the fractions and exponents of numbers as in the source of a merge patch.
pub fn text(value: &Value, source: Option<&Raw>) -> String {
    let mut out = String::new();
    write(&mut out, value, source);
    out
}

fn write(out: &mut String, value: &Value, source: Option<&Raw>) {
    let separate = |out: &mut String, i| {
        if i > 0 {
            out.push(',');
        }
    };
    match (value, source) {
        (Value::Float(number), Some(Raw::Scalar(text))) if text.parse() == Ok(*number) => out.push_str(text),
        (Value::Array(items), Some(Raw::Array(sources))) if items.len() == sources.len() => {
            out.push('[');
            for (i, (item, source)) in items.iter().zip(sources).enumerate() {
                separate(out, i);
                write(out, item, Some(source));
            }
            out.push(']');
        }
        (Value::Object(members), Some(Raw::Object(sources))) => {
            out.push('{');
            for (i, (key, value)) in members.iter().enumerate() {
                separate(out, i);
                json::write_string(out, key);
                out.push(':');
                write(out, value, sources.get(key));
            }
            out.push('}');
        }
        _ => json::write_compact(out, value),
    }
}

struct RawReader<'t> {
    rest: &'t str,
}

impl RawReader<'_> {
    fn skip_space(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\r', '\n']);
    }

    fn take(&mut self, token: char) -> bool {
        self.skip_space();
        match self.rest.strip_prefix(token) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    /// The recursion is bounded, because an earlier decoder limits the depth to 10,000.
    fn value(&mut self) -> Option<Raw> {
        if self.take('{') {
            let mut members = BTreeMap::new();
            if self.take('}') {
                return Some(Raw::Object(members));
            }
            loop {
                self.skip_space();
                let key = self.scalar()?;
                let key = text::json::read(key.as_bytes()).ok()?.as_str()?.to_owned();
                if !self.take(':') {
                    return None;
                }
                members.insert(key, self.value()?);
                if self.take('}') {
                    return Some(Raw::Object(members));
                }
                if !self.take(',') {
                    return None;
                }
            }
        }
        if self.take('[') {
            let mut items = Vec::new();
            if self.take(']') {
                return Some(Raw::Array(items));
            }
            loop {
                items.push(self.value()?);
                if self.take(']') {
                    return Some(Raw::Array(items));
                }
                if !self.take(',') {
                    return None;
                }
            }
        }
        let scalar = self.scalar()?;
        Some(if scalar == "null" { Raw::Null } else { Raw::Scalar(scalar) })
    }

    fn scalar(&mut self) -> Option<String> {
        let length = if self.rest.starts_with('"') {
            let mut escaped = false;
            let mut end = None;
            for (i, c) in self.rest.char_indices().skip(1) {
                match c {
                    _ if escaped => escaped = false,
                    '\\' => escaped = true,
                    '"' => {
                        end = Some(i + 1);
                        break;
                    }
                    _ => {}
                }
            }
            end?
        } else {
            self.rest.find([',', ']', '}', ':', ' ', '\t', '\r', '\n']).unwrap_or(self.rest.len())
        };
        let (scalar, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        (!scalar.is_empty()).then(|| scalar.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::json::read;

    #[test]
    fn texts_are_compared() {
        let is = |raw: &str, value: &str| Raw::read(raw).unwrap().is(&read(value.as_bytes()).unwrap());
        assert!(is(r#" { "b" : [ 1.5 , "x" , true ] , "a" : null } "#, r#"{"a":null,"b":[1.5,"x",true]}"#));
        assert!(!is("1.50", "1.5"));
        assert!(!is("\"<\"", "\"<\""));
        assert!(is("\"\\u003c\"", "\"<\""));
        assert!(!is("[null]", "[null]"));
        assert!(!is("{}", "[]"));
        assert_eq!(Raw::read("{\"a\":1} x"), None);
    }

    #[test]
    fn numbers_of_a_patch_are_written_as_in_its_source() {
        let merged = read(br#"{"a":1.0,"b":[2.50,{"c":1e3}],"d":7,"e":0.5,"f":"1.0"}"#).unwrap();
        let source = Raw::read(r#"{"a":1.0,"b":[2.50,{"c":1e3}],"e":0.7}"#).unwrap();
        assert_eq!(text(&merged, Some(&source)), r#"{"a":1.0,"b":[2.50,{"c":1e3}],"d":7,"e":0.5,"f":"1.0"}"#);
        assert_eq!(text(&merged, None), r#"{"a":1,"b":[2.5,{"c":1000}],"d":7,"e":0.5,"f":"1.0"}"#);
    }
}
