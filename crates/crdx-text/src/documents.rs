//! Splits a stream into documents like kubectl (`YAMLOrJSONDecoder` in `k8s.io/apimachinery/pkg/util/yaml`).
//!
//! A stream that begins with `{` is decoded as a sequence of JSON values. If this fails before the third value, the
//! rest is decoded as YAML, whose documents are separated by lines that begin with `---`. kubectl has some
//! peculiarities: a separator line may contain only a comment after `---`, wherever it is (`--- x` and `-----BEGIN` are
//! errors even inside a block scalar), and the rest of a chunk after `...` is ignored.
//!
//! Unlike kubectl, reading continues after an error: an invalid document is a [`Chunk`] with an error, and the
//! following documents are returned, too.

use super::yaml::Duplicate;
use super::{Error, ErrorKind, Position, Syntax, json, looks_like_json, yaml};
use crdx_value::Value;
use memchr::memmem::Finder;
use std::io::{self, BufRead, BufReader, Read};
use std::sync::OnceLock;

/// The number of bytes in which the first `{` is searched for.
const PEEK: usize = 4096;

/// The size of the buffer in bytes. It is cleared for every file, and most files are small.
const BUFFER: usize = 1 << 14;
/// A stream with more JSON values than this is not decoded as YAML after an error.
const AMBIGUOUS: usize = 1;

/// The maximum size of a document in bytes. A `List` of a whole cluster fits, and an endless stream does not exhaust
/// the memory.
pub(crate) const MAX_DOCUMENT: usize = 256 << 20;
/// The number of bytes kept of a document that is too large, to show its first line.
const KEPT: usize = 1024;
/// The number of bytes in which whole lines are searched for at once.
const LINES: usize = 4096;
/// The usual maximum length of a separator.
const SHORT_LINE: usize = 16;
/// The number of bytes read at a time while searching for the end of an overlong line.
const PIECE: u64 = 1 << 16;

/// The text of one document and its position.
#[derive(Clone, Debug, PartialEq)]
pub struct Chunk {
    /// The text, with `\n` for `\r\n`.
    pub text: Vec<u8>,
    /// The position of the text in the source.
    pub start: Position,
    /// The syntax of the text.
    pub syntax: Syntax,
    /// The error of an earlier attempt to decode JSON, which is reported if the text is not valid YAML either.
    fallback: Option<Error>,
    /// The reason why the text cannot be a document.
    broken: Option<Broken>,
    /// The answer of [`Chunk::names_secret`], which all items of a list need.
    names_secret: OnceLock<bool>,
    /// The offsets of the lines, which each problem of a list's items needs.
    line_starts: OnceLock<Vec<usize>>,
}

/// Returns true if a text may be that of a Secret, whose lines reports do not show: if it has a member `kind` with this
/// value, or `SecretList`, whose items need no kind.
pub fn names_secret(text: &[u8]) -> bool {
    const KIND: &[u8] = b"Secret";
    let ends = |at: usize| {
        let rest = text.get(at + KIND.len()..).unwrap_or_default();
        !rest.strip_prefix(b"List").unwrap_or(rest).first().is_some_and(u8::is_ascii_alphanumeric)
    };
    let follows_kind = |at: usize| {
        let is_between = |c: &u8| matches!(c, b' ' | b'\t' | b'"' | b'\'');
        let mut before = text.get(..at).unwrap_or_default().iter().rev().skip_while(|c| is_between(c));
        before.next() == Some(&b':') && before.skip_while(|c| is_between(c)).copied().take(4).eq(*b"dnik")
    };
    memchr::memmem::find_iter(text, KIND).any(|at| ends(at) && follows_kind(at))
}

/// The reason why a text cannot be a document.
#[derive(Clone, Debug, PartialEq)]
enum Broken {
    /// An invalid separator, or an error after preceding JSON values.
    Syntax(Error),
    /// The document is larger than the maximum.
    TooLarge(Error),
}

impl Broken {
    fn error(&self) -> &Error {
        let (Self::Syntax(error) | Self::TooLarge(error)) = self;
        error
    }
}

/// The content of a document. Positions refer to the source.
#[derive(Clone, Debug, PartialEq)]
pub struct Contents {
    /// The decoded value.
    pub value: Value,
    /// Duplicate keys; the last occurrence is used without an error.
    pub duplicates: Vec<Duplicate>,
    /// The position of another document in the same chunk, which is ignored.
    pub rest: Option<Position>,
}

