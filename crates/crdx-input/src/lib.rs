//! Reads documents from files, directories and standard input, one at a time.
//!
//! As in kubectl, a directory contributes its `.json`, `.yaml` and `.yml` files in order (with `-R` also those of the
//! directories below it), `-` is standard input, and a list contributes its items. Unlike kubectl, reading continues
//! after an error, which is an [`InputEntry::Problem`]; and in a directory, documents that are not Kubernetes objects are
//! [`Skipped`] and counted (see [`NoObject`]).

pub mod archive;
pub mod baseline;
pub mod buffered_text;
pub mod catalog;
pub mod committed;
pub mod compressed_groups;
pub mod configuration;
mod content;
mod current;
mod decode;
pub mod discovery;
pub mod files;
pub mod git;
mod ignore;
mod invalid_bytes;
mod kustomize;
pub mod packed_path;
mod patterns;
pub mod pending_documents;
pub mod profile;
mod read_bytes;
pub mod remote;
pub mod render;
pub mod required;
mod skipped;
pub mod temp_file;
pub mod temp_store;
mod varint;
mod warnings;
pub mod watch;

pub use content::NoObject;
use crdx_engine::documents::lists::{self, ListError};
use crdx_engine::documents::{
    ChunkObjects, Document, InputEntry, Items, Note, SourceChunk, Stop, is_definition, mistake, refusal,
};
use crdx_text::Position;
use crdx_text::documents::{Chunk, Chunks, Contents};
use crdx_text::yaml::Duplicate;
use crdx_value::Value;
use current::{Current, encoding_warnings, substituted};
use files::{InputSource, ReadStep};
pub use ignore::{Ignore, PatternError};
pub use read_bytes::ReadBytes;
use render::Renderer;
pub use skipped::Skipped;
use std::collections::VecDeque;
use std::io::Read;
use std::path::PathBuf;
pub use warnings::InputWarnings;

/// The options for reading paths.
#[derive(Clone, Debug, Default)]
pub struct InputOptions {
    /// Also reads directories below the given ones.
    pub recursive: bool,
    /// Skips documents that are not objects even in files given by name.
    pub skip_non_objects: bool,
    /// Refuses pipes and devices given by name.
    pub only_regular_files: bool,
    /// Reads paths of commits, for `--old`.
    pub reads_commits: bool,
    /// Files to leave out.
    pub ignore: Ignore,
    /// Returns every document, whatever its shape.
    pub any_document: bool,
    /// True if directories need not have an object, because others have their files.
    pub may_be_empty: bool,
    /// Returns lists whole, for callers that unfold them with [`Document::into_items`] after kubectl's checks.
    pub whole_lists: bool,
    /// True if the CRDs of these paths define the kinds of other inputs. A CRD that may be two joined ones is then an
    /// error, because the objects of the first would have no CRD.
    pub defines_kinds: bool,
    /// True if archives and downloads with CRDs are validated themselves.
    pub lints_archives: bool,
    /// The directory whose lock has the hashes of URLs; by default the working directory.
    pub directory: Option<PathBuf>,
    /// True to add warnings about the text of documents to `warnings`, for callers that report no documents.
    pub collects_warnings: bool,
    /// The collected warnings.
    pub warnings: InputWarnings,
    /// Counts the bytes of the objects, if something shows them.
    pub read: Option<ReadBytes>,
    /// The count of skipped documents.
    pub skipped: Skipped,
    /// Renders charts and kustomizations in directories, with `--render`.
    pub render: Option<Renderer>,
    /// Files and directories of other targets: a kustomization that one of theirs is built from is not rendered on its own.
    pub other_targets: Vec<PathBuf>,
    /// What the settings of the project leave out, for results to show.
    pub restrictions: Option<String>,
}

impl InputOptions {
    /// True if archives, URLs and entries of the catalog are read.
    pub(crate) fn reads_archives(&self) -> bool {
        self.defines_kinds || self.lints_archives
    }

    /// The same options, with warnings collected.
    #[must_use]
    pub fn collecting(&self) -> Self {
        Self { collects_warnings: true, ..self.clone() }
    }

    /// The options for files and directories of CRDs: directories are read with their subdirectories.
    #[must_use]
    pub fn of_definitions(&self) -> Self {
        Self { recursive: true, defines_kinds: true, render: None, ..self.collecting() }
    }
}

