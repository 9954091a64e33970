//! What is told of each object, as plain data; [`text`], [`json`] and [`pipeline`] turn it into what is read.

pub mod admission;
pub mod case;
pub mod json;
mod merge;
pub mod pipeline;
pub mod text;

pub use merge::merged;

use super::excerpt::Spot;
pub use crate::kubectl::Action;
use crate::release::{Release, ReleaseSet};
use crate::value::Value;
use admission::Admission;

/// What introduces an error of [`Item::hidden`] where it stands alone.
const HIDDEN_NOTE: &str = "after the unknown fields, the server would also report: ";

/// What the server would do, as far as it can be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// It would be stored.
    Accepted,
    /// It would be refused.
    Rejected,
    /// It is of a built-in kind and can be decoded; the server's validation of such kinds is not simulated.
    Decodes,
    /// It is not a custom resource, or was to be skipped.
    Skipped,
    /// It could not be judged.
    CannotTell,
}

impl Verdict {
    /// The word a person reads.
    pub fn words(self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::Rejected => "rejected",
            Self::Decodes => "decodes",
            Self::Skipped => "skipped",
            Self::CannotTell => "cannot tell",
        }
    }
    /// The word a program reads.
    pub fn word(self) -> &'static str {
        match self {
            Self::CannotTell => "cannotTell",
            _ => self.words(),
        }
    }
}

/// One object, or one input that holds none.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// Where it begins.
    pub spot: Spot,
    /// What it calls itself.
    pub identity: Identity,
    /// What would happen, where the server was asked.
    pub action: Action,
    /// The verdict; where several releases are simulated, the worst of them.
    pub verdict: Verdict,
    /// What each release answers, oldest first; empty where one release is simulated.
    pub releases: Vec<ReleaseAnswer>,
    /// Why, where the verdict is `Skipped` or `CannotTell`.
    pub reason: String,
    /// What can be done about it.
    pub help: Option<String>,
    /// The server's answer, if it was asked.
    pub answer: Option<Answer>,
    /// How the object was simulated, where that is not obvious.
    pub remarks: Vec<Remark>,
    /// What is wrong, each with its place.
    pub errors: Vec<Problem>,
    /// What the server would report next: errors that it does not reach because it refused unknown fields.
    pub hidden: Vec<Problem>,
    /// The server's warnings and ours.
    pub warnings: Vec<Problem>,
    /// Fields that would be dropped.
    pub pruned: Vec<Located>,
    /// Fields that would be set.
    pub defaulted: Vec<(String, Value)>,
    /// The object as it is now, where it is there already and that is asked for.
    pub before: Option<Value>,
    /// The object as it was sent, where that is asked for.
    pub sent: Option<Value>,
    /// The object as it would be stored.
    pub object: Option<Value>,
    /// Its `autoscaling/v1` Scale, where the CRD has one.
    pub scale: Option<Value>,
    /// The server's Table of it.
    pub table: Option<Value>,
    /// What admission policies do with it, if any does something.
    pub admission: Option<Box<Admission>>,
}

impl Item {
    /// An item of which nothing is known but its place and verdict.
    pub fn new(spot: Spot, verdict: Verdict, reason: impl Into<String>) -> Self {
        Self {
            spot,
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

    /// The releases with a verdict, where several are simulated.
    pub fn releases_with(&self, verdict: Verdict) -> Option<ReleaseSet> {
        ReleaseSet::of(self.releases.iter().filter(|one| one.verdict == verdict).map(|one| one.release))
    }

    /// Each verdict that some release has, with these releases, where several are simulated.
    pub fn verdicts(&self) -> Vec<(Verdict, ReleaseSet)> {
        let all = [Verdict::Accepted, Verdict::Decodes, Verdict::Skipped, Verdict::Rejected, Verdict::CannotTell];
        all.into_iter().filter_map(|verdict| Some((verdict, self.releases_with(verdict)?))).collect()
    }

    /// The verdict of a release.
    pub fn verdict_of(&self, release: Release) -> Verdict {
        self.releases.iter().find(|one| one.release == release).map_or(self.verdict, |one| one.verdict)
    }

    /// Whether any simulated release has the verdict.
    pub fn has(&self, verdict: Verdict) -> bool {
        self.verdict == verdict || self.releases.iter().any(|one| one.verdict == verdict)
    }

    /// `CronTab default/my-cron`, or as much of it as there is.
    pub fn called(&self) -> String {
        let words = [self.identity.kind.as_str(), &self.identity.full_name()];
        words.iter().copied().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
    }
}

/// What one of several simulated releases answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReleaseAnswer {
    /// The release.
    pub release: Release,
    /// Its verdict.
    pub verdict: Verdict,
    /// Why, where the verdict is `Skipped` or `CannotTell`.
    pub reason: String,
    /// The server's answer, if it was asked.
    pub answer: Option<Answer>,
}

/// What an object calls itself; empty where it does not say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Identity {
    /// `apiVersion`
    pub api_version: String,
    /// `kind`
    pub kind: String,
    /// The namespace a request would go to.
    pub namespace: Option<String>,
    /// `metadata.name`, or `metadata.generateName` and a `*`.
    pub name: String,
}