impl Chunk {
    /// Creates a chunk.
    pub fn new(text: Vec<u8>, start: Position, syntax: Syntax) -> Self {
        Self {
            text,
            start,
            syntax,
            fallback: None,
            broken: None,
            names_secret: OnceLock::new(),
            line_starts: OnceLock::new(),
        }
    }

    /// Returns true if the text may have a Secret ([`names_secret`]).
    pub fn names_secret(&self) -> bool {
        *self.names_secret.get_or_init(|| names_secret(&self.text))
    }

    /// The offset of the line of a position in the source; the length of the text if it has fewer lines.
    pub fn line_start(&self, position: Position) -> usize {
        let starts = self.line_starts.get_or_init(|| {
            let breaks = memchr::memchr_iter(b'\n', &self.text);
            std::iter::once(0).chain(breaks.map(|at| at + 1)).collect()
        });
        starts.get(position.line.saturating_sub(self.start.line)).copied().unwrap_or(self.text.len())
    }

    /// The position after the text in the source.
    pub fn end(&self) -> Position {
        Position::at_offset(&self.text, self.text.len()).within(self.start)
    }

    /// Returns true if the document is larger than the maximum; only its beginning is available then.
    pub fn is_too_large(&self) -> bool {
        matches!(self.broken, Some(Broken::TooLarge(_)))
    }

    /// Decodes the document.
    ///
    /// # Errors
    /// Returns kubectl's message (`error converting YAML to JSON: yaml: line 2: …`), whose line numbers are relative to
    /// the document, with the position in the source.
    pub fn read(&self) -> Result<Contents, Error> {
        if let Some(broken) = &self.broken {
            return Err(broken.error().clone());
        }
        let at = |position: Position| position.within(self.start);
        match self.syntax {
            Syntax::Json => match json::read_manifest(&self.text) {
                Ok(strict) => {
                    let duplicates = if strict.errors.is_empty() {
                        Vec::new()
                    } else {
                        super::spans::Spans::new(&self.text, Syntax::Json).duplicates(&strict.errors)
                    };
                    let duplicates = duplicates.into_iter().map(|d| d.within(self.start)).collect();
                    Ok(Contents { value: strict.value, duplicates, rest: None })
                }
                Err(e) => Err(Error { position: e.position.map(at), ..e }),
            },
            Syntax::Yaml => match yaml::read_strict(&self.text) {
                Ok(strict) => {
                    let duplicates = strict.duplicates.into_iter().map(|d| d.within(self.start)).collect();
                    Ok(Contents { value: strict.value, duplicates, rest: strict.rest.map(at) })
                }
                Err(e) => Err(self.fallback.clone().unwrap_or_else(|| Error {
                    message: format!("error converting YAML to JSON: {}", e.message),
                    position: e.position.map(at),
                    kind: e.kind,
                })),
            },
        }
    }
}

/// Splits a stream into chunks. Holds one chunk at a time, of at most [`MAX_DOCUMENT`] bytes.
pub struct Chunks<R> {
    input: Pushback<R>,
    /// The maximum size of a document in bytes.
    limit: usize,
    /// Finds the line break before a separator.
    separator: Finder<'static>,
    /// The position of the next byte.
    position: Position,
    mode: Mode,
    /// The number of JSON values so far.
    values: usize,
    /// The offset of the next byte.
    offset: usize,
    /// The error that ended the sequence of JSON values.
    fallback: Option<Error>,
    /// The first invalid separator of the current document.
    broken: Option<Error>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Unknown,
    Json,
    Yaml,
    /// Skipping the rest of a JSON value that is too large.
    SkipJson(JsonScanner),
    /// Skipping the rest of a YAML document that is too large. The flag is true at the beginning of a line.
    SkipYaml {
        line_start: bool,
    },
    End,
}

impl<R: Read> Chunks<R> {
    /// Creates a splitter for a reader.
    pub fn new(reader: R) -> Self {
        Self::with_limit(reader, MAX_DOCUMENT)
    }

