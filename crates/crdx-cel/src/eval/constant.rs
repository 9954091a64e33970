//! Constants of a program, from which the values of a run borrow.

use crate::{
    ast::Literal,
    value::{List, Map, MapKey, Text, Value},
};
use std::{borrow::Cow, collections::BTreeMap, sync::Arc};

#[derive(Clone, Debug)]
pub(super) enum Constant {
    Text(Arc<str>),
    List(Vec<Value<'static>>),
    Map(BTreeMap<MapKey<'static>, Value<'static>>),
    Other(Value<'static>),
}

impl Constant {
    /// Stores a value as a constant.
    pub fn new(value: Value<'static>) -> Self {
        match value {
            Value::String(Text::Shared(text)) => Self::Text(text),
            Value::String(Text::Borrowed(text)) => Self::Text(text.into()),
            Value::List(List::Shared(items)) => Self::List(Arc::unwrap_or_clone(items)),
            Value::Map(Map::Shared(entries)) => Self::Map(Arc::unwrap_or_clone(entries)),
            other => Self::Other(other),
        }
    }

    pub fn literal(literal: &Literal) -> Self {
        Self::new(match literal {
            Literal::Null => Value::Null,
            Literal::Bool(b) => Value::Bool(*b),
            Literal::Int(i) => Value::Int(*i),
            Literal::Uint(u) => Value::Uint(*u),
            Literal::Double(d) => Value::Double(*d),
            Literal::String(s) => Value::string(s.clone()),
            Literal::Bytes(b) => Value::Bytes(b.as_slice().into()),
        })
    }

    /// A type constant, by its runtime name.
    pub fn type_name(name: String) -> Self {
        Self::Other(Value::Type(Cow::Owned(name)))
    }

    /// The value, borrowed for a run.
    pub fn value(&self) -> Value<'_> {
        match self {
            Self::Text(text) => Value::String(Text::Borrowed(text)),
            Self::List(items) => Value::List(List::Constant(items)),
            Self::Map(entries) => Value::Map(Map::Constant(entries)),
            Self::Other(value) => value.clone(),
        }
    }

    /// The value as an owned copy.
    pub(crate) fn to_owned_value(&self) -> Value<'static> {
        match self {
            Self::Text(text) => Value::String(Text::Shared(text.clone())),
            Self::List(items) => Value::list(items.clone()),
            Self::Map(entries) => Value::Map(Map::Shared(Arc::new(entries.clone()))),
            Self::Other(value) => value.clone(),
        }
    }

    /// Returns true for the constant `true`.
    pub fn is_true(&self) -> bool {
        matches!(self, Self::Other(Value::Bool(true)))
    }

    /// The text, if the constant is a string.
    pub fn as_text(&self) -> Option<&Arc<str>> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }
}
