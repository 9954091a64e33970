//! The report about test suites, as text or JSON (`docs/output.md`).

use coverage::CoverageReport;
pub mod coverage;
mod round_trips;

use super::suite_run::SuiteRun;
use crdx_engine::report::SourceLocation;
use crdx_engine::suites::{Case, CaseOutcome, Failure};
use crdx_output::difference;
use crdx_output::paint::Paint;
use crdx_output::printable;
use crdx_output::report::case::{self, Finding, Level};
use crdx_output::report::json;
use crdx_output::report::members::location_object;
use crdx_text::Position;
use crdx_value::{Map, Value};
use std::fmt::Write as _;

/// The number of cases by result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Passed cases.
    pub passed: usize,
    /// Failed cases.
    pub failed: usize,
    /// Suites and files that could not be run.
    pub cannot_tell: usize,
}

impl Counts {
    /// Counts the cases of a run.
    pub fn add(&mut self, run: &SuiteRun) {
        match &run.cases {
            Ok(cases) => {
                for (_, outcome) in cases {
                    match &outcome.failure {
                        None => self.passed += 1,
                        Some(failure) if failure.is_unknown() => self.cannot_tell += 1,
                        Some(_) => self.failed += 1,
                    }
                }
            }
            Err(failure) if failure.rejected => self.failed += 1,
            Err(_) => self.cannot_tell += 1,
        }
    }

    /// Formats the summary line.
    pub fn line(&self) -> String {
        let mut text = format!("{} passed, {} failed", self.passed, self.failed);
        if self.cannot_tell > 0 {
            let _ = write!(text, ", {} cannot tell", self.cannot_tell);
        }
        text
    }
}

impl SuiteRun {
    /// Returns the file name of the CRD and the release, which distinguish the runs of a suite.
    pub fn server(&self) -> String {
        let file = self.crd.rsplit(['/', '\\']).next().unwrap_or_default();
        let comma = if file.is_empty() { "" } else { ", " };
        format!("{file}{comma}{}", self.release)
    }

    fn location(&self, path: &str) -> SourceLocation {
        let Position { line, column } = self.suite.position(path);
        SourceLocation { line, column, ..SourceLocation::source(&self.suite.source) }
    }

    fn failures(&self) -> impl Iterator<Item = (&Case, &Failure)> {
        let cases = self.cases.iter().flatten();
        cases.filter_map(|(index, outcome)| Some((self.suite.cases.get(*index)?, outcome.failure.as_ref()?)))
    }

    /// Formats the line of a run: the number of passed cases; and a line for each round trip.
    pub fn line(&self, color: bool) -> String {
        let source = printable::line(&self.suite.source);
        let suite = format!("{source}  {}", Paint::Dim.when(color, &format!("({})", self.server())));
        match &self.cases {
            Ok(cases) => {
                let failed = self.failures().count();
                let (word, paint) = if failed == 0 { ("ok  ", Paint::Green) } else { ("FAIL", Paint::Red) };
                let passed = cases.len() - failed;
                let mut text =
                    format!("{} {:>9}  {suite}\n", paint.when(color, word), format!("{passed}/{}", cases.len()));
                for trip in cases.iter().flat_map(|(_, outcome)| outcome.round_trips.iter()) {
                    let _ = writeln!(text, "{:16}{}", "", printable::line(&round_trips::line(trip)));
                }
                text
            }
            Err(failure) => {
                let word = if failure.rejected { "FAIL" } else { "?   " };
                format!("{} {:>9}  {suite}\n", Paint::Red.when(color, word), "-")
            }
        }
    }

    /// Returns the source location of the field that caused a failure; documents of folders have no fields.
    fn location_of(&self, case: &Case, failure: Option<&Failure>) -> SourceLocation {
        let field = failure.map_or("", Failure::field);
        let Position { line, column } = self.suite.position_in(case, field);
        SourceLocation { line, column, ..SourceLocation::source(&self.suite.source) }
    }