    /// As [`Self::new`], for documents of at most `limit` bytes.
    pub fn with_limit(reader: R, limit: usize) -> Self {
        Self {
            input: Pushback { pushed: Vec::new(), at: 0, inner: BufReader::with_capacity(BUFFER, reader) },
            limit,
            separator: Finder::new(b"\n---"),
            position: Position { line: 1, column: 1 },
            mode: Mode::Unknown,
            values: 0,
            offset: 0,
            fallback: None,
            broken: None,
        }
    }

    fn guess(&mut self) -> io::Result<()> {
        let mut head = Vec::with_capacity(PEEK);
        (&mut self.input).take(PEEK as u64).read_to_end(&mut head)?;
        self.mode = if looks_like_json(&head) { Mode::Json } else { Mode::Yaml };
        self.input.push_back(head);
        Ok(())
    }

    /// Advances the position and offset by `bytes`.
    fn pass(&mut self, bytes: &[u8]) {
        let end = Position::at_offset(bytes, bytes.len());
        self.position = end.within(self.position);
        self.offset += bytes.len();
    }

    /// The next JSON value; `None` if there is none, or if the rest is YAML.
    fn next_json(&mut self) -> io::Result<Option<Chunk>> {
        let mut taken = Vec::new();
        let mut scanner = JsonScanner::default();
        let Some(complete) = scanner.read(&mut self.input, self.limit, |bytes| taken.extend_from_slice(bytes))? else {
            let space = taken.iter().take_while(|c| c.is_ascii_whitespace()).count();
            let before = taken.get(..space).unwrap_or_default();
            let start = Position::at_offset(before, space).within(self.position);
            self.pass(&taken);
            self.mode = Mode::SkipJson(scanner);
            return Ok(Some(self.too_large(taken, start, Syntax::Json)));
        };
        let space = taken.iter().take_while(|c| matches!(c, b' ' | b'\t' | b'\r' | b'\n')).count();
        let (before, value) = taken.split_at_checked(space).unwrap_or((&taken, &[]));
        if value.is_empty() {
            self.mode = Mode::End;
            return Ok(None);
        }
        let start = Position::at_offset(before, before.len()).within(self.position);
        let error = match json::read(value) {
            // A number out of range is reported when the document is decoded.
            Err(e) if !complete || e.kind != ErrorKind::NumberOutOfRange => e,
            _ => {
                let chunk = Chunk::new(value.to_vec(), start, Syntax::Json);
                self.values += 1;
                self.pass(&taken);
                return Ok(Some(chunk));
            }
        };
        let position = error.position.unwrap_or_default();
        let message = if error.kind == ErrorKind::UnexpectedEnd {
            "unexpected EOF".to_owned()
        } else {
            let offset = self.offset + space + position.offset(value) + 1;
            format!("json: offset {offset}: {}", error.message)
        };
        let error = Error::new(message, Some(position.within(start)));
        self.mode = Mode::Yaml;
        let certain = self.values > AMBIGUOUS;
        // White space up to the end of the line belongs to the preceding value.
        let line_end = before.iter().position(|c| *c == b'\n').map_or(space, |at| at + 1);
        let (passed, rest) = taken.split_at_checked(line_end).unwrap_or((&taken, &[]));
        self.pass(passed);
        self.input.push_back(rest.to_vec());
        if certain {
            let mut chunk = Chunk::new(Vec::new(), start, Syntax::Json);
            chunk.broken = Some(Broken::Syntax(error));
            return Ok(Some(chunk));
        }
        self.fallback = Some(error);
        Ok(None)
    }

    /// The next YAML document.
    fn next_yaml(&mut self) -> io::Result<Option<Chunk>> {
        let mut text = Vec::new();
        let mut start = self.position;
        loop {
            self.take_lines(&mut text)?;
            let line = text.len();
            let remaining = (self.limit + 1).saturating_sub(line) as u64;
            let count = (&mut self.input).take(remaining).read_until(b'\n', &mut text)?;
            if count == 0 && line <= self.limit {
                self.mode = Mode::End;
                return Ok((line > 0).then(|| self.chunk(text, start)));
            }
            let at = self.position;
            self.offset += count;
            let line_start = text.ends_with(b"\n");
            if line_start {
                self.position = Position { line: at.line + 1, column: 1 };
            }
            if text.len() > self.limit {
                self.mode = Mode::SkipYaml { line_start };
                self.broken = None;
                return Ok(Some(self.too_large(text, start, Syntax::Yaml)));
            }
            // Like Go's line reader: every line ends with `\n`, including the last one.
            if text.ends_with(b"\n") {
                text.pop();
                if text.last() == Some(&b'\r') {
                    text.pop();
                }
            }
            text.push(b'\n');
            let Some(tail) = text.get(line..).and_then(|l| l.strip_prefix(b"---")) else { continue };
            if at.column != 1 {
                continue;
            }
            let tail = String::from_utf8_lossy(tail).trim().to_owned();
            if !tail.is_empty() && !tail.starts_with('#') {
                if self.broken.is_none() {
                    let message = format!("invalid Yaml document separator: {tail}");
                    self.broken = Some(Error::new(message, Some(at)).of_kind(ErrorKind::Separator));
                }
            } else if line > 0 {
                text.truncate(line);
                return Ok(Some(self.chunk(text, start)));
            } else {
                start = at;
            }
        }
    }

