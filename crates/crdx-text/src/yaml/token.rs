//! Tokens, which the scanner passes to the parser.

use std::borrow::Cow;

/// A position in the text: byte offset and line, both starting at 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mark {
    /// Byte offset.
    pub at: u32,
    pub line: u32,
}

/// A token and its position.
#[derive(Debug)]
pub struct Token<'a> {
    pub kind: TokenKind<'a>,
    /// The start position.
    pub start: Mark,
    /// The end position.
    pub end: Mark,
}

/// The tokens of YAML 1.1. Tokens without text (`BlockMappingStart`, `BlockEnd`, most `Key`s) represent changes of
/// indentation, and keys recognized by the `:` after them.
#[derive(Debug, PartialEq)]
pub enum TokenKind<'a> {
    StreamStart,
    StreamEnd,
    /// `%YAML 1.1`
    Version(u8, u8),
    /// `%TAG !h! prefix`
    TagDirective(Box<TagDirective>),
    /// `---`
    DocumentStart,
    /// `...`
    DocumentEnd,
    /// The indentation increased before a `-`.
    BlockSequenceStart,
    /// The indentation increased before a key.
    BlockMappingStart,
    /// The indentation decreased.
    BlockEnd,
    /// `[`
    FlowSequenceStart,
    /// `]`
    FlowSequenceEnd,
    /// `{`
    FlowMappingStart,
    /// `}`
    FlowMappingEnd,
    /// `-`
    BlockEntry,
    /// `,`
    FlowEntry,
    /// `?`, or inserted before a simple key.
    Key,
    /// `:`
    Value,
    /// `*name`
    Alias(&'a str),
    /// `&name`
    Anchor(&'a str),
    /// `!handle!suffix`
    Tag(Box<Tag>),
    Scalar(Cow<'a, str>, Style),
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TagDirective {
    /// `!name!`
    pub handle: String,
    /// The prefix that replaces the handle.
    pub prefix: String,
}

/// A tag as written, with an unresolved handle.
#[derive(Debug, PartialEq)]
pub struct Tag {
    /// `!`, `!!` or `!name!`; empty for `!<…>` and a lone `!`.
    pub handle: String,
    /// The rest of the tag.
    pub suffix: String,
}

/// The style of a scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// A plain scalar.
    Plain,
    /// A quoted or block scalar.
    Quoted,
}
