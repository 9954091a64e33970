//! Maps: objects and maps of the document, constants and computed ones.

use super::{Duration, Error, Text, Timestamp, Value};
use crate::{
    cel::decl::{DeclType, Shape},
    value,
};
use std::{borrow::Cow, collections::BTreeMap, sync::Arc};

/// A map.
#[derive(Clone, Debug)]
pub enum Map<'a> {
    /// An object of the document, with the type of the map or object.
    Json(&'a value::Map, &'a DeclType),
    /// An object without a declared type: its members are what they look like.
    Untyped(&'a value::Map),
    /// An object whose fields the caller computes when an expression selects them ([`crate::cel::eval::Fields`]).
    Lazy,
    /// A constant of the program.
    Constant(&'a BTreeMap<Key<'a>, Value<'a>>),
    /// Computed.
    Shared(Arc<BTreeMap<Key<'a>, Value<'a>>>),
}

/// A key, in the order in which maps are walked (the server's order is random).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Key<'a> {
    /// `null`, and what is not there.
    Null,
    /// `bool`
    Bool(bool),
    /// `int`
    Int(i64),
    /// `uint`
    Uint(u64),
    /// `double`, by its bits.
    Double(u64),
    /// `string`
    String(Text<'a>),
    /// `bytes`; only where keys are compared as text.
    Bytes(Arc<[u8]>),
    /// `google.protobuf.Timestamp`
    Timestamp(Timestamp),
    /// `google.protobuf.Duration`
    Duration(Duration),
    /// A type.
    Type(Cow<'static, str>),
    /// Anything else, as text.
    Other(String),
}

impl<'a> Key<'a> {
    /// The key of a map literal or an entry.
    pub fn of(value: &Value<'a>) -> Result<Self, Error> {
        match value {
            Value::Bytes(_) => {
                Err(Error::Internal(Cow::Borrowed("runtime error: hash of unhashable type types.Bytes")))
            }
            other => Ok(Self::scalar(other)),
        }
    }

    /// The identity of a value where Go compares raw values.
    pub(super) fn scalar(value: &Value<'a>) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(b) => Self::Bool(*b),
            Value::Int(i) => Self::Int(*i),
            Value::Uint(u) => Self::Uint(*u),
            Value::Double(d) => Self::Double(if *d == 0.0 { 0 } else { d.to_bits() }),
            Value::String(s) => Self::String(s.clone()),
            Value::Bytes(b) => Self::Bytes(b.clone()),
            Value::Timestamp(t) => Self::Timestamp(*t),
            Value::Duration(d) => Self::Duration(*d),
            Value::Type(t) => Self::Type(t.clone()),
            other => Self::Other(other.to_string()),
        }
    }

    /// The key as a value.
    pub fn to_value(&self) -> Value<'a> {
        match self {
            Self::Null => Value::Null,
            Self::Bool(b) => Value::Bool(*b),
            Self::Int(i) => Value::Int(*i),
            Self::Uint(u) => Value::Uint(*u),
            Self::Double(bits) => Value::Double(f64::from_bits(*bits)),
            Self::String(s) => Value::String(s.clone()),
            Self::Bytes(b) => Value::Bytes(b.clone()),
            Self::Timestamp(t) => Value::Timestamp(*t),
            Self::Duration(d) => Value::Duration(*d),
            Self::Type(t) => Value::Type(t.clone()),
            Self::Other(s) => Value::string(s.clone()),
        }
    }
}

impl<'a> Map<'a> {
    /// The number of entries; of an object, of all its members, known or not.
    pub fn len(&self) -> usize {
        match self {
            Self::Json(members, _) | Self::Untyped(members) => members.len(),
            Self::Lazy => 0,
            Self::Constant(entries) => entries.len(),
            Self::Shared(entries) => entries.len(),
        }
    }

    /// Whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether it is compared by the rules of documents, where a type mismatch is an error.
    pub fn is_strict(&self) -> bool {
        matches!(self, Self::Json(..))
    }

