//! Prints the items of a run in the requested format, as they arrive if the format allows it.

use crate::commands::cases::Cases;
use crate::commands::external_diff::file_name;
use crate::commands::flags::ReportFormat;
use crate::commands::progress::Progress;
use crate::commands::terminal::Writer;
use crate::input::buffered_text::{BufferedText, RankedText};
use crate::output::difference::{self, Sides};
use crate::output::html;
use crate::output::report::case::Case;
use crate::output::report::json;
use crate::output::report::text::{Style, TextReport};
use crate::output::table::{TableText, View};
use crate::simulation::RESTRICTIONS;
use crdx::kubectl::written_metadata::without_written_metadata;
use crdx::report::{Identity, ObjectReport, RunNote, Summary, Verdict};
use crdx_text::yaml;
use crdx_value::release::ReleaseSet;
use crdx_value::{self as value, Value};
use std::collections::HashMap;
use std::io;

/// Prints items.
pub struct Show<'a> {
    out: &'a mut Writer,
    messages: &'a mut Writer,
    style: Style,
    form: Form,
    text: TextReport,
    summary: Summary,
    /// The first write error; after it, nothing is written.
    failed: Option<io::Error>,
    /// True if a message was written.
    messaged: bool,
    notes: Vec<RunNote>,
    progress: Progress,
}

enum Form {
    /// The rows of the table, and the details that follow it.
    Text { rows: BufferedText, details: BufferedText },
    /// A JSON document; `has_items` is true if an item was already written.
    Json { has_items: bool },
    /// YAML documents; `has_items` is true if one was already written.
    Yaml { has_items: bool },
    /// Names.
    Name,
    /// Tables.
    WideTables(WideTables),
    /// An HTML page with the number of items.
    Html { rows: Box<RankedText>, details: Box<RankedText>, count: usize },
    /// A report for pipelines.
    Cases(Cases),
}

impl<'a> Show<'a> {
    /// Creates a printer that writes to `out`, and messages to `messages`. `releases` are those given on the command
    /// line, if any.
    pub fn new(
        format: Option<ReportFormat>,
        style: Style,
        releases: Option<&ReleaseSet>,
        out: &'a mut Writer,
        messages: &'a mut Writer,
    ) -> Self {
        let form = match format {
            None | Some(ReportFormat::Table) => {
                Form::Text { rows: BufferedText::default(), details: BufferedText::default() }
            }
            Some(ReportFormat::Json) => Form::Json { has_items: false },
            Some(ReportFormat::Yaml) => Form::Yaml { has_items: false },
            Some(ReportFormat::Name) => Form::Name,
            Some(ReportFormat::Wide) => Form::WideTables(WideTables::default()),
            Some(ReportFormat::Html) => Form::Html { rows: Box::default(), details: Box::default(), count: 0 },
            Some(other) => match other.pipeline() {
                Some(pipeline) => Form::Cases(Cases::new(pipeline, "validate")),
                None => Form::Name,
            },
        };
        let text = releases.map_or_else(|| TextReport::new(style), |set| TextReport::for_releases(style, set));
        let buffers_output = !matches!(form, Form::Json { .. } | Form::Yaml { .. } | Form::Name);
        let progress = Progress::new(buffers_output);
        Self {
            out,
            messages,
            style,
            form,
            text,
            summary: Summary::default(),
            failed: None,
            messaged: false,
            notes: Vec::new(),
            progress,
        }
    }

    /// Prints the next item.
    pub fn item(&mut self, item: &ObjectReport) {
        self.progress.add();
        self.summary.add(item);
        if self.failed.is_none()
            && let Err(error) = self.write(item)
        {
            self.failed = Some(error);
        }
    }

