//! Type conversions such as `int(x)` and `string(x)` (`ConvertToType`).

use super::{Duration, Error, Opaque, Text, Timestamp, Value, number};
use std::borrow::Cow;

fn impossible(from: &Value<'_>, to: &str) -> Error {
    Error::new(format!("type conversion error from '{}' to '{to}'", from.type_name()))
}

impl<'a> Value<'a> {
    /// `int(self)`
    pub(crate) fn to_int(&self) -> Result<Self, Error> {
        match self {
            Self::Int(i) => Ok(Self::Int(*i)),
            Self::Uint(u) => i64::try_from(*u).map(Self::Int).map_err(|_| Error::new("integer overflow")),
            Self::Double(d) => number::double_to_int(*d).map(Self::Int).ok_or_else(|| Error::new("integer overflow")),
            Self::String(s) => s.parse().map(Self::Int).map_err(|_| impossible(self, "int")),
            Self::Timestamp(t) => Ok(Self::Int(t.unix())),
            Self::Duration(d) => Ok(Self::Int(d.0)),
            _ => Err(impossible(self, "int")),
        }
    }

    /// `uint(self)`
    pub(crate) fn to_uint(&self) -> Result<Self, Error> {
        let overflow = || Error::new("unsigned integer overflow");
        match self {
            Self::Uint(u) => Ok(Self::Uint(*u)),
            Self::Int(i) => u64::try_from(*i).map(Self::Uint).map_err(|_| overflow()),
            Self::Double(d) => number::double_to_uint(*d).map(Self::Uint).ok_or_else(overflow),
            Self::String(s) => number::parse_uint(s).map(Self::Uint).ok_or_else(|| impossible(self, "uint")),
            _ => Err(impossible(self, "uint")),
        }
    }

    /// `double(self)`
    pub(crate) fn to_double(&self) -> Result<Self, Error> {
        match self {
            Self::Double(d) => Ok(Self::Double(*d)),
            Self::Int(i) => Ok(Self::Double(*i as f64)),
            Self::Uint(u) => Ok(Self::Double(*u as f64)),
            Self::String(s) => number::parse_double(s).map(Self::Double).ok_or_else(|| impossible(self, "double")),
            _ => Err(impossible(self, "double")),
        }
    }

    /// `bool(self)`
    pub(crate) fn to_bool(&self) -> Result<Self, Error> {
        match self {
            Self::Bool(b) => Ok(Self::Bool(*b)),
            Self::String(s) => number::parse_bool(s).map(Self::Bool).ok_or_else(|| impossible(self, "bool")),
            _ => Err(impossible(self, "bool")),
        }
    }

    /// `bytes(self)`
    pub fn to_bytes(&self) -> Result<Self, Error> {
        match self {
            Self::Bytes(b) => Ok(Self::Bytes(b.clone())),
            Self::String(s) => Ok(Self::Bytes(s.as_bytes().into())),
            _ => Err(impossible(self, "bytes")),
        }
    }

    /// `string(self)`
    pub fn to_text(&self) -> Result<Text<'a>, Error> {
        Ok(match self {
            Self::String(s) => s.clone(),
            Self::Null => Text::Borrowed("null"),
            Self::Bool(b) => Text::Borrowed(if *b { "true" } else { "false" }),
            Self::Int(i) => i.to_string().into(),
            Self::Uint(u) => u.to_string().into(),
            Self::Double(d) => number::format_g(*d).into(),
            Self::Bytes(b) => std::str::from_utf8(b)
                .map_err(|_| Error::new("invalid UTF-8 in bytes, cannot convert to string"))?
                .to_owned()
                .into(),
            Self::Timestamp(t) => t.to_text().into(),
            Self::Duration(d) => d.to_text().into(),
            Self::Type(name) => name.to_string().into(),
            Self::Opaque(o) => match &**o {
                Opaque::Ip(ip) => ip.to_string().into(),
                Opaque::Cidr(cidr) => cidr.to_string().into(),
                _ => return Err(impossible(self, "string")),
            },
            _ => return Err(impossible(self, "string")),
        })
    }

    /// `timestamp(self)`
    pub(crate) fn to_timestamp(&self) -> Result<Self, Error> {
        let to = "google.protobuf.Timestamp";
        match self {
            Self::Timestamp(t) => Ok(Self::Timestamp(*t)),
            Self::Int(i) => Timestamp::from_unix(*i).map(Self::Timestamp),
            Self::String(s) => Timestamp::parse(s).ok_or_else(|| impossible(self, to))?.map(Self::Timestamp),
            _ => Err(impossible(self, to)),
        }
    }

    /// `duration(self)`
    pub(crate) fn to_duration(&self) -> Result<Self, Error> {
        let to = "google.protobuf.Duration";
        match self {
            Self::Duration(d) => Ok(Self::Duration(*d)),
            Self::String(s) => Duration::parse(s).map(Self::Duration).ok_or_else(|| impossible(self, to)),
            _ => Err(impossible(self, to)),
        }
    }

    /// `type(self)`
    pub(crate) fn to_type(&self) -> Self {
        Self::Type(match self {
            Self::Message(message) => Cow::Owned(message.type_name.to_string()),
            Self::Opaque(o) => Cow::Borrowed(o.type_name()),
            other => Cow::Owned(other.type_name().to_owned()),
        })
    }

    /// Returns true if `optional.ofNonZeroValue` treats the value as zero.
    pub fn is_zero(&self) -> bool {
        match self {
            Self::Null => true,
            Self::Bool(b) => !b,
            Self::Int(i) => *i == 0,
            Self::Uint(u) => *u == 0,
            Self::Double(d) => *d == 0.0,
            Self::String(s) => s.is_empty(),
            Self::Bytes(b) => b.is_empty(),
            Self::Timestamp(t) => t.is_zero(),
            Self::Duration(d) => d.0 == 0,
            // Lists and objects of a document do not implement `IsZeroValue` on the server.
            Self::List(l) => !l.is_strict() && l.is_empty(),
            Self::Map(m) => !m.is_strict() && m.is_empty(),
            Self::Message(message) => message.is_object() && message.fields.is_empty(),
            Self::Type(_) | Self::Optional(_) | Self::Opaque(_) => false,
        }
    }
}
