//! Maps: objects and maps of a document, constants and computed maps.

use super::{Duration, Error, Gaps, Text, Timestamp, Value};
use crate::decl::{DeclType, Shape};
use crdx_value as value;
use std::{borrow::Cow, collections::BTreeMap, sync::Arc};

/// A map.
#[derive(Clone, Debug)]
pub enum Map<'a> {
    /// An object of a document with the declared type of the map or object.
    Json(&'a value::Map, &'a DeclType),
    /// An object without a declared type; its members are converted by their JSON type.
    Untyped(&'a value::Map),
    /// The same, with unknown parts.
    Partial(&'a value::Map, &'a Gaps),
    /// An object whose fields are computed when an expression selects them ([`crate::eval::LazyFields`]).
    Lazy,
    /// A constant map of the program.
    Constant(&'a BTreeMap<MapKey<'a>, Value<'a>>),
    /// A computed map.
    Shared(Arc<BTreeMap<MapKey<'a>, Value<'a>>>),
    /// The same, in which every other key is found, too, with an empty map: the attributes and the capacity of a device by
    /// domain (`newStringInterfaceMapWithDefault` in `k8s.io/dynamic-resource-allocation/cel`).
    Defaulted(Arc<BTreeMap<MapKey<'a>, Value<'a>>>),
}

/// A map key. Maps are iterated in this order (the server's order is random).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MapKey<'a> {
    /// `null`, or a missing value.
    Null,
    /// `bool`
    Bool(bool),
    /// `int`
    Int(i64),
    /// `uint`
    Uint(u64),
    /// `double`, as its bits.
    Double(u64),
    /// `string`
    String(Text<'a>),
    /// `bytes`, only where keys are compared as text.
    Bytes(Arc<[u8]>),
    /// `google.protobuf.Timestamp`
    Timestamp(Timestamp),
    /// `google.protobuf.Duration`
    Duration(Duration),
    /// A type.
    Type(Cow<'static, str>),
    /// Any other value, as text.
    Other(String),
}

impl<'a> MapKey<'a> {
    /// The length of the text that identifies a value without an identity of its own.
    pub fn text_length(&self) -> usize {
        if let Self::Other(text) = self { text.len() } else { 0 }
    }

    /// Converts the key of a map literal or entry.
    pub fn from_value(value: &Value<'a>) -> Result<Self, Error> {
        match value {
            Value::Bytes(_) => {
                Err(Error::Internal(Cow::Borrowed("runtime error: hash of unhashable type types.Bytes")))
            }
            other => Ok(Self::scalar(other)),
        }
    }

    /// The identity of a value where Go compares interface values.
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
    /// The number of entries; for an object, of all its members, whether they have a declared type or not.
    pub fn len(&self) -> usize {
        match self {
            Self::Json(members, _) | Self::Untyped(members) => members.len(),
            Self::Partial(members, gaps) => {
                gaps.enumerate();
                members.len()
            }
            Self::Lazy => 0,
            Self::Constant(entries) => entries.len(),
            Self::Shared(entries) | Self::Defaulted(entries) => entries.len(),
        }
    }

    /// Returns true if there are no entries.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns true if the map follows the rules of maps in documents, where comparing different types is an error.
    pub fn is_strict(&self) -> bool {
        matches!(self, Self::Json(..))
    }

    /// The value of a string key or field, by its name in expressions. Returns an error if the value does not match the
    /// declared type.
    pub(crate) fn find_str(&self, key: &str) -> Option<Result<Value<'a>, Error>> {
        match self {
            Self::Json(members, decl) => match &decl.shape {
                Shape::Object(fields) => {
                    // A field whose name is escaped only because it is a reserved word is also found unescaped.
                    let field = fields
                        .get(key)
                        .or_else(|| fields.values().find(|field| field.json_name == key && !key.contains("__")))?;
                    // A null that the schema allows is treated like a missing field.
                    let value = members.get(&field.json_name).filter(|v| !v.is_null())?;
                    Some(Value::from_json(value, &field.type_))
                }
                Shape::Map(values) => Some(Value::from_json(members.get(key)?, values)),
                _ => None,
            },
            Self::Untyped(members) => members.get(key).map(|value| Ok(Value::untyped(value))),
            Self::Partial(members, gaps) => gaps.record_unknown(gaps.find(members, key)),
            Self::Lazy => None,
            Self::Constant(entries) => find_text(entries, key),
            Self::Shared(entries) => find_text(entries, key),
            Self::Defaulted(entries) => find_text(entries, key).or_else(|| Some(Ok(Self::default_value()))),
        }
    }

    fn default_value() -> Value<'a> {
        Value::Map(Self::Shared(Arc::default()))
    }

    /// Returns true if the map itself has a key.
    ///
    /// # Errors
    /// Returns the error of the lookup.
    pub(crate) fn contains(&self, key: &Value<'a>) -> Result<bool, Error> {
        let found = match self {
            Self::Defaulted(entries) => Self::Shared(Arc::clone(entries)).find(key),
            other => other.find(key),
        };
        found.transpose().map(|found| found.is_some())
    }

    /// Like [`Map::find_str`] for a caller that returns the error of an unknown value, so that `&&` and `||` may absorb it.
    pub fn select(&self, key: &str) -> Option<Result<Value<'a>, Error>> {
        match self {
            Self::Partial(members, gaps) => gaps.find(members, key),
            other => other.find_str(key),
        }
    }

    /// The value of a member, by its name in the document.
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

    /// The value of a key; numeric keys match across types.
    pub fn find(&self, key: &Value<'a>) -> Option<Result<Value<'a>, Error>> {
        let entries = match self {
            Self::Json(..) => {
                return match key {
                    Value::String(s) => self.find_str(s),
                    _ => Some(Err(Error::no_such_overload())),
                };
            }
            Self::Untyped(_) | Self::Partial(..) => return key.as_str().and_then(|key| self.find_str(key)),
            Self::Lazy => return None,
            Self::Constant(entries) => entries,
            Self::Shared(entries) => &**entries,
            Self::Defaulted(entries) => {
                let found = Self::Shared(Arc::clone(entries)).find(key);
                return found.or_else(|| Some(Ok(Self::default_value())));
            }
        };
        if let Value::String(s) = key {
            return find_text(entries, s);
        }
        let exact = match MapKey::from_value(key) {
            Ok(key) => entries.get(&key),
            // Looking up bytes panics on the server, unless the map is empty.
            Err(error) => return (!entries.is_empty()).then_some(Err(error)),
        };
        let found = exact.or_else(|| match key {
            Value::Double(d) => lossless(*d, |d| d as i64, |i| *i as f64)
                .and_then(|i| entries.get(&MapKey::Int(i)))
                .or_else(|| lossless(*d, |d| d as u64, |u| *u as f64).and_then(|u| entries.get(&MapKey::Uint(u)))),
            Value::Int(i) => u64::try_from(*i).ok().and_then(|u| entries.get(&MapKey::Uint(u))),
            Value::Uint(u) => i64::try_from(*u).ok().and_then(|i| entries.get(&MapKey::Int(i))),
            _ => None,
        });
        found.cloned().map(Ok)
    }

    /// The keys in order; for an object, the fields with a declared type.
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
            Self::Partial(members, gaps) => {
                gaps.enumerate();
                members.keys().map(|key| Value::String(Text::Borrowed(key))).collect()
            }
            Self::Lazy => Vec::new(),
            Self::Constant(entries) => entries.keys().map(MapKey::to_value).collect(),
            Self::Shared(entries) | Self::Defaulted(entries) => entries.keys().map(MapKey::to_value).collect(),
        }
    }

    /// The first key in order; for an object, of the fields with a declared type.
    pub(crate) fn first_key(&self) -> Option<Value<'a>> {
        match self {
            Self::Untyped(members) => members.keys().next().map(|key| Value::String(Text::Borrowed(key))),
            Self::Constant(entries) => entries.keys().next().map(MapKey::to_value),
            Self::Shared(entries) | Self::Defaulted(entries) => entries.keys().next().map(MapKey::to_value),
            _ => self.keys().into_iter().next(),
        }
    }

    /// The keys that a loop iterates over. For each member without a declared type, the server yields a null.
    pub(crate) fn keys_of_loop(&self) -> Vec<Value<'a>> {
        let mut keys = self.keys();
        keys.resize(self.len().max(keys.len()), Value::Null);
        keys
    }

    /// The entries in key order.
    pub fn entries(&self) -> Result<Vec<(Value<'a>, Value<'a>)>, Error> {
        let mut entries = Vec::with_capacity(self.len());
        for key in self.keys() {
            // A null field has a key but no value, for which the server reports this error.
            let value = match self.find(&key) {
                Some(value) => value?,
                None => return Err(Error::new(format!("no such key: {}", key.plain()))),
            };
            entries.push((key, value));
        }
        Ok(entries)
    }
}

fn find_text<'k, 'a>(entries: &'k BTreeMap<MapKey<'k>, Value<'a>>, key: &'k str) -> Option<Result<Value<'a>, Error>> {
    entries.get(&MapKey::String(Text::Borrowed(key))).cloned().map(Ok)
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
    /// Returns true if the member `name` of the document has a declared type.
    pub(super) fn is_declared(&self, name: &str) -> bool {
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
