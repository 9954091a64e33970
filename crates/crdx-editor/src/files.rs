//! The open files.

use super::check::Committed;
use super::defaults::Defaulted;
use super::finding::Finding;
use super::messages::{DidChange, OpenDocument};
use super::text::Text;
use super::uri;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// The committed version is requested again when it is older than this.
const KEPT: Duration = Duration::from_secs(2);

/// The open files by URI.
#[derive(Debug, Default)]
pub struct Files(BTreeMap<String, File>);

/// An open file.
#[derive(Debug)]
pub struct File {
    /// The version of the client.
    pub version: i32,
    pub text: Text,
    /// The findings published last.
    pub findings: Vec<Finding>,
    /// The defaults of its objects.
    pub defaulted: Vec<Defaulted>,
    /// True if the findings are those of an earlier text, or of other CRDs.
    pub is_outdated: bool,
    /// True if it is a suite.
    pub is_suite: bool,
    /// The committed version.
    pub history: History,
}

/// The committed version of a file.
#[derive(Debug, Default)]
pub struct History {
    requested: Option<Instant>,
    content: Option<Vec<u8>>,
    /// True if git answered.
    is_known: bool,
    /// The objects of the version.
    pub committed: Option<Committed>,
}

impl History {
    /// Returns true if git must be queried, and records the query.
    pub fn is_due(&mut self, now: Instant) -> bool {
        let is_due = self.requested.is_none_or(|requested| now.duration_since(requested) > KEPT);
        if is_due {
            self.requested = Some(now);
        }
        is_due
    }

    /// True if git answered.
    pub fn is_known(&self) -> bool {
        self.is_known
    }

    /// Keeps an answer of git about a file; returns true if it is a new one.
    pub fn update(&mut self, name: &str, content: Option<Vec<u8>>) -> bool {
        if self.is_known && self.content == content {
            return false;
        }
        self.committed = content.as_deref().map(|content| Committed::read(name, content));
        (self.content, self.is_known) = (content, true);
        true
    }
}

impl Files {
    pub fn open(&mut self, file: OpenDocument) {
        let open = File {
            version: file.version,
            text: Text::new(file.text),
            findings: Vec::new(),
            defaulted: Vec::new(),
            is_outdated: true,
            is_suite: false,
            history: History::default(),
        };
        self.0.insert(file.uri, open);
    }

    pub fn edit(&mut self, change: DidChange) {
        if let Some(file) = self.0.get_mut(&change.text_document.uri) {
            change.content_changes.into_iter().for_each(|change| file.text.edit(change));
            file.version = change.text_document.version;
            file.is_outdated = true;
        }
    }

    pub fn close(&mut self, uri: &str) {
        self.0.remove(uri);
    }

    /// An open file.
    pub fn get(&self, uri: &str) -> Option<&File> {
        self.0.get(uri)
    }

    /// An open file.
    pub fn get_mut(&mut self, uri: &str) -> Option<&mut File> {
        self.0.get_mut(uri)
    }

    /// The text of the open file with a path.
    pub fn text_of(&self, path: &str) -> Option<&Text> {
        self.0.iter().find(|(uri, _)| uri::path(uri) == path).map(|(_, file)| &file.text)
    }

    /// All open files.
    pub fn all(&mut self) -> impl Iterator<Item = (&String, &mut File)> {
        self.0.iter_mut()
    }
}
