//! The documents of an input: objects with their source text, and messages about what is not an object.
//!
//! [`SourceChunk`] is the text between two separators, [`lists`] reads lists as kubectl does, and [`manifest_path`] converts
//! paths in CRDs between the server's notation and manifests.

pub mod encrypted;
pub mod lists;
pub mod manifest_path;
pub mod refusal;

use crdx_server::crd;
use crdx_server::policies::{self, model::PolicyKind};
use crdx_text::Position;
use crdx_text::documents::{Chunk, Contents};
use crdx_text::spans::{Cache, Found, Spans};
use crdx_text::yaml::Duplicate;
use crdx_value::field::NIL_PATH;
use crdx_value::{Map, Value, group_version};
use encrypted::EncryptedField;
use std::iter::Enumerate;
use std::sync::{Arc, OnceLock};
use std::vec;

/// An entry of the input, in order.
#[derive(Debug)]
pub enum InputEntry {
    /// An object.
    Document(Document),
    /// A part of the next document that kubectl ignores silently.
    Warning(Note),
    /// A file or document that cannot be read or is not an object.
    Problem(Note),
}

/// A message about the input.
#[derive(Clone, Debug, PartialEq)]
pub struct Note {
    /// The file, or `-`.
    pub source: Arc<str>,
    /// The position, if the message has one.
    pub position: Option<Position>,
    /// The message.
    pub message: String,
    /// A suggestion.
    pub hint: Option<String>,
    /// The text around the position, as an excerpt.
    pub chunk: Option<Arc<Chunk>>,
    /// The effect on the rest of the file.
    pub stop: Stop,
    /// True if the document may be several, because the line `---` between them is missing.
    pub is_joined: bool,
    /// kubectl's error, if it refuses the document before it sends a request; where it depends on validation, as
    /// [`Self::stop`] says.
    pub refusal: Option<Box<str>>,
}

/// The effect of a problem on the rest of its file, as kubectl reads it (`StreamVisitor` in `k8s.io/cli-runtime/pkg/resource`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stop {
    /// It reads on.
    #[default]
    Never,
    /// It stops, unless validation is switched off with `--validate=ignore`.
    IfValidated,
    /// It stops.
    Always,
}

impl Note {
    /// The message for output without source lines: position and message, then the suggestion on its own line.
    pub fn text(&self) -> String {
        let location = self.position.map_or_else(String::new, |at| format!("{}:{at}: ", self.source));
        let help = self.hint.as_ref().map_or_else(String::new, |hint| format!("\nhelp: {hint}"));
        format!("{location}{}{help}", self.message)
    }
}

/// An object of the input, with its source.
#[derive(Clone, Debug)]
pub struct Document {
    /// The file, or `-`.
    pub source: Arc<str>,
    /// The chunk that contains it, shared by all items of a list.
    pub chunk: Arc<Chunk>,
    /// The file from which a renderer made it (`# Source: chart/templates/x.yaml`).
    pub origin: Option<Arc<str>>,
    /// True if the source is a directory that was rendered on its own: its objects are not those of other sources.
    pub is_rendered: bool,
    /// The namespace that it gets if it has none, instead of the default: that of a release of Helm, for example.
    pub namespace: Option<Arc<str>>,
    /// Its index, if it is an item of a list.
    pub item: Option<usize>,
    /// The object, with values of the same type in the place of encrypted ones.
    pub value: Value,
    /// The fields that are encrypted.
    pub encrypted: Arc<[EncryptedField]>,
    /// True if it is a list or an item of one.
    is_of_list: bool,
    /// The positions found in the chunk so far, shared with its other documents.
    cache: Arc<Cache>,
    /// The list that contains it, if it was read again; shared with the other items.
    list: Arc<OnceLock<Value>>,
}

impl Document {
    fn group(&self) -> &str {
        group_version::group(self.value.str_at(&["apiVersion"]).unwrap_or_default())
    }

    /// True if this is a CRD of any version.
    pub fn is_definition(&self) -> bool {
        is_definition(&self.value)
    }

    /// True if this is an admission policy, a binding or a webhook configuration of any version.
    pub fn is_policy(&self) -> bool {
        let kind = || self.value.str_at(&["kind"]).unwrap_or_default();
        self.group() == policies::GROUP && (PolicyKind::has_kind(kind()) || kind().ends_with("WebhookConfiguration"))
    }

    /// The directory that was rendered on its own, if it is from one.
    pub fn root(&self) -> Option<&Arc<str>> {
        Some(&self.source).filter(|_| self.is_rendered)
    }

