//! Counts the files and documents that were skipped because they are not objects.

use super::NoObject;
use crdx_value::lock::lock;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

/// The number of files that are named.
const NAMED: usize = 3;

/// A count of skipped inputs. Clones share it, so a command has one count for all inputs.
#[derive(Clone, Debug, Default)]
pub struct Skipped(Arc<Mutex<SkippedCounts>>);

#[derive(Debug, Default)]
struct SkippedCounts {
    documents: usize,
    templates: usize,
    /// Patches and other inputs of kustomizations.
    inputs: usize,
    encrypted: usize,
    /// The first files.
    named: Vec<Arc<str>>,
    files: BTreeSet<Arc<str>>,
}

impl Skipped {
    /// Counts a document or a file.
    pub(super) fn add(&self, source: &Arc<str>, reason: NoObject) {
        let mut counts = lock(&self.0);
        counts.documents += 1;
        counts.templates += usize::from(reason == NoObject::Template);
        counts.inputs += usize::from(reason == NoObject::KustomizeInput);
        counts.encrypted += usize::from(reason == NoObject::Encrypted);
        if counts.files.insert(Arc::clone(source)) && counts.named.len() < NAMED {
            counts.named.push(Arc::clone(source));
        }
    }

    /// A note with the count and the first files; `None` if nothing was skipped.
    pub fn message(&self) -> Option<String> {
        lock(&self.0).message()
    }
}

impl SkippedCounts {
    fn message(&self) -> Option<String> {
        let files = match (self.named.as_slice(), self.files.len().saturating_sub(self.named.len())) {
            ([], _) => return None,
            (named, 0) => named.join(", "),
            (named, more) => format!("{} and {more} more", named.join(", ")),
        };
        let what = match self.documents {
            1 => "1 document that is not a Kubernetes object was skipped".to_owned(),
            n => format!("{n} documents that are not Kubernetes objects were skipped"),
        };
        let templates = match self.templates {
            0 => String::new(),
            n => format!(
                "; {n} of them {} of Helm: render {} first (kubectl crdx validate --render DIRECTORY, or helm template)",
                if n == 1 { "is a template" } else { "are templates" },
                if n == 1 { "it" } else { "them" },
            ),
        };
        let inputs = match self.inputs {
            0 => String::new(),
            n => format!(
                "; {n} of them {} of kustomize: build {} (kubectl crdx validate --render DIRECTORY)",
                if n == 1 { "is a patch or an input" } else { "are patches or inputs" },
                if n == 1 { "it" } else { "them" },
            ),
        };
        let encrypted = match self.encrypted {
            0 => String::new(),
            1 => "; 1 of them is encrypted".to_owned(),
            n => format!("; {n} of them are encrypted"),
        };
        let discover = if self.templates + self.inputs == 0 {
            ""
        } else {
            "; kubectl crdx discover lists what a directory has, and writes the settings for it"
        };
        Some(format!("{what}: {files}{templates}{inputs}{encrypted}{discover}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_files_are_named() {
        let skipped = Skipped::default();
        assert_eq!(skipped.message(), None);
        skipped.add(&"a/values.yaml".into(), NoObject::Unrelated);
        let one = "1 document that is not a Kubernetes object was skipped: a/values.yaml";
        assert_eq!(skipped.message().as_deref(), Some(one));
        for file in ["b", "b", "c", "d", "e"] {
            skipped.add(&file.into(), NoObject::Empty);
        }
        let many = "6 documents that are not Kubernetes objects were skipped: a/values.yaml, b, c and 2 more";
        assert_eq!(skipped.message().as_deref(), Some(many));
        skipped.add(&"b".into(), NoObject::Template);
        assert!(skipped.message().unwrap().contains("1 of them is a template of Helm"));
        skipped.add(&"patch.yaml".into(), NoObject::KustomizeInput);
        assert!(skipped.message().unwrap().contains("1 of them is a patch or an input of kustomize"));
    }
}
