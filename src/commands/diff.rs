//! `diff`: shows how a write would change the stored objects. Objects are simulated as by `validate`; this module
//! formats the results.

pub mod args;
mod secrets;

use super::cases::Cases;
use super::external_diff::{ExternalDiff, file_name};
use super::progress::Progress;
use super::terminal::{self, Content, Writer};
use super::validate;
use crate::commands::exit::Exit;
use crate::commands::flags;
use crate::output::difference::{self, Sides};
use crate::output::printable;
use crate::output::report::case::{Case, Finding, Level, Outcome};
use crate::output::report::json;
use crate::output::report::text::{Style, TextReport};
use crate::simulation::{self, CompareOptions, Plan, RunSummary};
use crdx::kubectl::written_metadata::{equals_apart_from_written_metadata, without_written_metadata};
use crdx::report::{Action, ObjectReport, Verdict};
use crdx_value::{Map, Value, object};
use std::io::{self, BufWriter, Write};

/// Runs the command.
pub fn run(args: &args::Diff, color: flags::Color) -> io::Result<Exit> {
    let is_text = matches!(args.output, None | Some(flags::ReportFormat::Table | flags::ReportFormat::Tap));
    let out = terminal::Stream::stdout(color, Content::text_if(is_text));
    let messages = terminal::Stream::stderr(color);
    let (colors, message_color) = (out.color, messages.color);
    let mut out = BufWriter::with_capacity(1 << 16, out.write);
    let mut messages = BufWriter::new(messages.write);
    let exit = diff(args, colors, message_color, &mut out, &mut messages)?;
    out.flush()?;
    messages.flush()?;
    Ok(exit)
}

fn diff(
    args: &args::Diff,
    color: bool,
    message_color: bool,
    out: &mut Writer,
    messages: &mut Writer,
) -> io::Result<Exit> {
    let format = args.output.filter(|format| *format != flags::ReportFormat::Table);
    let json = format == Some(flags::ReportFormat::Json);
    let cases = format.and_then(flags::ReportFormat::pipeline).map(|format| Cases::new(format, "diff"));
    let external = if format.is_some() { None } else { ExternalDiff::from_environment()? };
    let mut show = Show {
        out,
        messages,
        color,
        server_metadata: args.show_bookkeeping,
        text: TextReport::new(Style { color: message_color, ..Style::default() }),
        external,
        json,
        cases,
        counts: Counts::default(),
        failed: None,
        progress: Progress::new(false),
    };
    if json {
        show.out.write_all(json::head("DiffReport").as_bytes())?;
    }
    let plan = Plan {
        scale: json,
        compares: Some(CompareOptions { server_metadata: args.show_bookkeeping }),
        ..validate::plan(&args.inputs, &args.updates, args.kubernetes.kubernetes_version.map(Into::into), &args.cluster)
    };
    let outcome = simulation::run(&plan, &mut |item| show.item(&item))?;
    show.finish(&outcome)
}

/// The number of objects by result.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    created: usize,
    updated: usize,
    unchanged: usize,
    refused: usize,
    unknown: usize,
    decoded: usize,
    skipped: usize,
}

struct Show<'a> {
    out: &'a mut Writer,
    messages: &'a mut Writer,
    color: bool,
    server_metadata: bool,
    text: TextReport,
    external: Option<ExternalDiff>,
    json: bool,
    cases: Option<Cases>,
    counts: Counts,
    /// The first write error; after it, nothing is written.
    failed: Option<io::Error>,
    progress: Progress,
}

