//! Prints the items of a run in the requested format.

mod page;

use super::wide::WideTables;
use crate::commands::external_diff::file_name;
use crate::commands::flags::ReportFormat;
use crate::commands::sink::{Ending, ItemGroup, Output, Page, PageItem, Report};
use crate::commands::terminal::{OutputLimitError, output_limit};
use crdx_engine::kubectl::written_metadata::without_written_metadata;
use crdx_engine::report::{Identity, ObjectReport, RunNote, Summary, Verdict};
use crdx_input::baseline::BASELINE;
use crdx_output::difference::{self, Sides};
use crdx_output::html::Colour;
use crdx_output::report::case::Case;
use crdx_output::report::json;
use crdx_output::report::text::{Style, TextReport, summary_line};
use crdx_output::secrets;
use crdx_runner::simulation::RESTRICTIONS;
use crdx_text::yaml;
use crdx_value::release::ReleaseSet;
use crdx_value::{Map, Value};
use std::io;

/// What `validate` prints.
pub struct ValidateReport {
    style: Style,
    form: Form,
    text: TextReport,
    /// The number of objects by verdict.
    pub summary: Summary,
    /// True if a message was written.
    messaged: bool,
    /// The number of warnings that `--quiet` hides.
    hidden_warnings: usize,
}

/// The form of the text.
enum Form {
    /// The table and the details.
    Table,
    /// YAML documents; `has_items` is true if one was already written.
    Yaml {
        has_items: bool,
    },
    Name,
    /// Tables in the format of `kubectl get`.
    Wide(WideTables),
    /// One of the formats that several commands have, whose text goes to standard output.
    Json,
    /// One of the other formats that several commands have.
    Other,
}

impl ValidateReport {
    /// Creates a report without items. `releases` are those given on the command line, if any.
    pub fn new(format: Option<ReportFormat>, style: Style, releases: Option<&ReleaseSet>) -> Self {
        let form = match format {
            None | Some(ReportFormat::Table) => Form::Table,
            Some(ReportFormat::Yaml) => Form::Yaml { has_items: false },
            Some(ReportFormat::Name) => Form::Name,
            Some(ReportFormat::Wide) => Form::Wide(WideTables::default()),
            Some(ReportFormat::Json) => Form::Json,
            Some(_) => Form::Other,
        };
        let text = releases.map_or_else(|| TextReport::new(style), |set| TextReport::for_releases(style, set));
        Self { style, form, text, summary: Summary::default(), messaged: false, hidden_warnings: 0 }
    }

    /// Returns true if an item is not shown.
    fn hides(&self, item: &ObjectReport) -> bool {
        self.style.quiet && !needs_attention(item)
    }

    /// Returns a message with an empty line between it and the one before.
    fn separated(&mut self, text: String) -> String {
        if !text.is_empty() && std::mem::replace(&mut self.messaged, true) { format!("\n{text}") } else { text }
    }

    /// Returns the line of counts, with the restrictions that the settings impose, also with `--quiet`.
    fn counts(&self, end: &Ending, color: bool) -> String {
        let counts = summary_line(&self.summary, color);
        let counts = match self.hidden_warnings {
            0 => counts,
            n => format!("{} ({n} of accepted objects; shown without -q)\n", counts.trim_end()),
        };
        match end.notes.iter().find(|note| note.kind == RESTRICTIONS) {
            Some(note) => format!("{}; {}\n", counts.trim_end(), note.message),
            None => counts,
        }
    }
}

impl Report for ValidateReport {
    type Item = ObjectReport;
    const COMMAND: &'static str = "validate";
    const KIND: &'static str = "ValidateReport";

    fn count(&mut self, item: &ObjectReport) {
        self.summary.add(item);
        if self.hides(item) {
            self.hidden_warnings += item.warnings.len();
        }
    }

    fn json(&mut self, item: &ObjectReport) -> impl IntoIterator<Item = String> {
        (!self.hides(item)).then(|| json::item(item, Map::new()))
    }

    fn cases(&mut self, item: &ObjectReport) -> impl IntoIterator<Item = Case> {
        (!self.hides(item)).then(|| Case::from_report(item))
    }

    fn page_item(&mut self, item: &ObjectReport, n: usize) -> Option<PageItem> {
        (!self.hides(item)).then(|| PageItem {
            rank: rank(item.verdict),
            group: Some(group(item)),
            row: page::row(item, n),
            details: page::details(item, n, change(item).as_deref()),
        })
    }

