//! Loads suites, documents and CRDs from files.

use super::find::Found;
use crdx_engine::documents::{Document, FieldPositions, InputEntry, Note};
use crdx_engine::suites::suite::{CaseObject, SuiteError, Warning};
use crdx_engine::suites::{Action, Case, Suite, Variant};
use crdx_files::open::read_regular;
use crdx_input::{Input, InputOptions, InputWarnings};
use crdx_value::{Value, group_version};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The location of CRDs relative to the directory of suites.
const GENERATED: &str = "../../zz_generated.crd-manifests";

/// A message about an input that cannot be read.
pub type LoadProblem = String;

/// Returns the suites of a file: one suite or, for documents, one for each CRD that defines some of them.
pub fn suites(found: &Found) -> Result<Vec<Arc<Suite>>, Vec<LoadProblem>> {
    let (path, action) = match found {
        Found::Suite(path) => return suite(path).map(|suite| vec![Arc::new(suite)]).map_err(|problem| vec![problem]),
        Found::Valid(path) => (path, Action::Valid),
        Found::Invalid(path) => (path, Action::Invalid),
    };
    let source = path.display().to_string();
    let mut problems = Vec::new();
    let mut cases: Vec<(String, Case)> = Vec::new();
    let (mut text, mut warnings) = (Vec::new(), Vec::new());
    for entry in Input::open(std::slice::from_ref(&source), options()) {
        match entry {
            InputEntry::Document(document) => {
                if text.is_empty() {
                    text = read_regular(path).unwrap_or_default();
                }
                cases.push(case_of(&document, action));
            }
            InputEntry::Problem(note) => problems.push(note.text()),
            InputEntry::Warning(Note { position: Some(position), message, .. }) => {
                warnings.push(Warning { position, message });
            }
            InputEntry::Warning(_) => {}
        }
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    let mut suites: Vec<Arc<Suite>> = Vec::new();
    while let Some((kind, _)) = cases.first().cloned() {
        let (of_kind, of_other_kinds): (Vec<_>, Vec<_>) = cases.into_iter().partition(|(other, _)| *other == kind);
        cases = of_other_kinds;
        let of_kind = of_kind.into_iter().map(|(_, case)| case).collect();
        let mut suite = Suite::of_documents(&source, &text, of_kind);
        suite.crd_name = kind;
        suite.warnings = std::mem::take(&mut warnings);
        suites.push(Arc::new(suite));
    }
    Ok(suites)
}

/// A suite names files of its own, so a pipe or a device is a mistake.
fn options() -> InputOptions {
    InputOptions { only_regular_files: true, ..InputOptions::default() }
}

/// Returns the case of a document, with `Kind.group` of its object.
fn case_of(document: &Document, action: Action) -> (String, Case) {
    let text = |key: &str| document.value.str_at(&[key]).unwrap_or_default();
    let name = document.value.str_at(&["metadata", "name"]).unwrap_or_default();
    let group = group_version::group(text("apiVersion"));
    let position = document.position();
    let expected_error = (action == Action::Invalid).then(|| comment(&document.chunk.text)).flatten();
    let case = Case {
        name: format!("{} {name}", text("kind")).trim().to_owned(),
        path: String::new(),
        action,
        initial: Some(CaseObject::Object(document.value.clone())),
        changed: None,
        patches: Vec::new(),
        expected: None,
        expected_error,
        expected_status_error: None,
        expected_warnings: None,
        force: false,
        position: Some(position),
    };
    (format!("{}.{group}", text("kind")), case)
}

/// Returns the text of a comment `# error: text` in the first lines.
fn comment(text: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(text);
    let mut lines = text.lines().take_while(|line| line.starts_with('#') || line.trim().is_empty() || *line == "---");
    lines.find_map(|line| line.strip_prefix('#')?.trim().strip_prefix("error:").map(|text| text.trim().to_owned()))
}

fn suite(path: &Path) -> Result<Suite, LoadProblem> {
    let source = path.display().to_string();
    let text = read_regular(path).map_err(|error| format!("cannot read {source}: {error}"))?;
    Suite::read(&source, &text).map_err(|SuiteError { position, message }| {
        let position_text = position.map_or_else(String::new, |at| format!(":{at}"));
        format!("{source}{position_text}: {message}")
    })
}

/// The CRDs of files. Each file or directory is read once.
#[derive(Debug, Default)]
pub struct Library {
    read: HashMap<PathBuf, Arc<Vec<Variant>>>,
    /// The texts of CRDs, by file and name.
    texts: HashMap<(Arc<str>, String), Document>,
    /// The inputs that cannot be read, without duplicates.
    pub problems: Vec<LoadProblem>,
    /// Warnings about the text of CRDs, policies and fixtures.
    pub warnings: InputWarnings,
}

impl Library {
    /// Returns the CRDs of a file or of the files of a directory.
    pub fn crds(&mut self, path: &Path) -> Arc<Vec<Variant>> {
        if let Some(known) = self.read.get(path) {
            return Arc::clone(known);
        }
        let (variants, problems) = self.read(path, true);
        self.problems.extend(problems);
        let variants = Arc::new(variants);
        self.read.insert(path.to_owned(), Arc::clone(&variants));
        variants
    }

    /// Reads the CRDs of a file, or of a directory with or without its subdirectories.
    fn read(&mut self, path: &Path, recursive: bool) -> (Vec<Variant>, Vec<LoadProblem>) {
        let options = InputOptions { warnings: self.warnings.clone(), ..options().of_definitions() };
        let (documents, problems) = read(path, InputOptions { recursive, ..options });
        let mut variants = Vec::new();
        for mut document in documents.into_iter().filter(Document::is_definition) {
            let source = Arc::clone(&document.source);
            let definition = Arc::new(std::mem::take(&mut document.value));
            let name = definition.str_at(&["metadata", "name"]).unwrap_or_default().to_owned();
            self.texts.insert((Arc::clone(&source), name), document);
            variants.push(Variant { source, definition });
        }
        (variants, problems)
    }

    /// Returns the locations of a CRD's fields in its file, and the path of the schema of a version.
    pub fn locations_of(&self, source: &Arc<str>, name: &str, version: &str) -> Option<(FieldPositions<'_>, String)> {
        let document = self.texts.get(&(Arc::clone(source), name.to_owned()))?;
        let definition = document.chunk.read().ok()?.value;
        let definition = document
            .item
            .and_then(|item| definition.get("items")?.as_array()?.get(item).cloned())
            .unwrap_or(definition);
        let versions = definition.at(&["spec", "versions"]).and_then(Value::as_array)?;
        let index = versions.iter().position(|one| one.str_at(&["name"]) == Some(version))?;
        Some((document.field_positions(), format!("spec.versions[{index}].schema.openAPIV3Schema")))
    }

    /// Returns the CRDs of `crds` that a suite needs in addition to its own.
    pub fn additional_crds(&mut self, suite: &Suite, own: &[&str]) -> Vec<Variant> {
        let directory = Path::new(&*suite.source).parent().unwrap_or(Path::new(""));
        let all = suite.crds.iter().flat_map(|path| self.crds(&directory.join(path)).to_vec());
        all.filter(|variant| !own.contains(&variant.name())).collect()
    }

    /// Returns the CRDs that a suite may test: those of `--crds`, of `crd` and `crds`, or of the directory of generated
    /// CRDs.
    pub fn candidates(&mut self, suite: &Suite, given: &[String]) -> Vec<Variant> {
        let path = Path::new(&*suite.source);
        let directory = path.parent().unwrap_or(Path::new(""));
        let all = |library: &mut Self, paths: Vec<PathBuf>| {
            paths.iter().flat_map(|path| library.crds(path).iter().cloned().collect::<Vec<_>>()).collect()
        };
        if !given.is_empty() {
            return all(self, given.iter().map(PathBuf::from).collect());
        }
        let named: Vec<PathBuf> = suite.crd.iter().chain(&suite.crds).map(|path| directory.join(path)).collect();
        if !named.is_empty() {
            return all(self, named);
        }
        if suite.is_folder() {
            // The CRDs are next to the directory `valid` or `invalid`.
            let is_folder = |path: &&Path| path.ends_with("valid") || path.ends_with("invalid");
            let parent = path.ancestors().find(is_folder).and_then(Path::parent).unwrap_or(directory);
            let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
            // Other entries of the folder are ignored.
            return self.read(parent, false).0;
        }
        let generated = directory.join(GENERATED);
        if generated.is_dir() { all(self, vec![generated]) } else { Vec::new() }
    }

    /// Returns the objects of a file that `policies` names.
    pub fn objects(&mut self, suite: &Suite, path: &str) -> Vec<Arc<Value>> {
        let directory = Path::new(&*suite.source).parent().unwrap_or(Path::new(""));
        let options = InputOptions { warnings: self.warnings.clone(), ..options().collecting() };
        let (found, invalid) = read(&directory.join(path), options);
        self.problems.extend(invalid);
        found.into_iter().map(|document| Arc::new(document.value)).collect()
    }
}

fn read(path: &Path, options: InputOptions) -> (Vec<Document>, Vec<LoadProblem>) {
    let (mut documents, mut problems) = (Vec::new(), Vec::new());
    for entry in Input::open(&[path.display().to_string()], options) {
        match entry {
            InputEntry::Document(document) => documents.push(document),
            InputEntry::Problem(note) => problems.push(note.text()),
            InputEntry::Warning(_) => {}
        }
    }
    (documents, problems)
}
