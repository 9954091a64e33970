//! The HTML page of `rehearse`: the server's response to the new CRD, a table of the affected objects, then their
//! details.

use super::{Page, Tone, badge, escaped, message, number, plural, problems};
use crate::output::excerpt::Grade;
use crate::output::rehearsal::{Counts, Entry};
use crate::output::report::{Item, Verdict};
use crate::rehearsal::{ColumnChange, Edit, Fate, Trouble};
use crate::release::ReleaseSet;
use crate::value::json;
use std::fmt::Write as _;

/// The titles of the table.
pub const TITLES: [&str; 8] = ["Next write", "Name", "Lost", "Appears", "Defaulted", "Changed", "Errors", "Place"];
/// The most paths shown as bars.
const MOST_BARS: usize = 20;

/// The head of the page, with the response about the CRD.
pub fn head(counts: &Counts, said: &Item, columns: &[ColumnChange], releases: &ReleaseSet) -> String {
    let total = plural(counts.objects(), "object");
    let refused = said.verdict != Verdict::Accepted;
    let broken = counts.losing() + counts.invalid() + counts.unreadable();
    let (headline, tone) = match (refused, broken) {
        (true, _) => ("The server would refuse the new CRD".to_owned(), Tone::Bad),
        (false, 0) if counts.is_unsure() => (format!("The effect on some of {total} is unknown"), Tone::Unsure),
        (false, 0) => (format!("Nothing breaks in {total}"), Tone::Good),
        (false, _) => (format!("The upgrade harms some of {total}"), Tone::Bad),
    };
    // An object may be counted several times.
    let fates = [
        (counts.untouched(), "untouched", Tone::Good),
        (counts.losing(), "losing fields", Tone::Bad),
        (counts.invalid(), "invalid", Tone::Bad),
        (counts.blocked(), "blocked at the next write", Tone::Bad),
        (counts.unreadable(), "unreadable", Tone::Bad),
        (counts.appearing(), "with fields that appear", Tone::Unsure),
        (counts.defaulted(), "with new defaults", Tone::Plain),
        (counts.shown_otherwise(), "shown otherwise", Tone::Plain),
        (counts.unknown(), "unknown", Tone::Unsure),
    ];
    let mut text = Page { command: "rehearse", releases, headline: &headline, tone, shares: &[], facts: &fates }.head();
    let (class, verdict) = (Tone::of(said.verdict).class(), badge(said.verdict.words(), Tone::of(said.verdict)));
    let name = escaped(&said.identity.name);
    let _ = writeln!(text, "<section class=\"object {class}\">\n<h3>{name} {verdict}</h3>");
    let _ = writeln!(text, "<p class=\"place\">{}</p>", escaped(&said.spot.to_string()));
    text.push_str(&problems(said));
    if !columns.is_empty() {
        let lines: String = columns.iter().map(column).collect();
        let _ = writeln!(text, "<h4>Printer columns</h4>\n<ul class=\"paths\">{lines}</ul>");
    }
    text.push_str("</section>\n");
    text.push_str(&lost(counts));
    text
}