impl From<bool> for InputOptions {
    /// Options with only `recursive` set.
    fn from(recursive: bool) -> Self {
        Self { recursive, ..Self::default() }
    }
}

type InputReader = Box<dyn Read + Send>;

/// The largest document of an archive or a download in bytes; the server accepts CRDs of at most 3 MiB.
const MAX_PACKED_DOCUMENT: usize = 8 << 20;

/// Iterates over the entries of several sources.
pub struct Input {
    options: InputOptions,
    steps: VecDeque<ReadStep>,
    current: Option<Current>,
    /// Entries of the current chunk.
    ready: VecDeque<InputEntry>,
    items: Option<Items>,
    /// True if the current directory contributed an object or a problem.
    directory_has_entries: bool,
}

impl Input {
    /// The sources that `paths` name: files, directories, patterns and `-`.
    pub fn open(paths: &[String], options: impl Into<InputOptions>) -> Self {
        let options = options.into();
        let steps = files::expand(paths, &options);
        Self::new(steps, options)
    }

    fn open_source(source: InputSource, options: InputOptions) -> Self {
        Self::new(vec![ReadStep::Named(source)], options)
    }

    /// The charts to render for the releases of Flux that were read so far; `None` if there are none.
    fn of_releases(options: InputOptions) -> Option<Self> {
        let (targets, left_out) = options.render.as_ref()?.take_releases(options.directory.as_deref());
        let problems = left_out.into_iter().map(|release| ReadStep::Problem(release.note));
        let targets = targets.into_iter().map(|target| ReadStep::Render(target, false));
        let steps: Vec<ReadStep> = targets.chain(problems).collect();
        (!steps.is_empty()).then(|| Self::new(steps, options))
    }

    /// Documents of one reader.
    pub fn from_reader(name: &str, reader: InputReader, options: InputOptions) -> Self {
        let mut input = Self::new(Vec::new(), options);
        input.current = Some(input.current(name.into(), Chunks::new(reader), true));
        input
    }

    /// The CRDs of a download called `name`, or those at a path inside of it.
    pub fn of_download(name: &str, inside: Option<&str>, content: Vec<u8>, options: InputOptions) -> Self {
        let source = files::PackedSource { name, inside, ignore: &options.ignore };
        Self::new(files::of_download(source, content), options)
    }

    fn new(steps: Vec<ReadStep>, options: InputOptions) -> Self {
        let steps = steps.into();
        Self { options, steps, current: None, ready: VecDeque::new(), items: None, directory_has_entries: false }
    }

    fn problem(&mut self, note: Note) {
        self.directory_has_entries = true;
        self.ready.push_back(InputEntry::Problem(note));
    }

