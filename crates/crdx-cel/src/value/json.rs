//! Converts JSON values to CEL values by their declared type when an expression accesses them
//! (`common.UnstructuredToVal`).
//!
//! The schema is validated before rules run, so conversion errors occur only for values that ratcheting accepted.

use super::{Error, List, Map, Text, Value, time};
use crate::{
    decl::{DeclType, ListKind, Shape},
    types::Type,
};
use crdx_value::duration::parse_format_duration;
use crdx_value::{self as value, base64::Encoding};
use std::sync::Arc;

impl<'a> Value<'a> {
    /// Converts part of a document by its declared type.
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
            (Type::Bytes, Json::String(s)) => {
                Encoding::UrlSafe.decode(s).map(|bytes| Self::Bytes(bytes.into())).map_err(|at| {
                    Error::new(format!("Invalid byte formatted string {s}: illegal base64 data at input byte {at}"))
                })
            }
            (Type::Duration, Json::String(s)) => parse_format_duration(s)
                .map(Self::Duration)
                .map_err(|e| Error::new(format!("Invalid duration {s}: {e}"))),
            // A string has either the format `date` or the format `date-time`, so trying both is unambiguous.
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
    /// Removes the declared type of a list, map or object of a document, so that its parts are converted by their JSON
    /// types (Go's `ref.Val.Value()`). An optional value becomes what it contains.
    pub(crate) fn without_declared_type(self) -> Self {
        match self {
            Self::Optional(inner) => {
                inner.map_or(Self::Null, |inner| Arc::unwrap_or_clone(inner).without_declared_type())
            }
            Self::List(List::Json(items, _)) => Self::List(List::Untyped(items)),
            Self::List(List::Keyed(items, _)) => {
                Self::list(items.iter().cloned().map(Self::without_declared_type).collect())
            }
            Self::List(List::Mismatched(items, _)) => {
                let items = items.iter().cloned().map(|item| item.map(Self::without_declared_type));
                Self::List(List::Mismatched(Arc::new(items.collect()), &ListKind::Atomic))
            }
            Self::Map(Map::Json(members, _)) => Self::Map(Map::Untyped(members)),
            other => other,
        }
    }

    /// Converts part of a document that has no declared type by its JSON type.
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
