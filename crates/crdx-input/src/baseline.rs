//! The baseline of a project: findings that it knows and accepts, each with a reason and a date. It is a file of its own, so that
//! a review sees each new entry.

mod read;
mod write;

use crdx_engine::lint::breaking::evidence::LocatedChange;
use crdx_engine::report::severity::DROPPED_FIELD;
use crdx_engine::report::{Identity, KnownFinding, ObjectReport, RunNote, Severity, SourceLocation, Verdict};
use crdx_files::digest::sha256;
use crdx_value::group_version;
pub use read::BaselineError;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The type of notes about a baseline.
pub const BASELINE: &str = "baseline";

/// The reason of an entry that this program writes.
const FIRST_REASON: &str = "found when the baseline was written";

/// The most entries that are written.
const MAX_ENTRIES: usize = 10_000;

/// The maximum length of a message in the file in bytes. A longer one, which contains a whole object, is identified by its hash.
const MAX_MESSAGE: usize = 500;

/// The number of entries without a finding that a note names.
const NAMED: usize = 3;

/// The identity of a finding. It has neither a file nor a line, so that objects may move.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct FindingKey {
    subject: Subject,
    /// The type of the finding.
    kind: String,
    message: String,
}

/// The object that a finding is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Subject {
    /// `CronTab.stable.example.com default/nightly`, or the file of an input without an object.
    object: String,
    /// The target, if there are several.
    target: String,
}

#[derive(Clone, Debug)]
struct Entry {
    known: Arc<KnownFinding>,
    /// True if this run has the finding.
    is_found: bool,
}

/// The known findings of a project.
#[derive(Debug)]
pub struct Baseline {
    path: PathBuf,
    entries: BTreeMap<FindingKey, Entry>,
    /// The objects of this run that the entries are about.
    seen: BTreeSet<Subject>,
    /// The date of new entries, if findings become known.
    writes: Option<String>,
    /// The number of findings for which there is no room.
    left_out: usize,
}

impl Baseline {
    /// Opens a baseline to compare findings with it.
    ///
    /// # Errors
    /// The file cannot be read, or is no baseline.
    pub fn open(path: &Path) -> Result<Self, BaselineError> {
        Ok(Self::new(path, read::read(path)?, None))
    }

    /// Opens a baseline that will be replaced by the findings of a run; the file may be missing. `today` is `YYYY-MM-DD`.
    ///
    /// # Errors
    /// The file cannot be read, or is no baseline.
    pub fn open_to_write(path: &Path, today: String) -> Result<Self, BaselineError> {
        let entries = if path.symlink_metadata().is_ok() { read::read(path)? } else { BTreeMap::new() };
        Ok(Self::new(path, entries, Some(today)))
    }

    fn new(path: &Path, entries: BTreeMap<FindingKey, Entry>, writes: Option<String>) -> Self {
        Self { path: path.to_owned(), entries, seen: BTreeSet::new(), writes, left_out: 0 }
    }

    /// Marks the known findings of an object that make it fail.
    pub fn accept(&mut self, item: &mut ObjectReport) {
        self.accept_with(item, str::to_owned);
    }

    /// As [`accept`](Self::accept), for one of several requests for an object. The types of its errors begin with `request`, so that
    /// an error of one request is not known for the others.
    pub fn accept_request(&mut self, item: &mut ObjectReport, request: &str) {
        self.accept_with(item, |kind| format!("{request}/{kind}"));
    }

    /// Remembers that an object of the run has no finding.
    pub fn add_without_finding(&mut self, item: &ObjectReport) {
        self.subject(&item.identity, &item.location, item.target.as_deref());
    }

    fn accept_with(&mut self, item: &mut ObjectReport, kind_of_error: impl Fn(&str) -> String) {
        let subject = self.subject(&item.identity, &item.location, item.target.as_deref());
        if item.verdict == Verdict::Rejected {
            for error in &mut item.errors {
                error.known = self.known(&subject, &kind_of_error(&error.kind), &error.message);
            }
        }
        let is_error = |severity: Option<Severity>| severity == Some(Severity::Error);
        for warning in item.warnings.iter_mut().filter(|warning| is_error(warning.severity)) {
            warning.known = self.known(&subject, &warning.kind, &warning.message);
            if warning.known.is_some() {
                warning.severity = Some(Severity::Note);
            }
        }
        for field in item.pruned.iter_mut().filter(|field| is_error(field.severity)) {
            if self.known(&subject, DROPPED_FIELD, &field.message()).is_some() {
                field.severity = Some(Severity::Note);
            }
        }
    }

    /// Marks the known breaking changes of a CRD.
    pub fn accept_changes(&mut self, item: &ObjectReport, changes: &mut [LocatedChange]) {
        let subject = self.subject(&item.identity, &item.location, item.target.as_deref());
        for LocatedChange { change, known, .. } in changes {
            let kind = format!("breaking/{}", change.kind.as_str());
            *known = self.known(&subject, &kind, &format!("{}: {}", change.path, change.detail));
        }
    }

