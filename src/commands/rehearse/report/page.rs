//! The HTML page of `rehearse`: the server's response to the new CRD, a table of the affected objects, and the details
//! of these objects.

use super::definition::{EffectCounts, help, severity};
use super::rehearsed_object::RehearsedObject;
use crate::commands::rehearse::possible_objects::PossibleObjects;
use crate::commands::sink::{ItemGroup, Page as SinkPage, PageItem};
use crdx_engine::rehearsal::{ColumnChange, Edit, ObjectOutcome, RehearsalError};
use crdx_engine::report::{ObjectReport, Verdict};
use crdx_output::excerpt::MessageSeverity;
use crdx_output::html::{Colour, Page, badge, escaped, message, number, plural, problems};
use crdx_value::json;
use crdx_value::release::ReleaseSet;
use std::fmt::Write as _;

/// The titles of the table.
const TITLES: [&str; 8] = ["Next write", "Name", "Lost", "Appears", "Defaulted", "Changed", "Errors", "Location"];
/// The maximum number of paths shown as bars.
const MAX_BARS: usize = 20;

/// Formats the head of the page, with the response to the CRD.
pub fn head(
    counts: &EffectCounts,
    crd_item: &ObjectReport,
    (columns, possible): (&[ColumnChange], &PossibleObjects),
    releases: &ReleaseSet,
) -> String {
    let total = plural(counts.objects(), "object");
    let refused = crd_item.verdict != Verdict::Accepted && !crd_item.is_known();
    let (headline, colour) = match (refused, counts.breaks()) {
        (true, _) if crd_item.verdict == Verdict::CannotTell => {
            ("This program cannot tell whether the server would accept the new CRD".to_owned(), Colour::Unsure)
        }
        (true, _) => ("The server would reject the new CRD".to_owned(), Colour::Bad),
        (false, false) if counts.is_unsure() => (format!("The effect on some of {total} is unknown"), Colour::Unsure),
        (false, false) if counts.known() > 0 => {
            (format!("Nothing breaks in {total}, except as in the baseline"), Colour::Good)
        }
        (false, false) => (format!("Nothing breaks in {total}"), Colour::Good),
        (false, true) => (format!("The upgrade breaks some of {total}"), Colour::Bad),
    };
    // An object may be counted several times.
    let outcomes = [
        (counts.untouched(), "untouched", Colour::Good),
        (counts.losing(), "losing fields", Colour::Bad),
        (counts.invalid(), "invalid", Colour::Bad),
        (counts.blocked(), "blocked at the next write", Colour::Bad),
        (counts.unreadable(), "unreadable", Colour::Bad),
        (counts.already_invalid(), "already invalid", Colour::Plain),
        (counts.moved().map_or(0, |(count, _)| count), "in a version that is no longer served", Colour::Unsure),
        (counts.to_migrate(), "to rewrite before the upgrade", Colour::Unsure),
        (counts.appearing(), "with fields that appear", Colour::Unsure),
        (counts.defaulted(), "with new defaults", Colour::Plain),
        (counts.shown_otherwise(), "shown differently", Colour::Plain),
        (counts.known(), "in the baseline", Colour::Plain),
        (counts.unknown(), "cannot tell", Colour::Unsure),
    ];
    let mut text =
        Page { command: "rehearse", releases, headline: &headline, colour, shares: &[], facts: &outcomes }.head();
    text.push_str(&definition(crd_item, (columns, possible), ""));
    text.push_str(&lost(counts));
    text
}

/// Formats the response to a new CRD, with a paragraph of counts.
pub fn definition(
    crd_item: &ObjectReport,
    (columns, possible): (&[ColumnChange], &PossibleObjects),
    counts: &str,
) -> String {
    let (class, verdict) = (
        Colour::for_verdict(crd_item.verdict).class(),
        badge(crd_item.verdict.text(), Colour::for_verdict(crd_item.verdict)),
    );
    let name = escaped(&crd_item.identity.name);
    let mut text = String::new();
    let _ = writeln!(text, "<section class=\"object {class}\">\n<h3>{name} {verdict}</h3>");
    let _ = writeln!(text, "<p class=\"place\">{}</p>", escaped(&crd_item.location.to_string()));
    text.push_str(counts);
    text.push_str(&problems(crd_item));
    if !columns.is_empty() {
        let lines: String = columns.iter().map(column).collect();
        let _ = writeln!(text, "<h4>Printer columns</h4>\n<ul class=\"paths\">{lines}</ul>");
    }
    let possible = possible.text(&crd_item.identity.name);
    if !possible.is_empty() {
        let possible = escaped(&possible);
        let _ = writeln!(text, "<h4>Objects that the old CRD accepts, stored or not</h4>\n<pre>{possible}</pre>");
    }
    text.push_str("</section>\n");
    text
}

