//! The nodes of a parsed template.

use crate::value::Value;

/// A part of a template, or of an expression in it.
#[derive(Clone, Debug, PartialEq)]
pub enum Node {
    /// A text; always [`Value::String`].
    Text(Value),
    /// An action; only at the top.
    List(Vec<Node>),
    /// A key.
    Field(String),
    /// `range`, `end`, or a word that means nothing.
    Identifier(String),
    /// `[start:end:step]`
    Array([Param; 3]),
    /// `[?(path)]`
    Exists(Vec<Node>),
    /// `[?(left operator right)]`
    Compare {
        /// The left side.
        left: Vec<Node>,
        /// Any run of `!<>=`.
        operator: String,
        /// The right side.
        right: Vec<Node>,
    },
    /// A whole number.
    Int(i64),
    /// Another number; always [`Value::Float`].
    Float(Value),
    /// Always [`Value::Bool`].
    Bool(Value),
    /// `*`
    Wildcard,
    /// `..`
    Recursive,
    /// `[a,b]`
    Union(Vec<Vec<Node>>),
}

/// One number of an index or slice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Param {
    /// The number, 0 if not known.
    pub value: i64,
    /// It is written there, or follows.
    pub known: bool,
    /// It follows from the start: `[3]` is `[3:4]`.
    pub derived: bool,
}