    /// Adds the entries of a chunk of the current source.
    fn read_chunk(&mut self, current: &mut Current, chunk: Chunk) {
        // Whatever becomes of the chunk, so that its bytes take no memory any more.
        let invalid = current.take_invalid(&chunk);
        if current.is_encrypted {
            return;
        }
        let is_first = !current.has_entries && chunk.start.line == 1;
        let variables = current.flux.as_deref().map(|flux| &flux.variables);
        let (chunk, unknown) = substituted(chunk, variables, current.is_rendered.is_some());
        let chunk = SourceChunk::new(&current.name, chunk, current.is_stream, current.origin.as_ref())
            .with_rendered(current.is_rendered.is_some())
            .with_namespace(current.namespace.clone());
        if let Some(unknown) = unknown {
            current.has_entries = true;
            let hint = Some(unknown.hint());
            let position = Some(chunk.chunk.start);
            return self.problem(Note { hint, ..chunk.note(position, unknown.to_string()) });
        }
        let classify = !self.options.any_document;
        if classify && is_first && content::is_encrypted_file(&chunk.chunk.text) {
            current.is_encrypted = true;
            return self.no_object(current, &chunk, (NoObject::Encrypted, None));
        }
        let contents = chunk.chunk.read();
        let may_be_template = classify && current.is_rendered.is_none();
        if may_be_template
            && (current.is_template || content::is_template(&current.name, &chunk.chunk, contents.is_err()))
        {
            if !std::mem::replace(&mut current.is_template, true) {
                let refusal = contents.as_ref().err().and_then(|e| unparsable(&current.name, &chunk.chunk, e));
                self.no_object(current, &chunk, (NoObject::Template, refusal));
            }
            return;
        }
        let mut contents = match contents {
            Ok(contents) => contents,
            // Sources of a project have files for other programs, which only look like YAML.
            Err(_) if current.is_member => return self.no_object(current, &chunk, (NoObject::Unreadable, None)),
            Err(e) => {
                current.has_entries = true;
                let hint = files::hint(&chunk.chunk, e.kind);
                let refusal = unparsable(&current.name, &chunk.chunk, &e);
                return self.problem(Note { hint, stop: Stop::Always, refusal, ..chunk.note(e.position, e.message) });
            }
        };
        let value = std::mem::take(&mut contents.value);
        if value.is_null() {
            return;
        }
        let reason = if classify { content::no_object(&current.name, &value) } else { None };
        if classify
            && self.options.defines_kinds
            && let Some(note) = joined(&chunk, &value, &contents)
        {
            current.has_entries = true;
            return self.problem(note);
        }
        // A patch that is named explicitly is sent to the server, unless it should define a kind.
        let may_be_patch = classify && (current.lenient || self.options.defines_kinds);
        let patch = || (may_be_patch && content::is_definition_patch(&value)).then_some(NoObject::Patch);
        if let Some(reason) = reason.or_else(patch) {
            let refusal = refusal::without_kind(&current.name, &value).map(Into::into);
            return self.no_object(current, &chunk, (reason, refusal));
        }
        let is_list = classify && lists::is_list(&value);
        if is_list && !self.options.whole_lists {
            let errors = lists::errors(&value);
            if !errors.is_empty() {
                current.has_entries = true;
                return errors.into_iter().for_each(|error| self.list_error(&chunk, error));
            }
        }
        let mut warnings = chunk.warnings(contents);
        warnings.extend(encoding_warnings(&chunk, &invalid));
        if self.options.collects_warnings {
            warnings.drain(..).for_each(|note| self.options.warnings.add(&note));
        }
        let warnings = warnings.into_iter().map(InputEntry::Warning);
        if is_list && self.options.whole_lists {
            // A list without items is no object, but it may have errors.
            if lists::is_empty(&value) && mistake(&value).is_none() {
                self.ready.extend(warnings);
                return self.ready.push_back(InputEntry::Document(chunk.document(None, value)));
            }
            current.has_entries = true;
            return self.object(chunk.document(None, value), warnings);
        }
        match chunk.unfold(value, self.options.any_document) {
            // A list without items is no object, as for kubectl.
            ChunkObjects::Nothing => return,
            ChunkObjects::Object(document) => self.object(document, warnings),
            ChunkObjects::List(items) => {
                self.directory_has_entries = true;
                self.ready.extend(warnings);
                self.items = Some(items);
            }
        }
        current.has_entries = true;
    }

    /// The entry for a list of which kubectl sends no object.
    fn list_error(&mut self, chunk: &SourceChunk, error: ListError) {
        let hint = Some(error.hint().to_owned());
        let position = chunk.document(None, Value::Null).field_positions().locate(&error.field).value.start;
        self.problem(Note { hint, ..chunk.note(Some(position), error.message) });
    }

    /// The entry for an object, or for its problem.
    fn object(&mut self, document: Document, warnings: impl IntoIterator<Item = InputEntry>) {
        if !self.options.any_document
            && let Some((field, message)) =
                mistake(&document.value).or_else(|| document.item.and_then(|_| lists::item_error(&document.value)))
        {
            let position = Some(document.field_positions().locate(field).value.start);
            // kubectl decodes an empty kind, and continues after the error.
            let is_empty = document.value.get(field).is_some_and(|value| value.as_str() == Some(""));
            let stop = if document.item.is_some() || is_empty { Stop::Never } else { Stop::IfValidated };
            let Document { source, chunk, item, value, .. } = document;
            let refusal = if item.is_none() { refusal::of_object(&source, &value) } else { None };
            let refusal = refusal.map(Into::into);
            let (chunk, is_joined) = (Some(chunk), false);
            return self.problem(Note { source, position, message, hint: None, chunk, stop, is_joined, refusal });
        }
        self.directory_has_entries = true;
        if let Some(renderer) = self.options.render.as_ref().filter(|_| !self.options.reads_commits) {
            renderer.add_object(&document);
        }
        self.ready.extend(warnings);
        self.ready.push_back(InputEntry::Document(document));
    }

