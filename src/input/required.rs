//! Paths of which each must hold something: a CRD for `--crds`, an object for `--old`. A path that does not is reported,
//! because a misspelt or swapped argument would otherwise go unnoticed.

use super::{Document, Entry, Input, Note};
use std::collections::HashSet;

/// What each path must hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Required {
    /// A `CustomResourceDefinition`; other objects may be beside it.
    Definition,
    /// An object.
    Object,
}

impl Required {
    fn is(self, document: &Document) -> bool {
        match self {
            Self::Definition => document.is_definition(),
            Self::Object => true,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Definition => "CustomResourceDefinition",
            Self::Object => "object",
        }
    }
}

/// The entries of paths, read one path after the other; the flag is named in messages.
pub struct Sources {
    paths: std::vec::IntoIter<String>,
    recursive: bool,
    required: Required,
    /// The flag that takes the paths, such as `--crds`; empty for positional ones.
    flag: &'static str,
    current: Option<Current>,
}

struct Current {
    path: String,
    input: Input,
    /// Whether what is required was found, or why it was not was reported already.
    settled: bool,
}

impl Sources {
    /// Reads `paths`, given with `flag` (empty if they are positional). A path that is given twice is read once.
    pub fn open(paths: &[String], recursive: bool, required: Required, flag: &'static str) -> Self {
        let mut seen = HashSet::new();
        let paths: Vec<String> = paths.iter().filter(|path| seen.insert(path.as_str())).cloned().collect();
        Self { paths: paths.into_iter(), recursive, required, flag, current: None }
    }

    fn missing(&self, path: &str) -> Entry {
        let what = self.required.name();
        let article = if self.required == Required::Object { "an" } else { "a" };
        let subject = if path == "-" { "standard input" } else { path };
        let hint = match self.flag {
            "" => format!("name files or directories with {article} {what}"),
            flag => format!("{flag} takes one path, which must hold {article} {what}; repeat {flag} for several paths"),
        };
        let message = format!("there is no {what} in {subject}");
        Entry::Problem(Note { source: path.into(), position: None, message, hint: Some(hint), chunk: None })
    }
}

impl Iterator for Sources {
    type Item = Entry;

    fn next(&mut self) -> Option<Entry> {
        loop {
            let Some(current) = &mut self.current else {
                let path = self.paths.next()?;
                let input = Input::open(std::slice::from_ref(&path), self.recursive);
                self.current = Some(Current { path, input, settled: false });
                continue;
            };
            if let Some(entry) = current.input.next() {
                current.settled |= match &entry {
                    Entry::Document(document) => self.required.is(document),
                    Entry::Problem(_) => true,
                    Entry::Warning(note) => note.position.is_none(),
                };
                return Some(entry);
            }
            if let Some(done) = self.current.take()
                && !done.settled
            {
                return Some(self.missing(&done.path));
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
            Entry::Problem(note) => Some(note.message.replace(&base, "")),
            Entry::Warning(_) | Entry::Document(_) => None,
        };
        Sources::open(&paths, false, required, "--crds").filter_map(problem).collect()
    }

    const CRD: &str = "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition}";
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
