//! Judges a value as Go's strict JSON reader (`sigs.k8s.io/json`) judges it for a Go type: the first wrong type in Go's
//! words, and unknown fields.
//!
//! Surprises: map keys do not show in the path of a wrong type, but do in that of an unknown field. Types that read
//! themselves (`items`, `additionalProperties`, `dependencies`) look leniently at what is inside, and a wrong type there
//! ends the reading, so it wins over earlier ones elsewhere. Members are visited sorted, not in the order of the text.

use super::base64;
use super::types::{self, Struct, Type};
use crate::value::{Map, Value, number, time};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// The server stops collecting unknown fields here.
const MAX_UNKNOWN: usize = 100;

/// What [`check`] found.
#[derive(Debug, Default)]
pub struct Checked {
    /// Go's words for the first wrong type.
    pub error: Option<String>,
    /// Paths of unknown fields.
    pub unknown: Vec<String>,
}

/// Judges `value` as `root`.
pub fn check(value: &Value, root: Type) -> Checked {
    let mut reader = Reader { strict: true, ..Reader::default() };
    let error = reader.unmarshal(value, root);
    Checked { error: error.map(|e| e.to_string()), unknown: reader.unknown }
}

/// An error of the reader.
#[derive(Clone, Debug)]
enum Error {
    /// `json.UnmarshalTypeError`
    Type { value: String, type_: &'static str, struct_: &'static str, field: String },
    /// Any other.
    Plain(String),
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Type { value, type_, struct_, field } if struct_.is_empty() && field.is_empty() => {
                write!(f, "json: cannot unmarshal {value} into Go value of type {type_}")
            }
            Self::Type { value, type_, struct_, field } => {
                write!(f, "json: cannot unmarshal {value} into Go struct field {struct_}.{field} of type {type_}")
            }
            Self::Plain(text) => f.write_str(text),
        }
    }
}

#[derive(Default)]
struct Reader {
    /// Whether unknown fields are collected.
    strict: bool,
    struct_: &'static str,
    fields: Vec<&'static str>,
    path: String,
    saved: Option<Error>,
    unknown: Vec<String>,
    seen: BTreeSet<String>,
}

impl Reader {
    fn unmarshal(&mut self, value: &Value, type_: Type) -> Option<Error> {
        match self.value(value, type_) {
            Err(e) => Some(self.in_context(e)),
            Ok(()) => self.saved.take(),
        }
    }

    fn in_context(&self, e: Error) -> Error {
        match e {
            Error::Type { value, type_, field, .. } if !self.fields.is_empty() => {
                let mut path = self.fields.join(".");
                if !field.is_empty() {
                    path.push('.');
                    path.push_str(&field);
                }
                Error::Type { value, type_, struct_: self.struct_, field: path }
            }
            e => e,
        }
    }

    fn save(&mut self, e: Error) {
        if self.saved.is_none() {
            self.saved = Some(self.in_context(e));
        }
    }

    fn wrong(&mut self, value: &Value, type_: Type) {
        self.save(Error::Type {
            value: kind(value).to_owned(),
            type_: type_.go_name(),
            struct_: "",
            field: String::new(),
        });
    }

    /// `Err` ends the reading.
    fn value(&mut self, value: &Value, type_: Type) -> Result<(), Error> {
        match (type_, value) {
            (Type::SchemaOrList | Type::SchemaOrNames, Value::Array(_)) => {
                inner(value, if matches!(type_, Type::SchemaOrNames) { types::STRINGS } else { types::SCHEMAS })
            }
            (Type::SchemaOrList | Type::SchemaOrNames | Type::SchemaOrBool, Value::Object(_)) => {
                inner(value, Type::Struct(|| &types::SCHEMA))
            }
            (Type::Any | Type::SchemaOrList | Type::SchemaOrNames, _)
            | (_, Value::Null)
            | (Type::SchemaOrBool | Type::Bool, Value::Bool(_))
            | (Type::String(_), Value::String(_))
            | (Type::Float64, Value::Int(_) | Value::Float(_))
            | (Type::Int64, Value::Int(_)) => Ok(()),
            (Type::Int32, Value::Int(i)) if i32::try_from(*i).is_ok() => Ok(()),
            (Type::SchemaOrBool, _) => Err(Error::Plain("boolean or JSON schema expected".to_owned())),
            (Type::Time, Value::String(text)) => time::parse(text).map(|_| ()).map_err(Error::Plain),
            (Type::Time, _) => {
                Err(Error::Type { value: kind(value).to_owned(), type_: "string", struct_: "", field: String::new() })
            }
            (Type::Int32 | Type::Int64, Value::Int(_) | Value::Float(_)) => {
                let value = format!("number {}", literal(value));
                self.save(Error::Type { value, type_: type_.go_name(), struct_: "", field: String::new() });
                Ok(())
            }
            (Type::Bytes, Value::String(text)) => {
                if let Err(at) = base64::check(text) {
                    self.save(Error::Plain(format!("illegal base64 data at input byte {at}")));
                }
                Ok(())
            }
            (Type::List(_, item), Value::Array(items)) => {
                let length = self.path.len();
                for (i, v) in items.iter().enumerate() {
                    if self.strict {
                        let _ = write!(self.path, "[{i}]");
                    }
                    self.value(v, *item)?;
                    self.path.truncate(length);
                }
                Ok(())
            }
            (Type::Map(_, item), Value::Object(members)) => {
                for (key, v) in members {
                    let length = self.enter(key);
                    self.value(v, *item)?;
                    self.path.truncate(length);
                }
                Ok(())
            }
            (Type::Struct(s), Value::Object(members)) => self.object(members, s()),
            _ => {
                self.wrong(value, type_);
                Ok(())
            }
        }
    }

    fn object(&mut self, members: &Map, s: &'static Struct) -> Result<(), Error> {
        let outer = self.struct_;
        for (key, v) in members {
            let Some(field) = s.field(key) else {
                self.unknown_field(key);
                continue;
            };
            let depth = self.fields.len();
            self.fields.extend(field.embedded);
            self.fields.push(field.name);
            self.struct_ = s.name;
            let length = self.enter(field.name);
            self.value(v, field.type_)?;
            self.path.truncate(length);
            self.fields.truncate(depth);
            self.struct_ = outer;
        }
        Ok(())
    }

    /// Goes to a member; returns the length to go back to.
    fn enter(&mut self, key: &str) -> usize {
        let length = self.path.len();
        if self.strict {
            if length > 0 {
                self.path.push('.');
            }
            self.path.push_str(key);
        }
        length
    }

    fn unknown_field(&mut self, key: &str) {
        if !self.strict || self.unknown.len() >= MAX_UNKNOWN {
            return;
        }
        let length = self.enter(key);
        if self.seen.insert(self.path.clone()) {
            self.unknown.push(self.path.clone());
        }
        self.path.truncate(length);
    }
}

/// What a type that reads itself makes of a value: a new, lenient reader.
fn inner(value: &Value, type_: Type) -> Result<(), Error> {
    Reader::default().unmarshal(value, type_).map_or(Ok(()), Err)
}

fn kind(v: &Value) -> &'static str {
    match v {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Int(_) | Value::Float(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// A number's text. The original spelling is lost; the usual one is assumed (`1.0`, not `1e0`).
fn literal(v: &Value) -> String {
    match v {
        Value::Float(x) if x.fract() == 0.0 && x.abs() < 9e18 => format!("{}.0", number::format_json(*x)),
        Value::Float(x) => number::format_json(*x),
        Value::Int(i) => i.to_string(),
        _ => String::new(),
    }
}
