//! The resources and patches of a kustomization, to which findings about the objects built from them belong.

use super::kustomization::{Kustomization, Patch};
use super::lexical::normal;
use super::lines::{self, Language, Line, Lines};
use super::output::Output;
use super::{RenderedObject, json_patch, place};
use crate::kustomize;
use crdx_engine::documents::{ChunkObjects, Document, SourceChunk, manifest_path};
use crdx_engine::report::SourceLocation;
use crdx_files::open::read_small;
use crdx_text::documents::Chunks;
use crdx_text::yaml;
use crdx_value::Value;
use std::collections::BTreeSet;
use std::io::Cursor;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The limits for what is read of one kustomization and its bases.
const MAX_DEPTH: usize = 16;
const MAX_FILES: usize = 4096;
const MAX_BYTES: u64 = 32 << 20;

/// A file of a kustomization.
#[derive(Debug)]
struct File {
    name: Arc<str>,
    lines: Lines,
}

/// An object in a file.
#[derive(Debug)]
struct OverlayObject {
    kind: String,
    name: String,
    namespace: Option<String>,
    file: usize,
    document: Document,
    lines: Range<usize>,
}

/// A patch in a file.
#[derive(Debug)]
struct PatchText {
    file: usize,
    value: Value,
    /// Its lines in the file; all for a text in the kustomization.
    lines: Range<usize>,
    /// The document of a file.
    document: Option<Document>,
}

/// The files of a kustomization and its bases.
#[derive(Debug, Default)]
pub struct Overlay {
    /// The kustomization.
    file: Arc<str>,
    files: Vec<File>,
    resources: Vec<OverlayObject>,
    patches: Vec<PatchText>,
    visited: BTreeSet<PathBuf>,
    bytes: u64,
}

impl Overlay {
    /// Reads the files of the kustomization in a directory.
    pub fn new(directory: &Path) -> Self {
        let file = kustomize::file(directory).unwrap_or_else(|| directory.to_owned());
        let mut overlay = Self { file: file.display().to_string().into(), ..Self::default() };
        overlay.directory(directory, 0);
        overlay
    }

    fn directory(&mut self, directory: &Path, depth: usize) {
        let Some(path) = kustomize::file(directory) else { return };
        if depth > MAX_DEPTH || !self.visited.insert(normal(directory)) {
            return;
        }
        let Some((own, text)) = self.file(&path) else { return };
        let Ok(value) = yaml::read(&text) else { return };
        let kustomization = Kustomization::new(&value);
        for name in &kustomization.resources {
            let path = normal(&directory.join(name));
            if path.is_dir() {
                self.directory(&path, depth + 1);
            } else if let Some((file, text)) = self.file(&path) {
                let documents = documents(&path, text);
                self.resources.extend(documents.iter().map(|document| OverlayObject::new(document, file)));
            }
        }
        for patch in kustomization.patches {
            match patch {
                Patch::Inline(text) => {
                    let values = documents(&path, text.into_bytes()).into_iter().map(|document| document.value);
                    let patch = |value| PatchText { file: own, value, lines: 0..usize::MAX, document: None };
                    self.patches.extend(values.map(patch));
                }
                Patch::File(name) => {
                    let path = normal(&directory.join(name));
                    let Some((file, text)) = self.file(&path) else { continue };
                    let patch = |document: Document| PatchText {
                        file,
                        lines: range(&document),
                        document: Some(document.source_only()),
                        value: document.value,
                    };
                    self.patches.extend(documents(&path, text).into_iter().map(patch));
                }
            }
        }
    }

    /// Adds a file; `None` if it cannot be read, such as a URL, or if there are too many.
    fn file(&mut self, path: &Path) -> Option<(usize, Vec<u8>)> {
        let text = read_small(path, MAX_BYTES.checked_sub(self.bytes)?).ok()?;
        if self.files.len() >= MAX_FILES {
            return None;
        }
        self.bytes += text.len() as u64;
        let lines = Lines::new(&String::from_utf8_lossy(&text), Language::Yaml);
        self.files.push(File { name: path.display().to_string().into(), lines });
        Some((self.files.len() - 1, text))
    }

    /// Returns the location in a resource or patch for one in the rendered text; otherwise the kustomization.
    pub fn map(&self, rendered: &SourceLocation, subject: &RenderedObject<'_>, output: &Output) -> SourceLocation {
        let Some(resource) = self.resource(subject) else { return SourceLocation::source(&self.file) };
        let in_file = |file: usize, line: Line<'_>| Some(place::in_line(&self.files.get(file)?.name, line, rendered));
        if rendered.column == 0 {
            let first = self.files.get(resource.file).and_then(|file| file.lines.first(resource.lines.clone()));
            let first = first.and_then(|line| in_file(resource.file, line));
            return first.unwrap_or_else(|| SourceLocation::source(&self.file));
        }
        let by_field = || subject.field.and_then(|field| resource.field(field, rendered));
        let lines = output.lines(rendered.line, lines::CONTEXT);
        let by_line = || {
            let line = self.files.get(resource.file)?.lines.find(&lines, resource.lines.clone())?;
            in_file(resource.file, line)
        };
        let by_patch = || {
            let (file, line) = self.patch(resource, subject.field, &lines)?;
            in_file(file, line)
        };
        let by_operation = || subject.field.and_then(|field| self.operation(field, rendered));
        let found = by_field().or_else(by_operation).or_else(by_line).or_else(by_patch);
        found.unwrap_or_else(|| SourceLocation::source(&self.file).rendered_as(rendered))
    }