    /// Its path in the chunk: empty, or `items[3]`.
    pub fn prefix(&self) -> String {
        self.item.map_or_else(String::new, |i| format!("items[{i}]"))
    }

    /// Reads the object again; `None` if it is an item that the list does not have. The list is read again only once.
    pub(crate) fn read_again(&self) -> Option<Value> {
        let read = || self.chunk.read().map(|contents| contents.value);
        match self.item {
            None => read().ok().map(|mut value| {
                encrypted::open(&mut value);
                value
            }),
            Some(i) => self.list.get_or_init(|| read().unwrap_or_default()).get("items")?.as_array()?.get(i).cloned(),
        }
    }

    /// The document without its object, which can be read again.
    pub fn source_only(&self) -> Document {
        Document {
            source: Arc::clone(&self.source),
            chunk: Arc::clone(&self.chunk),
            origin: self.origin.clone(),
            namespace: self.namespace.clone(),
            encrypted: Arc::clone(&self.encrypted),
            cache: Arc::clone(&self.cache),
            list: Arc::clone(&self.list),
            value: Value::Null,
            ..*self
        }
    }

    /// The items of a list that was returned whole. As for kubectl, null is an empty object.
    pub fn into_items(self) -> impl Iterator<Item = Document> + use<> {
        let Self { source, chunk, origin, is_rendered, namespace, value, cache, list, .. } = self;
        let chunk = SourceChunk { source, chunk, origin, is_rendered, namespace, cache, list };
        let items = match chunk.unfold(value, false) {
            ChunkObjects::List(items) => Some(items),
            ChunkObjects::Object(_) | ChunkObjects::Nothing => None,
        };
        items.into_iter().flatten()
    }

    /// True if its source lines must not be shown: a line of a list may be that of a Secret, too.
    pub(crate) fn hides_lines(&self) -> bool {
        self.is_of_list && self.chunk.names_secret()
    }

    /// The positions of its fields.
    pub fn field_positions(&self) -> FieldPositions<'_> {
        let spans = Spans::cached(&self.chunk.text, self.chunk.syntax, &self.cache);
        FieldPositions { spans, start: self.chunk.start, prefix: self.prefix() }
    }

    /// The position of its first character.
    pub fn position(&self) -> Position {
        match self.item {
            None => self.chunk.start,
            Some(_) => self.field_positions().locate("").value.start,
        }
    }
}

/// Finds the positions of a document's fields.
#[derive(Debug)]
pub struct FieldPositions<'a> {
    spans: Spans<'a>,
    start: Position,
    prefix: String,
}

impl FieldPositions<'_> {
    /// The location of the field at a path of the server, or of its nearest existing ancestor. Positions refer to the
    /// source, ranges to the text of the chunk.
    pub fn locate(&self, path: &str) -> Found {
        let mut found = self.spans.locate_in(&self.prefix, if path == NIL_PATH { "" } else { path });
        found.value.start = found.value.start.within(self.start);
        if let Some(key) = &mut found.key {
            key.start = key.start.within(self.start);
        }
        found
    }
}

/// The remaining items of a list.
pub struct Items {
    list: SourceChunk,
    rest: Enumerate<vec::IntoIter<Value>>,
    kind: String,
    api_version: String,
}

/// A chunk of a source.
#[derive(Clone)]
pub struct SourceChunk {
    source: Arc<str>,
    /// The text.
    pub chunk: Arc<Chunk>,
    origin: Option<Arc<str>>,
    is_rendered: bool,
    namespace: Option<Arc<str>>,
    cache: Arc<Cache>,
    list: Arc<OnceLock<Value>>,
}

impl SourceChunk {
    /// A chunk of a source whose documents may say from which file they were rendered; otherwise they were rendered from
    /// `origin`, if it is given.
    pub fn new(source: &Arc<str>, chunk: Chunk, is_stream: bool, origin: Option<&Arc<str>>) -> Self {
        let own = if is_stream { rendered_from(&chunk.text).map(Arc::from) } else { None };
        let origin = own.or_else(|| origin.cloned());
        let (source, chunk) = (Arc::clone(source), Arc::new(chunk));
        let (cache, list) = (Arc::default(), Arc::default());
        Self { source, chunk, origin, is_rendered: false, namespace: None, cache, list }
    }

    /// The same chunk, of a source that may be a directory that was rendered on its own.
    #[must_use]
    pub fn with_rendered(self, is_rendered: bool) -> Self {
        Self { is_rendered, ..self }
    }

