//! The results of the same request in all releases.

use crate::documents::texts;
use crate::request::Request;
use crate::session::Sessions;
use crate::simulation::{self, Outcome, Verdict};
use crdx::Release;
use crdx_engine::report::Difference;
use crdx_value::{Value, object};

/// The result of a release, as far as users see it.
#[derive(Clone, Debug, PartialEq)]
struct Summary {
    verdict: &'static str,
    /// The messages of the server about the CRDs, the policies and the object.
    messages: Vec<String>,
    warnings: Vec<String>,
    stored: Value,
}

/// Groups neighbouring releases with the same result. The differences are those to the group of the release of the page.
pub fn answer(request: &Request, sessions: &mut Sessions) -> Value {
    let mut groups: Vec<(Vec<Release>, Summary)> = Vec::new();
    for release in Release::known() {
        let request = Request { release, ..request.clone() };
        let session = sessions.of(&request);
        let outcome = simulation::run(&request, session);
        let problems = session.problems.iter().chain(&outcome.problems);
        let summary = Summary::of(&outcome, problems.map(|problem| problem.message.clone()).collect());
        match groups.last_mut() {
            Some((releases, last)) if *last == summary => releases.push(release),
            _ => groups.push((vec![release], summary)),
        }
    }
    let current = groups.iter().find(|(releases, _)| releases.contains(&request.release)).map(|(_, summary)| summary);
    let group = |(releases, summary): &(Vec<Release>, Summary)| {
        let versions: Vec<String> = releases.iter().map(|release| release.minor().to_string()).collect();
        let name = match releases.as_slice() {
            [first, .., last] => format!("{first} to {last}"),
            [only] => only.to_string(),
            [] => String::new(),
        };
        object([
            ("name", name.into()),
            ("versions", texts(&versions)),
            ("verdict", summary.verdict.into()),
            ("messages", texts(&summary.messages)),
            ("warnings", texts(&summary.warnings)),
            ("isCurrent", releases.contains(&request.release).into()),
            ("differences", texts(&current.map(|current| differences(current, summary)).unwrap_or_default())),
        ])
    };
    object([("differs", Value::Bool(groups.len() > 1)), ("groups", Value::Array(groups.iter().map(group).collect()))])
}

impl Summary {
    fn of(outcome: &Outcome, mut messages: Vec<String>) -> Self {
        // The message of the server repeats those of the fields.
        let is_unknown = outcome.verdict == Verdict::CannotTell;
        if messages.is_empty() && (is_unknown || outcome.code.is_some_and(|code| code >= 300)) {
            messages.push(outcome.message.clone());
        }
        Self {
            verdict: outcome.verdict.as_str(),
            messages,
            warnings: outcome.other_warnings(),
            stored: outcome.response.as_ref().map(|response| response.object.clone()).unwrap_or_default(),
        }
    }
}

/// The differences between the stored objects of two releases.
fn differences(current: &Summary, other: &Summary) -> Vec<String> {
    if current.stored.is_null() || other.stored.is_null() {
        return Vec::new();
    }
    let Difference { lost, appearing, defaulted, changed } =
        Difference::between(&current.stored, &other.stored, &Value::Null);
    let lost = lost.into_iter().map(|(path, _)| format!("{path} is not stored"));
    let added = appearing.into_iter().chain(defaulted).map(|(path, _)| format!("{path} is stored"));
    let changed = changed
        .into_iter()
        .map(|(path, _, after)| format!("{path} is stored as {}", crdx_value::json::to_string(&after)));
    lost.chain(added).chain(changed).collect()
}
