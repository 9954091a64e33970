//! Reading a JSON value as its declared type, when an expression looks at it (`common.UnstructuredToVal`).
//!
//! The schema has been checked by the time rules run, so the errors here are rare: values that ratcheting let pass.

use super::{Error, List, Map, Text, Value, time};
use crate::{
    cel::{
        decl::{DeclType, Shape},
        types::Type,
    },
    value,
};

impl<'a> Value<'a> {
    /// The value of a part of a document, by its declared type.
    pub fn from_json(json: &'a value::Value, decl: &'a DeclType) -> Result<Self, Error> {
        use value::Value as Json;
        match (&decl.cel_type, json) {
            (_, Json::Null) if decl.nullable => Ok(Self::Null),
            (_, Json::Null) => Err(Error::new("invalid data, got null for schema with nullable=false")),
            // int-or-string
            (Type::Dyn | Type::String, Json::String(s)) => Ok(Self::String(Text::Borrowed(s))),
            (Type::Dyn | Type::Int, Json::Int(i)) => Ok(Self::Int(*i)),
            (Type::Dyn, _) => {
                Err(Error::new("invalid data, expected XIntOrString value to be either a string or integer"))
            }
            (Type::Bool, Json::Bool(b)) => Ok(Self::Bool(*b)),
            (Type::Double, Json::Int(i)) => Ok(Self::Double(*i as f64)),
            (Type::Double, Json::Float(f)) => Ok(Self::Double(*f)),
            (Type::Bytes, Json::String(s)) => decode_base64(s).map(|bytes| Self::Bytes(bytes.into())).map_err(|at| {
                Error::new(format!("Invalid byte formatted string {s}: illegal base64 data at input byte {at}"))
            }),
            (Type::Duration, Json::String(s)) => time::parse_format_duration(s)
                .map(Self::Duration)
                .map_err(|e| Error::new(format!("Invalid duration {s}: {e}"))),
            // `date` or `date-time`: a text is never both.
            (Type::Timestamp, Json::String(s)) => time::parse_date(s)
                .or_else(|_| time::parse_date_time(s))
                .map(Self::Timestamp)
                .map_err(|e| Error::new(format!("Invalid date-time formatted string {s}: {e}"))),
            _ => match (&decl.shape, json) {
                (Shape::List { .. }, Json::Array(items)) => Ok(Self::List(List::Json(items, decl))),
                (Shape::Map(_) | Shape::Object(_), Json::Object(members)) => Ok(Self::Map(Map::Json(members, decl))),
                _ => Err(mismatch(json, decl)),
            },
        }
    }
}

impl<'a> Value<'a> {
    /// The value of a part of a document that has no declared type: what it looks like.
    pub fn untyped(json: &'a value::Value) -> Self {
        use value::Value as Json;
        match json {
            Json::Null => Self::Null,
            Json::Bool(b) => Self::Bool(*b),
            Json::Int(i) => Self::Int(*i),
            Json::Float(f) => Self::Double(*f),
            Json::String(s) => Self::String(Text::Borrowed(s)),
            Json::Array(items) => Self::List(List::Untyped(items)),
            Json::Object(members) => Self::Map(Map::Untyped(members)),
        }
    }
}

fn mismatch(json: &value::Value, decl: &DeclType) -> Error {
    let expected = match &decl.shape {
        Shape::List { .. } => "invalid data, expected an array for the provided schema with type=array",
        Shape::Map(_) | Shape::Object(_) => "invalid data, expected a map for the provided schema with type=object",
        Shape::Scalar => {
            let (wanted, found) = (
                match decl.cel_type {
                    Type::Bool => "bool",
                    Type::Int => "int",
                    Type::Double => "float",
                    _ => "string",
                },
                match json {
                    value::Value::Null => "<nil>",
                    value::Value::Bool(_) => "bool",
                    value::Value::Int(_) => "int64",
                    value::Value::Float(_) => "float64",
                    value::Value::String(_) => "string",
                    value::Value::Array(_) => "[]interface {}",
                    value::Value::Object(_) => "map[string]interface {}",
                },
            );
            return Error::new(format!("invalid data, expected {wanted}, got {found}"));
        }
    };
    Error::new(expected)
}

/// Go's `base64.URLEncoding.Decode`: padded, line breaks ignored; the error is the offset of the bad byte.
fn decode_base64(text: &str) -> Result<Vec<u8>, usize> {
    let digit = |c: u8| match c {
        b'A'..=b'Z' => Some(c - b'A'),
        b'a'..=b'z' => Some(c - b'a' + 26),
        b'0'..=b'9' => Some(c - b'0' + 52),
        b'-' => Some(62),
        b'_' => Some(63),
        _ => None,
    };
    let mut out = Vec::with_capacity(text.len() / 4 * 3);
    let (mut group, mut count) = (0_u32, 0);
    let mut bytes = text.bytes().enumerate().filter(|(_, c)| !matches!(c, b'\r' | b'\n'));
    while let Some((at, c)) = bytes.next() {
        if let Some(value) = digit(c) {
            group = group << 6 | u32::from(value);
            count += 1;
            if count == 4 {
                out.extend_from_slice(group.to_be_bytes().get(1..).unwrap_or_default());
                (group, count) = (0, 0);
            }
            continue;
        }
        // Padding ends the text: `xx==` or `xxx=`.
        if c != b'=' || count < 2 {
            return Err(at);
        }
        if count == 2 {
            match bytes.next() {
                None => return Err(text.len()),
                Some((_, b'=')) => out.push((group >> 4) as u8),
                Some((at, _)) => return Err(at),
            }
        } else {
            out.push((group >> 10) as u8);
            out.push((group >> 2) as u8);
        }
        return bytes.next().map_or(Ok(out), |(at, _)| Err(at));
    }
    if count == 0 { Ok(out) } else { Err(text.len() - count) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_read_as_go_does() {
        assert_eq!(decode_base64("YWJj").as_deref(), Ok(&b"abc"[..]));
        assert_eq!(decode_base64("YWI=").as_deref(), Ok(&b"ab"[..]));
        assert_eq!(decode_base64("YQ==").as_deref(), Ok(&b"a"[..]));
        assert_eq!(decode_base64(""), Ok(vec![]));
        assert_eq!(decode_base64("YW+j"), Err(2));
        assert!(decode_base64("YQ").is_err());
        assert!(decode_base64("YQ==a").is_err());
    }
}
