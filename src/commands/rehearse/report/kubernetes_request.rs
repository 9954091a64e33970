//! A request for a stored object under all releases of an upgrade, with its effect as text and as JSON.

use super::definition::{changes, pairs};
use crdx_engine::rehearsal::kubernetes::{KubernetesEffect, ReleaseOutcome, StoredRequest};
use crdx_engine::report::{Difference, ObjectReport};
use crdx_input::baseline::Baseline;
use crdx_output::Paint;
use crdx_output::report::json;
use crdx_value::json::to_string;
use crdx_value::release::ReleaseSet;
use crdx_value::{Map, Value, object};

/// The answers of all releases to a request for a stored object.
pub struct RehearsedRequest {
    pub request: StoredRequest,
    pub item: ObjectReport,
}

impl RehearsedRequest {
    /// Marks the errors that the baseline has, if the upgrade is their cause.
    pub fn accept(&mut self, baseline: &mut Baseline) {
        if breaks(KubernetesEffect::of(&self.item).outcome, self.request) {
            baseline.accept_request(&mut self.item, self.request.as_str());
        } else {
            baseline.add_without_finding(&self.item);
        }
    }
}

/// Returns true if a request is rejected only after the upgrade. An object whose version is not served has the same answer to both
/// requests, and breaks once.
pub fn breaks(outcome: ReleaseOutcome, request: StoredRequest) -> bool {
    match outcome {
        ReleaseOutcome::Rejected => true,
        ReleaseOutcome::NotServed => request == StoredRequest::Create,
        ReleaseOutcome::Accepted | ReleaseOutcome::AlreadyRejected | ReleaseOutcome::CannotTell => false,
    }
}

/// Returns the reason why an object is listed.
pub fn note(item: &ObjectReport, effect: &KubernetesEffect, releases: &ReleaseSet) -> String {
    let mut notes = Vec::new();
    match effect.outcome {
        ReleaseOutcome::NotServed => notes.push(match effect.served_as.first() {
            Some(version) => format!("{} serves it as {version}", releases.newest()),
            None => format!("{} does not serve it", releases.newest()),
        }),
        ReleaseOutcome::AlreadyRejected => notes.push("rejected before the upgrade, too".to_owned()),
        ReleaseOutcome::Accepted | ReleaseOutcome::Rejected | ReleaseOutcome::CannotTell => {}
    }
    notes.extend(effect.deprecation.as_ref().map(|_| "deprecated".to_owned()));
    notes.extend(effect.is_stored_differently.then(|| "stored differently".to_owned()));
    notes.extend(item.is_known().then(|| "in the baseline".to_owned()));
    notes.join(", ")
}

/// Formats what the newest release stores differently, a line for each field.
pub fn difference_lines(difference: &Difference) -> Vec<(Paint, String)> {
    // `appearing` needs a stored object, and two answers are compared.
    let Difference { lost, appearing: _, defaulted, changed } = difference;
    let line =
        |paint, sign: &str, (path, value): &(String, Value)| (paint, format!("{sign} {path}: {}", to_string(value)));
    let mut lines: Vec<(Paint, String)> = lost.iter().map(|one| line(Paint::Red, "-", one)).collect();
    lines.extend(defaulted.iter().map(|one| line(Paint::Green, "+", one)));
    lines.extend(
        changed
            .iter()
            .map(|(path, was, is)| (Paint::Yellow, format!("~ {path}: {} becomes {}", to_string(was), to_string(is)))),
    );
    lines
}

/// Returns the members of an entry in JSON.
pub fn members(done: &RehearsedRequest, effect: &KubernetesEffect) -> Map {
    let mut members = Map::from([
        ("request".to_owned(), Value::from(done.request.as_str())),
        ("effect".to_owned(), effect.outcome.as_str().into()),
        ("item".to_owned(), json::value(&done.item)),
    ]);
    let versions = || effect.served_as.iter().map(|version| Value::from(version.as_str())).collect::<Vec<_>>();
    if !effect.served_as.is_empty() {
        members.insert("servedAs".to_owned(), versions().into());
    }
    members.extend(effect.deprecation.iter().map(|text| ("deprecation".to_owned(), text.as_str().into())));
    if let Some(difference) = &done.item.release_difference {
        let difference = object([
            ("lost", pairs(&difference.lost)),
            ("defaulted", pairs(&difference.defaulted)),
            ("changed", changes(&difference.changed)),
        ]);
        members.insert("storedDifferently".to_owned(), difference);
    }
    members
}
