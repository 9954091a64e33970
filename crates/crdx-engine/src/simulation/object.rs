//! An input object before it is sent to the server.

use super::identity::FieldLocator;
use crate::documents::{Document, FieldPositions, InputEntry, Note, Stop, manifest_path};
use crate::kubectl::FieldValidation;
use crate::report::severity::{INPUT, JOINED_DOCUMENTS};
use crate::report::{Diagnostic, Identity, ObjectReport, ServerResponse, Severity, SourceLocation, Verdict};
use crdx_text::Syntax;
use crdx_value::Value;
use crdx_value::group_version;
use std::cell::{Cell, OnceCell, RefCell};
use std::sync::Arc;

const BAD_REQUEST: &str = "BadRequest";

/// The only served version of CRDs: kubectl sends no request for another one.
pub const CRD_API_VERSION: &str = "apiextensions.k8s.io/v1";

/// A group, version and kind.
pub type Kind = (String, String, String);

/// An input object with the warnings about its text.
#[derive(Clone, Debug)]
pub struct Object {
    /// The object and its source.
    pub document: Document,
    /// Warnings about input that kubectl accepts silently.
    pub warnings: Vec<Diagnostic>,
}

impl Object {
    /// Returns the parsed object.
    pub fn value(&self) -> &Value {
        &self.document.value
    }

    /// Moves the parsed object out. The source location is kept.
    pub fn take_value(&mut self) -> Value {
        std::mem::take(&mut self.document.value)
    }

    /// Moves a parsed CRD out. Its apiVersion and kind are kept, by which it is recognized.
    #[cfg(feature = "simulator")]
    pub(crate) fn take_definition(&mut self) -> Value {
        let member = |key: &str| Some((key.to_owned(), self.value().get(key)?.clone()));
        let kept = ["apiVersion", "kind"].into_iter().filter_map(member).collect();
        std::mem::replace(&mut self.document.value, Value::Object(kept))
    }

    /// Returns true if this is a CRD.
    pub fn is_definition(&self) -> bool {
        self.document.is_definition()
    }

    /// Returns true if this is an admission policy, a binding or a webhook configuration.
    pub fn is_policy(&self) -> bool {
        self.document.is_policy()
    }

    /// Returns the group, version and kind.
    ///
    /// # Errors
    /// Returns an item if kubectl would refuse to send the object because one of them is missing.
    pub fn kind(&self) -> Result<Kind, Box<ObjectReport>> {
        if self.value().as_object().is_none() {
            return Err(self.unfit("", "not an object"));
        }
        let text = |key: &str| match self.value().get(key) {
            None | Some(Value::Null) => Err(self.unfit("", &format!("no {key}"))),
            Some(Value::String(text)) if !text.is_empty() => Ok(text.as_str()),
            Some(Value::String(_)) => Err(self.unfit(key, &format!("{key} is empty"))),
            Some(_) => Err(self.unfit(key, &format!("{key} is not a string"))),
        };
        let kind = text("kind")?;
        let api_version = text("apiVersion")?;
        let (group, version) = group_version::split(api_version);
        if version.contains('/') {
            return Err(self.unfit("apiVersion", "apiVersion is not GROUP/VERSION"));
        }
        Ok((group.to_owned(), version.to_owned(), kind.to_owned()))
    }

    fn unfit(&self, field: &str, reason: &str) -> Box<ObjectReport> {
        let mut item = ObjectReport::new(self.finder().field(field), Verdict::CannotTell, reason);
        item.warnings.clone_from(&self.warnings);
        Box::new(item)
    }

    /// Returns an item whose verdict does not need the server.
    pub fn item(&mut self, identity: Identity, verdict: Verdict, reason: impl Into<String>) -> ObjectReport {
        let mut item = ObjectReport::new(self.finder().start(), verdict, reason);
        item.identity = identity;
        item.warnings = std::mem::take(&mut self.warnings);
        item
    }

    /// Creates a locator for at most [`MAX_FOUND`] fields, or for any number in a CRD, in which every node may have a
    /// rule.
    pub fn finder(&self) -> Finder<'_> {
        let most = if self.is_definition() { usize::MAX } else { MAX_FOUND };
        Finder { document: &self.document, positions: OnceCell::new(), left: Cell::new(most), last: RefCell::default() }
    }
}

/// Returns the object of an entry, or the item of a problem; `None` for a warning about the text of an object.
pub fn read(entry: InputEntry) -> Option<Result<Object, Box<ObjectReport>>> {
    match entry {
        InputEntry::Document(document) => Some(Ok(Object { document, warnings: Vec::new() })),
        InputEntry::Problem(note) => Some(Err(Box::new(problem(note)))),
        // A warning about a whole source means that it contains no object.
        InputEntry::Warning(note) if note.position.is_none() => Some(Err(Box::new(problem(note)))),
        InputEntry::Warning(_) => None,
    }
}