    fn write(&mut self, item: &ObjectReport) -> io::Result<()> {
        let hidden =
            self.style.quiet && matches!(item.verdict, Verdict::Accepted | Verdict::Decodes | Verdict::Skipped);
        match &mut self.form {
            Form::Text { rows, details } => {
                if let Some(row) = self.text.row(item) {
                    rows.push(&(row + "\n"))?;
                }
                let more = self.text.details(item);
                if !more.is_empty() {
                    details.push("\n")?;
                    details.push(&more)?;
                }
                return Ok(());
            }
            Form::Json { has_items } => {
                if hidden {
                    return Ok(());
                }
                if !*has_items {
                    self.out.write_all(json::head("ValidateReport").as_bytes())?;
                }
                let text = json::item(item, !*has_items);
                *has_items = true;
                return self.out.write_all(text.as_bytes());
            }
            Form::Yaml { has_items } => {
                if let (Verdict::Accepted, Some(object)) = (item.verdict, &item.object) {
                    if std::mem::replace(has_items, true) {
                        self.out.write_all(b"---\n")?;
                    }
                    self.out.write_all(yaml::write::to_string(object).as_bytes())?;
                }
            }
            Form::Name => {
                if item.verdict == Verdict::Accepted {
                    writeln!(self.out, "{}", item.identity.short())?;
                }
            }
            Form::WideTables(wide) => wide.add(item),
            Form::Html { rows, details, count } => {
                if !hidden {
                    *count += 1;
                    let rank = rank(item.verdict);
                    rows.push(rank, &html::validate::row(item, *count))?;
                    details.push(rank, &html::validate::details(item, *count, change(item).as_deref()))?;
                }
                return Ok(());
            }
            Form::Cases(cases) => return if hidden { Ok(()) } else { cases.add(&Case::of(item)) },
        }
        let details = self.text.details(item);
        self.message(&details)
    }

    /// Writes a message, with an empty line between messages.
    fn message(&mut self, text: &str) -> io::Result<()> {
        if text.is_empty() {
            return Ok(());
        }
        let before: &[u8] = if std::mem::replace(&mut self.messaged, true) { b"\n" } else { b"" };
        let messages = &mut self.messages;
        self.progress.suspend(|| messages.write_all(before).and_then(|()| messages.write_all(text.as_bytes())))
    }

    /// Prints a note about the run as a whole.
    pub fn note(&mut self, note: RunNote) {
        // The line of counts has it, also with --quiet.
        if note.kind != RESTRICTIONS
            && !self.style.quiet
            && self.failed.is_none()
            && let Err(error) = self.message(&format!("note: {}\n", note.message))
        {
            self.failed = Some(error);
        }
        self.notes.push(note);
    }

