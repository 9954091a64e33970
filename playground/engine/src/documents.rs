//! The texts of the page: their documents, and the places of fields in them.

use crate::messages;
use crdx_engine::documents::manifest_path;
use crdx_text::Position;
use crdx_text::documents::{Chunk, Chunks};
use crdx_text::spans::{Cache, Found, PathStep, Spans};
use crdx_value::field::NIL_PATH;
use crdx_value::{Value, object};
use std::ops::Range;

/// A text of the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pane {
    /// The CRDs.
    Definitions,
    /// The object of the request.
    Object,
    /// The object that exists.
    OldObject,
    /// Admission policies.
    Policies,
}

impl Pane {
    /// The pane in requests and answers.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Definitions => "crd",
            Self::Object => "object",
            Self::OldObject => "oldObject",
            Self::Policies => "policies",
        }
    }

    /// The name of the pane in messages.
    pub fn title(self) -> &'static str {
        match self {
            Self::Definitions => "CustomResourceDefinition",
            Self::Object => "object",
            Self::OldObject => "stored object",
            Self::Policies => "admission policies",
        }
    }
}

/// The severity of a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// The server refuses the request because of it.
    Error,
    /// The server warns of it, or it is worth knowing.
    Warning,
}

/// A message about a text of the page.
#[derive(Clone, Debug)]
pub struct Problem {
    /// The text.
    pub pane: Pane,
    /// The severity.
    pub severity: Severity,
    /// The message.
    pub message: String,
    /// The path of the field; may be empty.
    pub field: String,
    /// True if the server does not know the field and drops it, or refuses the request because of it.
    pub is_dropped: bool,
    /// A suggestion, such as a field with a similar name; may be empty.
    pub help: String,
    /// The place, if it is known: from the first character to the one after the last.
    pub range: Option<(Place, Place)>,
}

/// A place in a text. Both numbers start at 1; the column counts UTF-16 code units, as JavaScript does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    line: usize,
    column: usize,
}

impl Place {
    /// The place in an answer.
    pub fn to_value(self) -> Value {
        object([("line", self.line as i64), ("column", self.column as i64)])
    }
}

impl Problem {
    /// Returns true for an unknown field that the server refuses because the request has the level `Strict`.
    pub fn is_of_strict_decoding(&self) -> bool {
        self.severity == Severity::Error && messages::unknown_field(&self.message).is_some()
    }

    /// The problem in an answer.
    pub fn to_value(&self) -> Value {
        let severity = match self.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        let mut members: Vec<(&str, Value)> = vec![
            ("pane", self.pane.as_str().into()),
            ("severity", severity.into()),
            ("message", self.message.clone().into()),
            ("field", self.field.clone().into()),
        ];
        if !self.help.is_empty() {
            members.push(("help", self.help.clone().into()));
        }
        if let Some((from, to)) = self.range {
            members.extend([("from", from.to_value()), ("to", to.to_value())]);
        }
        object(members)
    }
}

/// A document of a text.
#[derive(Debug)]
pub struct Document {
    /// The text that it belongs to.
    pub pane: Pane,
    /// The object.
    pub value: Value,
    chunk: Chunk,
    spans: Cache,
}

/// Reads the documents of a text. Documents that cannot be read, and duplicate keys, are problems.
pub fn read(pane: Pane, text: &str, problems: &mut Vec<Problem>) -> Vec<Document> {
    let mut documents = Vec::new();
    let mut problem = |severity, message: String, position: Option<Position>| {
        let range = position.map(|position| to_end_of_line(text, position));
        problems.push(Problem {
            pane,
            severity,
            message,
            field: String::new(),
            is_dropped: false,
            help: String::new(),
            range,
        });
    };
    for chunk in Chunks::new(text.as_bytes()) {
        // Reading from memory does not fail.
        let Ok(chunk) = chunk else { break };
        match chunk.read() {
            Ok(contents) => {
                for duplicate in contents.duplicates {
                    problem(Severity::Warning, duplicate.message, Some(duplicate.second));
                }
                if let Some(rest) = contents.rest {
                    let message = "the server ignores what follows: separate documents with a line `---`".to_owned();
                    problem(Severity::Warning, message, Some(rest));
                }
                if !contents.value.is_null() {
                    documents.push(Document { pane, value: contents.value, chunk, spans: Cache::default() });
                }
            }
            Err(error) => problem(Severity::Error, error.message, error.position),
        }
    }
    documents
}