/// Formats the number of objects that lose each path.
fn lost(counts: &EffectCounts) -> String {
    let lost = counts.most_lost();
    let objects = counts.objects().max(1);
    if lost.is_empty() {
        return String::new();
    }
    let mut text = "<h2>What is lost</h2>\n<div class=\"bars\">\n".to_owned();
    for (path, n) in lost.iter().take(MAX_BARS) {
        let width = *n as f64 / objects as f64 * 100.0;
        let _ = writeln!(
            text,
            "<div class=\"bar bad\"><code>{}</code><div class=\"track\"><i class=\"bad\" style=\"width:{width:.2}%\"></i></div><p><b>{}</b></p></div>",
            escaped(path),
            plural(*n, "object"),
        );
    }
    text.push_str("</div>\n");
    if lost.len() > MAX_BARS {
        let _ = writeln!(text, "<p class=\"about\">and {} more</p>", plural(lost.len() - MAX_BARS, "path"));
    }
    text
}

fn column(change: &ColumnChange) -> String {
    let ColumnChange { version, name, before, after } = change;
    let (class, sign, words) = match (before, after) {
        (Some(before), Some(after)) => ("changed", "~", format!("{before} becomes {after}")),
        (Some(before), None) => ("lost", "−", before.clone()),
        (None, Some(after)) => ("added", "+", after.clone()),
        (None, None) => return String::new(),
    };
    format!("<li class=\"{class}\"><b>{sign}</b>{} of {}: {}</li>", escaped(name), escaped(version), escaped(&words))
}

/// Returns the answer to the next write of an object.
pub fn next_write(entry: &RehearsedObject) -> (&'static str, Colour) {
    match &entry.outcome {
        Ok(ObjectOutcome { edit: Edit::Untried, difference, .. }) if !difference.lost.is_empty() => {
            ("loses fields", Colour::Unsure)
        }
        Ok(ObjectOutcome { edit: Edit::Untried, .. }) if entry.must_migrate => {
            ("rewrite before the upgrade", Colour::Unsure)
        }
        Ok(ObjectOutcome { edit: Edit::Untried, moved_to: Some(_), .. }) => {
            ("in a version that is no longer served", Colour::Unsure)
        }
        Ok(ObjectOutcome { edit: Edit::Untried, .. }) => ("fine", Colour::Good),
        Ok(ObjectOutcome { was_invalid: true, .. }) if !entry.breaks() => ("already invalid", Colour::Plain),
        Ok(ObjectOutcome { edit: Edit::Passes, .. }) => ("invalid, still editable", Colour::Unsure),
        Ok(ObjectOutcome { edit: Edit::Blocked(_), .. }) => ("blocked", Colour::Bad),
        Err(RehearsalError::Old(_)) => ("cannot tell", Colour::Unsure),
        Err(RehearsalError::New(_)) => ("unreadable", Colour::Bad),
    }
}

/// Returns what the page has around the objects, without the head.
pub fn objects() -> SinkPage {
    let table = ("<h2>Affected objects</h2>\n", &TITLES[..]);
    SinkPage { table: Some(table), empty: "No stored object is affected.", ..SinkPage::default() }
}

/// Formats the `n`th object.
pub fn item(entry: &RehearsedObject, n: usize) -> PageItem {
    item_with(entry, n, next_write(entry), "")
}