    /// The entry for a document that is no object; `refusal` is kubectl's error.
    fn no_object(
        &mut self,
        current: &mut Current,
        chunk: &SourceChunk,
        (reason, refusal): (NoObject, Option<Box<str>>),
    ) {
        current.has_entries = true;
        if current.lenient {
            return self.options.skipped.add(&current.name, reason);
        }
        let lines_before = chunk.chunk.text.split(|b| *b == b'\n').take_while(|line| is_blank(line)).count();
        let start = chunk.chunk.start;
        let position =
            Position { line: start.line + lines_before, column: if lines_before == 0 { start.column } else { 1 } };
        let hint = Some(reason.hint().to_owned());
        let message = reason.message(&current.name);
        // A text that cannot be parsed stops kubectl in any case.
        let stop = if reason == NoObject::Template { Stop::Always } else { Stop::IfValidated };
        self.problem(Note { hint, stop, refusal, ..chunk.note(Some(position), message) });
    }

    /// Reads the next chunk of the current source.
    fn advance(&mut self, mut current: Current) {
        match current.chunks.next() {
            Some(Ok(chunk)) => {
                self.read_chunk(&mut current, chunk);
                self.current = Some(current);
            }
            Some(Err(e)) => self.problem(files::unreadable(&current.name, &e)),
            None if current.has_entries => {}
            None if current.lenient || current.is_rendered == Some(false) => {
                self.options.skipped.add(&current.name, NoObject::Empty);
            }
            None => {
                let hint = Some(NoObject::Empty.hint().to_owned());
                self.problem(files::note(&current.name, NoObject::Empty.message(&current.name), hint));
            }
        }
    }

    fn step(&mut self, step: ReadStep) {
        match step {
            ReadStep::Named(source) => self.start(&source, true),
            ReadStep::Found(source) => self.start(&source, false),
            ReadStep::Definitions(definitions) => {
                for step in definitions.steps(&self.options.ignore).into_iter().rev() {
                    self.steps.push_front(step);
                }
            }
            ReadStep::Skip(path, reason) => self.options.skipped.add(&path.display().to_string().into(), reason),
            ReadStep::Render(target, named) => {
                let builds = self.options.render.as_ref().map(|renderer| renderer.builds(&target)).unwrap_or_default();
                match builds.as_slice() {
                    [only] => self.render(only, named),
                    _ => builds.into_iter().rev().for_each(|one| self.steps.push_front(ReadStep::Render(one, named))),
                }
            }
            ReadStep::LeftOut(path) => self.options.render.iter().for_each(|renderer| renderer.leave_out(&path)),
            ReadStep::Problem(note) => self.problem(note),
            ReadStep::DirectoryEnd(without_object) => {
                let has_entries = std::mem::take(&mut self.directory_has_entries);
                if !has_entries && !self.options.may_be_empty {
                    self.ready.push_back(InputEntry::Problem(without_object));
                }
            }
            ReadStep::DirectoryStart => self.directory_has_entries = false,
        }
    }
}

/// Returns kubectl's error for a text that it cannot parse; `None` if it is no text, or too large for this program.
fn unparsable(source: &str, chunk: &Chunk, error: &crdx_text::Error) -> Option<Box<str>> {
    files::is_text(chunk, error.kind).then(|| refusal::unparsable(source, &error.message).into())
}

/// True if a line before a document has only a comment, a separator or nothing.
fn is_blank(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    line.is_empty() || line.starts_with(b"#") || line == b"---" || line.starts_with(b"--- #")
}