    /// Returns the location of the value that an operation of a JSON patch sets.
    fn operation(&self, field: &str, rendered: &SourceLocation) -> Option<SourceLocation> {
        let pointer = pointer(field);
        let set = |patch: &PatchText| {
            Some((json_patch::value_at(&patch.value, &pointer)?, patch.document.as_ref()?.source_only()))
        };
        let mut found = self.patches.iter().filter_map(set);
        let (path, document) = found.next().filter(|_| found.next().is_none())?;
        let locations = parts(&document, &path);
        // JSON has quotes around names and texts.
        let text = |location: &SourceLocation| marked(location).map(|text| text.trim_matches('"').to_owned());
        let same = locations.iter().find(|location| text(location) == text(rendered));
        same.or(locations.first()).cloned()
    }

    /// Returns the resource of an object. Names may have got a prefix and a suffix, and namespaces may have been set.
    fn resource(&self, subject: &RenderedObject<'_>) -> Option<&OverlayObject> {
        let of_kind = || self.resources.iter().filter(|resource| resource.kind == subject.kind);
        let equal: Vec<_> = of_kind().filter(|resource| resource.name == subject.name).collect();
        let candidates = if equal.is_empty() {
            let inside = || of_kind().filter(|one| !one.name.is_empty() && subject.name.contains(&one.name));
            let longest = inside().map(|resource| resource.name.len()).max()?;
            inside().filter(|resource| resource.name.len() == longest).collect()
        } else {
            equal
        };
        if let [only] = candidates.as_slice() {
            return Some(only);
        }
        let mut own = candidates.into_iter().filter(|resource| resource.namespace.as_deref() == subject.namespace);
        own.next().filter(|_| own.next().is_none())
    }

    /// Returns the only line of a patch that sets the field.
    fn patch(&self, resource: &OverlayObject, field: Option<&str>, rendered: &[String]) -> Option<(usize, Line<'_>)> {
        let pointer = field.map(pointer);
        let mut found: Vec<(usize, Line<'_>)> = Vec::new();
        for patch in &self.patches {
            let Some(file) = self.files.get(patch.file) else { continue };
            let line = match &patch.value {
                Value::Array(operations) => {
                    let sets = |operation: &&Value| operation.str_at(&["path"]) == pointer.as_deref();
                    let operation = pointer.as_ref().and_then(|_| operations.iter().find(sets));
                    operation.and_then(|_| {
                        let path = format!("path: {}", pointer.as_deref().unwrap_or_default());
                        file.lines.find(&[path], patch.lines.clone())
                    })
                }
                value if value.str_at(&["kind"]).is_none_or(|kind| kind == resource.kind) => {
                    file.lines.find(rendered, patch.lines.clone())
                }
                _ => None,
            };
            found.extend(line.map(|line| (patch.file, line)));
        }
        found.dedup();
        let [only] = found.as_slice() else { return None };
        Some(*only)
    }
}

impl OverlayObject {
    fn new(document: &Document, file: usize) -> Self {
        let text = |path: &[&str]| document.value.str_at(path).map(str::to_owned);
        Self {
            kind: text(&["kind"]).unwrap_or_default(),
            name: text(&["metadata", "name"]).unwrap_or_default(),
            namespace: text(&["metadata", "namespace"]),
            file,
            lines: range(document),
            document: document.source_only(),
        }
    }

