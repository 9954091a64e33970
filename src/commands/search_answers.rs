//! Prints the answers of a search.

use super::counterexample;
use crdx_engine::report::SourceLocation;
use crdx_engine::search::{Answer, Counterexample, Question, VersionUpgrade};
use crdx_output::printable;
use crdx_output::report::case::{Finding, Level};
use crdx_value::{Map, Value, json, object};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The maximum number of details of one answer.
const MAX_DETAILS: usize = 5;

/// Returns the effect as a phrase.
pub fn phrase(question: Question) -> &'static str {
    match question {
        Question::CreateRejected => "create rejected",
        Question::UpdateRejected => "update rejected",
        Question::Pruned => "value dropped",
        Question::Defaulted => "defaulted differently",
        Question::Printed => "printed differently",
    }
}

/// Returns an answer in words.
pub fn words(answer: &Answer, tries: usize) -> String {
    match answer {
        Answer::Found(_) => "found".to_owned(),
        Answer::NonePossible => "none possible".to_owned(),
        Answer::NoneFound => format!("none found in {tries} tries"),
        Answer::CannotTell(unknown) => format!("cannot tell: {unknown}"),
    }
}

/// Returns an answer about a subject with the whole object.
pub fn answer_text(subject: &str, answer: &Answer, tries: usize) -> String {
    let mut text = format!("  {}: {}\n", printable::line(subject), words(answer, tries));
    if let Answer::Found(found) = answer {
        for detail in found.details.iter().take(MAX_DETAILS) {
            let _ = writeln!(text, "    {}", printable::line(detail));
        }
        if found.details.len() > MAX_DETAILS {
            let _ = writeln!(text, "    and {} more", found.details.len() - MAX_DETAILS);
        }
        text.push_str(&counterexample::text(found, 6));
    }
    text
}

/// Returns the answers for a version: each object in one line, and one line for all questions without an object.
pub fn short_text(version: &VersionUpgrade) -> String {
    let mut text = String::new();
    let mut others: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for (question, answer) in &version.answers {
        if let Answer::Found(found) = answer {
            let _ = writeln!(text, "  {}: {}", phrase(*question), printable::line(&example(found)));
        } else {
            others.entry(words(answer, version.accepted)).or_default().push(phrase(*question));
        }
    }
    for (answer, questions) in others {
        let _ = writeln!(text, "  {}: {answer}", questions.join(", "));
    }
    text
}

/// Returns the first detail and the object.
fn example(found: &Counterexample) -> String {
    let more = found.details.len().saturating_sub(1);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let first = found.details.first().map_or("", String::as_str);
    let updated = found.updated.iter().map(|updated| format!(", updated to {}", json::to_string(updated)));
    format!("{first}{more}; for example {}{}", json::to_string(&found.object), updated.collect::<String>())
}

/// Returns the answers for a version as JSON.
pub fn version_value(version: &VersionUpgrade) -> Value {
    let effects: Vec<Value> =
        version.answers.iter().map(|(question, answer)| effect_value(*question, answer)).collect();
    let tries = Value::Int(i64::try_from(version.accepted).unwrap_or(i64::MAX));
    object([("version", Value::from(version.version.as_str())), ("tries", tries), ("effects", effects.into())])
}

fn effect_value(question: Question, answer: &Answer) -> Value {
    let mut members = members(answer);
    members.insert("effect".to_owned(), question.as_str().into());
    members.into()
}

/// Returns an answer as JSON.
pub fn members(answer: &Answer) -> Map {
    let (result, mut members) = match answer {
        Answer::Found(found) => ("found", counterexample::members(found)),
        Answer::NonePossible => ("nonePossible", Map::new()),
        Answer::NoneFound => ("noneFound", Map::new()),
        Answer::CannotTell(unknown) => ("cannotTell", Map::from([("reason".to_owned(), unknown.to_string().into())])),
    };
    members.insert("result".to_owned(), result.into());
    members
}

/// Returns a finding for each effect that an object shows.
pub fn findings(versions: &[VersionUpgrade], level: Level, location: &SourceLocation) -> Vec<Finding> {
    let finding = |version: &VersionUpgrade, question: Question, found: &Counterexample| Finding {
        level,
        rule: question.as_str().to_owned(),
        field: None,
        message: format!("{}: {}", version.version, phrase(question)),
        diff: Some(counterexample::text(found, 0)),
        replacement: None,
        known: None,
        help: None,
        location: location.clone(),
    };
    let mut findings = Vec::new();
    for version in versions {
        for (question, answer) in &version.answers {
            if let Answer::Found(found) = answer {
                findings.push(finding(version, *question, found));
            }
        }
    }
    findings
}
