//! `rehearse`: shows the effect of a new CRD on its stored objects, or of new [`policies`]. Objects are streamed from
//! files or, page by page, from the [`stored`] objects of the cluster; they are not kept in memory.

pub mod args;
mod policies;
mod stored;

use super::terminal::{self, Content, Writer};
use crate::cluster;
use crate::commands::exit::Exit;
use crate::commands::flags;
use crate::commands::flags::ReportFormat;
use crate::commands::progress::Progress;
use crate::input::buffered_text::{BufferedText, RankedText};
use crate::input::required::{Required, Sources};
use crate::input::{Entry as InputEntry, Input, Options};
use crate::output::excerpt::{self, MessageSeverity};
use crate::output::html;
use crate::output::rehearsal::{self as shown, Counts, Entry};
use crate::output::report::json as report_json;
use crate::output::report::text::{Style, TextReport};
use crate::output::{Columns, Paint, TableStyle};
use crate::simulation::answer;
use crate::simulation::identity::{self, FieldLocator};
use crate::simulation::live::Live;
use crate::simulation::object::{self as input_object, Object};
use crate::simulation::ordered::{in_order, threads};
use crate::simulation::removed_versions::RemovedVersions;
use crdx::rehearsal::{Plan, RehearsalError, Releases, Stage};
use crdx::report::{Action, ObjectReport, RunNote, SourceLocation, Verdict};
use crdx_value::release::Release;
use crdx_value::{Value, json};
use std::io::{self, BufWriter, Write};
use std::sync::{Mutex, PoisonError};
use stored::{InCluster, Stored};

/// Runs the command.
pub fn run(args: &args::Rehearse, color: flags::Color) -> io::Result<Exit> {
    let is_text = matches!(args.output, None | Some(flags::ReportFormat::Table));
    let out = terminal::Stream::stdout(color, Content::text_if(is_text));
    let messages = terminal::Stream::stderr(color);
    let (look, message_color) = (out.look(), messages.color);
    let mut out = BufWriter::with_capacity(1 << 16, out.write);
    let mut messages = BufWriter::new(messages.write);
    let exit = match rehearse(args, look, message_color, &mut out, &mut messages) {
        Ok(exit) => exit,
        Err(Failure::Output(error)) => return Err(error),
        Err(Failure::Reported(text)) => {
            out.flush()?;
            messages.write_all(text.as_bytes())?;
            Exit::CannotTell
        }
    };
    out.flush()?;
    messages.flush()?;
    Ok(exit)
}

