//! The syntax tree of a template.

use crate::Value;

/// A node of a template or expression.
#[derive(Clone, Debug, PartialEq)]
pub enum JsonPathNode {
    /// Literal text; always a [`Value::String`].
    Text(Value),
    /// An action in braces; only at the top level.
    List(Vec<JsonPathNode>),
    /// A key.
    Field(String),
    /// `range`, `end`, or an unknown word.
    Identifier(String),
    /// `[start:end:step]`
    Array([Param; 3]),
    /// `[?(path)]`
    Exists(Vec<JsonPathNode>),
    /// `[?(left operator right)]`
    Compare {
        /// The left side.
        left: Vec<JsonPathNode>,
        /// Any sequence of the characters `!<>=`.
        operator: String,
        /// The right side.
        right: Vec<JsonPathNode>,
    },
    /// An integer.
    Int(i64),
    /// A number that is not an integer; always a [`Value::Float`].
    Float(Value),
    /// A boolean; always a [`Value::Bool`].
    Bool(Value),
    /// `*`
    Wildcard,
    /// `..`
    Recursive,
    /// `[a,b]`
    Union(Vec<Vec<JsonPathNode>>),
}

/// A number of an index or slice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Param {
    /// The number; 0 if it is not known.
    pub value: i64,
    /// True if the number is written or can be derived.
    pub known: bool,
    /// True if the number is derived from the start: `[3]` stands for `[3:4]`.
    pub derived: bool,
}