/// Returns the object of an entry, with its group, version and kind. Passes problems to `show`.
pub fn read_with_kind(entry: InputEntry, show: &mut dyn FnMut(ObjectReport)) -> Option<(Object, Kind)> {
    let problem = match read(entry)? {
        Ok(object) => match object.kind() {
            Ok(kind) => return Some((object, kind)),
            Err(item) => item,
        },
        Err(item) => item,
    };
    show(*problem);
    None
}

/// Returns the CRDs, policies, bindings and webhook configurations of an input, and the problems with it. `note` is called with every object.
pub fn lintable(
    entries: impl Iterator<Item = InputEntry>,
    note: &mut dyn FnMut(&Value),
) -> Vec<Result<Object, Box<ObjectReport>>> {
    let mut found = Vec::new();
    // The notes about the text of a document come before it.
    let mut notes = Vec::new();
    for entry in entries {
        match entry {
            InputEntry::Document(document) => {
                let warnings = std::mem::take(&mut notes);
                let warnings = warnings.iter().enumerate();
                let warnings = warnings.map(|(i, note)| warning(note, &document, i < MAX_FOUND)).collect();
                let object = Object { document, warnings };
                note(object.value());
                if object.is_definition() || object.is_policy() {
                    found.push(Ok(object));
                } else if let Err(item) = object.kind() {
                    found.push(Err(item));
                }
            }
            InputEntry::Problem(note) => found.push(Err(Box::new(unsent(note, FieldValidation::Strict)))),
            InputEntry::Warning(note) => notes.push(note),
        }
    }
    found
}

/// Returns the item of a problem with the input.
pub fn problem(note: Note) -> ObjectReport {
    let name = source(&note.source);
    let location = match (note.position, &note.chunk) {
        (Some(at), Some(chunk)) => SourceLocation::in_chunk(&name, chunk, at),
        (Some(at), None) => SourceLocation { line: at.line, column: at.column, ..SourceLocation::source(&name) },
        (None, Some(chunk)) => SourceLocation::line(&name, chunk.start.line),
        (None, None) => SourceLocation::source(&name),
    };
    let has_secret = note.chunk.as_ref().is_some_and(|chunk| chunk.names_secret());
    let location = if has_secret { location.without_excerpt() } else { location };
    let mut item = ObjectReport::new(location, Verdict::CannotTell, note.message);
    item.help = note.hint;
    item
}

/// Returns the item of a document that is sent and cannot be read: kubectl refuses it, unless its error is not known. `level` is
/// the field validation of the requests, which `kubectl --validate` sets, too.
pub fn unsent(note: Note, level: FieldValidation) -> ObjectReport {
    let is_validated = note.stop != Stop::IfValidated || level != FieldValidation::Ignore;
    let refusal = note.refusal.clone().filter(|_| is_validated);
    let mut item = problem(note);
    item.is_unsent = true;
    if let Some(message) = refusal {
        item.verdict = Verdict::Rejected;
        item.errors = vec![Diagnostic {
            kind: BAD_REQUEST.to_owned(),
            message: std::mem::take(&mut item.reason),
            location: Some(item.location.clone()),
            help: item.help.take(),
            ..Diagnostic::default()
        }];
        item.answer = Some(ServerResponse { code: 400, reason: BAD_REQUEST.to_owned(), message: message.into() });
    }
    item
}

/// Returns a warning about input that kubectl accepts silently. `shown` is true to include the source line, which must
/// be searched for.
pub fn warning(note: &Note, document: &Document, shown: bool) -> Diagnostic {
    let name = source(&note.source);
    let at = note.position.map(|at| match &document.chunk {
        chunk if shown && !document.hides_lines() => SourceLocation::in_chunk(&name, chunk, at),
        _ => SourceLocation { line: at.line, column: at.column, ..SourceLocation::source(&name) },
    });
    let kind = if note.is_joined { JOINED_DOCUMENTS } else { INPUT };
    Diagnostic {
        kind: kind.to_owned(),
        field: None,
        message: note.message.clone(),
        location: at,
        help: note.hint.clone().filter(|_| note.is_joined),
        severity: note.is_joined.then_some(Severity::Error),
        ..Diagnostic::default()
    }
}

/// Returns the display name of a source.
fn source(name: &Arc<str>) -> Arc<str> {
    if &**name == "-" { Arc::from("<stdin>") } else { Arc::clone(name) }
}

/// The maximum number of locations that are searched in one object.
pub const MAX_FOUND: usize = 1000;

