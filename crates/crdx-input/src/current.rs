//! The source that is read: how it is opened or rendered, and what is known of its documents.

use super::decode::{InvalidBytes, InvalidRun};
use super::files::{self, InputSource};
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
    /// Takes the warnings about bytes of a document that are not UTF-8.
    pub fn encoding_warnings(&mut self, chunk: &SourceChunk) -> Vec<Note> {
        let first = chunk.chunk.start.line;
        let last = first + crdx_text::line_breaks(&chunk.chunk.text);
        let runs = self.invalid.take(first..=last);
        let warning = |(index, run): (usize, &InvalidRun)| {
            let (first, last) = (run.first, run.last);
            let message = if index == MOST_ENCODING_WARNINGS {
                format!("more bytes of this document are not UTF-8, from byte {first} of the file")
            } else if first == last {
                format!("byte {first} of the file is not UTF-8: kubectl replaces it with U+FFFD")
            } else {
                format!("bytes {first} to {last} of the file are not UTF-8: kubectl replaces them with U+FFFD")
            };
            chunk.note(Some(run.position), message)
        };
        runs.iter().enumerate().take(MOST_ENCODING_WARNINGS + 1).map(warning).collect()
    }
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