    /// The same chunk, whose objects get this namespace if they have none.
    #[must_use]
    pub fn with_namespace(self, namespace: Option<Arc<str>>) -> Self {
        Self { namespace, ..self }
    }

    /// The document with `value`, or with an item of the list that the chunk is.
    pub fn document(&self, item: Option<usize>, mut value: Value) -> Document {
        let Self { source, chunk, origin, is_rendered, namespace, cache, list } = self.clone();
        let is_of_list = item.is_some() || lists::is_list(&value);
        let encrypted = if item.is_none() { encrypted::open(&mut value).into() } else { Arc::default() };
        Document { source, chunk, origin, is_rendered, namespace, item, value, encrypted, is_of_list, cache, list }
    }

    /// A message about the chunk.
    pub fn note(&self, position: Option<Position>, message: impl Into<String>) -> Note {
        let (source, chunk) = (Arc::clone(&self.source), Some(Arc::clone(&self.chunk)));
        let (stop, is_joined) = (Stop::Never, false);
        Note { source, position, message: message.into(), hint: None, chunk, stop, is_joined, refusal: None }
    }

    /// Warnings about parts of the chunk that kubectl ignores silently.
    pub fn warnings(&self, contents: Contents) -> Vec<Note> {
        let second_kind = self.second_kind(&contents.duplicates);
        let duplicates = contents.duplicates.into_iter().map(|duplicate| {
            let Duplicate { first, second, message, .. } = duplicate;
            if second_kind != Some(second) {
                return self.note(Some(second), format!("{message}: first at {first}, and the last one is used"));
            }
            let message = format!(
                "one document with a kind at {first} and at {second}: it may be two objects, of which kubectl sends one"
            );
            let hint = Some("separate two objects with a line `---`, or remove one of the keys".to_owned());
            Note { hint, is_joined: true, ..self.note(Some(second), message) }
        });
        let rest = contents.rest.map(|rest| {
            let message = "text after the end of a document (`...`) is ignored, as by kubectl";
            let hint = Some("begin the next document with a line `---`".to_owned());
            Note { hint, ..self.note(Some(rest), message) }
        });
        duplicates.chain(rest).collect()
    }

    /// The position of a second key `kind` of the document.
    fn second_kind(&self, duplicates: &[Duplicate]) -> Option<Position> {
        if duplicates.is_empty() {
            return None;
        }
        self.document(None, Value::Null).field_positions().locate("kind").key.map(|key| key.start)
    }

    /// The first object of the chunk, or all items of a list. If every document is returned, a list is a document whose
    /// kind ends in `List`; other documents with `items` are returned whole.
    pub fn unfold(self, mut value: Value, any_document: bool) -> ChunkObjects {
        if value.is_null() {
            return ChunkObjects::Nothing;
        }
        let named_list = |value: &Value| value.str_at(&["kind"]).is_some_and(|kind| kind.ends_with("List"));
        let is_whole = |value: &Value| !named_list(value) || value.get("items").and_then(Value::as_array).is_none();
        if !lists::is_list(&value) || (any_document && is_whole(&value)) {
            return ChunkObjects::Object(self.document(None, value));
        }
        let text = |name: &str| value.str_at(&[name]).unwrap_or_default().to_owned();
        let (kind, api_version) = (text("kind"), text("apiVersion"));
        match value.as_object_mut().and_then(|members| members.remove("items")) {
            Some(Value::Array(items)) if !items.is_empty() => {
                ChunkObjects::List(Items { list: self, rest: items.into_iter().enumerate(), kind, api_version })
            }
            _ => ChunkObjects::Nothing,
        }
    }
}

/// The objects of a chunk.
pub enum ChunkObjects {
    /// The chunk is empty, or a list without items.
    Nothing,
    /// One object.
    Object(Document),
    /// The items of a list.
    List(Items),
}

impl Iterator for Items {
    type Item = Document;

    fn next(&mut self) -> Option<Document> {
        let (index, mut value) = self.rest.next()?;
        if value.is_null() {
            value = Value::Object(Map::new());
        }
        // Items of a typed list need not have their own kind.
        if let Some(members) = value.as_object_mut() {
            let is_empty = |name| members.get(name).and_then(Value::as_str).unwrap_or_default().is_empty();
            if is_empty("kind") && is_empty("apiVersion") {
                let kind = self.kind.strip_suffix("List").unwrap_or(&self.kind);
                members.insert("kind".to_owned(), kind.into());
                members.insert("apiVersion".to_owned(), self.api_version.as_str().into());
            }
        }
        Some(self.list.document(Some(index), value))
    }
}