/// The reason why there is no result.
enum Failure {
    Output(io::Error),
    /// The error message.
    Reported(String),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

/// A CRD with its source.
struct Definition {
    object: Object,
    value: Value,
}

fn rehearse(
    args: &args::Rehearse,
    look: TableStyle,
    message_color: bool,
    out: &mut Writer,
    messages: &mut Writer,
) -> Result<Exit, Failure> {
    let Some(path) = &args.definition else {
        return policies::run(args, look, out, messages);
    };
    if args.policies.are_given() {
        let message =
            "error: policies are rehearsed without a new CRD\nhelp: give --policies, and the CRDs with --crds\n";
        return Err(Failure::Reported(message.to_owned()));
    }
    let from_files = !args.filenames.is_empty() || !args.kustomize.is_empty();
    if args.cluster.offline && !from_files {
        let message = "error: --offline needs the stored objects in files\nhelp: give them with -f or -k\n";
        return Err(Failure::Reported(message.to_owned()));
    }
    let target = args.cluster.target();
    let live = Live::new(target.clone());
    let options = args.reading.options();
    let new = definition(path, &options, message_color)?;
    let name = new.value.str_at(&["metadata", "name"]).unwrap_or_default().to_owned();
    let old = match &args.old {
        Some(path) => Some(definition(path, &options, message_color)?.value),
        None if args.cluster.offline => None,
        None => existing_crd(&live, &name)?,
    };
    let read = old.clone().filter(|_| args.old.is_none());
    let removed = old.as_ref().map(|old| RemovedVersions::of(old, &new.value)).unwrap_or_default();
    let reported = |message: &str, help| {
        let location = new.object.finder().start();
        Failure::Reported(excerpt::render(MessageSeverity::Error, message, &location, help, message_color))
    };
    let (releases, note) = releases(args, &live);
    let plan = Plan::new(old, new.value.clone(), releases, terminal::now())
        .map_err(|error| reported(&error.to_string(), None))?;
    let namespace = cluster::namespace_or_default(args.cluster.namespace.as_deref(), &target);
    let identity = identity::identity(&new.value, identity::Namespace::None);
    let mut crd_item = answer::read_definition_response(plan.answer.clone(), identity, &new.object.finder());
    crd_item.action = if plan.is_update() { Action::Update } else { Action::Create };
    crd_item.object = None;
    removed.complete(&mut crd_item);
    let mut show = Show::new(args.output, look, out, messages);
    show.definition(&crd_item, &plan)?;
    let first = plan.stage().map_err(|error| reported(&error.to_string(), None))?;
    let work = RehearsalTasks {
        plan: &plan,
        stages: Mutex::new(vec![first]),
        namespace: &namespace,
        must_migrate: removed.needs_migration(),
    };
    let jobs = threads(args.jobs);
    let mut notes: Vec<RunNote> = note.map(|message| RunNote { kind: "version", message }).into_iter().collect();
    notes.extend(removed.note());
    if from_files {
        let progress = Progress::new(args.output != Some(ReportFormat::Json));
        let inputs = Sources::open(&args.filenames, options.collecting(), Required::Object, "-f");
        let entries = progress.count(inputs.and_kustomizations(&args.kustomize)).filter_map(|entry| work.task(entry));
        in_order(jobs, entries, |task| work.done(task), |done| show.done(done))?;
    } else if let Some(path) = plan.collection() {
        let mut objects = Stored::of(live.connection().map_err(|e| failure(&e))?, &path, read);
        let entries = objects.by_ref().map(|stored| match stored {
            Ok(object) => Task::Stored(Box::new(object)),
            Err(item) => Task::Reported(item),
        });
        in_order(jobs, entries, |task| work.done(task), |done| show.done(done))?;
        notes.extend(objects.note());
    } else {
        let message = format!("the cluster has no CRD {name}, so it stores no objects of it");
        notes.push(RunNote { kind: "noObjects", message });
    }
    let warnings = options.warnings.take().into_iter();
    notes.extend(warnings.map(|message| RunNote { kind: "inputWarning", message }));
    notes.extend(options.skipped.message().map(|message| RunNote { kind: "skippedInputs", message }));
    show.finish(&crd_item, &plan, &notes)
}

/// Returns the releases before and after the upgrade: those requested, or the cluster's release for both. Also returns
/// a note about the choice.
fn releases(args: &args::Rehearse, live: &Live) -> (Releases, Option<String>) {
    if let Some(set) = &args.kubernetes.kubernetes_version {
        return (Releases { old: set.oldest(), new: set.newest() }, None);
    }
    let reads_cluster = !args.cluster.offline && (args.old.is_none() || args.filenames.is_empty());
    let simulated = reads_cluster.then(|| cluster::simulated(live.connection()));
    let release = simulated.as_ref().map_or(Release::NEWEST, |simulated| simulated.release);
    (Releases::both(release), simulated.and_then(|simulated| simulated.note))
}

/// Returns the only CRD in the files at `path`.
fn definition(path: &str, options: &Options, color: bool) -> Result<Definition, Failure> {
    let failure = |message: &str, location: &SourceLocation, help: Option<&str>| {
        Failure::Reported(excerpt::render(MessageSeverity::Error, message, location, help, color))
    };
    let mut found: Option<Definition> = None;
    for entry in Input::open(&[path.to_owned()], options.of_definitions()) {
        let document = match entry {
            InputEntry::Document(document) => document,
            InputEntry::Problem(note) => {
                let item = input_object::problem(note);
                return Err(failure(&item.reason, &item.location, item.help.as_deref()));
            }
            InputEntry::Warning(_) => continue,
        };
        let object = Object { document, warnings: Vec::new() };
        if !object.is_definition() {
            continue;
        }
        if let Some(first) = &found {
            let (first, second) = (first.object.finder().start(), object.finder().start());
            let message = format!("there are two CRDs, at {first} and at {second}: rehearse takes one");
            return Err(failure(&message, &second, Some("give a file with one CRD")));
        }
        let value = object.value().clone();
        found = Some(Definition { object, value });
    }
    let none = || {
        let message = format!("there is no CustomResourceDefinition in {path}");
        failure(
            &message,
            &SourceLocation::source(&path.into()),
            Some("give the CRDs first, and the stored objects with -f"),
        )
    };
    found.ok_or_else(none)
}

/// Reads the existing CRD from the cluster.
fn existing_crd(live: &Live, name: &str) -> Result<Option<Value>, Failure> {
    live.connection().and_then(|connection| connection.definition(name)).map_err(|error| {
        let help = error.help.as_ref().map_or_else(String::new, |help| format!("{help}; or "));
        let help = Some(format!("{help}give the current CRD with --old, the stored objects with -f, and --offline"));
        failure(&cluster::Error { help, ..error })
    })
}

fn failure(error: &cluster::Error) -> Failure {
    Failure::Reported(error.text())
}

/// The work for one entry of the input.
enum Task {
    Reported(Box<ObjectReport>),
    Rehearse(Box<Object>),
    Stored(Box<Value>),
}

/// The result for one entry.
enum EntryResult {
    Reported(Box<ObjectReport>),
    Entry(Box<Entry>),
}

struct RehearsalTasks<'a> {
    plan: &'a Plan,
    /// Idle stages.
    stages: Mutex<Vec<Stage>>,
    namespace: &'a str,
    /// True if objects must be rewritten before the server accepts the new CRD.
    must_migrate: bool,
}

