//! `diff`: shows how a write would change the stored objects. Objects are simulated as by `validate`; this module
//! formats the results.

pub mod args;
mod drift;

use super::external_diff::{ExternalDiff, file_name};
use super::sink::{Ending, Output, Report, Sink, Streams};
use super::validate;
use crate::commands::error::Error;
use crate::commands::exit::Exit;
use crate::commands::flags;
use crate::commands::targets::{self, TargetPlan};
use crdx_engine::kubectl::written_metadata::{equals_apart_from_written_metadata, without_written_metadata};
use crdx_engine::report::{Action, FieldPattern, ObjectReport, Verdict};
use crdx_engine::simulation::CompareOptions;
use crdx_output::difference::{self, Sides};
use crdx_output::printable;
use crdx_output::report::case::{Case, Finding, Level, Outcome};
use crdx_output::report::json;
use crdx_output::report::text::{Style, TextReport, known_rejections};
use crdx_output::secrets;
use crdx_runner::simulation::Plan;
use crdx_value::{Map, Value};
use drift::ObjectDrift;
use std::io;

/// Runs the command.
pub fn run(args: &args::Diff, color: flags::Color) -> Result<Exit, Error> {
    if args.watch {
        return validate::watch(&args.inputs, &args.updates, || once(args, color));
    }
    once(args, color)
}

/// Compares everything once.
fn once(args: &args::Diff, color: flags::Color) -> Result<Exit, Error> {
    let format = args.output.filter(|format| *format != flags::ReportFormat::Table);
    let streams = Streams::new(format, color);
    let report = DiffReport {
        color: streams.out.color,
        server_metadata: args.show_last_applied,
        ignored: args.ignore_fields.clone(),
        is_drift: args.drift,
        drift: None,
        text: TextReport::new(Style { color: streams.messages.color, ..Style::default() }),
        external: if format.is_some() { None } else { ExternalDiff::from_environment()? },
        is_external_error: false,
        json: format == Some(flags::ReportFormat::Json),
        counts: DiffCounts::default(),
        differs: false,
    };
    let compares = Some(CompareOptions { server_metadata: args.show_last_applied, keeps_sent: args.drift });
    let server = args.server.settings()?;
    let plan = |plan: Plan| targets::with_server(Plan { scale: report.json, compares, ..plan }, &server);
    let releases = args.kubernetes.kubernetes_version.map(Into::into);
    let plans = targets::plans(&args.inputs, &args.updates, releases.as_ref(), &args.cluster);
    let plans: Vec<TargetPlan> = plans.into_iter().map(|(target, one)| (target, plan(one))).collect();
    let mut sink = Sink::new(report, format, streams);
    let read = targets::measure(&sink, &plans);
    let mut baseline = args.baseline.open()?;
    let mut run = targets::run(plans, read.as_ref(), &args.severities.map(), &mut |mut item| {
        if let Some(baseline) = &mut baseline {
            baseline.accept(&mut item);
        }
        sink.add(&item);
    })?;
    run.notes.extend(flags::finish_baseline(baseline)?);
    let report = sink.finish(&Ending { notes: &run.notes, releases: &run.releases })?;
    Ok(if report.is_external_error { Exit::CannotTell } else { report.counts.exit() })
}

/// The number of objects by result.
#[derive(Clone, Copy, Debug, Default)]
struct DiffCounts {
    created: usize,
    updated: usize,
    unchanged: usize,
    refused: usize,
    /// The rejected objects whose errors are all in the baseline.
    known: usize,
    unknown: usize,
    decoded: usize,
    skipped: usize,
    /// Objects with a finding of the severity `error`, which are also counted otherwise.
    failed: usize,
}

/// What `diff` prints.
struct DiffReport {
    color: bool,
    server_metadata: bool,
    /// The fields that are left out.
    ignored: Vec<FieldPattern>,
    /// True for `--drift`.
    is_drift: bool,
    /// The drift of the current item.
    drift: Option<ObjectDrift>,
    text: TextReport,
    external: Option<ExternalDiff>,
    /// True if the external program failed.
    is_external_error: bool,
    json: bool,
    counts: DiffCounts,
    /// True if the request of the current item changes the stored object.
    differs: bool,
}

/// A stored object before and after the request, as far as it is compared.
struct Compared {
    name: String,
    before: Option<Value>,
    after: Option<Value>,
    sent: Option<Value>,
}