    /// The value of a string key or field, by the name an expression uses. An error if the value does not fit the declared type.
    pub fn find_str(&self, key: &str) -> Option<Result<Value<'a>, Error>> {
        match self {
            Self::Json(members, decl) => match &decl.shape {
                Shape::Object(fields) => {
                    // A name that is only escaped because the language reserves it is found as it is, too.
                    let field = fields
                        .get(key)
                        .or_else(|| fields.values().find(|field| field.json_name == key && !key.contains("__")))?;
                    // An allowed null is the same as a missing field.
                    let value = members.get(&field.json_name).filter(|v| !v.is_null())?;
                    Some(Value::from_json(value, &field.type_))
                }
                Shape::Map(values) => Some(Value::from_json(members.get(key)?, values)),
                _ => None,
            },
            Self::Untyped(members) => members.get(key).map(|value| Ok(Value::untyped(value))),
            Self::Lazy => None,
            Self::Constant(entries) => find_text(entries, key),
            Self::Shared(entries) => find_text(entries, key),
        }
    }

    /// The value of a member by its name in the document.
    pub(super) fn find_json(&self, name: &str) -> Option<Result<Value<'a>, Error>> {
        match self {
            Self::Json(members, DeclType { shape: Shape::Object(fields), .. }) => {
                let value = members.get(name).filter(|v| !v.is_null())?;
                let (_, field) = fields.iter().find(|(_, field)| field.json_name == name)?;
                Some(Value::from_json(value, &field.type_))
            }
            other => other.find_str(name),
        }
    }

    /// The value of a key; numbers find each other across types.
    pub fn find(&self, key: &Value<'a>) -> Option<Result<Value<'a>, Error>> {
        let entries = match self {
            Self::Json(..) => {
                return match key {
                    Value::String(s) => self.find_str(s),
                    _ => Some(Err(Error::no_such_overload())),
                };
            }
            Self::Untyped(_) => return key.as_str().and_then(|key| self.find_str(key)),
            Self::Lazy => return None,
            Self::Constant(entries) => entries,
            Self::Shared(entries) => &**entries,
        };
        if let Value::String(s) = key {
            return find_text(entries, s);
        }
        let exact = match Key::of(key) {
            Ok(key) => entries.get(&key),
            // Looking for bytes panics in a map with entries only.
            Err(error) => return (!entries.is_empty()).then_some(Err(error)),
        };
        let found = exact.or_else(|| match key {
            Value::Double(d) => lossless(*d, |d| d as i64, |i| *i as f64)
                .and_then(|i| entries.get(&Key::Int(i)))
                .or_else(|| lossless(*d, |d| d as u64, |u| *u as f64).and_then(|u| entries.get(&Key::Uint(u)))),
            Value::Int(i) => u64::try_from(*i).ok().and_then(|u| entries.get(&Key::Uint(u))),
            Value::Uint(u) => i64::try_from(*u).ok().and_then(|i| entries.get(&Key::Int(i))),
            _ => None,
        });
        found.cloned().map(Ok)
    }

    /// The keys, in their order; of an object, the fields it has a type for.
    pub fn keys(&self) -> Vec<Value<'a>> {
        match self {
            Self::Json(members, decl) => match &decl.shape {
                Shape::Object(fields) => {
                    let mut names: Vec<_> = fields
                        .iter()
                        .filter(|(_, field)| members.contains_key(&field.json_name))
                        .map(|(name, field)| (&field.json_name, name))
                        .collect();
                    names.sort_unstable();
                    names.into_iter().map(|(_, name)| Value::String(Text::Borrowed(name))).collect()
                }
                Shape::Map(_) => members.keys().map(|key| Value::String(Text::Borrowed(key))).collect(),
                _ => Vec::new(),
            },
            Self::Untyped(members) => members.keys().map(|key| Value::String(Text::Borrowed(key))).collect(),
            Self::Lazy => Vec::new(),
            Self::Constant(entries) => entries.keys().map(Key::to_value).collect(),
            Self::Shared(entries) => entries.keys().map(Key::to_value).collect(),
        }
    }

    /// The keys a loop walks: for each member of an object that has no type, the server brings up a null.
    pub fn keys_of_loop(&self) -> Vec<Value<'a>> {
        let mut keys = self.keys();
        keys.resize(self.len().max(keys.len()), Value::Null);
        keys
    }

    /// The entries, in the order of their keys.
    pub fn entries(&self) -> Result<Vec<(Value<'a>, Value<'a>)>, Error> {
        let mut entries = Vec::with_capacity(self.len());
        for key in self.keys() {
            // A null field has a key but no value; the server's error says so.
            let value = match self.find(&key) {
                Some(value) => value?,
                None => return Err(Error::new(format!("no such key: {}", key.plain()))),
            };
            entries.push((key, value));
        }
        Ok(entries)
    }
}

fn find_text<'k, 'a>(entries: &'k BTreeMap<Key<'k>, Value<'a>>, key: &'k str) -> Option<Result<Value<'a>, Error>> {
    entries.get(&Key::String(Text::Borrowed(key))).cloned().map(Ok)
}

/// The integer equal to `d`, if there is one.
pub(super) fn lossless<T>(d: f64, to: impl Fn(f64) -> T, back: impl Fn(&T) -> f64) -> Option<T> {
    if !d.is_finite() {
        return None;
    }
    let converted = to(d);
    (back(&converted) == d).then_some(converted)
}

impl Map<'_> {
    /// Whether the member `name` of the document has a type.
    pub(super) fn knows(&self, name: &str) -> bool {
        match self {
            Self::Json(_, decl) => match &decl.shape {
                Shape::Object(fields) => {
                    fields.get(name).is_some_and(|f| f.json_name == name)
                        || fields.values().any(|f| f.json_name == name)
                }
                Shape::Map(_) => true,
                _ => false,
            },
            _ => true,
        }
    }
}