    /// Returns the location of a field, if it has the text that is marked in the rendered text.
    fn field(&self, field: &str, rendered: &SourceLocation) -> Option<SourceLocation> {
        let expected = marked(rendered)?;
        let is_definition = self.kind == "CustomResourceDefinition";
        let path = if is_definition { manifest_path::of_internal(field) } else { field.into() };
        parts(&self.document, &path).into_iter().find(|location| marked(location) == Some(expected))
    }
}

/// Returns the locations of the value and of the name of a field.
fn parts(document: &Document, path: &str) -> [SourceLocation; 2] {
    let found = document.field_positions().locate(path);
    [false, true].map(|is_name| {
        let (span, chunk) = (found.clone().shown(&document.chunk.text, is_name), &document.chunk);
        SourceLocation::part(&document.source, &chunk.text, chunk.start, span.start, span.range)
    })
}

/// Returns the text that a location marks.
fn marked(location: &SourceLocation) -> Option<&str> {
    let excerpt = location.excerpt.as_ref()?;
    excerpt.line.get(excerpt.part.clone())
}

/// Returns the documents of a file, and the items of its lists.
fn documents(path: &Path, text: Vec<u8>) -> Vec<Document> {
    let source: Arc<str> = path.display().to_string().into();
    let mut documents = Vec::new();
    for chunk in Chunks::new(Cursor::new(text)).filter_map(Result::ok) {
        let chunk = SourceChunk::new(&source, chunk, false, None);
        let Ok(contents) = chunk.chunk.read() else { continue };
        match chunk.unfold(contents.value, false) {
            ChunkObjects::Nothing => {}
            ChunkObjects::Object(document) => documents.push(document),
            ChunkObjects::List(items) => documents.extend(items),
        }
    }
    documents
}

/// Returns the lines of a document in its file.
fn range(document: &Document) -> Range<usize> {
    let start = document.chunk.start.line.saturating_sub(1);
    start..start + document.chunk.text.split(|byte| *byte == b'\n').count()
}

/// Returns the JSON pointer of a path that the server prints: `/spec/containers/0/image`.
fn pointer(field: &str) -> String {
    let mut pointer = String::new();
    let mut add = |part: &str| {
        pointer.push('/');
        pointer.push_str(&part.replace('~', "~0").replace('/', "~1"));
    };
    let mut rest = field;
    while !rest.is_empty() {
        let (part, after) = if let Some(inside) = rest.strip_prefix('[') {
            inside.split_once(']').unwrap_or((inside, ""))
        } else {
            let start = rest.strip_prefix('.').unwrap_or(rest);
            start.split_at(start.find(['.', '[']).unwrap_or(start.len()))
        };
        add(part);
        rest = after;
    }
    pointer
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::Position;
    use std::fs;

    const OBJECT: &str = "# comment\napiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec:\n  replicas: 1\n  a: {b: wrong}\n  template:\n    spec:\n      containers:\n      - name: web\n        image: x\n";

    fn project() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in [
            ("base/kustomization.yaml", "resources: [deployment.yaml, https://example.com/x.yaml]\n"),
            ("base/deployment.yaml", OBJECT),
            (
                "prod/kustomization.yaml",
                "namePrefix: prod-\nresources: [../base]\npatches:\n- path: patch.yaml\n- path: json.yaml\n  target: {kind: Deployment}\n- patch: |-\n    kind: Deployment\n    spec:\n      paused: perhaps\n",
            ),
            ("prod/patch.yaml", "kind: Deployment\nmetadata: {name: web}\nspec:\n  replicas: many\n"),
            ("prod/json.yaml", "- op: replace\n  path: /spec/template/spec/containers/0/image\n  value: 7\n"),
        ] {
            let path = dir.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        dir
    }

    #[test]
    fn findings_are_in_resources_and_patches() {
        let dir = project();
        let overlay = Overlay::new(&dir.path().join("prod"));
        let base = format!("{}/", dir.path().display());
        let map = |line: &str, marked: &str, field: &str| {
            let mut output = Output::default();
            output.append(line.as_bytes()).unwrap();
            let at = line.find(marked).unwrap();
            let position = Position { line: 1, column: at + 1 };
            let start = Position { line: 1, column: 1 };
            let location =
                SourceLocation::part(&"prod".into(), line.as_bytes(), start, position, at..at + marked.len());
            let subject = RenderedObject { kind: "Deployment", name: "prod-web", namespace: None, field: Some(field) };
            overlay.map(&location, &subject, &output).to_string().replace(&base, "")
        };
        assert_eq!(map("    b: wrong", "wrong", "spec.a.b"), "base/deployment.yaml:8:10", "by its field");
        assert_eq!(map("    - image: x", "x", "x"), "base/deployment.yaml:13:16", "by its line");
        assert_eq!(map("    name: web", "web", "x"), "prod/kustomization.yaml", "two lines");
        assert_eq!(map("  replicas: many", "many", "spec.replicas"), "prod/patch.yaml:4:13");
        assert_eq!(map("  paused: perhaps", "perhaps", "spec.paused"), "prod/kustomization.yaml:10:15");
        let image = map("  - image: 7", "7", "spec.template.spec.containers[0].image");
        assert_eq!(image, "prod/json.yaml:3:10");
        assert_eq!(map("  namespace: x", "x", "metadata.namespace"), "prod/kustomization.yaml", "it is set there");
    }

    #[test]
    fn an_object_begins_in_its_resource() {
        let dir = project();
        let overlay = Overlay::new(&dir.path().join("prod"));
        let start = |kind: &str, name: &str| {
            let location = SourceLocation::line(&"prod".into(), 1);
            let subject = RenderedObject { kind, name, namespace: None, field: None };
            let base = format!("{}/", dir.path().display());
            overlay.map(&location, &subject, &Output::default()).to_string().replace(&base, "")
        };
        assert_eq!(start("Deployment", "prod-web"), "base/deployment.yaml:2");
        assert_eq!(start("Deployment", "web"), "base/deployment.yaml:2");
        assert_eq!(start("ConfigMap", "generated"), "prod/kustomization.yaml");
    }

    #[test]
    fn paths_of_the_server_are_pointers() {
        assert_eq!(pointer("spec.containers[0].image"), "/spec/containers/0/image");
        assert_eq!(pointer("metadata.labels[a.b/c]"), "/metadata/labels/a.b~1c");
        assert_eq!(pointer(""), "");
    }
}
