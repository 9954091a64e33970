//! Decodes YAML like kubectl and the API server: `sigs.k8s.io/yaml` 1.6 with `go.yaml.in/yaml/v2`, which is YAML 1.1.
//!
//! Stages: [`source`] (invalid characters) -> [`scanner`] (tokens) -> [`parser`] (events) -> [`tree`] (nodes with
//! positions) -> [`decode`] (value, outline). [`block`] takes a short cut for ordinary manifests. As in Go, all documents except
//! the first one are ignored; [`super::documents`] splits streams.

mod block;
mod decode;
pub mod kyaml;
mod parser;
mod resolve;
mod scalar;
mod scanner;
mod source;
mod syntax;
mod token;
mod tree;
pub mod write;

use super::spans::outline::Outline;
use super::strict::StrictError;
use super::{Error, Position};
use crdx_value::Value;
use decode::DuplicateKeys;
use source::CheckedText;
use std::borrow::Cow;
use std::fmt;

const TAG_PREFIX: &str = "tag:yaml.org,2002:";

/// The result of strict decoding.
#[derive(Clone, Debug, PartialEq)]
pub struct Strict {
    /// The value, with the last of duplicate keys.
    pub value: Value,
    /// Duplicate keys, in the server's order.
    pub duplicates: Vec<Duplicate>,
    /// The position of another document, which is ignored.
    pub rest: Option<Position>,
}

/// A duplicate key in a mapping.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Duplicate {
    /// The line in the server's message, which counts from the start of the document; JSON has none.
    pub line: Option<u32>,
    /// The server's message without the line: `key "num" already set in map`.
    pub message: String,
    /// The position of the first occurrence.
    pub first: Position,
    /// The position of the duplicate.
    pub second: Position,
}

impl Duplicate {
    /// Converts positions relative to a text that begins at `start` to positions in the source.
    pub(super) fn within(self, start: Position) -> Self {
        Self { first: self.first.within(start), second: self.second.within(start), ..self }
    }
}

impl fmt::Display for Duplicate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.line {
            write!(f, "line {line}: ")?;
        }
        f.write_str(&self.message)
    }
}

impl Strict {
    /// The server's strict decoding error, if there are duplicates: a header line and one line per duplicate.
    pub fn error(&self) -> Option<StrictError> {
        let lines: Vec<String> = self.duplicates.iter().map(ToString::to_string).collect();
        (!lines.is_empty()).then_some(StrictError::Yaml(lines))
    }
}

/// Decodes the first document of `text`.
///
/// # Errors
/// Returns the message of `yaml.YAMLToJSON` (`yaml: line 3: …`), without kubectl's prefix `error converting YAML to
/// JSON: `.
pub fn read(text: &[u8]) -> Result<Value, Error> {
    let source = CheckedText::new(text);
    match block::read(&source) {
        Some(value) => Ok(value),
        None => Ok(decode::decode(&tree::parse(&source)?, &source.text, DuplicateKeys::Ignore)?.value),
    }
}

/// Decodes the first document of `text` and reports duplicate keys.
pub fn read_strict(text: &[u8]) -> Result<Strict, Error> {
    let source = CheckedText::new(text);
    if let Some(value) = block::read(&source) {
        return Ok(Strict { value, duplicates: Vec::new(), rest: None });
    }
    let tree = tree::parse(&source)?;
    let found = decode::decode(&tree, &source.text, DuplicateKeys::Ignore)?;
    // Duplicates are possible only if a key was replaced, so most texts are decoded only once.
    let duplicates = if found.repeated {
        decode::decode(&tree, &source.text, DuplicateKeys::Collect)?.duplicates
    } else {
        Vec::new()
    };
    let rest = tree.rest.map(|mark| Position::at_offset(source.text.as_bytes(), mark.at as usize));
    Ok(Strict { value: found.value, duplicates, rest })
}

/// The positions of the nodes of the first document that are on a path, and maybe of others; `None` for a text that is
/// not ordinary.
pub(super) fn outline_of_path(text: &[u8], path: &str) -> Option<Outline> {
    let source = CheckedText::new(text);
    if matches!(source.text, Cow::Owned(_)) {
        return None;
    }
    block::outline(&source, Some(path))
}