/// Returns true for a CRD of any version, or a patch of one.
pub fn is_definition(value: &Value) -> bool {
    // kubectl also finds kinds in lower case; the server then rejects the CRD.
    matches!(value.str_at(&["kind"]), Some("CustomResourceDefinition" | "customresourcedefinition"))
        && group_version::group(value.str_at(&["apiVersion"]).unwrap_or_default()) == crd::GROUP
}

/// Returns the reason why kubectl would reject the object, and the wrong member: kubectl requires `apiVersion` and `kind`.
pub fn mistake(value: &Value) -> Option<(&'static str, String)> {
    let text = |key: &'static str| match value.get(key) {
        None | Some(Value::Null) => Err(("", format!("no {key}"))),
        Some(Value::String(text)) if !text.is_empty() => Ok(text.as_str()),
        Some(Value::String(_)) => Err((key, format!("{key} is empty"))),
        Some(_) => Err((key, format!("{key} is not a string"))),
    };
    if value.as_object().is_none() {
        return Some(("", "not an object".to_owned()));
    }
    match text("kind").and_then(|_| text("apiVersion")) {
        Err(wrong) => Some(wrong),
        Ok(api_version) if api_version.matches('/').count() > 1 => {
            Some(("apiVersion", "apiVersion is not GROUP/VERSION".to_owned()))
        }
        Ok(_) => None,
    }
}

/// The file that a document was rendered from: Helm's `# Source: chart/templates/x.yaml` before the first line.
fn rendered_from(text: &[u8]) -> Option<String> {
    let is_comment = |line: &&[u8]| line.is_empty() || line.starts_with(b"#") || line.starts_with(b"---");
    let lines = text.split(|b| *b == b'\n').map(<[u8]>::trim_ascii);
    let path = lines.take_while(is_comment).find_map(|line| line.strip_prefix(b"# Source: "))?;
    Some(String::from_utf8_lossy(path.trim_ascii()).into_owned()).filter(|path| !path.is_empty())
}

/// The documents of a text, with the warnings about each before it.
#[cfg(test)]
pub(crate) fn read(name: &str, text: &str) -> Vec<InputEntry> {
    let name = Arc::from(name);
    let read = |chunk: std::io::Result<Chunk>| {
        let chunk = SourceChunk::new(&name, chunk.unwrap(), true, None);
        let mut contents = chunk.chunk.read().unwrap();
        let value = std::mem::take(&mut contents.value);
        let warnings = chunk.warnings(contents).into_iter().map(InputEntry::Warning);
        let documents: Vec<Document> = match chunk.unfold(value, false) {
            ChunkObjects::Nothing => Vec::new(),
            ChunkObjects::Object(document) => vec![document],
            ChunkObjects::List(items) => items.collect(),
        };
        warnings.chain(documents.into_iter().map(InputEntry::Document)).collect::<Vec<_>>()
    };
    crdx_text::documents::Chunks::new(std::io::Cursor::new(text.to_owned())).flat_map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_of_api_version_and_kind_is_a_mistake() {
        let wrong = |text: &str| {
            let value = crdx_text::yaml::read(text.as_bytes()).unwrap();
            mistake(&value).map(|(field, message)| format!("{field}: {message}"))
        };
        assert_eq!(wrong("kind: A").as_deref(), Some(": no apiVersion"));
        assert_eq!(wrong("apiVersion: v1").as_deref(), Some(": no kind"));
        assert_eq!(wrong("{apiVersion: v1, kind: ''}").as_deref(), Some("kind: kind is empty"));
        assert_eq!(wrong("{apiVersion: 1, kind: A}").as_deref(), Some("apiVersion: apiVersion is not a string"));
        assert_eq!(
            wrong("{apiVersion: a/b/c, kind: A}").as_deref(),
            Some("apiVersion: apiVersion is not GROUP/VERSION")
        );
        assert_eq!(wrong("{apiVersion: v1, kind: A}"), None);
    }

    #[test]
    fn the_file_that_a_renderer_names_is_found() {
        assert_eq!(
            rendered_from(b"---\n# Source: a/templates/b.yaml\nkind: A\n").as_deref(),
            Some("a/templates/b.yaml")
        );
        assert_eq!(rendered_from(b"# Source: a.yaml\r\n# more\nkind: A\n").as_deref(), Some("a.yaml"));
        assert_eq!(rendered_from(b"kind: A\n# Source: a.yaml\n"), None);
        assert_eq!(rendered_from(b"# Source:\nkind: A\n"), None);
    }
}
