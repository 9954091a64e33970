//! Values of all engines in one form.

use crdx_cel::Value as Ours;

/// A value.
#[derive(Clone, Debug)]
pub enum Answer {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Double(f64),
    String(String),
    Bytes(Vec<u8>),
    List(Vec<Answer>),
    /// Entries in any order.
    Map(Vec<(Answer, Answer)>),
    Type(String),
    /// Nanoseconds since 1970.
    Timestamp(i128),
    /// Nanoseconds.
    Duration(i128),
    Optional(Option<Box<Answer>>),
    /// Anything else, such as a message or a quantity: equal to nothing.
    Other(String),
}

impl Answer {
    /// Returns true if a part of the value is [`Answer::Other`].
    pub fn is_other(&self) -> bool {
        match self {
            Self::Other(_) => true,
            Self::List(items) => items.iter().any(Self::is_other),
            Self::Map(entries) => entries.iter().any(|(key, value)| key.is_other() || value.is_other()),
            Self::Optional(Some(inner)) => inner.is_other(),
            _ => false,
        }
    }
}

/// Equality without conversions of types: maps in any order, and NaN is equal to itself.
impl PartialEq for Answer {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Null, Self::Null) => true,
            (Self::Bool(a), Self::Bool(b)) => a == b,
            (Self::Int(a), Self::Int(b)) => a == b,
            (Self::Uint(a), Self::Uint(b)) => a == b,
            (Self::Double(a), Self::Double(b)) => a == b || a.is_nan() && b.is_nan(),
            (Self::String(a), Self::String(b)) | (Self::Type(a), Self::Type(b)) => a == b,
            (Self::Bytes(a), Self::Bytes(b)) => a == b,
            (Self::List(a), Self::List(b)) => a == b,
            (Self::Map(a), Self::Map(b)) => a.len() == b.len() && a.iter().all(|entry| b.contains(entry)),
            (Self::Timestamp(a), Self::Timestamp(b)) | (Self::Duration(a), Self::Duration(b)) => a == b,
            (Self::Optional(a), Self::Optional(b)) => a == b,
            _ => false,
        }
    }
}

impl From<&Ours<'_>> for Answer {
    fn from(value: &Ours<'_>) -> Self {
        let error = |error: crdx_cel::Error| Self::Other(error.to_string());
        match value {
            Ours::Null => Self::Null,
            Ours::Bool(b) => Self::Bool(*b),
            Ours::Int(i) => Self::Int(*i),
            Ours::Uint(u) => Self::Uint(*u),
            Ours::Double(d) => Self::Double(*d),
            Ours::String(s) => Self::String(s.to_string()),
            Ours::Bytes(b) => Self::Bytes(b.to_vec()),
            Ours::Timestamp(t) => {
                let (seconds, nanos) = t.instant();
                Self::Timestamp(i128::from(seconds) * 1_000_000_000 + i128::from(nanos))
            }
            Ours::Duration(d) => Self::Duration(i128::from(d.0)),
            Ours::List(list) => {
                Self::List(list.iter().map(|item| item.map_or_else(error, |item| Self::from(&item))).collect())
            }
            Ours::Map(map) => {
                // A null field has a key but no value.
                let entry =
                    |key: &Ours<'_>| Some((Self::from(key), map.find(key)?.map_or_else(error, |v| Self::from(&v))));
                Self::Map(map.keys().iter().filter_map(entry).collect())
            }
            Ours::Type(name) => Self::Type(name.to_string()),
            Ours::Optional(inner) => Self::Optional(inner.as_deref().map(|inner| Box::new(Self::from(inner)))),
            other => Self::Other(other.to_string()),
        }
    }
}