impl DiffReport {
    /// Returns the compared objects. Most objects of a large input do not change, and are not copied.
    fn compare(&self, item: &ObjectReport) -> Compared {
        let shown = |object: &Value| {
            if self.server_metadata { object.clone() } else { without_written_metadata(object.clone()) }
        };
        let is_shown = self.differs || self.json;
        let mut compared = Compared {
            name: file_name(&item.identity),
            before: item.before.as_deref().filter(|_| is_shown).map(shown),
            after: accepted(item).filter(|_| is_shown).map(shown),
            sent: item.sent.clone().filter(|_| self.differs),
        };
        let Compared { before, after, sent, .. } = &mut compared;
        for object in [before.as_mut(), after.as_mut(), sent.as_mut()].into_iter().flatten() {
            self.ignored.iter().for_each(|field| field.remove(object));
        }
        secrets::hide_values(&item.identity, (before.as_mut(), after.as_mut()), sent.as_mut());
        compared
    }

    /// Returns true if two objects differ in nothing that is compared.
    fn are_equal(&self, before: &Value, after: &Value) -> bool {
        let equal = if self.server_metadata { Value::eq } else { equals_apart_from_written_metadata };
        if self.ignored.is_empty() {
            return equal(before, after);
        }
        let [before, after] = [before, after].map(|object| {
            let mut object = object.clone();
            self.ignored.iter().for_each(|field| field.remove(&mut object));
            object
        });
        equal(&before, &after)
    }

    /// Formats the unified diff, if there is a difference.
    fn unified(&self, compared: &Compared, item: &ObjectReport, color: bool) -> Option<String> {
        let after = compared.after.as_ref().filter(|_| self.differs)?;
        let pruned: Vec<&str> = item.pruned.iter().map(|p| p.path.as_str()).collect();
        let defaulted: Vec<&str> = item.defaulted.iter().map(|(path, _)| path.as_str()).collect();
        let sides = Sides {
            name: &compared.name,
            before: compared.before.as_ref(),
            after,
            sent: compared.sent.as_ref().unwrap_or(after),
            pruned: &pruned,
            defaulted: &defaulted,
            admission: item.admission.as_deref(),
        };
        difference::unified(&sides, color)
    }
}

/// Returns the stored object after an accepted request.
fn accepted(item: &ObjectReport) -> Option<&Value> {
    item.object.as_ref().filter(|_| item.verdict == Verdict::Accepted)
}

impl Report for DiffReport {
    type Item = ObjectReport;
    const COMMAND: &'static str = "diff";
    const KIND: &'static str = "DiffReport";

    fn count(&mut self, item: &ObjectReport) {
        self.drift = if self.is_drift { ObjectDrift::of(item, &self.ignored) } else { None };
        let is_unchanged = |after| item.before.as_ref().is_some_and(|before| self.are_equal(before, after));
        self.differs =
            if self.is_drift { self.drift.is_some() } else { accepted(item).is_some_and(|after| !is_unchanged(after)) };
        let count = match item.verdict {
            Verdict::Accepted if !self.differs => &mut self.counts.unchanged,
            Verdict::Accepted if item.action == Action::Create && !self.is_drift => &mut self.counts.created,
            Verdict::Accepted => &mut self.counts.updated,
            Verdict::Rejected => &mut self.counts.refused,
            Verdict::Decodes => &mut self.counts.decoded,
            Verdict::Skipped => &mut self.counts.skipped,
            Verdict::CannotTell => &mut self.counts.unknown,
        };
        *count += 1;
        self.counts.known += usize::from(item.is_known());
        self.counts.failed += usize::from(item.fails_by_severity());
    }

    fn json(&mut self, item: &ObjectReport) -> impl IntoIterator<Item = String> {
        if self.is_drift {
            let mut more = Map::from([("differs".to_owned(), Value::Bool(self.differs))]);
            more.extend(self.drift.iter().flat_map(|drift| drift.members(item)));
            return Some(json::item(item, more));
        }
        let compared = self.compare(item);
        let mut more = Map::from([("differs".to_owned(), Value::Bool(self.differs))]);
        let diff = self.unified(&compared, item, false).map(Value::from);
        for (key, value) in [("diff", diff), ("before", compared.before), ("result", compared.after)] {
            more.extend(value.map(|value| (key.to_owned(), value)));
        }
        Some(json::item(item, more))
    }

    fn cases(&mut self, item: &ObjectReport) -> impl IntoIterator<Item = Case> {
        if self.is_drift {
            return Some(drift::case(item, self.drift.as_ref()));
        }
        let compared = self.compare(item);
        Some(case(item, self.unified(&compared, item, false)))
    }

