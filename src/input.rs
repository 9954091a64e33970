//! Files, directories and standard input to documents, one at a time.
//!
//! As kubectl does: directories give their `.json`, `.yaml` and `.yml` files in order (`-R` those below them too), `-` is
//! standard input, a list gives its items. Unlike kubectl, what cannot be read is an [`Entry::Problem`] and the rest still
//! comes.

pub mod files;
pub mod held;
pub mod required;
pub mod shelf;
pub mod spool;
pub mod watch;

use crate::crd;
use crate::text::Position;
use crate::text::documents::{Chunk, Chunks};
use crate::text::spans::{Cache, Found, Spans};
use crate::value::Value;
use files::Source;
use std::collections::VecDeque;
use std::io::Read;
use std::sync::Arc;

/// What the input holds, in order.
#[derive(Debug)]
pub enum Entry {
    /// An object to look at.
    Document(Document),
    /// Something kubectl passes over in silence.
    Warning(Note),
    /// Something that could not be read.
    Problem(Note),
}

/// A message about the input.
#[derive(Clone, Debug, PartialEq)]
pub struct Note {
    /// The file, or `-`.
    pub source: Arc<str>,
    /// Where, if it is about a place.
    pub position: Option<Position>,
    /// What.
    pub message: String,
    /// What to do about it, if that is known.
    pub hint: Option<String>,
    /// The text in which the place is.
    pub chunk: Option<Arc<Chunk>>,
}

impl Note {
    /// The message for output without source lines: behind its position if it has one, with the hint on a line of its own.
    pub fn text(&self) -> String {
        let place = self.position.map_or_else(String::new, |at| format!("{}:{at}: ", self.source));
        let help = self.hint.as_ref().map_or_else(String::new, |hint| format!("\nhelp: {hint}"));
        format!("{place}{}{help}", self.message)
    }
}

/// An object of the input and where it stands.
#[derive(Clone, Debug)]
pub struct Document {
    /// The file, or `-`.
    pub source: Arc<str>,
    /// The text it stands in; all items of a list share it.
    pub chunk: Arc<Chunk>,
    /// Its index, if it is an item of a list.
    pub item: Option<usize>,
    /// The object.
    pub value: Value,
    /// What is known of the places in the chunk, shared like it.
    cache: Arc<Cache>,
}

impl Document {
    /// Whether this is a CRD, of any version.
    pub fn is_definition(&self) -> bool {
        let group = self.value.str_at(&["apiVersion"]).and_then(|v| v.split_once('/')).map(|(group, _)| group);
        self.value.str_at(&["kind"]) == Some("CustomResourceDefinition") && group == Some(crd::GROUP)
    }

    /// Where it stands in its chunk: empty, or `items[3]`.
    pub fn prefix(&self) -> String {
        self.item.map_or_else(String::new, |i| format!("items[{i}]"))
    }

    /// The places of its fields.
    pub fn places(&self) -> Places<'_> {
        let spans = Spans::cached(&self.chunk.text, self.chunk.syntax, &self.cache);
        Places { spans, start: self.chunk.start, prefix: self.prefix() }
    }

    /// Where it begins in its source.
    pub fn position(&self) -> Position {
        match self.item {
            None => self.chunk.start,
            Some(_) => self.places().locate("").value.start,
        }
    }
}

/// Finds the places of a document's fields.
#[derive(Debug)]
pub struct Places<'a> {
    spans: Spans<'a>,
    start: Position,
    prefix: String,
}

impl Places<'_> {
    /// The field at a path of the server, or the nearest one around it. Positions are those of the source, ranges those of
    /// the chunk's text.
    pub fn locate(&self, path: &str) -> Found {
        let mut found = self.spans.locate_in(&self.prefix, if path == "<nil>" { "" } else { path });
        found.value.start = found.value.start.within(self.start);
        if let Some(key) = &mut found.key {
            key.start = key.start.within(self.start);
        }
        found
    }
}

type Reader = Box<dyn Read + Send>;

/// Everything in a number of sources.
pub struct Input {
    sources: VecDeque<Result<Source, Note>>,
    current: Option<(Arc<str>, Chunks<Reader>)>,
    /// What the current chunk still gives.
    ready: VecDeque<Entry>,
    items: Option<Items>,
    /// Whether the current source gave anything.
    found: bool,
}

