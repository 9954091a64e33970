//! Converts YAML and JSON text to [`Value`](crdx_value::Value) and back, with the error messages and peculiarities of
//! kubectl and the API server.
//!
//! - [`yaml`] decodes YAML 1.1 like `sigs.k8s.io/yaml` 1.6 (YAML to JSON text, then to int64 and float64).
//! - [`json`] decodes request bodies like `sigs.k8s.io/json`, and writes the output of `kubectl -o json`.
//! - [`documents`] splits a stream into documents like `k8s.io/apimachinery/pkg/util/yaml`.
//! - [`strict`] has the errors that only strict decoding reports.
//! - [`malformed`] has the bytes of strings that are not UTF-8.
//! - [`printable`] has the characters that a text for people does not show.
//! - [`spans`] finds the line and column of a field on demand.

#![warn(missing_docs)]

pub mod documents;
pub mod json;
mod lines;
pub mod malformed;
pub mod printable;
pub mod protobuf;
pub mod spans;
pub mod strict;
pub mod yaml;

use std::fmt;

/// The text of a value would be longer than the limit, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLong(pub usize);

impl fmt::Display for TooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the text would be longer than {} bytes", self.0)
    }
}

impl std::error::Error for TooLong {}

/// A position in a text. Line and column start at 1; columns count characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// The line number.
    pub line: usize,
    /// The column, in characters.
    pub column: usize,
}

impl Position {
    /// The position of byte `offset` in `text`. A byte order mark at the start does not count as a column.
    pub(crate) fn at_offset(text: &[u8], offset: usize) -> Self {
        let before = text.get(..offset).unwrap_or(text);
        let line = memchr::memchr_iter(b'\n', before).count() + 1;
        let start = memchr::memrchr(b'\n', before).map_or(0, |at| at + 1);
        let mut current = before.get(start..).unwrap_or_default();
        if start == 0 {
            current = current.strip_prefix(b"\xef\xbb\xbf").unwrap_or(current);
        }
        let column = current.iter().filter(|b| (**b & 0xc0) != 0x80).count() + 1;
        Self { line, column }
    }

    /// The byte offset of this position in `text`.
    pub fn offset(self, text: &[u8]) -> usize {
        let line = text.split(|b| *b == b'\n').take(self.line.saturating_sub(1)).map(|l| l.len() + 1).sum::<usize>();
        let rest = text.get(line..).unwrap_or_default();
        let starts = rest.iter().enumerate().filter(|(_, b)| (**b & 0xc0) != 0x80).map(|(i, _)| i);
        line + starts.chain([rest.len()]).nth(self.column.saturating_sub(1)).unwrap_or(rest.len())
    }

    /// Converts a position in a text that begins at `start` to a position in the source.
    pub fn within(self, start: Self) -> Self {
        let column = if self.line == 1 { self.column + start.column - 1 } else { self.column };
        Self { line: self.line + start.line - 1, column }
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// An error while decoding a text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    /// The message of kubectl and the server, including their line numbers, which are not always correct.
    pub message: String,
    /// The actual position of the error, if known.
    pub position: Option<Position>,
    /// The kind of error.
    pub kind: ErrorKind,
}

/// The kind of an [`Error`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ErrorKind {
    /// Any other error.
    #[default]
    Other,
    /// A JSON number is out of range.
    NumberOutOfRange,
    /// A JSON text ends too early.
    UnexpectedEnd,
    /// A line begins with `---` but does not separate documents.
    Separator,
    /// The text is not UTF-8.
    Encoding,
    /// A character cannot start a YAML token.
    TokenStart,
    /// The aliases of a YAML document repeat more text than the program expands.
    Expansion,
}

impl Error {
    /// Creates an error.
    pub fn new(message: impl Into<String>, position: Option<Position>) -> Self {
        Self { message: message.into(), position, kind: ErrorKind::Other }
    }

    /// The same error with this kind.
    pub fn of_kind(self, kind: ErrorKind) -> Self {
        Self { kind, ..self }
    }
}

/// The syntax of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Syntax {
    /// JSON.
    Json,
    /// YAML, which includes most JSON texts.
    Yaml,
}

/// Returns true if `text` is decoded as JSON (`IsJSONBuffer`): its first character except white space is `{`.
pub fn looks_like_json(text: &[u8]) -> bool {
    let mut rest = text;
    loop {
        rest = match rest {
            [b'\t'..=b'\r' | b' ', tail @ ..]
            | [0xc2, 0x85 | 0xa0, tail @ ..]
            | [0xe1, 0x9a, 0x80, tail @ ..]
            | [0xe2, 0x80, 0x80..=0x8a | 0xa8 | 0xa9 | 0xaf, tail @ ..]
            | [0xe2, 0x81, 0x9f, tail @ ..]
            | [0xe3, 0x80, 0x80, tail @ ..] => tail,
            _ => return rest.first() == Some(&b'{'),
        };
    }
}

/// Returns the number of line breaks (U+000A) in UTF-8.
pub fn line_breaks(text: &[u8]) -> usize {
    memchr::memchr_iter(b'\n', text).count()
}

/// Returns true if `text` contains `part`.
pub fn contains(text: &[u8], part: &str) -> bool {
    // Most texts do not even have the first byte, and preparing a search for several takes longer than that for one.
    let start = part.bytes().next().map_or(Some(0), |first| memchr::memchr(first, text));
    start.and_then(|at| memchr::memmem::find(text.get(at..)?, part.as_bytes())).is_some()
}

/// Converts bytes to text like Go: each byte that is not part of valid UTF-8 becomes U+FFFD.
pub fn lossy(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        out.push_str(chunk.valid());
        out.extend(chunk.invalid().iter().map(|_| char::REPLACEMENT_CHARACTER));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_begins_with_a_brace() {
        assert!(looks_like_json(b" \n\t{"));
        assert!(looks_like_json("\u{2003}\u{85}{".as_bytes()));
        assert!(!looks_like_json(b"[1]"));
        assert!(!looks_like_json("\u{feff}{".as_bytes()));
        assert!(!looks_like_json(b""));
    }

    #[test]
    fn places_add_up() {
        let start = Position { line: 5, column: 3 };
        assert_eq!(Position { line: 1, column: 2 }.within(start), Position { line: 5, column: 4 });
        assert_eq!(Position { line: 2, column: 2 }.within(start), Position { line: 6, column: 2 });
    }

    #[test]
    fn columns_count_characters() {
        assert_eq!(Position::at_offset("\u{feff}é: x".as_bytes(), 5), Position { line: 1, column: 2 });
        assert_eq!(Position::at_offset("a\né: x".as_bytes(), 4), Position { line: 2, column: 2 });
    }

    #[test]
    fn each_bad_byte_is_replaced() {
        assert_eq!(lossy(b"a\xed\xa0\x80b\xe2\x82"), "a\u{fffd}\u{fffd}\u{fffd}b\u{fffd}\u{fffd}");
    }
}