impl Document {
    /// A problem of the field at a path of the server.
    pub fn problem(&self, text: &str, severity: Severity, message: impl Into<String>, field: &str) -> Problem {
        self.at(text, severity, message.into(), field, false)
    }

    /// A problem of a field that the server does not know.
    pub fn problem_of_unknown_field(
        &self,
        text: &str,
        severity: Severity,
        message: impl Into<String>,
        field: &str,
    ) -> Problem {
        Problem { is_dropped: true, ..self.problem_of_name(text, severity, message, field) }
    }

    /// Like [`Self::problem`], but about the name of the field.
    pub fn problem_of_name(&self, text: &str, severity: Severity, message: impl Into<String>, field: &str) -> Problem {
        self.at(text, severity, message.into(), field, true)
    }

    fn at(&self, text: &str, severity: Severity, message: String, field: &str, is_name: bool) -> Problem {
        let range = (!field.is_empty() && field != NIL_PATH).then(|| self.range(text, field, is_name));
        let (pane, field) = (self.pane, field.to_owned());
        Problem { pane, severity, message, field, is_dropped: false, help: String::new(), range }
    }

    /// Returns true for a CRD.
    pub fn is_definition(&self) -> bool {
        self.value.str_at(&["kind"]) == Some("CustomResourceDefinition")
    }

    fn spans(&self) -> Spans<'_> {
        Spans::cached(&self.chunk.text, self.chunk.syntax, &self.spans)
    }

    fn range(&self, text: &str, field: &str, is_name: bool) -> (Place, Place) {
        let path = if self.is_definition() { manifest_path::of_internal(field) } else { field.into() };
        let Found { key, value, exact } = self.spans().locate(&path);
        let has_lines = self.chunk.text.get(value.range.clone()).unwrap_or_default().trim_ascii_end().contains(&b'\n');
        let range = match key {
            // The key of a missing field's parent, or of a value with several lines.
            Some(key) if is_name || has_lines || !exact => key.range,
            _ if has_lines => return to_end_of_line(text, value.start.within(self.chunk.start)),
            _ => value.range,
        };
        let start = self.chunk.start.offset(text.as_bytes());
        (place(text, start + range.start), place(text, start + range.end))
    }

    /// The value of the field at a path of the server, if the document has it.
    pub fn field(&self, path: &str) -> Option<&Value> {
        self.steps(path)?.iter().try_fold(&self.value, below)
    }

    /// The steps to the field at a path of the server, if the document has it.
    pub fn steps(&self, path: &str) -> Option<Vec<PathStep>> {
        let spans = self.spans();
        let found = spans.locate(path);
        let start = found.key.as_ref().map_or(found.value.range.start, |key| key.range.start);
        found.exact.then(|| spans.path_at(start))
    }
}

/// The value one step below another.
pub fn below<'a>(value: &'a Value, step: &PathStep) -> Option<&'a Value> {
    match (step, value) {
        (PathStep::Member(name), value) => value.get(name),
        (PathStep::Item(index), Value::Array(items)) => items.get(*index),
        (PathStep::Item(_), _) => None,
    }
}

/// The range from a position to the end of its line.
fn to_end_of_line(text: &str, position: Position) -> (Place, Place) {
    let start = position.offset(text.as_bytes());
    let line = text.get(start..).unwrap_or_default().lines().next().unwrap_or_default();
    (place(text, start), place(text, start + line.trim_end().len()))
}

/// The place of a byte.
fn place(text: &str, offset: usize) -> Place {
    let before = text.get(..offset).unwrap_or(text);
    let line = before.rsplit('\n').next().unwrap_or_default();
    Place { line: before.matches('\n').count() + 1, column: line.encode_utf16().count() + 1 }
}

/// The numbers of the first and the last line of a range, from 1.
pub fn lines(text: &str, range: Range<usize>) -> (usize, usize) {
    let content = text.get(range.clone()).unwrap_or_default().trim_end();
    let first = place(text, range.start).line;
    (first, first + content.matches('\n').count())
}

/// A list of texts.
pub fn texts(texts: &[String]) -> Value {
    Value::Array(texts.iter().map(|text| text.as_str().into()).collect())
}