    /// Takes the buffered lines up to the first that may be a separator or ends with a carriage return. This only saves
    /// time.
    fn take_lines(&mut self, text: &mut Vec<u8>) -> io::Result<()> {
        if self.position.column != 1 {
            return Ok(());
        }
        let buffer = match self.input.fill_buf() {
            // Reading a line tries again.
            Err(e) if e.kind() == io::ErrorKind::Interrupted => return Ok(()),
            buffer => buffer?,
        };
        // A short piece, because a carriage return or a separator may follow on each line.
        let room = self.limit.saturating_sub(text.len()).min(LINES);
        let buffer = buffer.get(..room).unwrap_or(buffer);
        if buffer.starts_with(b"-") {
            return Ok(());
        }
        let separator = self.separator.find(buffer).unwrap_or(buffer.len());
        let carriage_return = memchr::memchr(b'\r', buffer.get(..separator).unwrap_or_default()).unwrap_or(separator);
        // The line break before a separator belongs to the last line.
        let piece = buffer.get(..=carriage_return).unwrap_or(buffer);
        let count = memchr::memrchr(b'\n', piece).map_or(0, |at| at + 1);
        let lines = piece.get(..count).unwrap_or_default();
        // With room for the line that follows, which is usually a separator.
        text.reserve(count + SHORT_LINE);
        text.extend_from_slice(lines);
        self.offset += count;
        self.position.line += memchr::memchr_iter(b'\n', lines).count();
        self.input.consume(count);
        Ok(())
    }

    fn chunk(&mut self, text: Vec<u8>, start: Position) -> Chunk {
        let (fallback, broken) = (self.fallback.take(), self.broken.take().map(Broken::Syntax));
        Chunk { fallback, broken, ..Chunk::new(text, start, Syntax::Yaml) }
    }

    /// A chunk for a document that is too large; only its beginning is kept.
    fn too_large(&mut self, mut text: Vec<u8>, start: Position, syntax: Syntax) -> Chunk {
        text.truncate(KEPT);
        text.shrink_to_fit();
        self.fallback = None;
        let error = Error::new(format!("the document is larger than {}", size(self.limit)), Some(start));
        Chunk { broken: Some(Broken::TooLarge(error)), ..Chunk::new(text, start, syntax) }
    }

    /// Continues after a JSON value that is too large.
    fn skip_json(&mut self, mut scanner: JsonScanner) -> io::Result<Option<Chunk>> {
        let (position, offset) = (&mut self.position, &mut self.offset);
        let end = scanner.read(&mut self.input, self.limit, |bytes| {
            *position = Position::at_offset(bytes, bytes.len()).within(*position);
            *offset += bytes.len();
        })?;
        self.mode = if end.is_some() { Mode::Json } else { Mode::End };
        self.values += 1;
        Ok(end.is_none().then(|| self.without_end(Syntax::Json)))
    }

    /// Continues after a YAML document that is too large.
    fn skip_yaml(&mut self, mut line_start: bool) -> io::Result<Option<Chunk>> {
        let mut piece = Vec::new();
        let mut left = self.limit;
        loop {
            piece.clear();
            let count = (&mut self.input).take(PIECE).read_until(b'\n', &mut piece)?;
            if count == 0 {
                self.mode = Mode::End;
                return Ok(None);
            }
            self.offset += count;
            let line_end = piece.ends_with(b"\n");
            if line_end {
                self.position = Position { line: self.position.line + 1, column: 1 };
            }
            if line_start && line_end && is_separator(&piece) {
                self.mode = Mode::Yaml;
                return Ok(None);
            }
            line_start = line_end;
            left = left.saturating_sub(count);
            if left == 0 {
                self.mode = Mode::End;
                return Ok(Some(self.without_end(Syntax::Yaml)));
            }
        }
    }

