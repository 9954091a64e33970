//! JSON values. Integers (int64) and floats (float64) are distinct, as on the server
//! (`k8s.io/apimachinery/pkg/util/json`).
//!
//! Object keys are sorted: this is the order in which Go encodes maps, and it is deterministic.

#![warn(missing_docs)]

pub mod base64;
pub mod duration;
pub mod field;
mod go_error;
pub mod go_sort;
pub mod group_version;
pub mod hash;
pub mod ip;
pub mod json;
pub mod jsonpath;
pub mod lock;
mod map;
pub mod names;
pub mod number;
pub mod print;
pub mod quantity;
pub mod quote;
pub mod release;
#[cfg(feature = "serde")]
mod serialize;
pub mod short;
pub mod sort;
mod stack;
pub mod steps;
pub mod suggest;
pub mod time;
pub mod time_zone;
pub mod unicode;
pub mod url;

pub use go_error::GoError;
pub use map::Map;
pub use stack::{NoThread, on_large_stack};
use std::hash::{Hash, Hasher};
use std::mem::discriminant;

/// The stack size of threads that process values, in bytes. Values may nest 10,000 levels deep and are processed
/// recursively. Only stack pages that are used occupy memory.
pub const STACK_SIZE: usize = 256 << 20;

/// A JSON value. `Int(1)` and `Float(1.0)` are different values, as for Go's `DeepEqual`.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Value {
    /// `null`
    #[default]
    Null,
    /// `true`, `false`
    Bool(bool),
    /// A number without fraction or exponent in the range of int64.
    Int(i64),
    /// Any other number; always finite.
    Float(f64),
    /// A string.
    String(String),
    /// An array.
    Array(Vec<Value>),
    /// An object.
    Object(Map),
}

/// Floats are finite, so each value equals itself.
impl Eq for Value {}

/// Equal values have equal hashes.
impl Hash for Value {
    fn hash<H: Hasher>(&self, state: &mut H) {
        discriminant(self).hash(state);
        match self {
            Self::Null => {}
            Self::Bool(b) => b.hash(state),
            Self::Int(i) => i.hash(state),
            // The sum makes 0.0 of -0.0, which is equal.
            Self::Float(x) => (x + 0.0).to_bits().hash(state),
            Self::String(s) => s.hash(state),
            Self::Array(items) => items.hash(state),
            Self::Object(members) => {
                members.len().hash(state);
                members.iter().for_each(|member| member.hash(state));
            }
        }
    }
}

impl Value {
    /// The members, if the value is an object.
    pub fn as_object(&self) -> Option<&Map> {
        if let Self::Object(m) = self { Some(m) } else { None }
    }
    /// The members, if the value is an object.
    pub fn as_object_mut(&mut self) -> Option<&mut Map> {
        if let Self::Object(m) = self { Some(m) } else { None }
    }
    /// The items, if the value is an array.
    pub fn as_array(&self) -> Option<&[Value]> {
        if let Self::Array(a) = self { Some(a) } else { None }
    }
    /// The text, if the value is a string.
    pub fn as_str(&self) -> Option<&str> {
        if let Self::String(s) = self { Some(s) } else { None }
    }
    /// The integer, if the value is an int64; `None` for a float, even if it is integral.
    pub fn as_int(&self) -> Option<i64> {
        if let Self::Int(i) = self { Some(*i) } else { None }
    }
    /// The boolean, if the value is one.
    pub fn as_bool(&self) -> Option<bool> {
        if let Self::Bool(b) = self { Some(*b) } else { None }
    }
    /// Returns true if the value is `null`.
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }
    /// The member `key`, if the value is an object that has it.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.as_object()?.get(key)
    }
    /// The member `key`, if the value is an object that has it.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Value> {
        self.as_object_mut()?.get_mut(key)
    }
    /// The value at a path of member names; `None` if a member is missing or its parent is not an object.
    pub fn at(&self, path: &[&str]) -> Option<&Value> {
        path.iter().try_fold(self, |v, key| v.get(key))
    }
    /// Sets the member at a path of member names. Parents that are missing or null are added; any other parent that is
    /// not an object leaves the value unchanged.
    pub fn insert_at(&mut self, path: &[&str], value: Value) {
        let Some((last, parents)) = path.split_last() else { return };
        let mut at = self;
        for key in parents {
            let Some(members) = at.as_object_mut() else { return };
            at = members.entry((*key).to_owned()).or_default();
            if at.is_null() {
                *at = Self::Object(Map::new());
            }
        }
        if let Some(members) = at.as_object_mut() {
            members.insert((*last).to_owned(), value);
        }
    }
    /// Copies the member at a path of member names from another value, or its absence. A parent that is missing or is not an
    /// object leaves the value unchanged.
    pub fn copy_at(&mut self, from: &Self, path: &[&str]) {
        let Some((last, parents)) = path.split_last() else { return };
        let parent = parents.iter().try_fold(self, |value, key| value.get_mut(key));
        let Some(members) = parent.and_then(Self::as_object_mut) else { return };
        match from.at(path) {
            Some(value) => {
                members.insert((*last).to_owned(), value.clone());
            }
            None => {
                members.remove(last);
            }
        }
    }
    /// Returns true if the value nests more levels than `limit`; a scalar has none.
    pub fn is_deeper_than(&self, limit: usize) -> bool {
        let Some(left) = limit.checked_sub(1) else { return matches!(self, Self::Array(_) | Self::Object(_)) };
        match self {
            Self::Array(items) => items.iter().any(|item| item.is_deeper_than(left)),
            Self::Object(members) => members.values().any(|member| member.is_deeper_than(left)),
            _ => false,
        }
    }
    /// The string at a path of member names.
    pub fn str_at(&self, path: &[&str]) -> Option<&str> {
        self.at(path)?.as_str()
    }
}

impl From<&str> for Value {
    fn from(s: &str) -> Self {
        Self::String(s.to_owned())
    }
}
impl From<String> for Value {
    fn from(s: String) -> Self {
        Self::String(s)
    }
}
impl From<i64> for Value {
    fn from(i: i64) -> Self {
        Self::Int(i)
    }
}
impl From<bool> for Value {
    fn from(b: bool) -> Self {
        Self::Bool(b)
    }
}
impl From<Map> for Value {
    fn from(m: Map) -> Self {
        Self::Object(m)
    }
}
impl From<Vec<Value>> for Value {
    fn from(a: Vec<Value>) -> Self {
        Self::Array(a)
    }
}

/// Builds an object from key and value pairs.
pub fn object<K: Into<String>, V: Into<Value>>(members: impl IntoIterator<Item = (K, V)>) -> Value {
    // Collecting a map would compile a sort for each type of `members`.
    let mut map = Map::new();
    for (key, value) in members {
        map.insert(key.into(), value.into());
    }
    Value::Object(map)
}