impl RehearsalTasks<'_> {
    /// Returns the task of an entry; `None` for objects of other kinds.
    fn task(&self, entry: InputEntry) -> Option<Task> {
        let object = match input_object::read(entry)? {
            Ok(object) => object,
            Err(item) => return Some(Task::Reported(item)),
        };
        match object.kind() {
            Err(item) => Some(Task::Reported(item)),
            Ok((group, _, kind)) if group == self.plan.group && kind == self.plan.kind => {
                Some(Task::Rehearse(Box::new(object)))
            }
            Ok(_) => None,
        }
    }

    fn done(&self, task: Task) -> EntryResult {
        match task {
            Task::Reported(item) => EntryResult::Reported(item),
            Task::Rehearse(mut object) => {
                let value = object.take_value();
                EntryResult::Entry(Box::new(self.rehearse(value, &object.finder())))
            }
            Task::Stored(value) => EntryResult::Entry(Box::new(self.rehearse(*value, &InCluster))),
        }
    }

    fn rehearse(&self, value: Value, finder: &dyn FieldLocator) -> Entry {
        let namespace =
            if self.plan.namespaced { identity::Namespace::Or(self.namespace) } else { identity::Namespace::None };
        let identity = identity::identity(&value, namespace);
        let idle = self.stages.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let stage = idle.map_or_else(|| self.plan.stage(), Ok);
        let outcome = match stage {
            Ok(stage) => {
                let namespace = identity.namespace.as_deref().unwrap_or_default();
                let outcome = self.plan.rehearse(&stage, namespace, value);
                self.stages.lock().unwrap_or_else(PoisonError::into_inner).push(stage);
                outcome
            }
            Err(error) => Err(RehearsalError::Old(error.to_string())),
        };
        let errors = outcome.as_ref().map(|outcome| outcome.errors.as_slice()).unwrap_or_default();
        let locations = errors.iter().map(|error| finder.field(&error.field)).collect();
        Entry { location: finder.start(), identity, outcome, locations, must_migrate: self.must_migrate }
    }
}

struct Show<'a> {
    out: &'a mut Writer,
    messages: &'a mut Writer,
    color: bool,
    format: Option<ReportFormat>,
    table: Columns,
    rows: usize,
    /// The rows of the table or of the HTML page.
    table_rows: BufferedText,
    details: BufferedText,
    /// The rows and the details of an HTML page.
    page: (RankedText, RankedText),
    counts: Counts,
    /// True if an object was already written.
    has_entries: bool,
    report: TextReport,
    failed: Option<io::Error>,
}

impl<'a> Show<'a> {
    fn new(format: Option<ReportFormat>, look: TableStyle, out: &'a mut Writer, messages: &'a mut Writer) -> Self {
        Self {
            out,
            messages,
            color: look.color,
            format,
            table_rows: BufferedText::default(),
            table: Columns::new(shown::COLUMNS, look),
            rows: 0,
            details: BufferedText::default(),
            page: Default::default(),
            counts: Counts::default(),
            has_entries: false,
            report: TextReport::new(Style { color: look.color, ..Style::default() }),
            failed: None,
        }
    }

