//! A stream of documents, as kubectl splits it (`YAMLOrJSONDecoder` of `k8s.io/apimachinery/pkg/util/yaml`).
//!
//! A stream that begins with `{` is read as JSON values one after another. Where that fails before the third value, the
//! rest is read as YAML, whose documents are separated by lines that begin with `---`. What surprises: such a line may
//! hold nothing else but a comment, wherever it stands (`--- x` and `-----BEGIN` are errors even inside a text), and of
//! what `...` ends nothing more is read.
//!
//! Where kubectl gives up, this goes on: what is wrong is one [`Chunk`] with an error, the others still come.

use super::yaml::Duplicate;
use super::{Error, Position, Syntax, json, looks_like_json, yaml};
use crate::value::Value;
use std::io::{self, BufRead, BufReader, Read};

/// How far a stream is looked into for its first `{`.
const PEEK: usize = 4096;
/// A stream with more JSON values than this stays JSON.
const AMBIGUOUS: usize = 1;

/// The text of one document and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Chunk {
    /// The text; `\r\n` is made `\n`.
    pub text: Vec<u8>,
    /// Where it begins in its source.
    pub start: Position,
    /// What it is read as.
    pub syntax: Syntax,
    /// What is told if it cannot be read as YAML, because JSON was tried first.
    fallback: Option<Error>,
    /// Why it is no document at all.
    broken: Option<Error>,
}

/// What a document holds. Places are those of the source.
#[derive(Clone, Debug, PartialEq)]
pub struct Contents {
    /// Its value.
    pub value: Value,
    /// Keys that are there twice in one mapping: the last one counts, silently.
    pub duplicates: Vec<Duplicate>,
    /// Where another document begins in the same chunk, which is ignored.
    pub rest: Option<Position>,
}

impl Chunk {
    /// A chunk of its own.
    pub fn new(text: Vec<u8>, start: Position, syntax: Syntax) -> Self {
        Self { text, start, syntax, fallback: None, broken: None }
    }

    /// Reads the document. Errors have the words of kubectl (`error converting YAML to JSON: yaml: line 2: …`), whose line
    /// numbers count from the begin of the document, and their place in the source.
    pub fn read(&self) -> Result<Contents, Error> {
        if let Some(error) = &self.broken {
            return Err(error.clone());
        }
        let at = |position: Position| position.within(self.start);
        match self.syntax {
            Syntax::Json => match json::read_strict(&self.text) {
                Ok(strict) => {
                    let duplicates = if strict.errors.is_empty() {
                        Vec::new()
                    } else {
                        super::spans::Spans::of(&self.text, Syntax::Json).duplicates(&strict.errors)
                    };
                    let duplicates = duplicates.into_iter().map(|d| d.within(self.start)).collect();
                    Ok(Contents { value: strict.value, duplicates, rest: None })
                }
                Err(e) => Err(Error { message: e.message, position: e.position.map(at) }),
            },
            Syntax::Yaml => match yaml::read_strict(&self.text) {
                Ok(strict) => {
                    let duplicates = strict.duplicates.into_iter().map(|d| d.within(self.start)).collect();
                    Ok(Contents { value: strict.value, duplicates, rest: strict.rest.map(at) })
                }
                Err(e) => Err(self.fallback.clone().unwrap_or_else(|| Error {
                    message: format!("error converting YAML to JSON: {}", e.message),
                    position: e.position.map(at),
                })),
            },
        }
    }
}

/// Splits a stream into chunks; holds one at a time.
pub struct Chunks<R> {
    input: Pushback<R>,
    /// The place of the next byte.
    place: Position,
    mode: Mode,
    /// How many JSON values came.
    values: usize,
    /// The offset of the next byte.
    offset: usize,
    /// What made JSON end.
    fallback: Option<Error>,
    /// The text behind an invalid separator.
    broken: Option<Error>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Unknown,
    Json,
    Yaml,
    End,
}