/// The positions of the nodes of the first document; empty if it cannot be decoded.
pub(super) fn outline(text: &[u8]) -> Outline {
    let source = CheckedText::new(text);
    // Offsets in UTF-16 text would differ from those in the converted text.
    if matches!(source.text, Cow::Owned(_)) {
        return Outline::default();
    }
    block::outline(&source, None).or_else(|| Some(decode::outline(&tree::parse(&source).ok()?))).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_value::json;

    fn strict(text: &str) -> String {
        let got = read_strict(text.as_bytes()).unwrap();
        let duplicates = got.duplicates.iter().map(|d| format!("{} {} {d}\n", d.first, d.second));
        format!("{} {}", json::to_string(&got.value), duplicates.collect::<String>())
    }

    #[test]
    fn duplicates_have_the_servers_messages() {
        let want = concat!(
            "{\"a\":3,\"b\":{\"c\":2}} ",
            "2:5 3:3 line 3: key \"c\" already set in map\n",
            "1:1 4:1 line 4: key \"a\" already set in map\n"
        );
        assert_eq!(strict("a: 1\nb: {c: 1,\n  c: 2}\na: 3"), want);
    }

    #[test]
    fn keys_of_other_types_are_no_duplicates() {
        assert_eq!(strict("1: a\n\"1\": b\ntrue: c\n\"true\": d"), "{\"1\":\"b\",\"true\":\"d\"} ");
        assert_eq!(strict("y: a\non: b"), "{\"true\":\"b\"} 1:1 2:1 line 2: key true already set in map\n");
        assert_eq!(strict("1: a\n0x1: b"), "{\"1\":\"b\"} 1:1 2:1 line 2: key 1 already set in map\n");
    }

    #[test]
    fn a_key_that_overrides_a_merged_one_is_a_duplicate() {
        let text = "a: &a\n  x: 1\nb:\n  <<: *a\n  x:\n    - 2";
        let want = "{\"a\":{\"x\":1},\"b\":{\"x\":[2]}} 2:3 5:3 line 6: key \"x\" already set in map\n";
        assert_eq!(strict(text), want);
    }

    #[test]
    fn alias_bombs_are_refused() {
        let ten = |item: String| vec![item; 10].join(", ");
        let level = |(name, of)| format!("{name}: &{name} [{}]\n", ten(format!("*{of}")));
        let levels = "bcdefghi".chars().zip("abcdefgh".chars()).map(level).collect::<String>();
        let text = format!("a: &a [{}]\n{levels}", ten("x".to_owned()));
        let error = read(text.as_bytes()).unwrap_err();
        assert_eq!(error.message, "yaml: document contains excessive aliasing");
    }

    #[test]
    fn the_text_that_aliases_repeat_is_limited() {
        let long = "x".repeat(100_000);
        let times = |alias: &str, count: usize| vec![alias; count].join(", ");
        for text in [
            format!("a: &a {long}\nl: [{}]", times("*a", 1000)),
            format!("a: &a [{long}]\nl: [{}]", times("*a", 1000)),
            format!("? &a {long}\n: 1\nl: [{}]", times("{*a : 1}", 1000)),
            format!("a: &a {{k: {long}}}\nl: [{}]", times("{<<: *a}", 1000)),
            format!("a: &a {{? {long} : 1}}\nl: [{}]", times("{<<: *a}", 1000)),
        ] {
            let error = read(text.as_bytes()).unwrap_err();
            assert_eq!(error.kind, crate::ErrorKind::Expansion, "{}", error.message);
        }
        // A few aliases of a long value fit, and so do many of a short one.
        assert!(read(format!("a: &a {long}\nl: [{}]", times("*a", 50)).as_bytes()).is_ok());
        assert!(read(format!("a: &a short\nl: [{}]", times("*a", 10_000)).as_bytes()).is_ok());
    }

    /// Takes seconds if the text is scanned, or a value formatted, for every key.
    #[test]
    fn many_duplicate_and_wrong_keys_are_found() {
        let keys: Vec<String> = (0..80_000).map(|i| format!("k{}: 1", i % 40_000)).collect();
        let keys = keys.join("\n");
        let found = read_strict(keys.as_bytes()).unwrap().duplicates;
        assert_eq!(found.len(), 40_000);
        assert_eq!(found.last().unwrap().first, Position { line: 40_000, column: 1 });
        assert_eq!(found.last().unwrap().second, Position { line: 80_000, column: 1 });
        let one_line = format!("{{{}}}", "a: 1, ".repeat(40_000));
        assert_eq!(read_strict(one_line.as_bytes()).unwrap().duplicates.last().unwrap().second.column, 239_996);
        let long = "x".repeat(100_000);
        let error = read(format!("a: &a {long}\nm:\n{}", "  ~: *a\n".repeat(80)).as_bytes()).unwrap_err();
        assert!(
            error.message.starts_with("unsupported map key of type: %!s(<nil>), key: <nil>"),
            "{}",
            error.message.len()
        );
    }

    #[test]
    fn depth_is_limited() {
        for text in ["[".repeat(10_001), (0..10_001).map(|i| " ".repeat(i) + "- \n").collect()] {
            let error = read(text.as_bytes()).unwrap_err();
            assert!(error.message.contains("exceeded max depth of 10000"), "{}", error.message);
        }
        let deep =
            format!("a: &a {}x{}\nb: {}*a{}", "[".repeat(6000), "]".repeat(6000), "[".repeat(6000), "]".repeat(6000));
        let error = read(deep.as_bytes()).unwrap_err();
        assert_eq!(error.message, "invalid character '[' exceeded max depth");
    }

    #[test]
    fn only_the_first_document_is_read() {
        let rest = |text: &str| read_strict(text.as_bytes()).unwrap().rest;
        assert_eq!(rest("a: 1\n...\nb: 2"), Some(Position { line: 2, column: 1 }));
        assert_eq!(rest("a: 1\n--- b"), Some(Position { line: 2, column: 1 }));
        assert_eq!(rest("---\na: 1\n...\n# end\n"), None);
    }

    #[test]
    fn errors_have_their_actual_position() {
        let error = read(b"a:\n  b: 1\n c: 2").unwrap_err();
        assert_eq!(error.message, "yaml: line 2: did not find expected key");
        assert_eq!(error.position, Some(Position { line: 3, column: 2 }));
    }
}