    fn text(&mut self, item: &ObjectReport, out: &mut Output) -> io::Result<()> {
        let compared = self.compare(item);
        match (&self.external, &compared.after) {
            _ if self.is_drift => {
                let text = self.drift.as_ref().map(|drift| drift.text(item, self.color));
                out.print(&text.unwrap_or_default())?;
            }
            (Some(external), Some(after)) => external.add(
                &compared.name,
                &difference::text(compared.before.as_ref()),
                &difference::text(Some(after)),
            )?,
            _ => out.print(&self.unified(&compared, item, self.color).unwrap_or_default())?,
        }
        for remark in &item.remarks {
            let note = format!("note: {}: {}: {}", item.location, item.called(), remark.message());
            out.message(&format!("{}\n", printable::line(&note)))?;
        }
        out.message(&self.text.details(item))
    }

    fn buffers_text(&self) -> bool {
        false
    }

    fn counts_line(&self, _: &Ending) -> String {
        self.counts.line()
    }

    fn members(&mut self, end: &Ending) -> Vec<(&'static str, Value)> {
        vec![
            ("kubernetesVersions", json::releases(end.releases.iter())),
            ("notes", json::notes(end.notes)),
            ("summary", json::counts(self.counts.members())),
        ]
    }

    fn end_text(&mut self, _: &Ending, out: &mut Output) -> io::Result<()> {
        if let Some(external) = &self.external
            && self.counts.created + self.counts.updated > 0
        {
            out.flush()?;
            self.is_external_error = external.run()? > 1;
        }
        Ok(())
    }

    fn end_messages(&mut self, end: &Ending, out: &mut Output) -> io::Result<()> {
        out.message(&self.text.common_details())?;
        out.notes(end.notes)?;
        if self.is_drift && self.counts.exit() != Exit::CannotTell {
            let DiffCounts { updated, unchanged, known, .. } = self.counts;
            let (total, known) = (updated + unchanged, known_rejected(known));
            return out.message(&format!("{updated} of {total} objects differ after each apply{known}\n"));
        }
        let fails = self.is_external_error || self.counts.exit() == Exit::CannotTell;
        if self.json || !(fails || self.counts.known > 0) {
            return Ok(());
        }
        out.message(&format!("{}\n", self.counts.line()))
    }
}

/// Returns a failed case for an object that would change, as in the exit code.
fn case(item: &ObjectReport, diff: Option<String>) -> Case {
    let mut case = Case::from_report(item);
    if let Some(diff) = diff {
        case.outcome = Outcome::Failed;
        case.result = item.action.as_str();
        let change = Finding {
            level: Level::Note,
            rule: item.action.as_str().to_owned(),
            field: None,
            message: format!("this {} would change what is stored", item.action.as_str()),
            diff: Some(diff),
            replacement: None,
            known: None,
            help: None,
            location: item.location.clone(),
        };
        case.findings.insert(0, change);
    }
    case
}

impl DiffCounts {
    fn named(self) -> [(&'static str, usize); 7] {
        let Self { created, updated, unchanged, refused, unknown, decoded, skipped, .. } = self;
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

    /// Returns the members of the summary in JSON: `known` is omitted if it is 0.
    fn members(self) -> impl Iterator<Item = (&'static str, usize)> {
        self.named().into_iter().chain(Some(("known", self.known)).filter(|(_, n)| *n > 0))
    }

    /// Formats the counts that are not 0.
    fn line(self) -> String {
        let counts = self.named().into_iter().filter(|(_, n)| *n > 0);
        let failed = Some(self.failed).filter(|n| *n > 0).map(|n| format!("{n} with an error by severity"));
        let counts: Vec<String> = counts.map(|(name, n)| format!("{n} {}", words(name))).chain(failed).collect();
        counts.join(", ") + &known_rejections(self.known, self.refused)
    }

    /// Returns the exit code.
    fn exit(self) -> Exit {
        match self {
            Self { refused, known, unknown, failed, .. } if refused - known + unknown + failed > 0 => Exit::CannotTell,
            Self { created, updated, .. } if created + updated > 0 => Exit::Differs,
            _ => Exit::Accepted,
        }
    }
}

/// Counts rejected objects, which are not compared, for the line of `--drift`.
fn known_rejected(known: usize) -> String {
    if known == 0 { String::new() } else { format!("; {known} rejected as in the baseline") }
}

/// Returns the text of a count in the summary line.
fn words(name: &str) -> &str {
    match name {
        "create" => "to create",
        "update" => "to update",
        "decodes" => "decode (not compared)",
        "cannotTell" => "cannot tell",
        other => other,
    }
}
