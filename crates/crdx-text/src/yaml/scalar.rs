//! Converts scalar nodes to values, and detects merge keys.

use super::TAG_PREFIX;
use super::resolve::{self, Scalar};
use super::tree::{Node, NodeKind};
use crate::Error;
use crdx_value::{Value, number};
use std::borrow::Cow;

/// Returns true for an unquoted `<<`.
pub(super) fn is_merge(node: &Node<'_>) -> bool {
    matches!(&node.kind, NodeKind::Scalar { value, tag, implicit } if value == "<<"
        && (*implicit || tag.as_deref().and_then(|t| t.strip_prefix(TAG_PREFIX)) == Some("merge")))
}

/// The value of a scalar node.
pub(super) fn scalar<'n>(value: &'n str, tag: Option<&str>, implicit: bool) -> Result<Scalar<'n>, Error> {
    match tag {
        None if implicit => Ok(resolve::plain(value)),
        None => Ok(Scalar::Text(Cow::Borrowed(value))),
        Some(tag) => resolve::tagged(tag, value).map_err(|message| Error::new(message, None)),
    }
}

impl Scalar<'_> {
    /// True for an infinity or NaN, which JSON does not have.
    pub(super) fn is_infinite(&self) -> bool {
        matches!(self, Self::Float(x) if !x.is_finite())
    }

    /// The value after a round trip through JSON.
    pub(super) fn into_value(self) -> Value {
        match self {
            Self::Null => Value::Null,
            Self::Bool(b) => Value::Bool(b),
            Self::Int(i) => Value::Int(i),
            Self::Uint(u) => Value::Float(u as f64),
            Self::Float(x) => number::to_value(x),
            Self::Text(text) => Value::String(text.into_owned()),
        }
    }
}
