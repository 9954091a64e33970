//! Checks that each path contains something: a CRD for `--crds`, an object for `--old`. Otherwise a misspelt or swapped
//! argument would go unnoticed.

use super::files::InputSource;
use super::files::commits::is_as_of_commit;
use super::remote::url;
use super::{Input, InputOptions};
use crdx_engine::documents::{Document, InputEntry, Note, Stop};
use std::collections::HashSet;
use std::path::PathBuf;

/// The objects that each path must contain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Required {
    /// Nothing beyond what [`Input`] requires.
    Nothing,
    /// A `CustomResourceDefinition`; there may be other objects.
    Definition,
    /// A `CustomResourceDefinition`, an admission policy or a binding; there may be other objects.
    Lintable,
    Object,
}

impl Required {
    fn is(self, document: &Document) -> bool {
        match self {
            Self::Definition => document.is_definition(),
            Self::Lintable => document.is_definition() || document.is_policy(),
            Self::Object | Self::Nothing => true,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Definition => "CustomResourceDefinition",
            Self::Lintable => "CustomResourceDefinition or admission policy",
            Self::Object | Self::Nothing => "object",
        }
    }
}

/// Reads paths one after the other; messages name the flag.
pub struct Sources {
    paths: std::vec::IntoIter<String>,
    /// Directories with kustomizations.
    kustomizations: std::vec::IntoIter<PathBuf>,
    options: InputOptions,
    required: Required,
    /// The flag that takes the paths, such as `--crds`; empty for positional arguments.
    flag: &'static str,
    current: Option<Current>,
    lacks_required: bool,
}

struct Current {
    path: String,
    input: Input,
    /// True if the requirement is met, or its violation was already reported.
    settled: bool,
    /// True if an object that is required was found, or none is.
    has_required: bool,
}

impl Sources {
    /// Reads `paths`, given with `flag` (empty for positional arguments). A path given twice is read once.
    /// With CRDs as requirement, directories are read with their subdirectories and warnings are collected.
    pub fn open(paths: &[String], options: impl Into<InputOptions>, required: Required, flag: &'static str) -> Self {
        let options = options.into();
        // Only objects count, not what they are compared with or validated against.
        let read = options.read.clone().filter(|_| matches!(flag, "" | "-f"));
        // CRDs are those of files; what policies are read from is not rendered either.
        let render = options.render.clone().filter(|_| matches!(flag, "" | "-f" | "--old"));
        let options = InputOptions { reads_commits: flag == "--old", read, render, ..options };
        let options = match required {
            Required::Definition => options.of_definitions(),
            Required::Lintable => InputOptions { recursive: true, lints_archives: true, ..options },
            Required::Object | Required::Nothing => options,
        };
        let mut seen = HashSet::new();
        let paths: Vec<String> = paths.iter().filter(|path| seen.insert(path.as_str())).cloned().collect();
        let (paths, kustomizations) = (paths.into_iter(), Vec::new().into_iter());
        Self { paths, kustomizations, options, required, flag, current: None, lacks_required: false }
    }

    /// Reads the paths whose objects are simulated; an empty list is allowed.
    pub fn open_all(paths: &[String], options: impl Into<InputOptions>) -> Self {
        let mut sources = Self::open(&[], options, Required::Nothing, "");
        // Standard input can be read once; the objects of a file given twice are simulated twice.
        let mut stdin_seen = false;
        let kept = paths.iter().filter(|path| *path != "-" || !std::mem::replace(&mut stdin_seen, true));
        sources.paths = kept.cloned().collect::<Vec<_>>().into_iter();
        sources
    }

    /// Also reads the output of kustomize for `directories`, after the paths.
    #[must_use]
    pub fn and_kustomizations(mut self, directories: &[PathBuf]) -> Self {
        let directories: Vec<PathBuf> = directories.into();
        self.kustomizations = directories.into_iter();
        self
    }

    /// True if a path that was read to its end has nothing of what is required.
    pub fn lacks_required(&self) -> bool {
        self.lacks_required
    }