/// Finds the fields of one object. The text is indexed on first use.
pub struct Finder<'a> {
    document: &'a Document,
    positions: OnceCell<FieldPositions<'a>>,
    left: Cell<usize>,
    /// The last field, because several messages are often about one.
    last: RefCell<Option<(String, bool, SourceLocation)>>,
}

impl FieldLocator for Finder<'_> {
    fn start(&self) -> SourceLocation {
        let chunk = &self.document.chunk;
        let name = source(&self.document.source);
        match self.document.item {
            None => SourceLocation::line(&name, chunk.start.line + lines_of_comment(&chunk.text)),
            Some(_) => SourceLocation::line(&name, self.document.position().line),
        }
        .made_from(self.document.origin.as_ref())
    }

    fn field(&self, path: &str) -> SourceLocation {
        self.find(path, false)
    }

    fn name(&self, path: &str) -> SourceLocation {
        self.find(path, true)
    }

    fn object(&self) -> Option<Value> {
        self.document.read_again()
    }

    fn text(&self) -> Option<(&[u8], Syntax)> {
        let chunk = &self.document.chunk;
        // The text of an encrypted object is not what is sent.
        let is_sent = self.document.item.is_none() && self.document.encrypted.is_empty();
        is_sent.then_some((chunk.text.as_slice(), chunk.syntax))
    }
}

impl Finder<'_> {
    fn find(&self, path: &str, is_name: bool) -> SourceLocation {
        if let Some((last, was_name, location)) = &*self.last.borrow()
            && last == path
            && *was_name == is_name
        {
            return location.clone();
        }
        let Document { source: name, chunk, .. } = self.document;
        let Some(left) = self.left.get().checked_sub(1) else { return SourceLocation::source(&source(name)) };
        self.left.set(left);
        let definition = self.document.value.str_at(&["apiVersion"]) == Some(CRD_API_VERSION);
        let in_manifest = if definition { manifest_path::of_internal(path) } else { path.into() };
        let found = self.positions.get_or_init(|| self.document.field_positions()).locate(&in_manifest);
        let span = found.shown(&chunk.text, is_name);
        let location = SourceLocation::part(&source(name), &chunk.text, chunk.start, span.start, span.range);
        let location = location.made_from(self.document.origin.as_ref());
        let location = if self.document.hides_lines() { location.without_excerpt() } else { location };
        *self.last.borrow_mut() = Some((path.to_owned(), is_name, location.clone()));
        location
    }
}

/// Counts the empty lines, comments and separators at the beginning.
fn lines_of_comment(text: &[u8]) -> usize {
    let empty = |line: &[u8]| {
        let line = line.trim_ascii();
        line.is_empty() || line.starts_with(b"#") || line == b"---" || line.starts_with(b"--- #")
    };
    let lines = text.split(|b| *b == b'\n');
    let count = lines.take_while(|line| empty(line)).count();
    if text.split(|b| *b == b'\n').nth(count).is_some() { count } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::documents;

    #[test]
    fn every_field_of_a_definition_has_a_line() {
        let properties: Vec<String> = (0..15_000).map(|i| format!("          p{i}: {{type: string}}")).collect();
        let head = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nspec:\n  versions:\n  - schema:\n      openAPIV3Schema:\n        properties:\n";
        let text = format!("{head}{}\n", properties.join("\n"));
        let Some(InputEntry::Document(document)) = documents::read("crd.yaml", &text).pop() else { panic!() };
        let object = Object { document, warnings: Vec::new() };
        let finder = object.finder();
        for i in 0..15_000 {
            let field = format!("spec.versions[0].schema.openAPIV3Schema.properties[p{i}].type");
            assert_eq!(finder.field(&field).line, 8 + i, "{field}");
        }
        assert_eq!(finder.name("kind").line, 2);
    }

    #[test]
    fn a_warning_belongs_to_the_document_that_follows() {
        let crd = |kind: &str| {
            format!("apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nkind: {kind}\nspec: {{}}\n")
        };
        let text = format!("{}---\n{}", crd("CustomResourceDefinition"), crd("Other"));
        let found = lintable(documents::read("crd.yaml", &text).into_iter(), &mut |_| {});
        let [Ok(object)] = found.as_slice() else { panic!("{found:?}") };
        let warnings: Vec<_> =
            object.warnings.iter().filter_map(|warning| Some(warning.location.as_ref()?.line)).collect();
        assert_eq!(warnings, [3]);
    }

    #[test]
    fn an_object_begins_behind_its_comments() {
        assert_eq!(lines_of_comment(b"---\n# x\n\na: 1\n# y\n"), 3);
        assert_eq!(lines_of_comment(b"a: 1"), 0);
        assert_eq!(lines_of_comment(b"# only"), 0);
    }
}