/// The error for a CRD with a duplicate key at the top, which may be two CRDs without a line `---` between them.
fn joined(chunk: &SourceChunk, value: &Value, contents: &Contents) -> Option<Note> {
    if contents.duplicates.is_empty() || !is_definition(value) {
        return None;
    }
    let document = chunk.document(None, Value::Null);
    let positions = document.field_positions();
    let (key, duplicate) = value.as_object()?.keys().find_map(|key| {
        let position = positions.locate(key).key?.start;
        Some((key, contents.duplicates.iter().find(|duplicate| duplicate.second == position)?))
    })?;
    let Duplicate { first, second, .. } = duplicate;
    let message = format!("one document with two keys {key:?}, at {first} and at {second}: it may be two CRDs");
    let hint = Some("separate two CRDs with a line `---`, or remove one of the keys".to_owned());
    Some(Note { hint, ..chunk.note(Some(*second), message) })
}

impl Iterator for Input {
    type Item = InputEntry;

    fn next(&mut self) -> Option<InputEntry> {
        loop {
            if let Some(entry) = self.ready.pop_front() {
                return Some(entry);
            }
            if let Some(items) = &mut self.items {
                match items.next() {
                    Some(document) => self.object(document, []),
                    None => self.items = None,
                }
            } else if let Some(current) = self.current.take() {
                self.advance(current);
            } else {
                let step = self.steps.pop_front()?;
                self.step(step);
            }
        }
    }
}

