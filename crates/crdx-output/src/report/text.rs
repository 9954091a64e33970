//! The human-readable report: a table with one row per object, the details of each object, and a summary line.

use super::fields::{self, Defaults, FieldLists};
use super::repeated::Repeated;
use crate::bounded::PROBLEMS;
use crate::excerpt::{self, MessageSeverity};
use crate::html::plural;
use crate::{Cell, Column, Columns, Paint, TableStyle, printable};
use crdx_engine::report::{Diagnostic, ObjectReport, Remark, ServerResponse, SourceLocation, Summary, Verdict};
use crdx_value::release::{Release, ReleaseSet};

/// The maximum number of reasons that are reported separately.
const MAX_REASONS: usize = 100;

/// The columns before those of verdicts.
const IDENTITY: &[Column] =
    &[Column::text("TARGET"), Column::location("LOCATION"), Column::text("KIND"), Column::text("NAME")];

/// The columns after those of verdicts.
const COUNTS: &[Column] = &[
    Column::optional("ACTION"),
    Column::optional("ERRORS"),
    Column::optional("PRUNED"),
    Column::optional("DEFAULTED"),
    Column::optional("WARNINGS"),
    Column::note("NOTE"),
];

/// The options of the report.
#[derive(Clone, Copy, Debug, Default)]
pub struct Style {
    /// True if colours are allowed.
    pub color: bool,
    /// True to show only objects that are not accepted, and the summary.
    pub quiet: bool,
    /// The width of the terminal; `None` if the output is not a terminal.
    pub width: Option<u16>,
    /// Which lists of dropped and defaulted fields are shown.
    pub fields: FieldLists,
}

/// Builds the report while objects are validated.
#[derive(Debug)]
pub struct TextReport {
    style: Style,
    table: Columns,
    /// The simulated releases, if there are several.
    releases: Vec<Release>,
    /// Items that share a reason for a missing verdict: the first item and the number of items.
    without_verdict: Vec<(ObjectReport, usize)>,
    repeated: Repeated,
    defaults: Defaults,
}

impl TextReport {
    /// Creates a report without objects.
    pub fn new(style: Style) -> Self {
        Self::with_releases(style, Vec::new())
    }

    /// Creates a report with a column for the verdicts of each of `releases`, if there are several.
    pub fn for_releases(style: Style, releases: &ReleaseSet) -> Self {
        Self::with_releases(style, releases.iter().filter(|_| releases.single().is_none()).collect())
    }

    fn with_releases(style: Style, releases: Vec<Release>) -> Self {
        let look = TableStyle { color: style.color, width: style.width };
        let verdicts: Vec<Column> = match releases.as_slice() {
            [] => vec![Column::always("VERDICT")],
            several => several.iter().copied().map(Column::of_release).collect(),
        };
        let columns = [IDENTITY, &verdicts, COUNTS].concat();
        Self {
            style,
            table: Columns::new(&columns, look),
            releases,
            without_verdict: Vec::new(),
            repeated: Repeated::default(),
            defaults: Defaults::default(),
        }
    }

    /// Returns the row of an item as a line for [`Columns::write`]; `None` if the item is not shown.
    pub fn row(&mut self, item: &ObjectReport) -> Option<String> {
        if self.style.quiet && item.verdict != Verdict::CannotTell && !item.fails() {
            return None;
        }
        Some(self.table.row(&cells(item, &self.releases)))
    }

    /// Returns the table, which can be written after all rows were measured.
    pub fn table(&self) -> &Columns {
        &self.table
    }