    pub fn pipeline(&self) -> Vec<case::Case> {
        let cases = match &self.cases {
            Ok(cases) => cases,
            Err(failure) => {
                let location = self.location(failure.field);
                let outcome = if failure.rejected { case::Outcome::Failed } else { case::Outcome::CannotTell };
                let findings = vec![error_finding("suite", &location, failure.message.clone(), failure.help.clone())];
                let result = if failure.rejected { "failed" } else { "cannot tell" };
                return vec![case::Case { subject: self.suite.name.clone(), location, outcome, result, findings }];
            }
        };
        let of = |(index, outcome): &(usize, CaseOutcome)| {
            let case = self.suite.cases.get(*index)?;
            let location = self.location_of(case, None);
            let findings: Vec<Finding> = outcome
                .failure
                .iter()
                .map(|failure| {
                    let location = self.location_of(case, Some(failure));
                    let message = message(failure);
                    Finding { diff: diff(failure, false), ..error_finding(failure.as_str(), &location, message, None) }
                })
                .collect();
            let (outcome, result) = match &outcome.failure {
                None => (case::Outcome::Passed, "passed"),
                Some(failure) if failure.is_unknown() => (case::Outcome::CannotTell, "cannot tell"),
                Some(_) => (case::Outcome::Failed, "failed"),
            };
            Some(case::Case { subject: self.title(case), location, outcome, result, findings })
        };
        cases.iter().filter_map(of).collect()
    }

    fn title(&self, case: &Case) -> String {
        format!("{} > {} ({})", self.suite.name, case.name, self.server())
    }

    /// Returns the items of the JSON report.
    pub fn items(&self) -> Vec<Value> {
        let head = |name: &str, location: &SourceLocation, outcome: &str| -> Map {
            let texts =
                [("suite", self.suite.name.as_str()), ("crd", &*self.crd), ("name", name), ("outcome", outcome)];
            let mut members: Map = texts.map(|(key, text)| (key.to_owned(), Value::from(text))).into();
            members.insert("kubernetesVersion".to_owned(), self.release.minor().to_string().into());
            members.insert("location".to_owned(), location_object(location));
            members
        };
        let cases = match &self.cases {
            Ok(cases) => cases,
            Err(failure) => {
                let outcome = if failure.rejected { "failed" } else { "cannotTell" };
                let mut members = head("", &self.location(failure.field), outcome);
                let mut described = Map::from([
                    ("type".to_owned(), if failure.rejected { "crdRejected" } else { "suite" }.into()),
                    ("message".to_owned(), failure.message.as_str().into()),
                    ("location".to_owned(), location_object(&self.location(failure.field))),
                ]);
                if let Some(help) = &failure.help {
                    described.insert("help".to_owned(), help.as_str().into());
                }
                members.insert("failure".to_owned(), described.into());
                return vec![members.into()];
            }
        };
        let of = |(index, outcome): &(usize, CaseOutcome)| {
            let case = self.suite.cases.get(*index)?;
            let word = match &outcome.failure {
                None => "passed",
                Some(failure) if failure.is_unknown() => "cannotTell",
                Some(_) => "failed",
            };
            let mut members = head(&case.name, &self.location_of(case, None), word);
            members.insert("action".to_owned(), case.action.as_str().into());
            if let Some(failure) = &outcome.failure {
                members.insert("failure".to_owned(), self.failure(case, failure));
            }
            if !outcome.round_trips.is_empty() {
                members.insert("roundTrips".to_owned(), round_trips::members(&outcome.round_trips));
            }
            Some(members.into())
        };
        cases.iter().filter_map(of).collect()
    }

    fn failure(&self, case: &Case, failure: &Failure) -> Value {
        let mut members = Map::from([
            ("type".to_owned(), Value::from(failure.as_str())),
            ("message".to_owned(), failure.to_string().into()),
            ("location".to_owned(), location_object(&self.location_of(case, Some(failure)))),
        ]);
        if let Some(answer) = failure.message() {
            members.insert("answer".to_owned(), answer.into());
        }
        if let Failure::Differs { expected, stored } = failure {
            members.insert("expected".to_owned(), expected.clone());
            members.insert("stored".to_owned(), stored.clone());
        }
        members.into()
    }
}

/// Formats a failure, followed by the server's message or the difference.
fn text(failure: &Failure, color: bool) -> String {
    diff(failure, color).map_or_else(|| message(failure), |diff| format!("{}\n{diff}", message(failure)))
}

