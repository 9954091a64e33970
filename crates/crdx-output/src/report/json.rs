//! The JSON report, documented in `docs/output.md`. Items are written one per line as they arrive.

use super::members::{location_object, present};
use crdx_engine::report::{
    Diagnostic, FieldHint, Identity, KnownFinding, ObjectReport, PrunedField, ReleaseAnswer, Remark, RunNote,
    ServerResponse, Severity, SourceLocation, Summary,
};
use crdx_value::release::{Release, ReleaseSet};
use crdx_value::{Map, Value, json, object};

/// `apiVersion` of every JSON report; an incompatible change of the format changes it.
pub const API_VERSION: &str = "crdx/v1";

/// Formats the text before the items.
pub fn head(kind: &str) -> String {
    format!("{{\"apiVersion\":\"{API_VERSION}\",\"kind\":\"{kind}\",\"items\":[")
}

/// Formats an item with members that only one command reports, or that replace those of the item.
pub fn item(item: &ObjectReport, more: Map) -> String {
    let mut members = members(item);
    members.extend(more);
    // The object and the problems, which may be many, are written without a copy.
    let own = members.iter().map(|(key, value)| (key.as_str(), Member::Value(value)));
    let object = object_members(item).map(|(key, value)| (key, Member::Value(value)));
    let problems = problem_members(item).map(|(key, problems)| (key, Member::Problems(problems)));
    let mut all: Vec<(&str, Member<'_>)> =
        own.chain(object.chain(problems).filter(|(key, _)| !members.contains_key(key))).collect();
    all.sort_unstable_by_key(|(key, _)| *key);
    let mut text = "{".to_owned();
    for (index, (key, member)) in all.into_iter().enumerate() {
        text.push_str(if index == 0 { "\"" } else { ",\"" });
        text.push_str(key);
        text.push_str("\":");
        match member {
            Member::Value(value) => json::write_compact(&mut text, value),
            Member::Problems(problems) => write_problems(&mut text, problems),
        }
    }
    text.push('}');
    text
}

/// A member of an item.
enum Member<'a> {
    Value(&'a Value),
    Problems(&'a [Diagnostic]),
}

fn write_problems(text: &mut String, problems: &[Diagnostic]) {
    text.push('[');
    for (index, one) in problems.iter().enumerate() {
        if index > 0 {
            text.push(',');
        }
        json::write_compact(text, &problem(one));
    }
    text.push(']');
}

/// Formats an item that is not part of a list.
pub fn value(item: &ObjectReport) -> Value {
    let mut all = members(item);
    all.extend(object_members(item).map(|(key, value)| (key.to_owned(), value.clone())));
    let problems = |problems: &[Diagnostic]| problems.iter().map(problem).collect::<Vec<_>>().into();
    all.extend(problem_members(item).map(|(key, some)| (key.to_owned(), problems(some))));
    Value::Object(all)
}

/// Returns the notes of a report.
pub fn notes(notes: &[RunNote]) -> Value {
    let each = notes.iter().map(|n| object([("type", Value::from(n.kind)), ("message", n.message.as_str().into())]));
    each.collect::<Vec<_>>().into()
}

/// Returns the simulated releases of a report.
pub fn releases(releases: impl IntoIterator<Item = Release>) -> Value {
    releases.into_iter().map(|release| Value::from(release.minor().to_string())).collect::<Vec<_>>().into()
}

/// Returns the counts of a report.
pub fn counts<'a>(counts: impl IntoIterator<Item = (&'a str, usize)>) -> Value {
    object(counts.into_iter().map(|(name, n)| (name, Value::Int(n as i64))))
}

/// Returns the counts of objects by verdict.
pub fn summary(summary: &Summary) -> Value {
    let Summary { accepted, rejected, decode, skipped, cannot_tell, warnings, known, failed } = *summary;
    let mut all = counts([
        ("accepted", accepted),
        ("rejected", rejected),
        ("decodes", decode),
        ("skipped", skipped),
        ("cannotTell", cannot_tell),
        ("warnings", warnings),
    ]);
    if let Some(members) = all.as_object_mut() {
        for (name, n) in [("known", known), ("failed", failed)] {
            members.extend((n > 0).then(|| (name.to_owned(), Value::Int(n as i64))));
        }
    }
    all
}

/// Returns the members for the source location and identity.
pub fn identified(identity: &Identity, location: &SourceLocation) -> Map {
    let mut members = Map::from([("location".to_owned(), location_object(location))]);
    if let Some(origin) = &location.origin {
        members.insert("source".to_owned(), Value::from(&**origin));
    }
    for (key, text) in [
        ("apiVersion", identity.api_version.as_str()),
        ("kind", &identity.kind),
        ("namespace", identity.namespace.as_deref().unwrap_or_default()),
        ("name", &identity.name),
    ] {
        if !text.is_empty() {
            members.insert(key.to_owned(), text.into());
        }
    }
    members
}

/// Returns the members for the resulting object.
fn object_members(item: &ObjectReport) -> impl Iterator<Item = (&str, &Value)> {
    item.object
        .iter()
        .flat_map(|result| [("result", Some(result)), ("status", result.get("status"))])
        .filter_map(|(key, value)| Some((key, value?)))
}

/// Returns the members for errors and warnings.
fn problem_members(item: &ObjectReport) -> impl Iterator<Item = (&'static str, &[Diagnostic])> {
    let hidden = Some(("hiddenErrors", item.hidden.as_slice())).filter(|(_, hidden)| !hidden.is_empty());
    [("errors", item.errors.as_slice()), ("warnings", &item.warnings)].into_iter().chain(hidden)
}