impl Show<'_> {
    fn item(&mut self, item: &ObjectReport) {
        self.progress.add();
        if self.failed.is_none()
            && let Err(error) = self.write(item)
        {
            self.failed = Some(error);
        }
    }

    fn write(&mut self, item: &ObjectReport) -> io::Result<()> {
        let first = self.counts.total() == 0;
        let after = item.object.as_ref().filter(|_| item.verdict == Verdict::Accepted);
        let equal = if self.server_metadata { Value::eq } else { equals_apart_from_written_metadata };
        let differs = after.is_some_and(|after| !item.before.as_ref().is_some_and(|before| equal(before, after)));
        // Most objects of a large input do not change, and are not copied.
        let shown = |object: &Value| {
            if self.server_metadata { object.clone() } else { without_written_metadata(object.clone()) }
        };
        let is_shown = differs || self.json;
        let mut before = item.before.as_deref().filter(|_| is_shown).map(shown);
        let mut compared = after.filter(|_| is_shown).map(shown);
        let mut sent = item.sent.clone().filter(|_| differs);
        if item.identity.api_version == "v1" && item.identity.kind == "Secret" {
            secrets::mask(before.as_mut(), compared.as_mut());
            secrets::mask(None, sent.as_mut());
        }
        match item.verdict {
            Verdict::Accepted if !differs => self.counts.unchanged += 1,
            Verdict::Accepted if item.action == Action::Create => self.counts.created += 1,
            Verdict::Accepted => self.counts.updated += 1,
            Verdict::Rejected => self.counts.refused += 1,
            Verdict::Decodes => self.counts.decoded += 1,
            Verdict::Skipped => self.counts.skipped += 1,
            Verdict::CannotTell => self.counts.unknown += 1,
        }
        let pruned: Vec<&str> = item.pruned.iter().map(|p| p.path.as_str()).collect();
        let defaulted: Vec<&str> = item.defaulted.iter().map(|(path, _)| path.as_str()).collect();
        let mutated: Vec<_> = item.admission.iter().flat_map(|admission| admission.set()).collect();
        let name = file_name(&item.identity);
        let sides = compared.as_ref().filter(|_| differs).map(|after| Sides {
            name: &name,
            before: before.as_ref(),
            after,
            sent: sent.as_ref().unwrap_or(after),
            pruned: &pruned,
            defaulted: &defaulted,
            mutated: &mutated,
        });
        if self.json {
            let diff = sides.and_then(|sides| difference::unified(&sides, false));
            let mut more = Map::from([("differs".to_owned(), Value::Bool(differs))]);
            if let Some(diff) = diff {
                more.insert("diff".to_owned(), diff.into());
            }
            if let Some(before) = before.clone() {
                more.insert("before".to_owned(), before);
            }
            if let Some(after) = &compared {
                more.insert("result".to_owned(), after.clone());
            }
            return self.out.write_all(json::item_with(item, more, first).as_bytes());
        }
        if let Some(cases) = &mut self.cases {
            let diff = sides.and_then(|sides| difference::unified(&sides, false));
            return cases.add(&case(item, diff));
        }
        match (&self.external, sides) {
            (Some(external), Some(sides)) => {
                external.add(&name, &difference::text(sides.before), &difference::text(Some(sides.after)))?;
            }
            (None, Some(sides)) => {
                let text = difference::unified(&sides, self.color).unwrap_or_default();
                self.out.write_all(text.as_bytes())?;
            }
            (_, None) => {}
        }
        for remark in &item.remarks {
            let note = format!("note: {}: {}: {}", item.location, item.called(), remark.message());
            writeln!(self.messages, "{}", printable::line(&note))?;
        }
        let details = self.text.details(item);
        let messages = &mut self.messages;
        self.progress.suspend(|| messages.write_all(details.as_bytes()))
    }

    fn finish(mut self, outcome: &RunSummary) -> io::Result<Exit> {
        let notes = &outcome.notes;
        self.progress.clear();
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        let counts = self.counts;
        let mut exit = match counts {
            Counts { refused, unknown, .. } if refused + unknown > 0 => Exit::CannotTell,
            Counts { created, updated, .. } if created + updated > 0 => Exit::Differs,
            _ => Exit::Fine,
        };
        if self.json {
            let summary = object(counts.named().map(|(name, n)| (name, Value::Int(n as i64))));
            let first = if counts.total() == 0 { "\n" } else { "" };
            let text = crdx_value::json::to_string;
            let (notes_text, summary) = (text(&json::notes(notes)), text(&summary));
            let releases = text(&json::releases(outcome.releases.iter()));
            writeln!(
                self.out,
                "{first}\n],\"kubernetesVersions\":{releases},\"notes\":{notes_text},\"summary\":{summary}}}"
            )?;
            for note in notes {
                writeln!(self.messages, "note: {}", note.message)?;
            }
            return Ok(exit);
        }
        if let Some(cases) = self.cases.take() {
            cases.write_to(self.out)?;
        }
        self.out.flush()?;
        if let Some(external) = &self.external
            && counts.created + counts.updated > 0
            && external.run()? > 1
        {
            exit = Exit::CannotTell;
        }
        self.messages.write_all(self.text.common_details().as_bytes())?;
        for note in notes {
            writeln!(self.messages, "note: {}", note.message)?;
        }
        if exit == Exit::CannotTell {
            let met = counts.named().into_iter().filter(|(_, n)| *n > 0);
            let met: Vec<String> = met.map(|(name, n)| format!("{n} {}", words(name))).collect();
            writeln!(self.messages, "{}", met.join(", "))?;
        }
        Ok(exit)
    }
}

/// Returns a failed case for an object that would change, as in the exit code.
fn case(item: &ObjectReport, diff: Option<String>) -> Case {
    let mut case = Case::of(item);
    if let Some(diff) = diff {
        case.outcome = Outcome::Failed;
        let change = Finding {
            level: Level::Note,
            rule: item.action.as_str().to_owned(),
            field: None,
            message: format!("this {} would change what is stored\n{}", item.action.as_str(), diff.trim_end()),
            help: None,
            location: item.location.clone(),
        };
        case.findings.insert(0, change);
    }
    case
}

impl Counts {
    fn named(self) -> [(&'static str, usize); 7] {
        let Self { created, updated, unchanged, refused, unknown, decoded, skipped } = self;
        [
            ("create", created),
            ("update", updated),
            ("unchanged", unchanged),
            ("rejected", refused),
            ("decodes", decoded),
            ("skipped", skipped),
            ("cannotTell", unknown),
        ]
    }

    fn total(self) -> usize {
        self.named().iter().map(|(_, n)| n).sum()
    }
}

/// Returns the text of a count in the summary line.
fn words(name: &str) -> &str {
    match name {
        "create" => "to create",
        "update" => "to update",
        "decodes" => "decode (built in; not compared)",
        "cannotTell" => "unknown",
        other => other,
    }
}