/// The number of objects that lose each path.
fn lost(counts: &Counts) -> String {
    let lost = counts.most_lost();
    let objects = counts.objects().max(1);
    if lost.is_empty() {
        return String::new();
    }
    let mut text = "<h2>What is lost</h2>\n<div class=\"bars\">\n".to_owned();
    for (path, n) in lost.iter().take(MOST_BARS) {
        let width = *n as f64 / objects as f64 * 100.0;
        let _ = writeln!(
            text,
            "<div class=\"bar bad\"><code>{}</code><div class=\"track\"><i class=\"bad\" style=\"width:{width:.2}%\"></i></div><p><b>{}</b></p></div>",
            escaped(path),
            plural(*n, "object"),
        );
    }
    text.push_str("</div>\n");
    if lost.len() > MOST_BARS {
        let _ = writeln!(text, "<p class=\"about\">and {} more</p>", plural(lost.len() - MOST_BARS, "path"));
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

fn next_write(entry: &Entry) -> (String, Tone) {
    match &entry.fate {
        Ok(Fate { edit: Edit::Untried, difference, .. }) if !difference.lost.is_empty() => {
            ("loses fields".to_owned(), Tone::Unsure)
        }
        Ok(Fate { edit: Edit::Untried, .. }) => ("fine".to_owned(), Tone::Good),
        Ok(Fate { edit: Edit::Passes, .. }) => ("invalid, still editable".to_owned(), Tone::Unsure),
        Ok(Fate { edit: Edit::Blocked(_), .. }) => ("blocked".to_owned(), Tone::Bad),
        Err(Trouble::Today(_)) => ("cannot tell".to_owned(), Tone::Unsure),
        Err(Trouble::Tomorrow(_)) => ("unreadable".to_owned(), Tone::Bad),
    }
}

/// The rank of an object on the page: invalid first, then uncertain, then the rest.
pub fn rank(entry: &Entry) -> usize {
    match next_write(entry).1 {
        Tone::Bad => 0,
        Tone::Unsure => 1,
        _ => 2,
    }
}

/// The row of the `n`th object.
pub fn row(entry: &Entry, n: usize) -> String {
    let (words, tone) = next_write(entry);
    let counts = match &entry.fate {
        Ok(fate) => {
            let difference = &fate.difference;
            [
                difference.lost.len(),
                difference.appearing.len(),
                difference.defaulted.len(),
                difference.changed.len(),
                fate.errors.len(),
            ]
            .map(number)
            .concat()
        }
        Err(_) => "<td class=\"number none extra\">–</td>".repeat(5),
    };
    format!(
        "<tr data-object=\"{n}\" data-verdict=\"{words}\"><td>{}</td><td class=\"name\"><a href=\"#o{n}\">{}</a></td>{counts}<td class=\"place\">{}</td></tr>\n",
        badge(&words, tone),
        escaped(&entry.identity.full_name()),
        escaped(&entry.spot.to_string()),
    )
}

/// The details of the `n`th object.
pub fn details(entry: &Entry, n: usize) -> String {
    let (words, tone) = next_write(entry);
    let mut text = format!(
        "<section class=\"object {}\" id=\"o{n}\" data-object=\"{n}\" data-verdict=\"{words}\">\n<h3>{} {} {}</h3>\n<p class=\"place\">{}</p>\n",
        tone.class(),
        escaped(&entry.identity.kind),
        escaped(&entry.identity.full_name()),
        badge(&words, tone),
        escaped(&entry.spot.to_string()),
    );
    match &entry.fate {
        Ok(fate) => text.push_str(&fated(entry, fate)),
        Err(Trouble::Today(why) | Trouble::Tomorrow(why)) => {
            text.push_str(&message(Grade::Error, why, None, None));
        }
    }
    text.push_str("</section>\n");
    text
}

fn fated(entry: &Entry, fate: &Fate) -> String {
    let mut lines = String::new();
    let mut line = |class: &str, sign: &str, words: String| {
        let _ = write!(lines, "<li class=\"{class}\"><b>{sign}</b>{}</li>", escaped(&words));
    };
    for (path, value) in &fate.difference.lost {
        line("lost", "−", format!("{path}: {}", json::to_string(value)));
    }
    for (path, value) in &fate.difference.appearing {
        line("changed", "+", format!("{path}: {} (appears: it is stored, and pruned today)", json::to_string(value)));
    }
    for (path, value) in &fate.difference.defaulted {
        line("added", "+", format!("{path}: {} (default)", json::to_string(value)));
    }
    for (path, before, after) in &fate.difference.changed {
        line("changed", "~", format!("{path}: {} becomes {}", json::to_string(before), json::to_string(after)));
    }
    for (column, before, after) in &fate.cells {
        line("same", "", format!("column {column}: {before:?} becomes {after:?}"));
    }
    let mut text = String::new();
    if let Some(version) = &fate.moved_to {
        let words = format!("its version is not served any more: read as {version}");
        text.push_str(&message(Grade::Warning, &words, None, None));
    }
    if !lines.is_empty() {
        let _ = writeln!(text, "<ul class=\"paths\">{lines}</ul>");
    }
    for (error, spot) in fate.errors.iter().zip(&entry.places) {
        text.push_str(&message(Grade::Error, &error.to_string(), Some(spot), None));
    }
    if let Edit::Blocked(errors) = &fate.edit {
        let words: Vec<String> = errors.iter().map(ToString::to_string).collect();
        let words = format!("an edit of nothing but a label would be refused: {}", words.join(", "));
        text.push_str(&message(Grade::Error, &words, None, None));
    }
    text
}