/// The items of a list not yet given.
struct Items {
    source: Arc<str>,
    chunk: Arc<Chunk>,
    rest: std::iter::Enumerate<std::vec::IntoIter<Value>>,
    kind: String,
    api_version: String,
    cache: Arc<Cache>,
}

impl Input {
    /// What `-f` names: files, directories (with those below them if `recursive`) and `-`.
    pub fn open(paths: &[String], recursive: bool) -> Self {
        Self::of(files::expand(paths, recursive))
    }

    /// Documents of one reader.
    pub fn from_reader(name: &str, reader: Reader) -> Self {
        let mut input = Self::of(Vec::new());
        input.current = Some((name.into(), Chunks::new(reader)));
        input
    }

    fn of(sources: Vec<Result<Source, Note>>) -> Self {
        Self { sources: sources.into(), current: None, ready: VecDeque::new(), items: None, found: false }
    }

    fn read_chunk(&mut self, source: &Arc<str>, chunk: Chunk) {
        let chunk = Arc::new(chunk);
        match open_chunk(source, &chunk, &mut self.ready) {
            // What could not be read is told already.
            Opened::Nothing => self.found |= !self.ready.is_empty(),
            Opened::Object(value) => {
                self.found = true;
                let (source, chunk) = (Arc::clone(source), Arc::clone(&chunk));
                self.ready.push_back(Entry::Document(Document {
                    source,
                    chunk,
                    item: None,
                    value,
                    cache: Arc::default(),
                }));
            }
            Opened::List(items) => {
                self.found = true;
                self.items = Some(items);
            }
        }
    }
}

enum Opened {
    Nothing,
    Object(Value),
    List(Items),
}

/// Reads a chunk; warnings and problems go to `notes`.
fn open_chunk(source: &Arc<str>, chunk: &Arc<Chunk>, notes: &mut VecDeque<Entry>) -> Opened {
    let note = |position, message| Note {
        source: Arc::clone(source),
        position,
        message,
        hint: None,
        chunk: Some(Arc::clone(chunk)),
    };
    let contents = match chunk.read() {
        Ok(contents) => contents,
        Err(e) => {
            let hint = files::hint(&chunk.text, &e.message);
            notes.push_back(Entry::Problem(Note { hint, ..note(e.position, e.message) }));
            return Opened::Nothing;
        }
    };
    for duplicate in contents.duplicates {
        // The place of the message counts from the begin of the document; ours is that of the source.
        let what = duplicate.message.split_once(": ").filter(|_| duplicate.message.starts_with("line "));
        let what = what.map_or(duplicate.message.as_str(), |(_, what)| what);
        let message = format!("{what}: first at {}, and the last one counts", duplicate.first);
        notes.push_back(Entry::Warning(note(Some(duplicate.second), message)));
    }
    if contents.rest.is_some() {
        let message = "what follows the end of a document (`...`) is ignored, by kubectl too".to_owned();
        let hint = Some("begin the next document with a line `---`".to_owned());
        notes.push_back(Entry::Warning(Note { hint, ..note(contents.rest, message) }));
    }
    let mut value = contents.value;
    match &mut value {
        Value::Null => Opened::Nothing,
        Value::Object(members) if matches!(members.get("items"), Some(Value::Array(_))) => {
            let text = |name: &str| members.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
            let (kind, api_version) = (text("kind"), text("apiVersion"));
            let Some(Value::Array(items)) = members.remove("items") else { return Opened::Nothing };
            let rest = items.into_iter().enumerate();
            Opened::List(Items {
                source: Arc::clone(source),
                chunk: Arc::clone(chunk),
                rest,
                kind,
                api_version,
                cache: Arc::default(),
            })
        }
        _ => Opened::Object(value),
    }
}

impl Iterator for Items {
    type Item = Document;

    fn next(&mut self) -> Option<Document> {
        let (index, mut value) = self.rest.next()?;
        // Items of a typed list need not say what they are.
        if let Some(members) = value.as_object_mut() {
            let is_empty = |name| members.get(name).and_then(Value::as_str).unwrap_or_default().is_empty();
            if is_empty("kind") && is_empty("apiVersion") {
                let kind = self.kind.strip_suffix("List").unwrap_or(&self.kind);
                members.insert("kind".to_owned(), kind.into());
                members.insert("apiVersion".to_owned(), self.api_version.as_str().into());
            }
        }
        Some(Document {
            source: Arc::clone(&self.source),
            chunk: Arc::clone(&self.chunk),
            item: Some(index),
            value,
            cache: Arc::clone(&self.cache),
        })
    }
}