    /// Formats the details of an item with source locations; empty if there are none.
    pub fn details(&mut self, item: &ObjectReport) -> String {
        if self.style.quiet && item.is_known() && !item.fails_by_severity() {
            return String::new();
        }
        let is_fine = matches!(item.verdict, Verdict::Accepted | Verdict::Decodes) && !item.fails_by_severity();
        let shows_warnings = !self.style.quiet || !is_fine;
        let lists = if shows_warnings { self.style.fields } else { FieldLists::None };
        let dropped = if lists == FieldLists::None { Vec::new() } else { item.dropped_silently() };
        let has_warnings = shows_warnings && !item.warnings.is_empty();
        let has_findings = !item.errors.is_empty() || has_warnings || !dropped.is_empty();
        let cannot_tell = item.releases_with(Verdict::CannotTell);
        let is_unexplained =
            item.verdict == Verdict::CannotTell && !item.errors.iter().any(|error| error.is_of(cannot_tell.as_ref()));
        let is_unreadable = is_unexplained && (item.location.excerpt.is_some() || item.identity.kind.is_empty());
        let is_compared = is_unreadable || (has_findings && item.verdict != Verdict::CannotTell);
        if is_compared && self.repeated.hides(item, &dropped) {
            return String::new();
        }
        let mut text = String::new();
        let color = self.style.color;
        if item.has(Verdict::Rejected) {
            text.push_str(&Paint::Bold.when(color, &heading(item)));
            text.push('\n');
        }
        text.push_str(&problems(MessageSeverity::Error, &item.errors, item, color));
        if !item.hidden.is_empty() {
            text.push_str("after these, the server would also report:\n");
        }
        text.push_str(&problems(MessageSeverity::Error, &item.hidden, item, color));
        text.push_str(&self.answer(item));
        if is_unexplained {
            if is_unreadable {
                let help = item.help.as_deref();
                let cannot_tell = cannot_tell.as_ref();
                text.push_str(&excerpt::render_of(
                    MessageSeverity::Error,
                    cannot_tell,
                    &item.reason,
                    &item.location,
                    help,
                    color,
                ));
            } else {
                self.count(item);
            }
        }
        if shows_warnings {
            text.push_str(&problems(MessageSeverity::Warning, &item.warnings, item, color));
        }
        text.push_str(&lists.dropped(&dropped, item, color));
        text
    }

    /// Formats the server's whole text with `-v`: errors of a patch are shown without the object that is in it.
    fn answer(&self, item: &ObjectReport) -> String {
        let answer = item.answer.as_ref().filter(|_| self.style.fields == FieldLists::All);
        let message = answer.map(|answer| answer.message.as_str()).unwrap_or_default();
        let is_shown = message.is_empty() || item.errors.iter().any(|error| error.message == message);
        if is_shown { String::new() } else { format!("the server answers: {}\n", printable::text(message)) }
    }

    /// Formats the defaulted fields of an item, or collects them for [`Self::few_defaults`].
    pub fn defaults(&mut self, item: &ObjectReport) -> String {
        let Style { color, quiet, fields, .. } = self.style;
        if quiet || item.verdict != Verdict::Accepted || item.defaulted.is_empty() {
            return String::new();
        }
        match fields {
            FieldLists::All => return fields::defaulted(item, color),
            FieldLists::Few => self.defaults.add(item, color),
            FieldLists::None => {}
        }
        String::new()
    }

    /// Returns the defaulted fields of all items if they are few, after an empty line.
    pub fn few_defaults(&self) -> &str {
        self.defaults.text()
    }

    /// Counts an item whose reason other items may share.
    fn count(&mut self, item: &ObjectReport) {
        let cannot_tell = item.releases_with(Verdict::CannotTell);
        let has_same_reason = |(known, _): &(ObjectReport, usize)| {
            known.reason == item.reason
                && known.help == item.help
                && known.releases_with(Verdict::CannotTell) == cannot_tell
        };
        match self.without_verdict.iter().position(has_same_reason) {
            Some(at) => self.without_verdict.iter_mut().skip(at).take(1).for_each(|(_, count)| *count += 1),
            // A message for each object would be too much output.
            None if self.without_verdict.len() < MAX_REASONS => self.without_verdict.push((item.clone(), 1)),
            None => {}
        }
    }

    /// Formats the messages that several items share, after all items were added.
    pub fn common_details(&self) -> String {
        let messages = self.without_verdict.iter().map(|(item, count)| {
            let message = match count {
                1 => format!("{}: {}", named(item), item.reason),
                n => format!("{n} objects, the first of them {}: {}", named(item), item.reason),
            };
            let cannot_tell = item.releases_with(Verdict::CannotTell);
            let help = item.help.as_deref();
            excerpt::render_of(
                MessageSeverity::Error,
                cannot_tell.as_ref(),
                &message,
                &item.location,
                help,
                self.style.color,
            )
        });
        let mut all: Vec<String> = messages.collect();
        let mut repeated = String::new();
        for line in self.repeated.lines() {
            repeated.extend([&*printable::line(&line), "\n"]);
        }
        if !repeated.is_empty() {
            all.insert(0, repeated);
        }
        all.join("\n")
    }
}

