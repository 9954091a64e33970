//! The result for one object.

use super::{Admission, Diagnostic, Difference, Identity, PrunedField, Remark, Severity, SourceLocation, Verdict};
use crate::kubectl::Action;
use crdx_value::Value;
use crdx_value::field::UNFINISHED;
#[cfg(feature = "simulator")]
use crdx_value::quote;
use crdx_value::release::{Release, ReleaseSet};
use std::sync::Arc;

/// The result for one object, or for an input without an object.
#[derive(Clone, Debug, PartialEq)]
pub struct ObjectReport {
    /// The source location of the object.
    pub location: SourceLocation,
    /// The identity of the object.
    pub identity: Identity,
    /// The target of the run that has the object, if there are several: each is validated on its own, as a cluster is.
    pub target: Option<Arc<str>>,
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
    pub answer: Option<ServerResponse>,
    /// True if kubectl sends no request, because the document cannot be read, or because kubectl refuses it.
    pub is_unsent: bool,
    /// Remarks on how the object was simulated.
    pub remarks: Vec<Remark>,
    /// The errors with their locations.
    pub errors: Vec<Diagnostic>,
    /// Errors that the server would report next: it refuses unknown fields first.
    pub hidden: Vec<Diagnostic>,
    /// The warnings of the server and of this program.
    pub warnings: Vec<Diagnostic>,
    /// Fields that would be dropped: unknown ones, and those that the storage version does not have.
    pub pruned: Vec<PrunedField>,
    /// Fields that would be defaulted.
    pub defaulted: Vec<(String, Value)>,
    /// The existing object, for comparisons.
    pub before: Option<Arc<Value>>,
    /// The object as it was sent, for comparisons.
    pub sent: Option<Value>,
    /// The object as it would be stored.
    pub object: Option<Value>,
    /// The differences between the objects that the oldest and the newest of several releases store, without metadata, if both accept the object.
    pub release_difference: Option<Box<Difference>>,
    /// The `autoscaling/v1` Scale of the object, if the CRD has the scale subresource.
    pub scale: Option<Value>,
    /// The server's Table of the object.
    pub table: Option<Value>,
    /// The effect of admission policies and webhooks on the object, if there is any.
    pub admission: Option<Box<Admission>>,
}

/// The help for a verdict that only a cluster can give.
pub const ASK_THE_CLUSTER: &str = "kubectl apply --dry-run=server gives the cluster's answer";

impl ObjectReport {
    /// Creates an item with only a location and a verdict.
    pub fn new(location: SourceLocation, verdict: Verdict, reason: impl Into<String>) -> Self {
        Self {
            location,
            identity: Identity::default(),
            target: None,
            action: Action::default(),
            verdict,
            releases: Vec::new(),
            reason: reason.into(),
            help: None,
            answer: None,
            is_unsent: false,
            remarks: Vec::new(),
            errors: Vec::new(),
            hidden: Vec::new(),
            warnings: Vec::new(),
            pruned: Vec::new(),
            defaulted: Vec::new(),
            before: None,
            sent: None,
            object: None,
            release_difference: None,
            scale: None,
            table: None,
            admission: None,
        }
    }

    /// Rejects the object with an answer that names no field.
    #[cfg(feature = "simulator")]
    pub(crate) fn reject_with(&mut self, answer: ServerResponse) {
        self.verdict = Verdict::Rejected;
        self.errors = vec![Diagnostic {
            kind: answer.reason.clone(),
            message: answer.message.clone(),
            location: Some(self.location.clone()),
            ..Diagnostic::default()
        }];
        self.answer = Some(answer);
    }

    /// Makes the verdict unknown, because the request needs more steps or memory than the program uses for one.
    pub(crate) fn set_unfinished(&mut self) {
        self.set_unknown(UNFINISHED.to_owned());
    }

    /// Makes the verdict unknown for this reason.
    pub(crate) fn set_unknown(&mut self, reason: String) {
        self.verdict = Verdict::CannotTell;
        self.reason = reason;
        self.help = Some(ASK_THE_CLUSTER.to_owned());
        (self.answer, self.object, self.table) = (None, None, None);
        self.errors.clear();
        self.hidden.clear();
    }

    /// Returns the releases with a verdict, if several are simulated.
    pub fn releases_with(&self, verdict: Verdict) -> Option<ReleaseSet> {
        ReleaseSet::from_releases(self.releases.iter().filter(|one| one.verdict == verdict).map(|one| one.release))
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

    /// Returns true if a finding has the severity `error`, so that the object fails although the server would not reject it.
    pub fn fails_by_severity(&self) -> bool {
        let is_error = |severity: Option<Severity>| severity == Some(Severity::Error);
        self.warnings.iter().any(|warning| is_error(warning.severity))
            || self.dropped_silently().iter().any(|field| is_error(field.severity))
    }

    /// Returns true if the object is rejected for errors that are all in the baseline.
    pub fn is_known(&self) -> bool {
        self.verdict == Verdict::Rejected
            && !self.errors.is_empty()
            && self.errors.iter().all(|error| error.known.is_some())
    }

    /// Returns true if the object makes a run fail: it is rejected, except as in the baseline, or a finding is an error by its
    /// severity.
    pub fn fails(&self) -> bool {
        self.verdict == Verdict::Rejected && !self.is_known() || self.fails_by_severity()
    }

    /// Returns `CronTab default/my-cron`, without the parts that are unknown, and `production: CronTab default/my-cron` if there are
    /// several targets.
    pub fn called(&self) -> String {
        let words = [self.identity.kind.as_str(), &self.identity.full_name()];
        let called = words.iter().copied().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
        match &self.target {
            Some(target) if !called.is_empty() => format!("{target}: {called}"),
            _ => called,
        }
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
    pub answer: Option<ServerResponse>,
}

/// The server's response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerResponse {
    /// The HTTP status code.
    pub code: u16,
    /// `reason` of a Status (`Invalid`); empty when the object was accepted.
    pub reason: String,
    /// `message` of a Status.
    pub message: String,
}

#[cfg(feature = "simulator")]
impl ServerResponse {
    /// Returns the refusal of an admission plugin (`admission.NewForbidden`). `resource` is `pods` or `deployments.apps`.
    pub(crate) fn forbidden(resource: &str, name: &str, reason: &str) -> Self {
        let message = format!("{resource} {} is forbidden: {reason}", quote::go_quote(name));
        Self { code: 403, reason: "Forbidden".to_owned(), message }
    }
}