impl Identity {
    /// The API group.
    pub fn group(&self) -> &str {
        self.api_version.split_once('/').map_or("", |(group, _)| group)
    }
    /// `kind.group/name`, as kubectl's `-o name`.
    pub fn short(&self) -> String {
        let kind = self.kind.to_lowercase();
        match self.group() {
            "" => format!("{kind}/{}", self.name),
            group => format!("{kind}.{group}/{}", self.name),
        }
    }
    /// `namespace/name`, or as much of it as there is.
    pub fn full_name(&self) -> String {
        match &self.namespace {
            Some(namespace) if !self.name.is_empty() => format!("{namespace}/{}", self.name),
            _ => self.name.clone(),
        }
    }
}

/// How the server answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The HTTP status code.
    pub code: u16,
    /// `reason` of a Status (`Invalid`); empty when the object was accepted.
    pub reason: String,
    /// `message` of a Status.
    pub message: String,
}

/// Something to know about how one object was simulated. It is neither a warning nor counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Remark {
    /// The same object is in an earlier input, there, and this one is applied after it.
    SameObject(Spot),
    /// The object has `generateName` and no name, which `kubectl apply` and `kubectl replace` refuse.
    SentAsCreate,
}

impl Remark {
    /// The name for programs.
    pub fn word(&self) -> &'static str {
        match self {
            Self::SameObject(_) => "sameObject",
            Self::SentAsCreate => "sentAsCreate",
        }
    }

    /// The text.
    pub fn message(&self) -> String {
        match self {
            Self::SameObject(first) => format!("same object as {first}, applied after it"),
            Self::SentAsCreate => "generateName, sent as kubectl create does".to_owned(),
        }
    }
}

/// Something wrong, or worth a warning.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Problem {
    /// The server's reason (`FieldValueInvalid`), or ours.
    pub kind: String,
    /// The field, if the server names one.
    pub field: Option<String>,
    /// The text.
    pub message: String,
    /// Where the field, or the nearest one above it, is written.
    pub spot: Option<Spot>,
    /// What to do about it; ours, never the server's.
    pub help: Option<String>,
    /// The part of the text that is the same in every release, where that is known: the detail of a field error.
    pub detail: Option<String>,
    /// The releases that report it, where several are simulated.
    pub releases: Option<ReleaseSet>,
}

impl Problem {
    /// Whether any of `releases` reports it. Where one release is simulated, all problems are its own.
    pub fn is_of(&self, releases: Option<&ReleaseSet>) -> bool {
        match (&self.releases, releases) {
            (Some(own), Some(releases)) => own.iter().any(|release| releases.iter().any(|other| other == release)),
            _ => true,
        }
    }
}

/// A field and the place where it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Located {
    /// The path, as the server prints it.
    pub path: String,
    /// The place.
    pub spot: Option<Spot>,
    /// The releases that report it, where several are simulated.
    pub releases: Option<ReleaseSet>,
}

/// Something to know of a run as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// What it is about, as a program reads it.
    pub kind: &'static str,
    /// The text.
    pub message: String,
}

/// How many objects met which fate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Accepted.
    pub accepted: usize,
    /// Rejected.
    pub rejected: usize,
    /// Of built-in kinds, and decoded.
    pub decode: usize,
    /// Skipped.
    pub skipped: usize,
    /// Not judged.
    pub cannot_tell: usize,
    /// Warnings, of all of them.
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