/// Returns the row of an item.
fn cells(item: &ObjectReport, releases: &[Release]) -> Vec<Cell> {
    let or_dash = |text: &str| Cell::from(if text.is_empty() { "-" } else { text });
    let answered = item.has(Verdict::Accepted) || item.has(Verdict::Rejected);
    let verdict = |verdict: Verdict| Cell::painted(verdict.text(), paint(verdict));
    let count = |n: usize| Cell::from(if answered { n.to_string() } else { "-".to_owned() });
    let location = SourceLocation { column: 0, excerpt: None, ..item.location.clone() }.to_string();
    let target = item.target.as_deref().unwrap_or_default();
    let mut cells = vec![
        Cell::from(target),
        Cell::from(location),
        or_dash(&item.identity.kind),
        or_dash(&item.identity.full_name()),
    ];
    match releases {
        [] => cells.push(verdict(item.verdict)),
        several => cells.extend(several.iter().map(|release| verdict(item.verdict_of(*release)))),
    }
    cells.extend([
        Cell::from(if answered { item.action.as_str() } else { "-" }),
        if answered { Cell::count(error_count(item), Paint::Red) } else { Cell::from("-") },
        count(item.pruned.len()),
        count(item.defaulted.len()),
        Cell::count(item.warnings.len(), Paint::Yellow),
        Cell::from(note(item)),
    ]);
    cells
}

/// Counts the errors of an item; a rejection without field errors counts as one.
fn error_count(item: &ObjectReport) -> usize {
    if item.has(Verdict::Rejected) { item.errors.len().max(1) } else { item.errors.len() }
}

fn paint(verdict: Verdict) -> Paint {
    match verdict {
        Verdict::Accepted | Verdict::Decodes => Paint::Green,
        Verdict::Rejected => Paint::Red,
        Verdict::Skipped => Paint::Dim,
        Verdict::CannotTell => Paint::Yellow,
    }
}

/// Returns the reason for a missing verdict, and the remarks.
fn note(item: &ObjectReport) -> String {
    let reason = match item.verdict {
        // The message of an unreadable input is printed below the table.
        Verdict::CannotTell if item.identity.kind.is_empty() => "",
        _ => &item.reason,
    };
    let known = item.is_known().then(|| "in the baseline".to_owned());
    let remarks = known.into_iter().chain(item.remarks.iter().map(Remark::message));
    let texts: Vec<String> = [reason.to_owned()].into_iter().filter(|text| !text.is_empty()).chain(remarks).collect();
    texts.join("; ")
}

/// Formats `CronTab default/my-cron would be rejected (422 Invalid)`.
fn heading(item: &ObjectReport) -> String {
    let newest = item.releases.iter().rev().find(|one| one.verdict == Verdict::Rejected);
    let Some(answer) = newest.map_or(&item.answer, |one| &one.answer) else {
        return format!("{} would be rejected:", named(item));
    };
    let by = item.releases_with(Verdict::Rejected).map_or_else(String::new, |set| format!(" by Kubernetes {set}"));
    let ServerResponse { code, reason, .. } = answer;
    let reason = if reason.is_empty() { String::new() } else { format!(" {reason}") };
    format!("{} would be rejected{by} ({code}{reason}):", named(item))
}

fn named(item: &ObjectReport) -> String {
    let name = item.called();
    // A name must not look like another line of the report.
    if name.is_empty() { "An object".to_owned() } else { printable::line(&name).into_owned() }
}

/// Formats the first problems of an item, and says how many more there are.
fn problems(severity: MessageSeverity, all: &[Diagnostic], item: &ObjectReport, color: bool) -> String {
    let mut text: String = all.iter().take(PROBLEMS).map(|one| problem(severity, one, item, color)).collect();
    match all.len().saturating_sub(PROBLEMS) {
        0 => {}
        n => text.extend(["and ", &n.to_string(), " more: -o json has everything\n"]),
    }
    text
}

fn problem(severity: MessageSeverity, problem: &Diagnostic, item: &ObjectReport, color: bool) -> String {
    let location = problem.location.as_ref().unwrap_or(&item.location);
    let severity = problem.shown_severity().map_or(severity, MessageSeverity::from);
    let help = problem.help_text();
    excerpt::render_of(severity, problem.releases.as_ref(), &problem.message, location, help.as_deref(), color)
}

/// Says how many of the rejected objects have only errors of the baseline, after a semicolon; empty if none has.
pub fn known_rejections(known: usize, rejected: usize) -> String {
    match known {
        0 => String::new(),
        known if known == rejected => "; all rejected as in the baseline".to_owned(),
        known => format!("; {known} of them rejected as in the baseline"),
    }
}