/// Formats the `n`th object with another answer to its next write, and with more details.
pub fn item_with(entry: &RehearsedObject, n: usize, next: (&'static str, Colour), more: &str) -> PageItem {
    let (verdict, colour) = next;
    let label = entry.identity.kind.clone();
    // All of these objects need attention.
    let group = ItemGroup { label, verdict, colour, is_problem: true };
    PageItem {
        rank: rank(colour),
        group: Some(group),
        row: row(entry, n, next),
        details: details(entry, n, next, more),
    }
}

/// Returns the rank of an object on the page: invalid objects first, then uncertain ones, then the others.
pub fn rank(colour: Colour) -> usize {
    match colour {
        Colour::Bad => 0,
        Colour::Unsure => 1,
        _ => 2,
    }
}

/// Formats the row of the `n`th object.
fn row(entry: &RehearsedObject, n: usize, (words, colour): (&str, Colour)) -> String {
    let counts = match &entry.outcome {
        Ok(outcome) => {
            let difference = &outcome.difference;
            [
                difference.lost.len(),
                difference.appearing.len(),
                difference.defaulted.len(),
                difference.changed.len(),
                outcome.errors.len(),
            ]
            .map(number)
            .concat()
        }
        Err(_) => "<td class=\"number none extra\">–</td>".repeat(5),
    };
    format!(
        "<tr data-object=\"{n}\" data-verdict=\"{words}\"><td>{}</td><td class=\"name\"><a href=\"#o{n}\">{}</a></td>{counts}<td class=\"place\">{}</td></tr>\n",
        badge(words, colour),
        escaped(&entry.identity.full_name()),
        escaped(&entry.location.to_string()),
    )
}

/// Formats the details of the `n`th object.
fn details(entry: &RehearsedObject, n: usize, (words, colour): (&str, Colour), more: &str) -> String {
    let mut text = format!(
        "<section class=\"object {}\" id=\"o{n}\" data-object=\"{n}\" data-verdict=\"{words}\">\n<h3>{} {} {}</h3>\n<p class=\"place\">{}</p>\n",
        colour.class(),
        escaped(&entry.identity.kind),
        escaped(&entry.identity.full_name()),
        badge(words, colour),
        escaped(&entry.location.to_string()),
    );
    match &entry.outcome {
        Ok(outcome) => text.push_str(&outcome_html(entry, outcome)),
        Err(RehearsalError::Old(reason) | RehearsalError::New(reason)) => {
            let known = entry.known.unreadable.as_ref();
            text.push_str(&message(severity(known), reason.as_str(), None, help(known).as_deref()));
        }
    }
    text.push_str(more);
    text.push_str("</section>\n");
    text
}

fn outcome_html(entry: &RehearsedObject, outcome: &ObjectOutcome) -> String {
    let mut lines = String::new();
    let mut line = |class: &str, sign: &str, words: String| {
        let _ = write!(lines, "<li class=\"{class}\"><b>{sign}</b>{}</li>", escaped(&words));
    };
    for (index, (path, value)) in outcome.difference.lost.iter().enumerate() {
        let known = entry.known.lost_field(index).map_or_else(String::new, |known| format!(" ({})", known.text()));
        line("lost", "−", format!("{path}: {}{known}", json::to_string(value)));
    }
    for (path, value) in &outcome.difference.appearing {
        line(
            "changed",
            "+",
            format!("{path}: {} (appears: it is stored, and the old CRD prunes it)", json::to_string(value)),
        );
    }
    for (path, value) in &outcome.difference.defaulted {
        line("added", "+", format!("{path}: {} (default)", json::to_string(value)));
    }
    for (path, before, after) in &outcome.difference.changed {
        line("changed", "~", format!("{path}: {} becomes {}", json::to_string(before), json::to_string(after)));
    }
    for (column, before, after) in &outcome.cells {
        line("same", "", format!("column {column}: {before:?} becomes {after:?}"));
    }
    let mut text = String::new();
    if let Some(version) = &outcome.moved_to {
        let words = format!("its version is no longer served: read as {version}");
        text.push_str(&message(MessageSeverity::Warning, &words, None, None));
    }
    if !lines.is_empty() {
        let _ = writeln!(text, "<ul class=\"paths\">{lines}</ul>");
    }
    for (index, (error, location)) in outcome.errors.iter().zip(&entry.locations).enumerate() {
        let known = entry.known.error(index);
        text.push_str(&message(severity(known), &error.to_string(), Some(location), help(known).as_deref()));
    }
    if let Edit::Blocked(errors) = &outcome.edit {
        let words: Vec<String> = errors.iter().map(ToString::to_string).collect();
        let words = format!("an update of only a label would be rejected: {}", words.join(", "));
        text.push_str(&message(MessageSeverity::Error, &words, None, None));
    }
    text
}