    /// A chunk for the rest of a stream in which no end of a document was found.
    fn without_end(&self, syntax: Syntax) -> Chunk {
        let message = format!("the document does not end within another {}: the rest is not read", size(self.limit));
        let mut chunk = Chunk::new(Vec::new(), self.position, syntax);
        chunk.broken = Some(Broken::TooLarge(Error::new(message, Some(self.position))));
        chunk
    }
}

impl<R: Read> Iterator for Chunks<R> {
    type Item = io::Result<Chunk>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let found = match self.mode {
                Mode::Unknown => self.guess().map(|()| None),
                Mode::Json => self.next_json(),
                Mode::Yaml => self.next_yaml(),
                Mode::SkipJson(scanner) => self.skip_json(scanner),
                Mode::SkipYaml { line_start } => self.skip_yaml(line_start),
                Mode::End => return None,
            };
            match found {
                Ok(None) => {}
                Ok(Some(chunk)) => return Some(Ok(chunk)),
                Err(e) => {
                    self.mode = Mode::End;
                    return Some(Err(e));
                }
            }
        }
    }
}

/// Returns true if a line separates two documents: `---`, followed by nothing but a comment.
fn is_separator(line: &[u8]) -> bool {
    let tail = line.strip_prefix(b"---").map(<[u8]>::trim_ascii);
    tail.is_some_and(|tail| tail.is_empty() || tail.starts_with(b"#"))
}

/// Formats a size in bytes for humans.
fn size(bytes: usize) -> String {
    match bytes >> 20 {
        0 => format!("{bytes} bytes"),
        mib => format!("{mib} MiB"),
    }
}

/// Finds the end of a JSON value, including preceding white space.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct JsonScanner {
    depth: usize,
    in_string: bool,
    escaped: bool,
    in_word: bool,
    has_started: bool,
}

impl JsonScanner {
    /// Passes the bytes of the value to `take`, at most `limit` bytes. Returns true if the value is complete, and
    /// `None` if the limit was reached before its end.
    fn read(
        &mut self,
        input: &mut impl BufRead,
        limit: usize,
        mut take: impl FnMut(&[u8]),
    ) -> io::Result<Option<bool>> {
        let mut left = limit;
        loop {
            let buffer = match input.fill_buf() {
                Ok(buffer) => buffer,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                Err(e) => return Err(e),
            };
            if buffer.is_empty() {
                return Ok(Some(self.in_word));
            }
            if left == 0 {
                return Ok(None);
            }
            let buffer = buffer.get(..left).unwrap_or(buffer);
            let end = self.end(buffer);
            let count = end.unwrap_or(buffer.len());
            take(buffer.get(..count).unwrap_or_default());
            input.consume(count);
            if end.is_some() {
                return Ok(Some(true));
            }
            left -= count;
        }
    }

    /// The end of the value in `buffer`, the next bytes of the input.
    fn end(&mut self, buffer: &[u8]) -> Option<usize> {
        for (i, c) in buffer.iter().enumerate() {
            if self.in_string {
                match c {
                    _ if self.escaped => self.escaped = false,
                    b'\\' => self.escaped = true,
                    b'"' => self.in_string = false,
                    _ => {}
                }
            } else {
                let is_word = matches!(c, b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'+' | b'.');
                match c {
                    b' ' | b'\t' | b'\r' | b'\n' if !self.has_started => continue,
                    b'"' if !(self.in_word && self.depth == 0) => self.in_string = true,
                    b'{' | b'[' if !(self.in_word && self.depth == 0) => self.depth += 1,
                    b'}' | b']' => self.depth = self.depth.saturating_sub(1),
                    _ if self.depth == 0 && (self.has_started || self.in_word) && !is_word => return Some(i),
                    _ => self.in_word = self.depth == 0,
                }
                if self.in_word && self.depth == 0 && !is_word && self.has_started {
                    return Some(i);
                }
                self.has_started = true;
            }
            if self.depth == 0 && !self.in_string && !self.in_word {
                return Some(i + 1);
            }
        }
        None
    }
}

