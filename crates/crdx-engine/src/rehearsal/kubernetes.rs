//! The effect of an upgrade of Kubernetes on the requests for stored objects: each request is sent to a server of every release of
//! the upgrade, and their answers are compared.

use crate::report::{ObjectReport, Verdict};
use crdx_types::resources;
use crdx_types::table::table;
use crdx_value::group_version;
use crdx_value::release::Release;

/// A request for a stored object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoredRequest {
    /// The object is created again, as from a manifest or a backup.
    Create,
    /// The stored object is replaced with itself.
    Update,
}

impl StoredRequest {
    /// Returns the name, as in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Update => "update",
        }
    }
}

/// The answers of the newer releases, compared with that of the oldest one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReleaseOutcome {
    /// All releases accept the request.
    Accepted,
    /// The oldest release rejects it.
    AlreadyRejected,
    /// A newer release does not serve the version of the object.
    NotServed,
    /// A newer release rejects it.
    Rejected,
    /// The verdict of a release is unknown.
    CannotTell,
}

impl ReleaseOutcome {
    /// Returns the name in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::AlreadyRejected => "alreadyRejected",
            Self::NotServed => "notServed",
            Self::Rejected => "rejected",
            Self::CannotTell => "cannotTell",
        }
    }
}

/// The effect of an upgrade on a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KubernetesEffect {
    /// The answers.
    pub outcome: ReleaseOutcome,
    /// The versions in which the newest release serves the kind of an object whose version it does not serve.
    pub served_as: Vec<String>,
    /// The server's warning, if the newest release serves a deprecated version.
    pub deprecation: Option<String>,
    /// True if the newest release stores other values than the oldest one.
    pub is_stored_differently: bool,
}

impl KubernetesEffect {
    /// Reads the effect from the report about several releases.
    pub fn of(item: &ObjectReport) -> Self {
        let answers = item.releases.split_first();
        let newer = || answers.into_iter().flat_map(|(_, newer)| newer);
        let rejects = |verdict: Verdict| verdict == Verdict::Rejected;
        let outcome = if item.has(Verdict::CannotTell) {
            ReleaseOutcome::CannotTell
        } else if answers.map_or(rejects(item.verdict), |(oldest, _)| rejects(oldest.verdict)) {
            ReleaseOutcome::AlreadyRejected
        } else if newer().any(|one| rejects(one.verdict) && !serves(item, one.release)) {
            ReleaseOutcome::NotServed
        } else if newer().any(|one| rejects(one.verdict)) {
            ReleaseOutcome::Rejected
        } else {
            ReleaseOutcome::Accepted
        };
        let newest = item.releases.last().map(|one| one.release);
        let api_version = &item.identity.api_version;
        let (group, _) = group_version::split(api_version);
        let served_as = newest
            .filter(|_| outcome == ReleaseOutcome::NotServed)
            .map(|release| resources::versions_of_kind(group, &item.identity.kind, release.emulated().number().into()));
        Self {
            outcome,
            served_as: served_as.unwrap_or_default(),
            deprecation: newest.and_then(|release| deprecation(item, release)),
            is_stored_differently: item.release_difference.is_some(),
        }
    }

    /// Returns true if the upgrade breaks the request, or its effect is unknown.
    pub fn breaks(&self) -> bool {
        matches!(self.outcome, ReleaseOutcome::NotServed | ReleaseOutcome::Rejected | ReleaseOutcome::CannotTell)
    }

    /// Returns true if there is something to report.
    pub fn is_touched(&self) -> bool {
        self.outcome != ReleaseOutcome::Accepted || self.deprecation.is_some() || self.is_stored_differently
    }
}

/// Returns true unless the object is of a built-in kind in a version that the release does not serve.
fn serves(item: &ObjectReport, release: Release) -> bool {
    let (api_version, kind) = (item.identity.api_version.as_str(), item.identity.kind.as_str());
    table().rows(api_version, kind).is_empty()
        || resources::of_kind(api_version, kind, release.emulated().number().into()).is_some()
}

fn deprecation(item: &ObjectReport, release: Release) -> Option<String> {
    let (api_version, kind) = (item.identity.api_version.as_str(), item.identity.kind.as_str());
    let minor = release.emulated().number().into();
    resources::of_kind(api_version, kind, minor)?;
    table().kind(api_version, kind, minor)?.deprecation_warning(api_version, kind, minor)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{ReleaseAnswer, SourceLocation};

    fn item(kind: (&str, &str), verdicts: &[(u16, Verdict)]) -> ObjectReport {
        let mut item = ObjectReport::new(SourceLocation::default(), Verdict::Accepted, "");
        (item.identity.api_version, item.identity.kind) = (kind.0.to_owned(), kind.1.to_owned());
        let answer = |&(minor, verdict): &(u16, Verdict)| ReleaseAnswer {
            release: Release::new(minor).unwrap(),
            verdict,
            reason: String::new(),
            answer: None,
        };
        item.releases = verdicts.iter().map(answer).collect();
        item
    }

    const POD: (&str, &str) = ("v1", "Pod");

    #[test]
    fn the_newer_releases_are_compared_with_the_oldest() {
        use Verdict::{Accepted, CannotTell, Rejected};
        for (verdicts, outcome) in [
            ([Accepted, Accepted, Accepted], ReleaseOutcome::Accepted),
            ([Accepted, Accepted, Rejected], ReleaseOutcome::Rejected),
            // No write is possible while the cluster runs 1.32.
            ([Accepted, Rejected, Accepted], ReleaseOutcome::Rejected),
            ([Rejected, Rejected, Rejected], ReleaseOutcome::AlreadyRejected),
            ([Rejected, Rejected, Accepted], ReleaseOutcome::AlreadyRejected),
            ([Rejected, Rejected, CannotTell], ReleaseOutcome::CannotTell),
        ] {
            let verdicts: Vec<(u16, Verdict)> = (31..).zip(verdicts).collect();
            assert_eq!(KubernetesEffect::of(&item(POD, &verdicts)).outcome, outcome, "{verdicts:?}");
        }
    }

    #[test]
    fn a_removed_version_has_others() {
        let flow_schema = ("flowcontrol.apiserver.k8s.io/v1beta3", "FlowSchema");
        let effect = KubernetesEffect::of(&item(flow_schema, &[(31, Verdict::Accepted), (32, Verdict::Rejected)]));
        assert_eq!(effect.outcome, ReleaseOutcome::NotServed);
        assert_eq!(effect.served_as, ["flowcontrol.apiserver.k8s.io/v1"]);
        assert_eq!(effect.deprecation, None);
        // The server rejects the object, not its version.
        let rejected = KubernetesEffect::of(&item(flow_schema, &[(30, Verdict::Accepted), (31, Verdict::Rejected)]));
        assert_eq!(rejected.outcome, ReleaseOutcome::Rejected);
        assert!(rejected.deprecation.is_some_and(|text| text.contains("unavailable in v1.32+")));
    }

    #[test]
    fn versions_of_other_groups_are_those_of_crds() {
        let kite = ("example.com/v1", "Kite");
        let effect = KubernetesEffect::of(&item(kite, &[(31, Verdict::Accepted), (32, Verdict::Rejected)]));
        assert_eq!((effect.outcome, effect.deprecation), (ReleaseOutcome::Rejected, None));
    }
}