    /// Prints the server's response to the new CRD.
    fn definition(&mut self, crd_item: &ObjectReport, plan: &Plan) -> io::Result<()> {
        match self.format {
            None | Some(ReportFormat::Table) => {}
            Some(ReportFormat::Json) => {
                return self.out.write_all(report_json::head("RehearsalReport").as_bytes());
            }
            Some(_) => return Ok(()),
        }
        if crd_item.verdict == Verdict::Accepted {
            let releases = plan.releases();
            let line = match releases.single() {
                Some(_) => format!("The server would accept {}.", plan.name),
                None => format!(
                    "Upgrade from Kubernetes {} to {}: the server would accept {}.",
                    releases.oldest(),
                    releases.newest(),
                    plan.name
                ),
            };
            writeln!(self.out, "{}", Paint::Bold.when(self.color, &line))?;
        }
        self.out.write_all(self.report.details(crd_item).as_bytes())?;
        self.out.write_all(self.report.common_details().as_bytes())?;
        if !plan.is_accepted() {
            writeln!(self.out, "The following would happen if the server accepted the CRD.")?;
        }
        self.out.write_all(shown::columns(&plan.columns).as_bytes())?;
        writeln!(self.out)
    }

    fn done(&mut self, done: EntryResult) {
        if self.failed.is_none()
            && let Err(error) = self.write(done)
        {
            self.failed = Some(error);
        }
    }

    fn write(&mut self, done: EntryResult) -> io::Result<()> {
        let entry = match done {
            EntryResult::Entry(entry) => entry,
            EntryResult::Reported(item) => {
                self.counts.add_unknown();
                let text = self.report.details(&item);
                return self.messages.write_all(text.as_bytes());
            }
        };
        self.counts.add(&entry);
        if !entry.is_touched() {
            return Ok(());
        }
        if self.format == Some(ReportFormat::Html) {
            self.rows += 1;
            let rank = html::rehearsal::rank(&entry);
            self.page.0.push(rank, &html::rehearsal::row(&entry, self.rows))?;
            return self.page.1.push(rank, &html::rehearsal::details(&entry, self.rows));
        }
        if self.format == Some(ReportFormat::Json) {
            let before = if std::mem::replace(&mut self.has_entries, true) { ",\n" } else { "\n" };
            return write!(self.out, "{before}{}", json::to_string(&shown::value(&entry)));
        }
        self.rows += 1;
        let row = self.table.row(&shown::row(&entry));
        self.table_rows.push(&(row + "\n"))?;
        self.details.push(&shown::details(&entry, self.color))
    }

    fn finish(self, crd_item: &ObjectReport, plan: &Plan, notes: &[RunNote]) -> Result<Exit, Failure> {
        if let Some(error) = self.failed {
            return Err(error.into());
        }
        if self.format == Some(ReportFormat::Html) {
            let head = html::rehearsal::head(&self.counts, crd_item, &plan.columns, &plan.releases());
            self.out.write_all(head.as_bytes())?;
            self.out.write_all(html::notes(notes).as_bytes())?;
            if self.rows > 0 {
                self.out.write_all(b"<h2>Affected objects</h2>\n")?;
                self.out.write_all(html::FILTER.as_bytes())?;
                self.out.write_all(html::table_head(&html::rehearsal::TITLES).as_bytes())?;
                self.page.0.write_to(self.out)?;
                self.out.write_all(html::TABLE_TAIL.as_bytes())?;
            }
            self.page.1.write_to(self.out)?;
            self.out.write_all(html::TAIL.as_bytes())?;
        } else if self.format == Some(ReportFormat::Json) {
            let definition = report_json::value(crd_item);
            let columns = shown::columns_value(&plan.columns);
            let first = if self.has_entries { "" } else { "\n" };
            writeln!(
                self.out,
                "{first}\n],\"definition\":{},\"columns\":{},\"kubernetesVersions\":{},\"notes\":{},\"summary\":{}}}",
                json::to_string(&definition),
                json::to_string(&columns),
                json::to_string(&report_json::releases(plan.releases().iter())),
                json::to_string(&report_json::notes(notes)),
                json::to_string(&self.counts.value())
            )?;
        } else {
            self.table.write(self.table_rows.lines()?, self.out)?;
            if self.rows > 0 {
                writeln!(self.out)?;
            }
            self.details.write_to(self.out)?;
            if self.rows > 0 {
                writeln!(self.out)?;
            }
            self.out.write_all(self.counts.text().as_bytes())?;
        }
        for note in notes {
            writeln!(self.messages, "note: {}", note.message)?;
        }
        Ok(if self.counts.is_unsure() || crd_item.verdict == Verdict::CannotTell {
            Exit::CannotTell
        } else if self.counts.breaks() || !plan.is_accepted() {
            Exit::Rejected
        } else {
            Exit::Fine
        })
    }
}