impl<R: Read> Chunks<R> {
    /// Splits what `reader` gives.
    pub fn new(reader: R) -> Self {
        Self {
            input: Pushback { pushed: Vec::new(), at: 0, inner: BufReader::with_capacity(1 << 16, reader) },
            place: Position { line: 1, column: 1 },
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

    /// Goes over `bytes`.
    fn pass(&mut self, bytes: &[u8]) {
        let end = Position::of(bytes, bytes.len());
        self.place = end.within(self.place);
        self.offset += bytes.len();
    }

    /// The next JSON value. `None`: there is none, or the rest is YAML.
    fn next_json(&mut self) -> io::Result<Option<Chunk>> {
        let mut taken = Vec::new();
        let complete = read_json_value(&mut self.input, &mut taken)?;
        let space = taken.iter().take_while(|c| matches!(c, b' ' | b'\t' | b'\r' | b'\n')).count();
        let (before, value) = taken.split_at_checked(space).unwrap_or((&taken, &[]));
        if value.is_empty() {
            self.mode = Mode::End;
            return Ok(None);
        }
        let start = Position::of(before, before.len()).within(self.place);
        let error = match json::read(value) {
            // A number out of range is told when the document is read.
            Err(e) if !complete || !e.message.starts_with("json: ") => e,
            _ => {
                let chunk = Chunk::new(value.to_vec(), start, Syntax::Json);
                self.values += 1;
                self.pass(&taken);
                return Ok(Some(chunk));
            }
        };
        let position = error.position.unwrap_or_default();
        let message = if error.message == "unexpected end of JSON input" {
            "unexpected EOF".to_owned()
        } else {
            let offset = self.offset + space + position.offset(value) + 1;
            format!("json: offset {offset}: {}", error.message)
        };
        let error = Error::new(message, Some(position.within(start)));
        self.mode = Mode::Yaml;
        let certain = self.values > AMBIGUOUS;
        // White space up to the end of the line belongs to the value before.
        let line_end = before.iter().position(|c| *c == b'\n').map_or(space, |at| at + 1);
        let (passed, rest) = taken.split_at_checked(line_end).unwrap_or((&taken, &[]));
        self.pass(passed);
        self.input.push_back(rest.to_vec());
        if certain {
            let mut chunk = Chunk::new(Vec::new(), start, Syntax::Json);
            chunk.broken = Some(error);
            return Ok(Some(chunk));
        }
        self.fallback = Some(error);
        Ok(None)
    }

    /// The next YAML document.
    fn next_yaml(&mut self) -> io::Result<Option<Chunk>> {
        let mut text = Vec::new();
        let mut start = self.place;
        loop {
            let line = text.len();
            let count = self.input.read_until(b'\n', &mut text)?;
            if count == 0 {
                self.mode = Mode::End;
                return Ok((line > 0).then(|| self.chunk(text, start)));
            }
            let at = self.place;
            self.offset += count;
            self.place = Position { line: at.line + 1, column: 1 };
            // Go's line reader: each line ends with `\n`, the last one too.
            if text.ends_with(b"\n") {
                text.pop();
                if text.last() == Some(&b'\r') {
                    text.pop();
                }
            }
            text.push(b'\n');
            let Some(behind) = text.get(line..).and_then(|l| l.strip_prefix(b"---")) else { continue };
            if at.column != 1 {
                continue;
            }
            let behind = String::from_utf8_lossy(behind).trim().to_owned();
            if !behind.is_empty() && !behind.starts_with('#') {
                if self.broken.is_none() {
                    let message = format!("invalid Yaml document separator: {behind}");
                    self.broken = Some(Error::new(message, Some(at)));
                }
            } else if line > 0 {
                text.truncate(line);
                return Ok(Some(self.chunk(text, start)));
            } else {
                start = at;
            }
        }
    }

    fn chunk(&mut self, text: Vec<u8>, start: Position) -> Chunk {
        let (fallback, broken) = (self.fallback.take(), self.broken.take());
        Chunk { text, start, syntax: Syntax::Yaml, fallback, broken }
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

/// Appends white space and the bytes of one JSON value to `out`; whether the value was complete.
fn read_json_value(input: &mut impl BufRead, out: &mut Vec<u8>) -> io::Result<bool> {
    let mut depth = 0usize;
    let (mut in_string, mut escaped, mut in_word, mut begun) = (false, false, false, false);
    loop {
        let buffer = match input.fill_buf() {
            Ok(buffer) => buffer,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            Err(e) => return Err(e),
        };
        if buffer.is_empty() {
            return Ok(in_word);
        }
        let mut end = None;
        for (i, c) in buffer.iter().enumerate() {
            if in_string {
                match c {
                    _ if escaped => escaped = false,
                    b'\\' => escaped = true,
                    b'"' => in_string = false,
                    _ => {}
                }
            } else {
                let is_word = matches!(c, b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'+' | b'.');
                match c {
                    b' ' | b'\t' | b'\r' | b'\n' if !begun => continue,
                    b'"' if !(in_word && depth == 0) => in_string = true,
                    b'{' | b'[' if !(in_word && depth == 0) => depth += 1,
                    b'}' | b']' => depth = depth.saturating_sub(1),
                    _ if depth == 0 && begun && !is_word => {
                        end = Some(i);
                        break;
                    }
                    _ if depth == 0 && in_word && !is_word => {
                        end = Some(i);
                        break;
                    }
                    _ => in_word = depth == 0,
                }
                if in_word && depth == 0 && !is_word && begun {
                    end = Some(i);
                    break;
                }
                begun = true;
            }
            if depth == 0 && !in_string && !in_word {
                end = Some(i + 1);
                break;
            }
        }
        let count = end.unwrap_or(buffer.len());
        out.extend_from_slice(buffer.get(..count).unwrap_or_default());
        input.consume(count);
        if end.is_some() {
            return Ok(true);
        }
    }
}

/// A reader to which bytes can be given back.
struct Pushback<R> {
    pushed: Vec<u8>,
    at: usize,
    inner: BufReader<R>,
}

impl<R: Read> Pushback<R> {
    /// `bytes` come next.
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
    use crate::value::json::to_string;

    /// One line per chunk: its place, and its value or error.
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
    fn other_documents_survive_a_bad_one() {
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

    #[test]
    fn json_values_follow_one_another() {
        assert_eq!(split(" {\"a\":\n1}{\"b\":\"}\"} {}\n"), ["1:2 {\"a\":1}", "2:3 {\"b\":\"}\"}", "2:13 {}"]);
        assert_eq!(split("{}5[1]\"x\" true"), ["1:1 {}", "1:3 5", "1:4 [1]", "1:7 \"x\"", "1:11 true"]);
    }

    #[test]
    fn json_gives_way_to_yaml() {
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
