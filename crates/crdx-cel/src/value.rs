//! The values of expressions.
//!
//! A value borrows from the JSON document and the program (`'a`). The document is not copied; lists, maps and objects
//! are converted through their declared type only when an expression accesses them. Follows cel-go's `common/types` and
//! `k8s.io/apiserver/pkg/cel/common/valuesunstructured.go`, whose lists and objects are compared by different rules
//! than cel-go's own.

mod convert;
mod equal;
mod error;
mod fuel;
mod json;
mod list;
mod map;
pub mod message;
pub mod number;
mod opaque;
mod order;
mod partial;
mod show;
mod size;
mod text;
pub mod time;
pub mod well_known;

pub use crdx_value::duration::Duration;
pub(crate) use equal::equal_strictly;
pub use equal::{contains, equal};
pub use error::Error;
pub use fuel::Fuel;
pub use list::{Element, List};
pub use map::{Map, MapKey};
pub use message::Message;
pub use opaque::{
    Access, Attributes, AuthorizationSubject, Authorizer, Cidr, Decision, Ip, NamedFormat, Opaque, PathCheck, Quantity,
    ResourceCheck, Semver, Url, User, Verdict, parse_request_uri,
};
pub use order::compare;
pub use partial::{Gaps, UsedGap};
pub use text::Text;
pub use time::Timestamp;

use std::{borrow::Cow, sync::Arc};

/// A CEL value.
#[derive(Clone, Debug)]
pub enum Value<'a> {
    /// `null`
    Null,
    /// `bool`
    Bool(bool),
    /// `int`
    Int(i64),
    /// `uint`
    Uint(u64),
    /// `double`
    Double(f64),
    /// `string`
    String(Text<'a>),
    /// `bytes`
    Bytes(Arc<[u8]>),
    /// `google.protobuf.Timestamp`
    Timestamp(Timestamp),
    /// `google.protobuf.Duration`
    Duration(Duration),
    /// A list.
    List(List<'a>),
    /// A map. Objects are maps at run time, too.
    Map(Map<'a>),
    /// A type value, with its runtime name.
    Type(Cow<'static, str>),
    /// An optional value.
    Optional(Option<Arc<Value<'a>>>),
    /// A value of a Kubernetes type, such as a quantity.
    Opaque(Arc<Opaque>),
    /// A message constructed by an expression: part of a patch.
    Message(Arc<Message<'a>>),
}

impl<'a> Value<'a> {
    /// The name of the value's runtime type, without the types of elements and fields.
    pub fn type_name(&self) -> &str {
        match self {
            Self::Null => "null_type",
            Self::Bool(_) => "bool",
            Self::Int(_) => "int",
            Self::Uint(_) => "uint",
            Self::Double(_) => "double",
            Self::String(_) => "string",
            Self::Bytes(_) => "bytes",
            Self::Timestamp(_) => "google.protobuf.Timestamp",
            Self::Duration(_) => "google.protobuf.Duration",
            Self::List(_) => "list",
            Self::Map(_) => "map",
            Self::Type(_) => "type",
            Self::Optional(_) => "optional_type",
            Self::Opaque(o) => o.type_name(),
            Self::Message(message) => &message.type_name,
        }
    }

    /// Creates a string.
    pub fn string(text: impl Into<Text<'a>>) -> Self {
        Self::String(text.into())
    }

    /// Creates a list.
    pub fn list(items: Vec<Value<'a>>) -> Self {
        Self::List(List::Shared(Arc::new(items)))
    }

    /// Creates a list of strings.
    pub fn strings<T: Into<Text<'a>>>(items: impl IntoIterator<Item = T>) -> Self {
        Self::list(items.into_iter().map(Self::string).collect())
    }

    /// `optional.none()`
    pub const NONE: Self = Self::Optional(None);

    /// `optional.of(self)`
    pub fn some(self) -> Self {
        Self::Optional(Some(Arc::new(self)))
    }

    /// The text, if the value is a string.
    pub fn as_str(&self) -> Option<&str> {
        if let Self::String(s) = self { Some(s) } else { None }
    }

    /// The boolean, if the value is one.
    pub fn as_bool(&self) -> Option<bool> {
        if let Self::Bool(b) = self { Some(*b) } else { None }
    }
}

impl From<bool> for Value<'_> {
    fn from(b: bool) -> Self {
        Self::Bool(b)
    }
}
impl From<i64> for Value<'_> {
    fn from(i: i64) -> Self {
        Self::Int(i)
    }
}