/// Formats a failure, followed by the server's message.
fn message(failure: &Failure) -> String {
    let has_details = difference_of(failure).is_some() || matches!(failure, Failure::RoundTrips(_));
    let colon = if has_details { ":" } else { "" };
    let answer = failure.message().map_or_else(String::new, |answer| format!(":\n{answer}"));
    format!("{failure}{answer}{colon}")
}

/// Formats the difference between the expected and the stored object, or the changes of round trips.
fn diff(failure: &Failure, color: bool) -> Option<String> {
    if let Failure::RoundTrips(reports) = failure {
        return Some(round_trips::details(reports, color));
    }
    let (expected, stored) = difference_of(failure)?;
    Some(difference::lines(("expected", expected), ("stored", stored), color).trim_end().to_owned())
}

fn difference_of(failure: &Failure) -> Option<(&Value, &Value)> {
    match failure {
        Failure::Differs { expected, stored } if !stored.is_null() => Some((expected, stored)),
        _ => None,
    }
}

/// A failure, and the servers on which it occurred.
struct ReportedFailure {
    heading: String,
    body: String,
    /// The message, in which generated names are replaced.
    key: String,
    servers: Vec<String>,
}

/// Formats all failures. A failure that occurred on several servers is shown once.
pub fn failures(runs: &[SuiteRun], color: bool) -> String {
    let mut entries: Vec<ReportedFailure> = Vec::new();
    for run in runs {
        let mut add = |heading: String, body: String| {
            let key = format!("{heading}\n{}", without_names(&body));
            match entries.iter_mut().find(|entry| entry.key == key) {
                Some(entry) => entry.servers.push(run.server()),
                None => entries.push(ReportedFailure { heading, body, key, servers: vec![run.server()] }),
            }
        };
        if let Err(failure) = &run.cases {
            let help = failure.help.as_ref().map_or_else(String::new, |help| format!("\nhelp: {help}"));
            let heading = if run.suite.name.is_empty() { run.suite.source.to_string() } else { run.suite.name.clone() };
            add(heading, format!("{}: {}{help}", run.location(failure.field), failure.message));
        }
        for (case, failure) in run.failures() {
            let location = run.location_of(case, Some(failure));
            let heading = format!("{} > {}", run.suite.name, case.name);
            add(heading, format!("{}: {}", Paint::Cyan.when(color, &location.to_string()), text(failure, color)));
        }
    }
    let mut out = String::new();
    for entry in entries {
        let heading = Paint::Bold.when(color, &printable::line(&entry.heading));
        let servers = Paint::Dim.when(color, &format!("({})", entry.servers.join("; ")));
        let _ = writeln!(out, "\n{} {heading} {servers}", Paint::Red.when(color, "FAIL"));
        for line in entry.body.lines() {
            let _ = writeln!(out, "  {line}");
        }
    }
    out
}

/// Replaces the names that the server generated.
fn without_names(text: &str) -> String {
    let mut parts = text.split("\"test-");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let rest = part.char_indices().nth(5).filter(|(_, c)| *c == '"').and_then(|(at, _)| part.get(at..));
        out.push_str("\"test-");
        out.push_str(rest.unwrap_or(part));
    }
    out
}

/// Returns the members of the JSON report after its items.
pub fn members(counts: &Counts, coverage: Option<&[CoverageReport]>) -> Vec<(&'static str, Value)> {
    let Counts { passed, failed, cannot_tell } = *counts;
    let counts = json::counts([("passed", passed), ("failed", failed), ("cannotTell", cannot_tell)]);
    let coverage = coverage.map(|all| ("coverage", all.iter().map(CoverageReport::json).collect::<Vec<_>>().into()));
    coverage.into_iter().chain([("summary", counts)]).collect()
}

/// The finding of a case that fails.
fn error_finding(rule: &str, location: &SourceLocation, message: String, help: Option<String>) -> Finding {
    Finding {
        level: Level::Error,
        rule: rule.to_owned(),
        field: None,
        message,
        diff: None,
        replacement: None,
        known: None,
        help,
        location: location.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generated_names_do_not_distinguish_messages() {
        assert_eq!(without_names("A \"test-b2c4d\" and \"test-x\""), "A \"test-\" and \"test-x\"");
        assert_eq!(without_names("\"test-é\""), "\"test-é\"");
    }
}