    /// Finishes the output and returns the counts.
    pub fn finish(mut self, releases: &ReleaseSet) -> io::Result<Summary> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        self.progress.clear();
        let mut last = self.text.summary(&self.summary);
        if let Some(note) = self.notes.iter().find(|note| note.kind == RESTRICTIONS) {
            last = format!("{}; {}\n", last.trim_end(), note.message);
        }
        let common = self.text.common_details();
        match std::mem::replace(&mut self.form, Form::Name) {
            Form::Text { rows, details } => {
                self.text.table().write(rows.lines()?, self.out)?;
                details.write_to(self.out)?;
                if !common.is_empty() {
                    write!(self.out, "\n{common}")?;
                }
                if !self.text.table().is_empty() {
                    writeln!(self.out)?;
                }
                self.out.write_all(last.as_bytes())?;
            }
            Form::Json { has_items } => {
                if !has_items {
                    self.out.write_all(json::head("ValidateReport").as_bytes())?;
                }
                self.out.write_all(json::tail(&self.summary, &self.notes, releases).as_bytes())?;
            }
            Form::WideTables(wide) => {
                self.out.write_all(wide.text().as_bytes())?;
                self.message(&common)?;
                self.message(&last)?;
            }
            Form::Html { rows, details, .. } => {
                self.out.write_all(html::validate::head(&self.summary, releases).as_bytes())?;
                self.out.write_all(html::notes(&self.notes).as_bytes())?;
                self.out.write_all(html::FILTER.as_bytes())?;
                self.out.write_all(html::table_head(&html::validate::TITLES).as_bytes())?;
                rows.write_to(self.out)?;
                self.out.write_all(html::TABLE_TAIL.as_bytes())?;
                details.write_to(self.out)?;
                self.out.write_all(html::TAIL.as_bytes())?;
                self.message(&last)?;
            }
            Form::Cases(cases) => {
                cases.write_to(self.out)?;
                self.message(&last)?;
            }
            Form::Yaml { .. } | Form::Name => {
                self.message(&common)?;
                self.message(&last)?;
            }
        }
        self.out.flush()?;
        self.messages.flush()?;
        Ok(self.summary)
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
    let after = without_written_metadata(item.object.clone().filter(|_| item.verdict == Verdict::Accepted)?);
    let before = item.before.as_deref().cloned().map(without_written_metadata);
    let pruned: Vec<&str> = item.pruned.iter().map(|p| p.path.as_str()).filter(|_| item.sent.is_some()).collect();
    let defaulted: Vec<&str> = item.defaulted.iter().map(|(path, _)| path.as_str()).collect();
    let mutated: Vec<_> = item.admission.iter().flat_map(|admission| admission.set()).collect();
    let sides = Sides {
        name: &file_name(&item.identity),
        before: before.as_ref(),
        after: &after,
        sent: item.sent.as_ref().unwrap_or(&after),
        pruned: &pruned,
        defaulted: &defaulted,
        mutated: &mutated,
    };
    difference::unified(&sides, false)
}

/// The tables of `-o wide`: one per kind and version, in order of appearance, in the format of `kubectl get`.
#[derive(Default)]
struct WideTables {
    groups: Vec<Group>,
    group_indices: HashMap<(String, String), usize>,
}

struct Group {
    kind: String,
    namespaced: bool,
    /// Tables of one object, each with the cells after its columns.
    rows: Vec<(Value, [String; 2])>,
}

impl WideTables {
    fn add(&mut self, item: &ObjectReport) {
        let (Verdict::Accepted, Some(table)) = (item.verdict, &item.table) else { return };
        let Identity { api_version, kind, .. } = &item.identity;
        let at = *self.group_indices.entry((api_version.clone(), kind.clone())).or_insert_with(|| {
            let kind = item.identity.short().split('/').next().unwrap_or_default().to_owned();
            self.groups.push(Group { kind, namespaced: item.identity.namespace.is_some(), rows: Vec::new() });
            self.groups.len() - 1
        });
        let Some(group) = self.groups.get_mut(at) else { return };
        let status = item.object.as_ref().and_then(|o| o.get("status"));
        let none = || "<none>".to_owned();
        let more = [item.scale.as_ref().map_or_else(none, scale), status.map_or_else(none, value::json::to_string)];
        group.rows.push((table.clone(), more));
    }

    fn text(self) -> String {
        let several = self.groups.len() > 1;
        let tables = self.groups.into_iter().map(|group| {
            let kind = Some(group.kind).filter(|_| several);
            let mut text = TableText::new(View { wide: true, namespace: group.namespaced, kind, ..View::default() });
            for (table, more) in &group.rows {
                text.add(table, &["SCALE", "STATUS"], more);
            }
            text.finish()
        });
        tables.collect::<Vec<_>>().join("\n")
    }
}

/// Formats a Scale: `3 (now 2)`, followed by the selector if there is one.
fn scale(scale: &Value) -> String {
    let number = |path: &[&str]| scale.at(path).and_then(Value::as_int).unwrap_or(0);
    let replicas = format!("{} (now {})", number(&["spec", "replicas"]), number(&["status", "replicas"]));
    match scale.str_at(&["status", "selector"]) {
        Some(selector) if !selector.is_empty() => format!("{replicas} {selector}"),
        _ => replicas,
    }
}
