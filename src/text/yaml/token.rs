//! Tokens, from the scanner to the parser.

use std::borrow::Cow;

/// A place in the text: byte offset and line, both from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mark {
    /// Byte offset.
    pub at: u32,
    /// Line.
    pub line: u32,
}

/// A token and its position.
#[derive(Debug)]
pub struct Token<'a> {
    /// What it is.
    pub kind: Kind<'a>,
    /// Where it begins.
    pub start: Mark,
    /// Where it ends.
    pub end: Mark,
}

/// The tokens of YAML 1.1. Those without text of their own (`BlockMappingStart`, `BlockEnd`, most `Key`s) mark changes of
/// indentation and keys recognized by the `:` after them.
#[derive(Debug, PartialEq)]
pub enum Kind<'a> {
    /// The start of the stream.
    StreamStart,
    /// The end of the stream.
    StreamEnd,
    /// `%YAML 1.1`
    Version(u8, u8),
    /// `%TAG !h! prefix`
    TagDirective(Box<TagDirective>),
    /// `---`
    DocumentStart,
    /// `...`
    DocumentEnd,
    /// Indentation grew before a `-`.
    BlockSequenceStart,
    /// Indentation grew before a key.
    BlockMappingStart,
    /// Indentation shrank.
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
    /// Text.
    Scalar(Cow<'a, str>, Style),
}

/// `%TAG`
#[derive(Clone, Debug, PartialEq)]
pub struct TagDirective {
    /// `!name!`
    pub handle: String,
    /// Its prefix.
    pub prefix: String,
}

/// A tag as written; its handle is not resolved yet.
#[derive(Debug, PartialEq)]
pub struct Tag {
    /// `!`, `!!`, `!name!`, or nothing for `!<…>` and the bare `!`.
    pub handle: String,
    /// The rest.
    pub suffix: String,
}

/// The style of a scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Plain.
    Plain,
    /// In quotes of either kind, or a block.
    Quoted,
}
