//! The results for each object as plain data; [`text`], [`json`] and [`pipeline`] format them.

pub mod admission;
pub mod case;
pub mod json;
mod merge;
pub mod pipeline;
pub mod text;

pub use merge::merged;

use super::excerpt::SourceLocation;
use admission::Admission;
pub use crdx::kubectl::Action;
use crdx_value::field::UNFINISHED;
use crdx_value::release::{Release, ReleaseSet};
use crdx_value::suggest;
use crdx_value::{Value, group_version};
use std::sync::Arc;

/// The prefix of an error of [`Item::hidden`] when it is printed alone.
const HIDDEN_NOTE: &str = "after the unknown fields, the server would also report: ";

/// The verdict on an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// The server would store it.
    Accepted,
    /// The server would reject it.
    Rejected,
    /// A built-in kind that can be decoded; its validation is not simulated.
    Decodes,
    /// Not a custom resource, or skipped on request.
    Skipped,
    /// The server's response is unknown.
    CannotTell,
}

impl Verdict {
    /// Returns the verdict in text.
    pub fn text(self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::Rejected => "rejected",
            Self::Decodes => "decodes",
            Self::Skipped => "skipped",
            Self::CannotTell => "cannot tell",
        }
    }
    /// Returns the verdict in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::CannotTell => "cannotTell",
            _ => self.text(),
        }
    }
}

/// The result for one object, or for an input without an object.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// The source location of the object.
    pub location: SourceLocation,
    /// The identity of the object.
    pub identity: Identity,
    /// The effect of the request, if it was sent.
    pub action: Action,
    /// The verdict; with several releases, the worst of them.
    pub verdict: Verdict,
    /// The response of each release, oldest first; empty when one release is simulated.
    pub releases: Vec<ReleaseAnswer>,
    /// The reason, if the verdict is `Skipped` or `CannotTell`.
    pub reason: String,
    /// A suggestion.
    pub help: Option<String>,
    /// The server's response, if a request was sent.
    pub answer: Option<Answer>,
    /// Remarks on how the object was simulated.
    pub remarks: Vec<Remark>,
    /// The errors with their locations.
    pub errors: Vec<Problem>,
    /// Errors that the server would report next: it refuses unknown fields first.
    pub hidden: Vec<Problem>,
    /// The warnings of the server and of this program.
    pub warnings: Vec<Problem>,
    /// Fields that would be pruned.
    pub pruned: Vec<Located>,
    /// Fields that would be defaulted.
    pub defaulted: Vec<(String, Value)>,
    /// The existing object, for comparisons.
    pub before: Option<Arc<Value>>,
    /// The object as it was sent, for comparisons.
    pub sent: Option<Value>,
    /// The object as it would be stored.
    pub object: Option<Value>,
    /// The `autoscaling/v1` Scale of the object, if the CRD has the scale subresource.
    pub scale: Option<Value>,
    /// The server's Table of the object.
    pub table: Option<Value>,
    /// The effect of admission policies and webhooks on the object, if there is any.
    pub admission: Option<Box<Admission>>,
}

/// What to do about a verdict that only a cluster can give.
pub const ASK_THE_CLUSTER: &str = "kubectl apply --dry-run=server gives the cluster's answer";

impl Item {
    /// Creates an item with only a location and a verdict.
    pub fn new(location: SourceLocation, verdict: Verdict, reason: impl Into<String>) -> Self {
        Self {
            location,
            identity: Identity::default(),
            action: Action::default(),
            verdict,
            releases: Vec::new(),
            reason: reason.into(),
            help: None,
            answer: None,
            remarks: Vec::new(),
            errors: Vec::new(),
            hidden: Vec::new(),
            warnings: Vec::new(),
            pruned: Vec::new(),
            defaulted: Vec::new(),
            before: None,
            sent: None,
            object: None,
            scale: None,
            table: None,
            admission: None,
        }
    }

    /// Makes the verdict unknown, because the request needs more steps or memory than the program uses for one.
    pub fn set_unfinished(&mut self) {
        self.verdict = Verdict::CannotTell;
        UNFINISHED.clone_into(&mut self.reason);
        self.help = Some(ASK_THE_CLUSTER.to_owned());
        (self.answer, self.object, self.table) = (None, None, None);
        self.errors.clear();
        self.hidden.clear();
    }

    /// Returns the releases with a verdict, if several are simulated.
    pub fn releases_with(&self, verdict: Verdict) -> Option<ReleaseSet> {
        ReleaseSet::of(self.releases.iter().filter(|one| one.verdict == verdict).map(|one| one.release))
    }

    /// Returns each verdict with its releases, if several are simulated.
    pub fn verdicts(&self) -> Vec<(Verdict, ReleaseSet)> {
        let all = [Verdict::Accepted, Verdict::Decodes, Verdict::Skipped, Verdict::Rejected, Verdict::CannotTell];
        all.into_iter().filter_map(|verdict| Some((verdict, self.releases_with(verdict)?))).collect()
    }

    /// Returns the verdict of a release.
    pub fn verdict_of(&self, release: Release) -> Verdict {
        self.releases.iter().find(|one| one.release == release).map_or(self.verdict, |one| one.verdict)
    }

