//! The source that is read: how it is opened or rendered, and what is known of its documents.

use super::files::{self, InputSource};
use super::invalid_bytes::{InvalidBytes, InvalidRun};
use super::render::find::RenderTarget;
use super::render::flux::FluxKustomization;
use super::render::substitution::{SubstitutionError, Variables};
use super::{Input, InputReader, MAX_PACKED_DOCUMENT};
use crdx_engine::documents::{Note, SourceChunk};
use crdx_files::input_size::{self, Counted};
use crdx_text::documents::{Chunk, Chunks};
use std::sync::Arc;

/// The most warnings about bytes of one document that are not UTF-8, besides the one that there are more.
const MOST_ENCODING_WARNINGS: usize = 10;

/// The current source.
pub struct Current {
    pub name: Arc<str>,
    pub chunks: Chunks<InputReader>,
    /// Skips documents that are not objects.
    pub lenient: bool,
    /// True if the source may hold several files, as a renderer's output does.
    pub is_stream: bool,
    /// The file from which all documents are rendered, if it is known.
    pub origin: Option<Arc<str>>,
    /// For a directory that was rendered, true if it was named on the command line.
    pub is_rendered: Option<bool>,
    /// True if it contributed an entry.
    pub has_entries: bool,
    /// True if it is a template, which was reported.
    pub is_template: bool,
    /// True if the file is encrypted, which was reported.
    pub is_encrypted: bool,
    /// True for a file of an archive.
    pub is_member: bool,
    /// The object of Flux that says how the source is built, with its variables.
    pub flux: Option<Arc<FluxKustomization>>,
    /// The namespace of its objects that have none, if it is not the default.
    pub namespace: Option<Arc<str>>,
    /// The bytes that are not UTF-8, until they were reported.
    pub invalid: InvalidBytes,
}

impl Current {
    /// Takes the bytes of a document that are not UTF-8, as many runs as there are warnings. `chunk` has the text of the source,
    /// where variables are not replaced yet.
    pub fn take_invalid(&self, chunk: &Chunk) -> Vec<InvalidRun> {
        self.invalid.take(&(chunk.start..chunk.end()), MOST_ENCODING_WARNINGS + 1)
    }
}

/// The warnings about bytes of a document that are not UTF-8.
pub fn encoding_warnings(chunk: &SourceChunk, runs: &[InvalidRun]) -> impl Iterator<Item = Note> {
    runs.iter().enumerate().map(|(index, InvalidRun { first, last, position })| {
        let message = if index == MOST_ENCODING_WARNINGS {
            format!("more bytes of this document are not UTF-8, from byte {first} of the file")
        } else if first == last {
            format!("byte {first} of the file is not UTF-8: kubectl replaces it with U+FFFD")
        } else {
            format!("bytes {first} to {last} of the file are not UTF-8: kubectl replaces them with U+FFFD")
        };
        chunk.note(Some(*position), message)
    })
}

impl Input {
    pub(super) fn current(&self, name: Arc<str>, chunks: Chunks<InputReader>, named: bool) -> Current {
        Current {
            name,
            chunks,
            lenient: !named || self.options.skip_non_objects,
            is_stream: named,
            origin: None,
            is_rendered: None,
            has_entries: false,
            is_template: false,
            is_encrypted: false,
            is_member: false,
            flux: None,
            namespace: None,
            invalid: InvalidBytes::default(),
        }
    }