    fn text(&mut self, item: &ObjectReport, out: &mut Output) -> io::Result<()> {
        let object = item.object.as_ref().filter(|_| item.verdict == Verdict::Accepted);
        match (&mut self.form, object) {
            (Form::Table, _) => {
                self.text.row(item).map_or(Ok(()), |row| out.row(row))?;
                let parts = [self.text.details(item), self.text.defaults(item)];
                return parts
                    .iter()
                    .filter(|part| !part.is_empty())
                    .try_for_each(|part| out.details(&format!("\n{part}")));
            }
            (Form::Yaml { has_items }, Some(object)) => {
                let separator = if std::mem::replace(has_items, true) { "---\n" } else { "" };
                out.print(separator)?;
                let text = yaml::write::to_string_within(object, output_limit()).map_err(OutputLimitError::from)?;
                out.print(&text)?;
            }
            (Form::Name, Some(_)) => out.print(&format!("{}\n", item.identity.short()))?,
            (Form::Wide(tables), _) => tables.add(item),
            _ => {}
        }
        let details = self.text.details(item);
        let details = self.separated(details);
        out.message(&details)
    }

    fn buffers_text(&self) -> bool {
        matches!(self.form, Form::Table | Form::Wide(_))
    }

    fn counts_line(&self, end: &Ending) -> String {
        self.counts(end, false)
    }

    fn members(&mut self, end: &Ending) -> Vec<(&'static str, Value)> {
        vec![
            ("kubernetesVersions", json::releases(end.releases.iter())),
            ("notes", json::notes(end.notes)),
            ("summary", json::summary(&self.summary)),
        ]
    }

    fn page(&mut self, end: &Ending) -> Page {
        let empty = if self.style.quiet {
            "No object is rejected, and every object has a verdict."
        } else {
            "There is no object."
        };
        Page { head: page::head(&self.summary, end.releases), table: Some(("", &page::TITLES)), empty }
    }

    fn end_text(&mut self, end: &Ending, out: &mut Output) -> io::Result<()> {
        match &mut self.form {
            Form::Table => {}
            Form::Wide(tables) => return out.print(&std::mem::take(tables).text()),
            _ => return Ok(()),
        }
        out.print_table(self.text.table())?;
        out.print_details()?;
        let common = self.text.common_details();
        if !common.is_empty() {
            out.show(&format!("\n{common}"))?;
            out.end_of_text()?;
        }
        out.print(self.text.few_defaults())?;
        if !self.text.table().is_empty() {
            out.print("\n")?;
        }
        out.print(&self.counts(end, self.style.color))
    }

    fn end_messages(&mut self, end: &Ending, out: &mut Output) -> io::Result<()> {
        // The line of counts has the restrictions.
        let is_shown = |note: &&RunNote| note.kind == BASELINE || !self.style.quiet && note.kind != RESTRICTIONS;
        let notes = end.notes.iter().filter(is_shown);
        let mut messages: Vec<String> = notes.map(|note| format!("note: {}\n", note.message)).collect();
        if !matches!(self.form, Form::Table | Form::Json) {
            messages.extend([self.text.common_details(), self.counts(end, self.style.color)]);
        }
        messages.into_iter().try_for_each(|message| out.message(&self.separated(message)))
    }
}

/// Returns true if an object is shown with `--quiet`.
fn needs_attention(item: &ObjectReport) -> bool {
    item.verdict == Verdict::CannotTell || item.fails()
}

/// Returns the group of an object on the page. Objects with warnings and dropped fields need attention.
fn group(item: &ObjectReport) -> ItemGroup {
    let Identity { kind, api_version, .. } = &item.identity;
    let is_rejected = matches!(item.verdict, Verdict::Rejected | Verdict::CannotTell);
    ItemGroup {
        label: format!("{kind} {api_version}"),
        verdict: item.verdict.text(),
        colour: Colour::for_verdict(item.verdict),
        is_problem: is_rejected || !item.warnings.is_empty() || !item.pruned.is_empty(),
    }
}

/// Returns the rank of an object on the page: rejected objects come first.
fn rank(verdict: Verdict) -> usize {
    match verdict {
        Verdict::Rejected => 0,
        Verdict::CannotTell => 1,
        Verdict::Accepted | Verdict::Decodes => 2,
        Verdict::Skipped => 3,
    }
}

/// Returns the unified diff of the stored object, without metadata written by the server and kubectl.
fn change(item: &ObjectReport) -> Option<String> {
    let mut after = without_written_metadata(item.object.clone().filter(|_| item.verdict == Verdict::Accepted)?);
    let mut before = item.before.as_deref().cloned().map(without_written_metadata);
    let mut sent = item.sent.clone();
    secrets::hide_values(&item.identity, (before.as_mut(), Some(&mut after)), sent.as_mut());
    let pruned: Vec<&str> = item.pruned.iter().map(|p| p.path.as_str()).filter(|_| item.sent.is_some()).collect();
    let defaulted: Vec<&str> = item.defaulted.iter().map(|(path, _)| path.as_str()).collect();
    let sides = Sides {
        name: &file_name(&item.identity),
        before: before.as_ref(),
        after: &after,
        sent: sent.as_ref().unwrap_or(&after),
        pruned: &pruned,
        defaulted: &defaulted,
        admission: item.admission.as_deref(),
    };
    difference::unified(&sides, false)
}