/// A reader with a pushback buffer.
struct Pushback<R> {
    pushed: Vec<u8>,
    at: usize,
    inner: BufReader<R>,
}

impl<R: Read> Pushback<R> {
    /// Pushes back `bytes`, which are read next.
    fn push_back(&mut self, mut bytes: Vec<u8>) {
        bytes.extend_from_slice(self.pushed.get(self.at..).unwrap_or_default());
        self.pushed = bytes;
        self.at = 0;
    }
}

impl<R: Read> Read for Pushback<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let mut buffer = self.fill_buf()?;
        let count = buffer.read(out)?;
        self.consume(count);
        Ok(count)
    }
}

impl<R: Read> BufRead for Pushback<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        match self.pushed.get(self.at..) {
            Some(rest) if !rest.is_empty() => Ok(rest),
            _ => self.inner.fill_buf(),
        }
    }

    fn consume(&mut self, count: usize) {
        if self.at < self.pushed.len() {
            self.at += count;
            if self.at >= self.pushed.len() {
                self.pushed = Vec::new();
                self.at = 0;
            }
        } else {
            self.inner.consume(count);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_value::json::to_string;

    /// One line per chunk: its position, and its value or error.
    fn split(text: &str) -> Vec<String> {
        let show = |chunk: io::Result<Chunk>| {
            let chunk = chunk.unwrap();
            match chunk.read() {
                Ok(contents) => format!("{} {}", chunk.start, to_string(&contents.value)),
                Err(e) => format!("{} {}", e.position.unwrap_or_default(), e.message),
            }
        };
        Chunks::new(text.as_bytes()).map(show).collect()
    }

    #[test]
    fn a_text_with_the_kind_of_a_secret_names_one() {
        for text in [
            "kind: Secret",
            "a: 1\nkind:  \"Secret\"\n",
            r#"{"kind":"Secret"}"#,
            "'kind' : Secret # x",
            "kind: SecretList",
            "kind: Secret\n---\nkind: SecretStore",
        ] {
            assert!(names_secret(text.as_bytes()), "{text}");
        }
        for text in [
            "kind: SecretStore",
            "kind: SecretLists",
            "kind: ClusterSecret",
            "name: Secret",
            "Secret",
            "ind: Secret",
            "kind Secret",
        ] {
            assert!(!names_secret(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn yaml_is_split_at_separators() {
        assert_eq!(
            split("a: 1\r\n--- # x\r\nb: 2\r\n---\n---\n\nc: 3"),
            ["1:1 {\"a\":1}", "3:1 {\"b\":2}", "5:1 {\"c\":3}"]
        );
        assert_eq!(split("---\na: |\n  ---\n---\n"), ["1:1 {\"a\":\"---\\n\"}"]);
        assert_eq!(split(""), [""; 0]);
        assert_eq!(split("# nothing\n"), ["1:1 null"]);
        assert_eq!(split("---"), ["1:1 null"]);
    }

    #[test]
    fn numbers_in_json_are_read_as_kubectl_writes_them() {
        let numbers = |list: &str| split(&format!("{{\"a\":[{list}]}}"));
        assert_eq!(numbers("1.0,-0.0,-0,1e3,1.5"), ["1:1 {\"a\":[1,0,0,1000,1.5]}"]);
        assert_eq!(
            numbers("9223372036854775808,1e18,1E25"),
            ["1:1 {\"a\":[9223372036854776000,1000000000000000000,1e+25]}"]
        );
    }

    #[test]
    fn an_invalid_document_does_not_affect_the_others() {
        assert_eq!(
            split("a: 1\n---\n  b: {\n---\nc: 3\n--- d\n---\ne: 5"),
            [
                "1:1 {\"a\":1}",
                "4:1 error converting YAML to JSON: yaml: line 1: did not find expected node content",
                "6:1 invalid Yaml document separator: d",
                "8:1 {\"e\":5}",
            ]
        );
        assert_eq!(split("a: \u{1}\n---\nb: 2")[1], "3:1 {\"b\":2}");
    }

    /// Like [`split`], with a limit of 40 bytes.
    fn split_small(text: &str) -> Vec<String> {
        let show = |chunk: io::Result<Chunk>| {
            let chunk = chunk.unwrap();
            assert!(chunk.text.len() <= 41, "{} bytes are kept", chunk.text.len());
            match chunk.read() {
                Ok(contents) => format!("{} {}", chunk.start, to_string(&contents.value)),
                Err(e) => format!("{} {} {}", e.position.unwrap_or_default(), chunk.is_too_large(), e.message),
            }
        };
        Chunks::with_limit(text.as_bytes(), 40).map(show).collect()
    }

    #[test]
    fn a_document_over_the_limit_is_an_error_and_the_others_are_read() {
        let lines = "b: 1\n".repeat(9);
        let long = "x".repeat(70);
        let too_large = "true the document is larger than 40 bytes";
        assert_eq!(
            split_small(&format!("a: 1\n---\n{lines}--- # next\nc: 3\n")),
            ["1:1 {\"a\":1}".to_owned(), format!("3:1 {too_large}"), "13:1 {\"c\":3}".to_owned()]
        );
        assert_eq!(
            split_small(&format!("a: {long}\n---\nc: 3\n")),
            [format!("1:1 {too_large}"), "3:1 {\"c\":3}".into()]
        );
        assert_eq!(
            split_small(&format!("# {long}\n---\nc: 3\n")),
            [format!("1:1 {too_large}"), "3:1 {\"c\":3}".into()]
        );
        assert_eq!(
            split_small(&format!("{{\"a\": 1}}\n{{\"a\": \"{long}\"}}\n{{\"b\": 2}}")),
            ["1:1 {\"a\":1}".to_owned(), format!("2:1 {too_large}"), "3:1 {\"b\":2}".to_owned()]
        );
        // A document of exactly the maximum size is decoded.
        assert_eq!(split_small(&format!("a: {}\n", "x".repeat(36))), [format!("1:1 {{\"a\":\"{}\"}}", "x".repeat(36))]);
    }

    #[test]
    fn an_endless_stream_ends_in_bounded_memory() {
        for endless in
            ["\0", "x", "# a comment\n", "a: 1\n", "{\"a\": [", "{\"a\": \"", "{}                                 "]
        {
            let bytes = endless.as_bytes().iter().copied().cycle();
            let reader = Endless(bytes);
            let found: Vec<String> = Chunks::with_limit(reader, 5000)
                .take(20_000)
                .filter_map(|chunk| chunk.unwrap().read().err().map(|e| e.message))
                .collect();
            let start = found.iter().position(|m| m == "the document is larger than 5000 bytes");
            let ends = "the document does not end within another 5000 bytes: the rest is not read";
            if endless.starts_with("{}") {
                assert_eq!(found, [""; 0], "{endless:?} is many documents");
            } else {
                assert_eq!((start, found.last().map(String::as_str)), (Some(0), Some(ends)), "{endless:?}: {found:?}");
            }
        }
    }

    struct Endless<I>(I);

    impl<I: Iterator<Item = u8>> Read for Endless<I> {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            Ok(out.iter_mut().zip(&mut self.0).map(|(to, byte)| *to = byte).count())
        }
    }

    #[test]
    fn json_values_follow_one_another() {
        assert_eq!(split(" {\"a\":\n1}{\"b\":\"}\"} {}\n"), ["1:2 {\"a\":1}", "2:3 {\"b\":\"}\"}", "2:13 {}"]);
        assert_eq!(split("{}5[1]\"x\" true"), ["1:1 {}", "1:3 5", "1:4 [1]", "1:7 \"x\"", "1:11 true"]);
    }

    #[test]
    fn invalid_json_is_decoded_as_yaml() {
        assert_eq!(split("{\"a\":1}\n---\n{b: 2}\n---\nc: 3"), ["1:1 {\"a\":1}", "2:1 {\"b\":2}", "5:1 {\"c\":3}"]);
        assert_eq!(split("{a: 1}\n---\nb: 2"), ["1:1 {\"a\":1}", "3:1 {\"b\":2}"]);
        assert_eq!(
            split("{a: 1, b"),
            ["1:2 json: offset 2: invalid character 'a' looking for beginning of object key string"]
        );
        assert_eq!(split("{\"a\":1"), ["1:7 unexpected EOF"]);
        assert_eq!(
            split("{} {}\n---\na: 1"),
            ["1:1 {}", "1:4 {}", "2:2 json: offset 8: invalid character '-' in numeric literal", "2:1 {\"a\":1}",]
        );
    }
}
