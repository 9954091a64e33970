//! A request for a stored object under all releases of an upgrade, with its effect as text and as JSON.

use crdx_engine::rehearsal::kubernetes::{KubernetesEffect, ReleaseOutcome, StoredRequest};
use crdx_engine::report::{Difference, ObjectReport};
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

/// Returns the reason why an object is listed.
pub fn note(effect: &KubernetesEffect, releases: &ReleaseSet) -> String {
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
    notes.join(", ")
}

/// Formats what the newest release stores differently, a line for each field.
pub fn difference_lines(difference: &Difference) -> Vec<(Paint, String)> {
    let Difference { lost, appearing, defaulted, changed } = difference;
    let line =
        |paint, sign: &str, (path, value): &(String, Value)| (paint, format!("{sign} {path}: {}", to_string(value)));
    let mut lines: Vec<(Paint, String)> = lost.iter().map(|one| line(Paint::Red, "-", one)).collect();
    lines.extend(defaulted.iter().chain(appearing).map(|one| line(Paint::Green, "+", one)));
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
        let pair =
            |(path, value): &(String, Value)| object([("path", Value::from(path.as_str())), ("value", value.clone())]);
        let change = |(path, was, is): &(String, Value, Value)| {
            object([("path", Value::from(path.as_str())), ("before", was.clone()), ("after", is.clone())])
        };
        let appearing = difference.defaulted.iter().chain(&difference.appearing);
        let difference = object([
            ("lost", Value::from(difference.lost.iter().map(pair).collect::<Vec<_>>())),
            ("defaulted", appearing.map(pair).collect::<Vec<_>>().into()),
            ("changed", difference.changed.iter().map(change).collect::<Vec<_>>().into()),
        ]);
        members.insert("storedDifferently".to_owned(), difference);
    }
    members
}