    /// Returns true if any simulated release has the verdict.
    pub fn has(&self, verdict: Verdict) -> bool {
        self.verdict == verdict || self.releases.iter().any(|one| one.verdict == verdict)
    }

    /// Returns `CronTab default/my-cron`, without the parts that are unknown.
    pub fn called(&self) -> String {
        let words = [self.identity.kind.as_str(), &self.identity.full_name()];
        words.iter().copied().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
    }
}

/// The response of one of several simulated releases.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReleaseAnswer {
    /// The release.
    pub release: Release,
    /// Its verdict.
    pub verdict: Verdict,
    /// The reason, if the verdict is `Skipped` or `CannotTell`.
    pub reason: String,
    /// The server's response, if a request was sent.
    pub answer: Option<Answer>,
}

/// The identity of an object; unknown parts are empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Identity {
    /// `apiVersion`
    pub api_version: String,
    /// `kind`
    pub kind: String,
    /// The namespace of the request.
    pub namespace: Option<String>,
    /// `metadata.name`, or `metadata.generateName` and a `*`.
    pub name: String,
}

impl Identity {
    /// Returns the API group.
    pub fn group(&self) -> &str {
        group_version::group(&self.api_version)
    }
    /// Returns `kind.group/name`, as kubectl's `-o name` does.
    pub fn short(&self) -> String {
        let kind = self.kind.to_lowercase();
        match self.group() {
            "" => format!("{kind}/{}", self.name),
            group => format!("{kind}.{group}/{}", self.name),
        }
    }
    /// Returns `namespace/name`, without the parts that are unknown.
    pub fn full_name(&self) -> String {
        match &self.namespace {
            Some(namespace) if !self.name.is_empty() => [namespace, "/", &self.name].concat(),
            _ => self.name.clone(),
        }
    }
}

/// The server's response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The HTTP status code.
    pub code: u16,
    /// `reason` of a Status (`Invalid`); empty when the object was accepted.
    pub reason: String,
    /// `message` of a Status.
    pub message: String,
}

/// A remark on how one object was simulated; not counted as a warning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Remark {
    /// An earlier input at this location has the same object, and this one is applied after it.
    SameObject(SourceLocation),
    /// The object has `generateName` and no name, which `kubectl apply` and `kubectl replace` refuse.
    SentAsCreate,
}

impl Remark {
    /// Returns the name in JSON.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::SameObject(_) => "sameObject",
            Self::SentAsCreate => "sentAsCreate",
        }
    }

    /// Returns the text.
    pub fn message(&self) -> String {
        match self {
            Self::SameObject(first) => format!("same object as {first}, applied after it"),
            Self::SentAsCreate => "generateName, sent as kubectl create does".to_owned(),
        }
    }
}

/// An error or a warning.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Problem {
    /// The server's reason (`FieldValueInvalid`), or a type of this program.
    pub kind: String,
    /// The field, if the server names one.
    pub field: Option<String>,
    /// The message.
    pub message: String,
    /// The location of the field, or of its nearest existing ancestor.
    pub location: Option<SourceLocation>,
    /// A suggestion of this program.
    pub help: Option<String>,
    /// The text with which the suggestion would replace the text at the location.
    pub replacement: Option<String>,
    /// The part of the message that is equal in every release, if known: the detail of a field error.
    pub detail: Option<String>,
    /// The releases that report the problem, if several are simulated.
    pub releases: Option<ReleaseSet>,
}

impl Problem {
    /// Adds a suggestion for the text at the problem's location, if there is one.
    #[must_use]
    pub fn with_replacement(self, replacement: Option<&str>) -> Self {
        let help = replacement.map(suggest::did_you_mean).or(self.help);
        Self { help, replacement: replacement.map(str::to_owned), ..self }
    }

    /// Returns true if any of `releases` reports the problem; always true with a single simulated release.
    pub fn is_of(&self, releases: Option<&ReleaseSet>) -> bool {
        match (&self.releases, releases) {
            (Some(own), Some(releases)) => own.iter().any(|release| releases.iter().any(|other| other == release)),
            _ => true,
        }
    }
}

/// A field and its source location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Located {
    /// The path, as the server prints it.
    pub path: String,
    /// The location.
    pub location: Option<SourceLocation>,
    /// The releases that report the field, if several are simulated.
    pub releases: Option<ReleaseSet>,
}

/// A note about a run as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// The type of the note in JSON.
    pub kind: &'static str,
    /// The text.
    pub message: String,
}

/// The number of objects by verdict, and the number of warnings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Accepted objects.
    pub accepted: usize,
    /// Rejected objects.
    pub rejected: usize,
    /// Objects of built-in kinds that were decoded.
    pub decode: usize,
    /// Skipped objects.
    pub skipped: usize,
    /// Objects for which the server's response is unknown.
    pub cannot_tell: usize,
    /// The warnings of all objects.
    pub warnings: usize,
}

impl Summary {
    /// Counts an item.
    pub fn add(&mut self, item: &Item) {
        match item.verdict {
            Verdict::Accepted => self.accepted += 1,
            Verdict::Rejected => self.rejected += 1,
            Verdict::Decodes => self.decode += 1,
            Verdict::Skipped => self.skipped += 1,
            Verdict::CannotTell => self.cannot_tell += 1,
        }
        self.warnings += item.warnings.len();
    }
}