    pub(super) fn start(&mut self, source: &InputSource, named: bool) {
        let invalid = InvalidBytes::default();
        match source.open(self.options.only_regular_files || !named, &invalid) {
            Ok(reader) => {
                let reader: InputReader = Box::new(Counted(reader, input_size::add));
                let reader = match &self.options.read {
                    Some(read) => read.count(reader),
                    None => reader,
                };
                let origin = source.origin().map(|path| path.display().to_string().into());
                let chunks = match source {
                    InputSource::Memory { .. } => Chunks::with_limit(reader, MAX_PACKED_DOCUMENT),
                    _ => Chunks::new(reader),
                };
                let is_member = !named && matches!(source, InputSource::Memory { .. });
                let flux = match self.flux(source) {
                    Ok(flux) => flux,
                    Err(problem) => return self.problem(problem),
                };
                let namespace = flux.as_ref().and_then(|flux| flux.namespace.clone());
                let current = self.current(source.name(), chunks, named);
                self.current = Some(Current { origin, is_member, flux, namespace, invalid, ..current });
            }
            Err(e) => self.problem(files::unreadable(&source.name(), &e)),
        }
    }

    /// Returns the object of Flux that says how a file of a directory without a kustomization is built.
    ///
    /// # Errors
    /// Flux would change the objects, so that they are not known.
    fn flux(&self, source: &InputSource) -> Result<Option<Arc<FluxKustomization>>, Note> {
        let Some((renderer, InputSource::File(path))) = self.options.render.as_ref().zip(Some(source)) else {
            return Ok(None);
        };
        let mut found = renderer.builds_of_file(path);
        if let Some(doubt) = found.iter().find_map(|flux| flux.doubt.as_ref()) {
            return Err(files::note(&source.name(), doubt.to_string(), Some(doubt.hint())));
        }
        let only = if found.len() == 1 { found.pop() } else { None };
        let changes = found.iter().chain(&only).find(|flux| !flux.changes.only_set_namespace());
        let other = if found.is_empty() { changes } else { found.first() };
        let Some(other) = other else { return Ok(only) };
        let name = source.name();
        let message = format!(
            "the Kustomization {} of Flux changes the objects of this file, so that they are not known",
            other.name
        );
        let hint = "name the files in a kustomization.yaml, so that kustomize builds the directory".to_owned();
        Err(files::note(&name, message, Some(hint)))
    }

    /// Reads what is rendered of a directory.
    pub(super) fn render(&mut self, target: &RenderTarget, named: bool) {
        let Some(renderer) = &self.options.render else { return };
        match renderer.render(target) {
            Ok(reader) => {
                let current =
                    self.current(target.name(), Chunks::new(Box::new(Counted(reader, input_size::add))), true);
                let (flux, release) = (target.flux.clone(), target.release.as_deref());
                let of_flux = || flux.as_ref().and_then(|flux| flux.namespace.clone());
                let namespace = release.map(|release| Arc::clone(&release.namespace)).or_else(of_flux);
                self.current = Some(Current { lenient: false, is_rendered: Some(named), flux, namespace, ..current });
            }
            Err(error) => {
                let hint = target.hint(&error);
                self.problem(files::note(&target.name(), error.to_string(), Some(hint)));
            }
        }
    }
}

/// Replaces the variables of `postBuild` in a document. On an error, the document is returned unchanged.
pub fn substituted(
    mut chunk: Chunk,
    variables: Option<&Variables>,
    is_rendered: bool,
) -> (Chunk, Option<SubstitutionError>) {
    let Some((variables, text)) = variables.zip(str::from_utf8(&chunk.text).ok()) else { return (chunk, None) };
    // Flux parses a file before it replaces its variables.
    if !is_rendered && text.contains("${") && chunk.read().is_err() {
        return (chunk, None);
    }
    let replaced = if is_rendered { variables.apply(text) } else { variables.apply_to_source(text) };
    match replaced {
        Ok(text) => {
            chunk.text = text.into_bytes();
            (chunk, None)
        }
        Err(unknown) => (chunk, Some(unknown)),
    }
}

#[cfg(test)]
mod tests {
    use crate::{Input, InputOptions};
    use crdx_engine::documents::InputEntry;