impl Iterator for Input {
    type Item = Entry;

    fn next(&mut self) -> Option<Entry> {
        loop {
            if let Some(entry) = self.ready.pop_front() {
                return Some(entry);
            }
            if let Some(items) = &mut self.items {
                match items.next() {
                    Some(document) => return Some(Entry::Document(document)),
                    None => self.items = None,
                }
            }
            if let Some((source, chunks)) = &mut self.current {
                let source = Arc::clone(source);
                match chunks.next() {
                    Some(Ok(chunk)) => self.read_chunk(&source, chunk),
                    Some(Err(e)) => {
                        self.current = None;
                        return Some(Entry::Problem(files::unreadable(&source, &e)));
                    }
                    None => {
                        self.current = None;
                        if !self.found && self.ready.is_empty() {
                            return Some(Entry::Warning(files::empty(&source)));
                        }
                    }
                }
                continue;
            }
            match self.sources.pop_front()? {
                Err(note) => return Some(Entry::Problem(note)),
                Ok(source) => match source.open() {
                    Ok(reader) => {
                        self.found = false;
                        self.current = Some((source.name(), Chunks::new(reader)));
                    }
                    Err(e) => return Some(Entry::Problem(files::unreadable(&source.name(), &e))),
                },
            }
        }
    }
}

/// Everything in one text.
#[cfg(test)]
pub(crate) fn documents(name: &str, text: &str) -> Vec<Entry> {
    Input::from_reader(name, Box::new(std::io::Cursor::new(text.to_owned()))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::json::to_string;

    fn show(entry: &Entry) -> String {
        let note = |kind: &str, n: &Note| format!("{kind} {} {}", n.position.unwrap_or_default(), n.message);
        match entry {
            Entry::Document(d) => format!("{} {} {}", d.position(), d.prefix(), to_string(&d.value)),
            Entry::Warning(n) => note("warning", n),
            Entry::Problem(n) => note("problem", n),
        }
    }

    fn read(text: &str) -> Vec<String> {
        documents("x.yaml", text).iter().map(show).collect()
    }

    #[test]
    fn documents_come_with_their_places() {
        let text = "---\na: 1\na: 2\n---\n# nothing\n---\n- {\n---\nb: 1\n...\nc: 1\n";
        assert_eq!(
            read(text),
            [
                "warning 3:1 key \"a\" already set in map: first at 2:1, and the last one counts",
                "1:1  {\"a\":2}",
                "problem 8:1 error converting YAML to JSON: yaml: line 1: did not find expected node content",
                "warning 10:1 what follows the end of a document (`...`) is ignored, by kubectl too",
                "9:1  {\"b\":1}",
            ]
        );
        let json = "{\"a\": 1,\n \"a\": 2}";
        assert_eq!(read(json)[0], "warning 2:2 duplicate field \"a\": first at 1:2, and the last one counts");
    }

    #[test]
    fn lists_are_unfolded() {
        let text =
            "x: 0\n---\nkind: FooList\napiVersion: a/v1\nitems:\n- {a: 1}\n- {kind: Bar, apiVersion: b/v1, a: 2}\n";
        assert_eq!(
            read(text)[1..],
            [
                "6:3 items[0] {\"a\":1,\"apiVersion\":\"a/v1\",\"kind\":\"Foo\"}",
                "7:3 items[1] {\"a\":2,\"apiVersion\":\"b/v1\",\"kind\":\"Bar\"}",
            ]
        );
        let entries = documents("x", text);
        let Entry::Document(second) = &entries[2] else { panic!() };
        assert_eq!(second.places().locate("a").value.start, Position { line: 7, column: 36 });
        assert_eq!(read("kind: List\nitems: []"), [""; 0]);
    }

    #[test]
    fn nothing_to_read_is_told() {
        assert_eq!(read("# only this\n"), ["warning 0:0 there is no object in x.yaml"]);
    }
}