/// Formats `38 objects: 4 accepted, 2 rejected, 31 decode (validation not simulated), 1 skipped; 3 warnings`.
pub fn summary_line(summary: &Summary, color: bool) -> String {
    let Summary { accepted, rejected, decode, skipped, cannot_tell, warnings, known, failed } = *summary;
    let total = accepted + rejected + decode + skipped + cannot_tell;
    let fates = [
        (accepted, "accepted", Verdict::Accepted),
        (rejected, "rejected", Verdict::Rejected),
        (decode, "decode (validation not simulated)", Verdict::Decodes),
        (skipped, "skipped", Verdict::Skipped),
        (cannot_tell, "cannot tell", Verdict::CannotTell),
    ];
    let counts: Vec<String> = fates
        .iter()
        .filter(|(n, _, _)| *n > 0)
        .map(|(n, word, verdict)| paint(*verdict).when(color, &format!("{n} {word}")))
        .collect();
    let mut line = plural(total, "object");
    if !counts.is_empty() {
        line.push_str(": ");
        line.push_str(&counts.join(", "));
    }
    line.push_str(&known_rejections(known, rejected));
    if warnings > 0 {
        line.push_str("; ");
        line.push_str(&plural(warnings, "warning"));
    }
    if failed > 0 {
        let text =
            format!("; {} by severity", if failed == 1 { "1 fails".to_owned() } else { format!("{failed} fail") });
        line.push_str(&Paint::Red.when(color, &text));
    }
    line.push('\n');
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_engine::report::Identity;
    use crdx_engine::report::SourceLocation;
    use crdx_text::Position;
    use std::sync::Arc;

    fn rejected() -> ObjectReport {
        let source = Arc::from("a.yaml");
        let text = b"kind: CronTab\nspec: 1\n";
        let start = Position { line: 1, column: 1 };
        let mut item = ObjectReport::new(SourceLocation::line(&source, 1), Verdict::Rejected, "");
        item.identity = Identity {
            api_version: "stable.example.com/v1".to_owned(),
            kind: "CronTab".to_owned(),
            namespace: Some("default".to_owned()),
            name: "x".to_owned(),
        };
        item.answer = Some(ServerResponse { code: 422, reason: "Invalid".to_owned(), message: String::new() });
        item.errors.push(Diagnostic {
            kind: "FieldValueTypeInvalid".to_owned(),
            field: Some("spec".to_owned()),
            message: "spec: Invalid value".to_owned(),
            location: Some(SourceLocation::part(&source, text, start, Position { line: 2, column: 7 }, 20..21)),
            ..Diagnostic::default()
        });
        item
    }

    fn table(report: &mut TextReport, items: &[ObjectReport]) -> String {
        let rows: Vec<_> = items.iter().filter_map(|item| report.row(item)).collect();
        let mut text = Vec::new();
        report.table().write(rows.into_iter().map(Ok), &mut text).unwrap();
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn a_rejected_object_has_a_row_and_its_errors() {
        let mut report = TextReport::new(Style::default());
        assert_eq!(
            table(&mut report, &[rejected()]),
            "LOCATION   KIND      NAME        VERDICT    ERRORS\n\
             a.yaml:1   CronTab   default/x   rejected   1\n"
        );
        assert_eq!(
            report.details(&rejected()),
            "CronTab default/x would be rejected (422 Invalid):\nerror: spec: Invalid value\n --> a.yaml:2:7\n  |\n2 | spec: 1\n  |       ^\n"
        );
    }

    #[test]
    fn quiet_omits_accepted_objects() {
        let mut report = TextReport::new(Style { quiet: true, ..Style::default() });
        assert_eq!(table(&mut report, &[ObjectReport::new(SourceLocation::default(), Verdict::Accepted, "")]), "");
        assert!(table(&mut report, &[rejected()]).contains("rejected"));
    }

    #[test]
    fn the_summary_counts() {
        let summary = Summary { accepted: 1, rejected: 2, warnings: 1, ..Summary::default() };
        let built_in = Summary { decode: 31, ..summary };
        assert_eq!(
            summary_line(&built_in, false),
            "34 objects: 1 accepted, 2 rejected, 31 decode (validation not simulated); 1 warning\n"
        );
        assert_eq!(summary_line(&summary, false), "3 objects: 1 accepted, 2 rejected; 1 warning\n");
    }
}