/// The documents of a text.
#[cfg(test)]
pub(crate) fn documents(name: &str, text: &str) -> Vec<InputEntry> {
    Input::from_reader(name, Box::new(std::io::Cursor::new(text.to_owned())), InputOptions::default()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_value::json::to_string;

    fn show(entry: &InputEntry) -> String {
        let note = |kind: &str, n: &Note| format!("{kind} {} {}", n.position.unwrap_or_default(), n.message);
        match entry {
            InputEntry::Document(d) => format!("{} {} {}", d.position(), d.prefix(), to_string(&d.value)),
            InputEntry::Warning(n) => note("warning", n),
            InputEntry::Problem(n) => note("problem", n),
        }
    }

    fn read(text: &str) -> Vec<String> {
        let reader = Box::new(std::io::Cursor::new(text.to_owned()));
        let mut input = Input::from_reader("x.yaml", reader, InputOptions::default());
        input.options.any_document = true;
        input.map(|entry| show(&entry)).collect()
    }

    #[test]
    fn documents_come_with_their_places() {
        let text = "---\na: 1\na: 2\n---\n# nothing\n---\n- {\n---\nb: 1\n...\nc: 1\n";
        assert_eq!(
            read(text),
            [
                "warning 3:1 key \"a\" already set in map: first at 2:1, and the last one is used",
                "1:1  {\"a\":2}",
                "problem 8:1 error converting YAML to JSON: yaml: line 1: did not find expected node content",
                "warning 10:1 text after the end of a document (`...`) is ignored, as by kubectl",
                "9:1  {\"b\":1}",
            ]
        );
        let json = "{\"a\": 1,\n \"a\": 2}";
        assert_eq!(read(json)[0], "warning 2:2 duplicate field \"a\": first at 1:2, and the last one is used");
    }

    #[test]
    fn lists_are_unfolded() {
        let text = "{apiVersion: v1, kind: X}\n---\nkind: FooList\napiVersion: a/v1\nitems:\n- {a: 1}\n- {kind: Bar, apiVersion: b/v1, a: 2}\n";
        assert_eq!(
            read(text)[1..],
            [
                "6:3 items[0] {\"a\":1,\"apiVersion\":\"a/v1\",\"kind\":\"Foo\"}",
                "7:3 items[1] {\"a\":2,\"apiVersion\":\"b/v1\",\"kind\":\"Bar\"}",
            ]
        );
        let entries = documents("x", text);
        let InputEntry::Document(second) = &entries[2] else { panic!() };
        assert_eq!(second.field_positions().locate("a").value.start, Position { line: 7, column: 36 });
        assert_eq!(read(&format!("{text}---\napiVersion: v1\nkind: List\nitems: []\n")).len(), 3);
    }

    /// The answers of kubectl 1.37 are in `tests/facts/kubectl-lists.jsonl`.
    #[test]
    fn a_list_that_kubectl_does_not_send_is_a_problem() {
        let problems = |text: &str| documents("x", text).iter().map(show).collect::<Vec<_>>();
        let empty = ["problem 0:0 there is no object in x"];
        assert_eq!(problems("{apiVersion: v1, kind: List, items: []}"), empty);
        assert_eq!(
            problems("{apiVersion: a.b/v1, kind: A, metadata: {name: a}, items: null}\n---\n# comment\n"),
            empty
        );
        assert_eq!(problems("apiVersion: a.b/v1\nkind: A\nitems: {a: b}\n"), ["problem 3:8 items is not a list"]);
        let ok = "{apiVersion: a.b/v1, kind: A, metadata: {name: a}}";
        let list = |kind: &str, item: &str| {
            problems(&format!("apiVersion: v1\nkind: {kind}\nitems:\n- {ok}\n- {item}\n- {ok}\n"))
        };
        assert_eq!(list("List", "{apiVersion: v1}"), ["problem 5:3 no kind"], "the other items are not sent");
        assert_eq!(list("List", "a"), ["problem 5:3 the item is not an object"]);
        let of_item = list("AList", "{apiVersion: v1}");
        assert!(of_item.len() == 3 && of_item[1] == "problem 5:3 no kind", "the other items are sent: {of_item:?}");
        let with_items = list("List", "{apiVersion: v1, kind: A, items: 3}");
        assert!(with_items.len() == 3 && with_items[1].contains("resource name may not be empty"), "{with_items:?}");
    }

    #[test]
    fn two_joined_crds_are_a_problem_if_they_define_kinds() {
        let crd = |name: &str| {
            format!(
                "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: {name}}}\nspec: {{group: a}}\n"
            )
        };
        let read = |text: String, options: InputOptions| {
            Input::from_reader("x", Box::new(std::io::Cursor::new(text)), options).map(|e| show(&e)).collect::<Vec<_>>()
        };
        let joined = || crd("a") + &crd("b");
        let options = InputOptions::default().of_definitions();
        let message = "problem 5:1 one document with two keys \"apiVersion\", at 1:1 and at 5:1: it may be two CRDs";
        assert_eq!(read(joined(), options.clone()), [message]);
        assert_eq!(read(joined(), InputOptions::default()).len(), 5, "for kubectl the last key wins: four warnings");
        let inside = crd("a").replace("{group: a}", "{group: a, group: b}");
        assert_eq!(read(inside, options.clone()).len(), 1);
        let warning = "x:4:18: key \"group\" already set in map: first at 4:8, and the last one is used";
        assert_eq!(options.warnings.take(), [warning]);
        let json = r#"{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","spec":{"group":"a"},"spec":{}}"#;
        assert!(read(json.to_owned(), options)[0].contains("two keys \"spec\", at 1:75 and at 1:96"));
    }

    #[test]
    fn patches_of_crds_define_no_kinds() {
        let dir = tempfile::tempdir().unwrap();
        let head = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: a.b}\n";
        for (name, text) in [
            ("bases/a.yaml", format!("{head}spec: {{group: b}}\n")),
            ("patches/webhook_in_a.yaml", format!("{head}spec: {{conversion: {{strategy: Webhook}}}}\n")),
            ("patches/json.yaml", "- {op: add, path: /spec/conversion, value: {}}\n".to_owned()),
            ("kustomization.yaml", "resources: [bases/a.yaml]\n".to_owned()),
            ("kustomizeconfig.yaml", "nameReference: []\n".to_owned()),
        ] {
            std::fs::create_dir_all(dir.path().join(name).parent().unwrap()).unwrap();
            std::fs::write(dir.path().join(name), text).unwrap();
        }
        let (entries, skipped) = read_path(dir.path(), InputOptions::default().of_definitions());
        assert!(entries.len() == 1 && entries[0].contains("group"), "{entries:?}");
        assert!(skipped.unwrap().starts_with("4 documents that are not Kubernetes objects were skipped"));
        let patch = dir.path().join("patches/webhook_in_a.yaml");
        assert!(read_path(&patch, InputOptions::default().of_definitions()).0[0].contains("a patch for kustomize"));
        assert_eq!(read_path(&patch, InputOptions::default()).0.len(), 1, "kubectl sends it");
    }

    #[test]
    fn a_source_without_an_object_is_an_error() {
        assert_eq!(read("# only this\n"), ["problem 0:0 there is no object in x.yaml"]);
    }

    /// The entries of a directory or file below `base`, with the names of files relative to it, and what was skipped.
    fn read_path(path: &std::path::Path, options: InputOptions) -> (Vec<String>, Option<String>) {
        let skipped = options.skipped.clone();
        let entries: Vec<InputEntry> = Input::open(&[path.display().to_string()], options).collect();
        (entries.iter().map(show).collect(), skipped.message())
    }

    fn repository() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in [
            ("Chart.yaml", "apiVersion: v2\nname: a\n"),
            ("values.yaml", "replicas: 1\n"),
            ("package.json", "{\"name\": \"x\"}"),
            ("kustomization.yaml", "resources: [object.yaml]\n"),
            ("comment.yaml", "# nothing\n---\n"),
            ("empty.yml", ""),
            ("object.yaml", "apiVersion: v1\nkind: A\n---\nreplicas: 1\n---\n"),
            (
                "templates/a.yaml",
                "{{- if .Values.a }}\napiVersion: v1\nkind: B\n---\napiVersion: v1\nkind: C\n{{- end }}\n",
            ),
            ("templates/quoted.yaml", "apiVersion: v1\nkind: D\nmetadata:\n  name: \"{{ .Release.Name }}\"\n"),
            ("none/values.yaml", "a: 1\n"),
        ] {
            let path = dir.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        dir
    }

    #[test]
    fn a_directory_skips_and_counts_other_files() {
        let dir = repository();
        let (entries, skipped) = read_path(dir.path(), true.into());
        assert_eq!(entries, ["1:1  {\"apiVersion\":\"v1\",\"kind\":\"A\"}"]);
        let skipped = skipped.unwrap();
        assert!(skipped.starts_with("10 documents that are not Kubernetes objects were skipped: "), "{skipped}");
        assert!(skipped.contains("2 of them are templates of Helm"), "{skipped}");
        let (entries, _) = read_path(&dir.path().join("none"), false.into());
        assert_eq!(entries, ["problem 0:0 there is no Kubernetes object in this directory"]);
    }

    #[test]
    fn a_mistake_in_a_directory_is_a_problem() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("a.yaml"), "# x\nkind: A\n---\napiVersion: v1\nkind: 7\n").unwrap();
        let (entries, skipped) = read_path(dir.path(), InputOptions::default());
        assert_eq!(entries, ["problem 2:1 no apiVersion", "problem 5:7 kind is not a string"]);
        assert_eq!(skipped, None);
    }

    #[test]
    fn a_named_file_must_hold_objects() {
        let dir = repository();
        for (name, message) in [
            ("Chart.yaml", "1:1 a file of Helm, not a Kubernetes object"),
            ("values.yaml", "1:1 not a Kubernetes object: it has no apiVersion and no kind"),
            ("kustomization.yaml", "1:1 configuration of kustomize, not a Kubernetes object"),
            ("templates/a.yaml", "1:1 a Helm template: render it first"),
            ("templates/quoted.yaml", "1:1 a Helm template: render it first"),
        ] {
            let path = dir.path().join(name);
            assert_eq!(read_path(&path, InputOptions::default()).0, [format!("problem {message}")], "{name}");
            let lenient = InputOptions { skip_non_objects: true, ..InputOptions::default() };
            let (entries, skipped) = read_path(&path, lenient);
            assert_eq!(entries, [""; 0], "{name}");
            assert!(skipped.is_some(), "{name}");
        }
        let any = InputOptions { any_document: true, ..InputOptions::default() };
        assert_eq!(read_path(&dir.path().join("values.yaml"), any).0, ["1:1  {\"replicas\":1}"]);
    }

    #[test]
    fn the_file_behind_a_document_of_a_stream_is_known() {
        let text = "---\n# Source: a/templates/b.yaml\nkind: A\napiVersion: v1\n---\nkind: B\napiVersion: v1\n";
        let origin = |entry: &InputEntry| if let InputEntry::Document(d) = entry { d.origin.clone() } else { None };
        let origins: Vec<_> = documents("-", text).iter().map(origin).collect();
        assert_eq!(origins, [Some("a/templates/b.yaml".into()), None]);
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("a.yaml"), text).unwrap();
        let found: Vec<InputEntry> = Input::open(&[dir.path().display().to_string()], false).collect();
        assert_eq!(found.iter().filter_map(origin).count(), 0, "a file of a directory is its own place");
    }
}