    /// Returns the entry of each finding of an object, given as type and message.
    pub fn accept_findings(
        &mut self,
        identity: &Identity,
        location: &SourceLocation,
        findings: &[(&str, String)],
    ) -> Vec<Option<Arc<KnownFinding>>> {
        let subject = self.subject(identity, location, None);
        findings.iter().map(|(kind, message)| self.known(&subject, kind, message)).collect()
    }

    fn subject(&mut self, identity: &Identity, location: &SourceLocation, target: Option<&str>) -> Subject {
        let (group, _) = group_version::split(&identity.api_version);
        let kind = if group.is_empty() { identity.kind.clone() } else { format!("{}.{group}", identity.kind) };
        let object = match (identity.kind.is_empty(), identity.full_name()) {
            (true, _) => location.source.to_string(),
            (false, name) if name.is_empty() => format!("{kind} {}", location.source),
            (false, name) => format!("{kind} {name}"),
        };
        let subject = Subject { object, target: target.unwrap_or_default().to_owned() };
        // Entries are in the order of their subjects.
        let first = FindingKey { subject, kind: String::new(), message: String::new() };
        if self.entries.range(&first..).next().is_some_and(|(key, _)| key.subject == first.subject) {
            self.seen.insert(first.subject.clone());
        }
        first.subject
    }

    /// Returns the entry of a finding. When the baseline is written, a new finding becomes one.
    fn known(&mut self, subject: &Subject, kind: &str, message: &str) -> Option<Arc<KnownFinding>> {
        let key = FindingKey { subject: subject.clone(), kind: kind.to_owned(), message: shortened(message.trim()) };
        if let Some(entry) = self.entries.get_mut(&key) {
            entry.is_found = true;
            return Some(Arc::clone(&entry.known));
        }
        let date = self.writes.clone()?;
        if self.entries.len() >= MAX_ENTRIES {
            self.left_out += 1;
            return None;
        }
        let known = Arc::new(KnownFinding { reason: FIRST_REASON.to_owned(), date });
        self.entries.insert(key, Entry { known: Arc::clone(&known), is_found: true });
        Some(known)
    }

    /// Ends a run: writes the file, if that was asked for, and returns notes about it.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn finish(self) -> Result<Vec<RunNote>, BaselineError> {
        let name = self.path.display().to_string();
        let note = |message: String| RunNote { kind: BASELINE, message };
        if self.writes.is_some() {
            let found: Vec<_> = self.entries.iter().filter(|(_, entry)| entry.is_found).collect();
            write::write(&self.path, &found)?;
            let mut message = format!("{name} was written: {}", findings(found.len()));
            let removed = self.entries.len() - found.len();
            if removed > 0 {
                message = format!("{message}; {} without a finding removed", entries(removed));
            }
            if self.left_out > 0 {
                message =
                    format!("{message}; {} left out, because a baseline has at most {MAX_ENTRIES}", self.left_out);
            }
            return Ok(vec![note(message)]);
        }
        let stale = self.entries.iter().filter(|(_, entry)| !entry.is_found).map(|(key, _)| key);
        let (solved, others): (Vec<_>, Vec<_>) = stale.partition(|key| self.seen.contains(&key.subject));
        let mut notes = Vec::new();
        if !solved.is_empty() {
            let names = named(&solved);
            let verb = if solved.len() == 1 { "has" } else { "have" };
            notes.push(note(format!(
                "{} of {name} {verb} no finding any more, remove them or run with --write-baseline: {names}",
                entries(solved.len())
            )));
        }
        if !others.is_empty() {
            let verb = if others.len() == 1 { "is" } else { "are" };
            let names = named(&others);
            notes.push(note(format!(
                "{} of {name} {verb} about objects that are not in this run: {names}",
                entries(others.len())
            )));
        }
        Ok(notes)
    }
}

fn entries(n: usize) -> String {
    if n == 1 { "1 entry".to_owned() } else { format!("{n} entries") }
}

fn findings(n: usize) -> String {
    if n == 1 { "1 finding".to_owned() } else { format!("{n} findings") }
}

/// Names the objects of the first entries.
fn named(keys: &[&FindingKey]) -> String {
    let text = |key: &&FindingKey| {
        let Subject { object, target } = &key.subject;
        let target = if target.is_empty() { String::new() } else { format!("{target}: ") };
        format!("{target}{object} ({})", key.kind)
    };
    let mut first: Vec<String> = keys.iter().take(NAMED).map(text).collect();
    match keys.len().saturating_sub(NAMED) {
        0 => {}
        more => first.push(format!("and {more} more")),
    }
    first.join(", ")
}

/// Returns the message as it is in the file.
fn shortened(message: &str) -> String {
    if message.len() <= MAX_MESSAGE {
        return message.to_owned();
    }
    let end = message.floor_char_boundary(MAX_MESSAGE);
    let start = message.get(..end).unwrap_or_default();
    format!("{start}… (sha256 {})", sha256(message.as_bytes()))
}

#[cfg(test)]
mod tests;
