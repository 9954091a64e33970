//! Round trips, as text or JSON.

use crdx_engine::search::round_trip::{ChangedField, ChangedObject, SeenChange, TripFailure, TripReport};
use crdx_output::difference;
use crdx_output::html::plural;
use crdx_output::printable;
use crdx_value::{Map, Value, json};
use std::fmt::Write as _;

/// The maximum number of fields of a trip that are shown as text.
const MAX_FIELDS: usize = 40;
/// The maximum length of a value that is shown, in characters.
const MAX_VALUE: usize = 60;

/// Formats one line for a trip.
pub fn line(report: &TripReport) -> String {
    let TripReport { trip, objects, fields, rewritten, failures, .. } = report;
    let mut text = format!("{trip}: ");
    if report.has_changes() {
        let mut parts = Vec::new();
        if !fields.is_empty() {
            parts.push(format!(
                "{} {}",
                plural(fields.len(), "field"),
                if fields.len() == 1 { "changes" } else { "change" }
            ));
        }
        parts.extend(failures.iter().map(|failure| format!("{} fails", failure.step.text(trip))));
        text.push_str(&parts.join(", "));
    } else {
        text.push_str("no change found");
    }
    let _ = write!(text, " in {}", plural(*objects, "object"));
    if !rewritten.is_empty() {
        let _ = write!(text, "; {} written differently", plural(rewritten.len(), "value"));
    }
    text
}

/// Formats the trips with changes.
pub fn details(reports: &[TripReport], color: bool) -> String {
    let mut text = String::new();
    for report in reports.iter().filter(|report| report.has_changes()) {
        let _ = writeln!(text, "{}", printable::line(&line(report)));
        for field in report.fields.iter().take(MAX_FIELDS) {
            let _ = writeln!(text, "  {}", printable::line(&field_line(field, report)));
        }
        if report.fields.len() > MAX_FIELDS {
            let _ = writeln!(text, "  … and {} more", report.fields.len() - MAX_FIELDS);
        }
        if let Some(ChangedObject { before, after, .. }) = &report.changed {
            let (written, through) = (&report.trip.written, &report.trip.through);
            let names = (format!("written in {written}"), format!("read in {written} after {through}"));
            text.push_str(&difference::lines((&names.0, before), (&names.1, after), color));
        }
        for TripFailure { step, message, object } in &report.failures {
            let _ = writeln!(text, "{} fails:\n{message}", step.text(&report.trip));
            let _ = writeln!(text, "for example {}", json::to_string(object));
        }
    }
    text.trim_end().to_owned()
}

fn field_line(field: &ChangedField, report: &TripReport) -> String {
    let path = &field.path;
    match &field.seen {
        SeenChange::Values(before, after) => {
            format!("{path}: {}, then {}", value(before.as_ref()), value(after.as_ref()))
        }
        SeenChange::Below(number) => format!("{path}: all {number} fields below it"),
        SeenChange::Pruned => format!("{path}: {} does not have it", report.trip.through),
    }
}

fn value(value: Option<&Value>) -> String {
    let Some(value) = value else { return "none".to_owned() };
    let text = json::to_string(value);
    if text.chars().count() <= MAX_VALUE {
        text
    } else {
        format!("{}…", text.chars().take(MAX_VALUE).collect::<String>())
    }
}

/// Returns the trips as JSON.
pub fn members(reports: &[TripReport]) -> Value {
    reports.iter().map(trip).collect::<Vec<_>>().into()
}

fn trip(report: &TripReport) -> Value {
    let result = match report {
        report if report.has_changes() => "found",
        report if report.objects == 0 => "cannotTell",
        _ => "noneFound",
    };
    let mut members = Map::from([
        ("written".to_owned(), Value::from(report.trip.written.as_str())),
        ("through".to_owned(), report.trip.through.as_str().into()),
        ("result".to_owned(), result.into()),
        ("tries".to_owned(), count(report.objects)),
        ("fields".to_owned(), report.fields.iter().map(field_value).collect::<Vec<_>>().into()),
        (
            "rewritten".to_owned(),
            report.rewritten.iter().map(|path| Value::from(path.as_str())).collect::<Vec<_>>().into(),
        ),
        ("failures".to_owned(), report.failures.iter().map(failure).collect::<Vec<_>>().into()),
    ]);
    if let Some(ChangedObject { object, before, after }) = &report.changed {
        members.insert("object".to_owned(), object.clone());
        members.insert("before".to_owned(), before.clone());
        members.insert("after".to_owned(), after.clone());
    }
    members.into()
}

fn count(number: usize) -> Value {
    Value::Int(i64::try_from(number).unwrap_or(i64::MAX))
}

fn field_value(field: &ChangedField) -> Value {
    let mut members = Map::from([("path".to_owned(), Value::from(field.path.as_str()))]);
    match &field.seen {
        SeenChange::Values(before, after) => {
            members.extend(before.clone().map(|value| ("before".to_owned(), value)));
            members.extend(after.clone().map(|value| ("after".to_owned(), value)));
        }
        SeenChange::Below(number) => {
            members.insert("fields".to_owned(), count(*number));
        }
        SeenChange::Pruned => {
            members.insert("pruned".to_owned(), true.into());
        }
    }
    members.into()
}

fn failure(failure: &TripFailure) -> Value {
    Map::from([
        ("request".to_owned(), Value::from(failure.step.as_str())),
        ("message".to_owned(), failure.message.as_str().into()),
        ("object".to_owned(), failure.object.clone()),
    ])
    .into()
}