    /// The lines and columns of the warnings about a text, and `more` for the last one of a document.
    fn warnings(text: &[u8]) -> Vec<String> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        let options = InputOptions { any_document: true, ..InputOptions::default() };
        let entries = Input::open(&[file.path().display().to_string()], options);
        let shown = entries.map(|entry| match entry {
            InputEntry::Warning(note) if note.message.starts_with("more") => "more".to_owned(),
            InputEntry::Warning(note) => note.position.unwrap().to_string(),
            InputEntry::Document(document) => format!("document {}", document.position()),
            InputEntry::Problem(note) => note.message,
        });
        shown.collect()
    }

    /// Returns true if bytes are still pending after a file was read.
    fn are_left(name: &str, text: &[u8], options: InputOptions) -> bool {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(name);
        std::fs::write(&path, text).unwrap();
        let mut input = Input::open(&[path.display().to_string()], options);
        let step = input.steps.pop_front().unwrap();
        input.step(step);
        let invalid = input.current.as_ref().unwrap().invalid.clone();
        while let Some(current) = input.current.take() {
            input.advance(current);
            input.ready.clear();
        }
        !invalid.is_empty()
    }

    #[test]
    fn no_document_leaves_its_invalid_bytes_in_memory() {
        let crd = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nspec: {}\nspec: {}\nx: ";
        for (name, begin) in [
            ("object.yaml", "kind: A\napiVersion: v1\nx: "),
            ("template.yaml", "kind: A\napiVersion: v1\n{{- if .Values.x }}\nx: "),
            ("encrypted.yaml", "-----BEGIN AGE ENCRYPTED FILE-----\n"),
            ("unreadable.yaml", "- {\nx: "),
            ("null.yaml", "# "),
            ("values.yaml", "x: "),
            ("crd.yaml", crd),
            ("list.yaml", "apiVersion: v1\nkind: List\nitems: {}\nx: "),
            ("items.yaml", "apiVersion: v1\nkind: List\nitems: [{apiVersion: v1, kind: A}]\nx: "),
            ("empty.yaml", "apiVersion: v1\nkind: List\nitems: []\nx: "),
        ] {
            let text = [begin.as_bytes(), b"\xff \xff\n---\n"].concat().repeat(20);
            for options in [InputOptions::default(), InputOptions::default().of_definitions()] {
                assert!(!are_left(name, &text, options), "{name}");
            }
        }
    }

    #[test]
    fn documents_on_one_line_have_the_warnings_of_their_own_bytes() {
        let text = b"{\"a\":\"\xff\"}{\"b\":1} {\"c\":\"\xc3\xa9\xff\xfe\"}\n{\"d\":\"\xff\"}";
        let documents = ["1:7", "document 1:1", "document 1:10", "1:25", "document 1:18", "2:7", "document 2:1"];
        assert_eq!(warnings(text), documents);
    }

    #[test]
    fn json_with_a_byte_order_mark_has_the_warnings() {
        let text = b"\xef\xbb\xbf{\"a\":\"\xff\"} {\"b\":\"\xff\"}\n{\"c\":\"\xe2\x82\"}";
        assert_eq!(warnings(text), ["1:7", "document 1:1", "1:17", "document 1:11", "2:7", "document 2:1"]);
        let yaml = warnings(b"\xef\xbb\xbfa: \xff\n");
        assert!(yaml.len() == 1 && yaml[0].starts_with("error converting YAML to JSON"), "{yaml:?}");
    }

    #[test]
    fn the_limit_of_warnings_is_that_of_one_document() {
        let many = b"\xff ".repeat(1200);
        let ends = [&b"a: "[..], &many, b"\n---\nb: \xff\n---\nc: ", &many, b"\n"].concat();
        let (first, last): (Vec<_>, Vec<_>) =
            (0..10).map(|index| (format!("1:{}", 4 + 2 * index), format!("5:{}", 4 + 2 * index))).unzip();
        let more = || vec!["more".to_owned()];
        let one = |text: &str| vec![text.to_owned()];
        let all =
            [first, more(), one("document 1:1"), one("3:4"), one("document 3:1"), last, more(), one("document 5:1")];
        assert_eq!(warnings(&ends), all.concat());
    }
}