/// Returns the other members.
fn members(item: &ObjectReport) -> Map {
    let mut members = identified(&item.identity, &item.location);
    let mut put = |key: &str, value: Value| members.insert(key.to_owned(), value);
    for (key, text) in [("reason", item.reason.as_str()), ("help", item.help.as_deref().unwrap_or_default())] {
        if !text.is_empty() {
            put(key, text.into());
        }
    }
    if let Some(target) = &item.target {
        put("target", (&**target).into());
    }
    put("verdict", item.verdict.as_str().into());
    if item.is_unsent {
        put("sent", false.into());
    }
    if let Some(response) = &item.answer {
        if !item.is_unsent {
            put("action", item.action.as_str().into());
        }
        put("answer", answer(response));
    }
    if !item.releases.is_empty() {
        put("versions", item.releases.iter().map(release_answer).collect::<Vec<_>>().into());
    }
    if !item.remarks.is_empty() {
        put("remarks", item.remarks.iter().map(remark).collect::<Vec<_>>().into());
    }
    put("pruned", item.pruned.iter().map(pruned_field).collect::<Vec<_>>().into());
    let defaulted = item
        .defaulted
        .iter()
        .map(|(path, value)| object([("path", Value::from(path.as_str())), ("value", value.clone())]));
    put("defaulted", defaulted.collect::<Vec<_>>().into());
    if let Some(scale) = &item.scale {
        put("scale", scale.clone());
    }
    if let Some(admission) = &item.admission {
        members.extend(super::admission::members(admission));
    }
    members
}

fn answer(answer: &ServerResponse) -> Value {
    let mut members = Map::from([("code".to_owned(), Value::Int(i64::from(answer.code)))]);
    for (key, text) in [("reason", &answer.reason), ("message", &answer.message)] {
        if !text.is_empty() {
            members.insert(key.to_owned(), text.as_str().into());
        }
    }
    members.into()
}

/// Returns the response of one of several releases.
fn release_answer(one: &ReleaseAnswer) -> Value {
    let mut members = Map::from([
        ("version".to_owned(), Value::from(one.release.minor().to_string())),
        ("verdict".to_owned(), one.verdict.as_str().into()),
    ]);
    if !one.reason.is_empty() {
        members.insert("reason".to_owned(), one.reason.as_str().into());
    }
    if let Some(response) = &one.answer {
        members.insert("answer".to_owned(), answer(response));
    }
    members.into()
}

fn remark(remark: &Remark) -> Value {
    located(&[("type", remark.as_str()), ("message", &remark.message())], remark.location(), None)
}

fn problem(problem: &Diagnostic) -> Value {
    let field = problem.field.as_deref().unwrap_or_default();
    let help = problem.help.as_deref().unwrap_or_default();
    let severity = problem.severity.map_or("", Severity::as_str);
    let message = problem.message.as_str();
    let texts = [
        ("type", problem.kind.as_str()),
        ("field", field),
        ("message", message),
        ("help", help),
        ("severity", severity),
    ];
    let mut described = located(&texts, problem.location.as_ref(), problem.releases.as_ref());
    if let (Some(known), Some(members)) = (&problem.known, described.as_object_mut()) {
        members.insert("baseline".to_owned(), known_finding(known));
    }
    described
}

/// Returns the reason and the date of an entry of the baseline.
pub fn known_finding(known: &KnownFinding) -> Value {
    object([("reason", Value::from(known.reason.as_str())), ("date", known.date.as_str().into())])
}

fn pruned_field(field: &PrunedField) -> Value {
    let help = field.help().unwrap_or_default();
    let mut described = located(
        &[("path", &field.path), ("help", &help), ("severity", field.severity.map_or("", Severity::as_str))],
        field.location.as_ref(),
        field.releases.as_ref(),
    );
    if let (Some(hint), Some(members)) = (&field.hint, described.as_object_mut()) {
        let names: Vec<Value> = hint.names().into_iter().map(Value::from).collect();
        let mut known = Map::from([("type".to_owned(), hint.as_str().into()), ("names".to_owned(), names.into())]);
        if let FieldHint::ServedVersions { dropped_by: Some(storage), .. } = hint {
            known.insert("droppedBy".to_owned(), storage.as_str().into());
        }
        members.insert("hint".to_owned(), known.into());
    }
    described
}

/// Returns the members whose text is not empty, the source location, and the releases that report it if several are
/// simulated.
fn located(texts: &[(&str, &str)], location: Option<&SourceLocation>, reporting: Option<&ReleaseSet>) -> Value {
    let mut members = present(texts);
    if let Some(location) = location {
        members.insert("location".to_owned(), location_object(location));
    }
    if let Some(reporting) = reporting {
        members.insert("versions".to_owned(), releases(reporting.iter()));
    }
    members.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_engine::report::Verdict;
    use std::sync::Arc;

    #[test]
    fn the_file_behind_an_item_is_its_source() {
        let location = SourceLocation::line(&Arc::from("<stdin>"), 3).made_from(Some(&"chart/templates/x.yaml".into()));
        let item = value(&ObjectReport::new(location, Verdict::CannotTell, "no kind"));
        assert_eq!(item.str_at(&["source"]), Some("chart/templates/x.yaml"));
        assert_eq!(item.str_at(&["location", "source"]), Some("<stdin>"));
    }
}