    /// Opens the next path or directory.
    fn open_next(&mut self) -> Option<Current> {
        let options = self.options.clone();
        // If non-objects are skipped, a file may be left without entries; paths of a flag must have some.
        let skips = options.skip_non_objects && matches!(self.flag, "" | "-f");
        let settled = skips || self.required == Required::Nothing;
        if let Some(path) = self.paths.next() {
            // A file that a commit does not have yet is new.
            let settled = settled || (options.reads_commits && is_as_of_commit(&path));
            let input = Input::open(std::slice::from_ref(&path), options);
            return Some(Current { path, input, settled, has_required: settled });
        }
        let Some(directory) = self.kustomizations.next() else {
            let input = Input::of_releases(options)?;
            return Some(Current { path: String::new(), input, settled: true, has_required: true });
        };
        let path = directory.display().to_string();
        let input = Input::open_source(InputSource::Kustomization(directory), options);
        Some(Current { path, input, settled, has_required: settled })
    }

    fn missing(&self, path: &str) -> InputEntry {
        let what = self.required.name();
        let article = if self.required == Required::Object { "an" } else { "a" };
        let path = &*url::name(path);
        let subject = if path == "-" { "standard input" } else { path };
        let hint = match self.flag {
            "" => format!("name files or directories with {article} {what}"),
            flag => format!("{flag} takes one path, which must hold {article} {what}; repeat {flag} for several paths"),
        };
        let message = format!("there is no {what} in {subject}");
        InputEntry::Problem(Note {
            source: path.into(),
            position: None,
            message,
            hint: Some(hint),
            chunk: None,
            stop: Stop::Never,
            is_joined: false,
            refusal: None,
        })
    }
}

impl Iterator for Sources {
    type Item = InputEntry;

    fn next(&mut self) -> Option<InputEntry> {
        loop {
            let Some(current) = &mut self.current else {
                self.current = Some(self.open_next()?);
                continue;
            };
            if let Some(entry) = current.input.next() {
                if let InputEntry::Document(document) = &entry {
                    current.has_required |= self.required.is(document);
                }
                current.settled |= match &entry {
                    InputEntry::Document(_) => current.has_required,
                    InputEntry::Problem(_) => true,
                    InputEntry::Warning(note) => note.position.is_none(),
                };
                return Some(entry);
            }
            if let Some(done) = self.current.take() {
                self.lacks_required |= !done.has_required;
                if !done.settled {
                    return Some(self.missing(&done.path));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn problems(files: &[(&str, &str)], required: Required) -> Vec<String> {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name).display().to_string();
        for (name, text) in files {
            fs::write(path(name), text).unwrap();
        }
        let paths: Vec<String> = files.iter().map(|(name, _)| path(name)).collect();
        let base = format!("{}/", dir.path().display());
        let problem = |entry| match entry {
            InputEntry::Problem(note) => Some(note.message.replace(&base, "")),
            InputEntry::Warning(_) | InputEntry::Document(_) => None,
        };
        Sources::open(&paths, false, required, "--crds").filter_map(problem).collect()
    }

    const CRD: &str = "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, spec: {group: a}}";
    const OBJECT: &str = "{apiVersion: v1, kind: A}";

    #[test]
    fn a_path_without_a_definition_is_reported() {
        assert_eq!(problems(&[("a", CRD), ("b", &format!("{OBJECT}\n---\n{CRD}"))], Required::Definition), [""; 0]);
        assert_eq!(
            problems(&[("a", CRD), ("b", OBJECT)], Required::Definition),
            ["there is no CustomResourceDefinition in b"]
        );
        let unreadable = problems(&[("a", "a: [")], Required::Definition);
        assert!(unreadable.len() == 1 && unreadable[0].contains("YAML"), "one message is enough: {unreadable:?}");
    }

    #[test]
    fn a_path_without_an_object_is_reported() {
        assert_eq!(problems(&[("a", OBJECT)], Required::Object), [""; 0]);
        let empty = "{apiVersion: v1, kind: List, items: []}";
        assert_eq!(problems(&[("a", OBJECT), ("b", empty)], Required::Object), ["there is no object in b"]);
    }
}
