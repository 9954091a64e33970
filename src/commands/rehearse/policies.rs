//! `rehearse --policies`: shows the effect of new admission policies on the next write of stored objects.

use super::args;
use super::stored::{InCluster, Stored};
use super::{Failure, failure};
use crate::cluster::{self, Resource};
use crate::commands::exit::Exit;
use crate::commands::flags::ReportFormat;
use crate::commands::progress::Progress;
use crate::commands::terminal::{self, Writer};
use crate::input::Entry as InputEntry;
use crate::input::buffered_text::BufferedText;
use crate::input::required::{Required, Sources};
use crate::output::policy_rehearsal::{self as shown, Counts, Effects};
use crate::output::report::json as report_json;
use crate::output::report::text::{Style, TextReport};
use crate::output::{Columns, TableStyle};
use crate::simulation::admission::{self, Admission};
use crate::simulation::live::Live;
use crate::simulation::object::{self as input_object, Object};
use crate::simulation::ordered::{in_order, threads};
use crate::simulation::policy_rehearsal::PolicyRehearsal;
use crdx::report::{ObjectReport, RunNote, Verdict};
use crdx_types::resources::plural;
use crdx_types::table;
use crdx_value::release::Release;
use crdx_value::{Map, Value, group_version};
use std::io;
use std::sync::Arc;

/// Runs the command.
pub fn run(args: &args::Rehearse, look: TableStyle, out: &mut Writer, messages: &mut Writer) -> Result<Exit, Failure> {
    let usage = |message: &str| Err(Failure::Reported(format!("error: {message}\n")));
    if args.output == Some(ReportFormat::Html) {
        return usage("--policies does not support -o html: use -o json, or no -o");
    }
    let from_files = !args.filenames.is_empty() || !args.kustomize.is_empty();
    let target = args.cluster.target();
    let live = Arc::new(Live::new(target.clone()));
    let has_cluster = !args.cluster.offline && cluster::is_configured(&target);
    let (release, note) = match &args.kubernetes.kubernetes_version {
        Some(set) => match set.single() {
            Some(release) => (release, None),
            None => return usage("--policies takes one Kubernetes version"),
        },
        None if has_cluster => {
            let simulated = cluster::simulated(live.connection());
            (simulated.release, simulated.note)
        }
        None => (Release::NEWEST, None),
    };
    let namespace = cluster::namespace_or_default(args.cluster.namespace.as_deref(), &target);
    let options = args.reading.options();
    let policies = args.policies.options();
    let reading = admission::Reading {
        options: &policies,
        input: options.clone(),
        live: (has_cluster && !policies.skips_cluster).then_some(&live),
        namespace: &namespace,
    };
    let mut notes: Vec<RunNote> = note.map(|message| RunNote { kind: "version", message }).into_iter().collect();
    let mut refused = Vec::new();
    let crds: Vec<Value> = Sources::open(&args.crds, options.clone(), Required::Definition, "--crds")
        .filter_map(|entry| match entry {
            InputEntry::Document(document) => document.is_definition().then_some(document.value),
            InputEntry::Problem(note) => {
                refused.push(input_object::problem(note));
                None
            }
            InputEntry::Warning(_) => None,
        })
        .collect();
    let now = terminal::now();
    let mut show_refused = |item: ObjectReport| refused.push(item);
    let admission = Admission::standalone(&reading, release, crds.clone(), now, &mut show_refused, &mut notes);
    let mut show = Show::new(args.output, look, out, messages);
    for item in refused {
        show.refuse(&item)?;
    }
    let Some(admission) = admission else {
        return Err(Failure::Reported("error: --policies has no admission policy or binding\n".to_owned()));
    };
    show.counts = Counts::of(admission.given());
    notes.extend(admission.without_effect().map(|message| RunNote { kind: "unboundPolicies", message }));
    let crds = admission.definitions().iter().map(|object| object.value().clone()).chain(crds);
    let crds: Vec<Value> = crds.collect();
    let rehearsal = PolicyRehearsal::new(&admission, (release, now), &namespace, crds, has_cluster.then_some(&live));
    let jobs = threads(args.jobs);
    let work = |task: Task| match task {
        Task::Reported(item) => EntryResult::Reported(item),
        Task::Object(mut object) => {
            let value = object.take_value();
            EntryResult::Rehearsed(Box::new(rehearsal.rehearse(value, &object.finder())))
        }
        Task::Stored(value) => EntryResult::Rehearsed(Box::new(rehearsal.rehearse(*value, &InCluster))),
    };
    if from_files {
        let progress = Progress::new(args.output != Some(ReportFormat::Json));
        let inputs = Sources::open(&args.filenames, options.collecting(), Required::Object, "-f");
        let entries = progress.count(inputs.and_kustomizations(&args.kustomize));
        let entries = entries.filter_map(|entry| task(&admission, entry));
        in_order(jobs, entries, work, |done| show.done(done))?;
    } else {
        let connection = live.connection().map_err(|error| failure(&error))?;
        for (resource, definition) in matched_resources(connection, &admission).map_err(|error| failure(&error))? {
            let mut objects = Stored::of(connection, &resource.path(None), definition);
            let api_version = group_version::api_version(&resource.group, &resource.version);
            let entries = objects.by_ref().map(|stored| match stored {
                Ok(mut object) => {
                    // Items of lists have no apiVersion and kind.
                    if let Some(members) = object.as_object_mut() {
                        members.insert("apiVersion".to_owned(), api_version.as_str().into());
                        members.insert("kind".to_owned(), resource.kind.as_str().into());
                    }
                    Task::Stored(Box::new(object))
                }
                Err(item) => Task::Reported(item),
            });
            in_order(jobs, entries, work, |done| show.done(done))?;
            notes.extend(objects.note());
        }
    }
    let warnings = options.warnings.take().into_iter();
    notes.extend(warnings.map(|message| RunNote { kind: "inputWarning", message }));
    notes.extend(options.skipped.message().map(|message| RunNote { kind: "skippedInputs", message }));
    show.finish(release, &notes)
}

/// The custom resources of the cluster that the new policies match, with their CRDs, and the resources of built-in
/// kinds that can be listed and written.
fn matched_resources(
    connection: &cluster::Connection,
    admission: &Admission,
) -> Result<Vec<(Resource, Option<Value>)>, cluster::Error> {
    let all = connection.resources()?;
    let matched = all.iter().filter(|r| admission.matches_resource(&r.group, &r.plural));
    let mut found: Vec<(Resource, Option<Value>)> = Vec::new();
    for resource in matched {
        if found.iter().any(|(other, _)| other.group == resource.group && other.plural == resource.plural) {
            continue;
        }
        if is_builtin(&resource.group) {
            if is_rehearsed(&resource.group) && ["list", "patch"].iter().all(|verb| resource.allows(verb)) {
                found.push((resource.clone(), None));
            }
        } else if let Some(definition) = connection.definition(&format!("{}.{}", resource.plural, resource.group))? {
            found.push((resource.clone(), Some(definition)));
        }
    }
    Ok(found)
}

fn is_builtin(group: &str) -> bool {
    group.is_empty() || table::table().has_group(group)
}

/// Returns true if objects of a group of built-in kinds are rehearsed: policies do not apply to policies, and the core
/// group has all events.
fn is_rehearsed(group: &str) -> bool {
    group != crdx_server::policies::GROUP && group != "events.k8s.io"
}

enum Task {
    Reported(Box<ObjectReport>),
    Object(Box<Object>),
    Stored(Box<Value>),
}

enum EntryResult {
    Reported(Box<ObjectReport>),
    Rehearsed(Box<(ObjectReport, Effects)>),
}

/// The task of an entry; `None` for policies, CRDs, and objects of built-in kinds that no policy matches.
fn task(admission: &Admission, entry: InputEntry) -> Option<Task> {
    let object = match input_object::read(entry)? {
        Ok(object) => object,
        Err(item) => return Some(Task::Reported(item)),
    };
    match object.kind() {
        Err(item) => Some(Task::Reported(item)),
        Ok((group, _, kind)) if is_builtin(&group) => {
            let matched = is_rehearsed(&group) && admission.matches_resource(&group, &plural(&kind));
            matched.then(|| Task::Object(Box::new(object)))
        }
        Ok(_) => (!object.is_definition()).then(|| Task::Object(Box::new(object))),
    }
}

struct Show<'a> {
    out: &'a mut Writer,
    messages: &'a mut Writer,
    look: TableStyle,
    json: bool,
    table: Columns,
    rows: BufferedText,
    details: BufferedText,
    counts: Counts,
    /// The policies that the server would refuse.
    refused: Vec<Value>,
    exit: Exit,
    has_entries: bool,
    report: TextReport,
    failed: Option<io::Error>,
}

impl<'a> Show<'a> {
    fn new(format: Option<ReportFormat>, look: TableStyle, out: &'a mut Writer, messages: &'a mut Writer) -> Self {
        Self {
            out,
            messages,
            look,
            json: format == Some(ReportFormat::Json),
            table: Columns::new(shown::COLUMNS, look),
            rows: BufferedText::default(),
            details: BufferedText::default(),
            counts: Counts::default(),
            refused: Vec::new(),
            exit: Exit::Fine,
            has_entries: false,
            report: TextReport::new(Style { color: look.color, ..Style::default() }),
            failed: None,
        }
    }

    /// Records a policy or another input that cannot be used.
    fn refuse(&mut self, item: &ObjectReport) -> io::Result<()> {
        let exit = if item.verdict == Verdict::Rejected { Exit::Rejected } else { Exit::CannotTell };
        self.exit = self.exit.max(exit);
        self.refused.push(report_json::value(item));
        if self.json { Ok(()) } else { self.out.write_all(self.report.details(item).as_bytes()) }
    }

    fn done(&mut self, done: EntryResult) {
        if self.failed.is_none()
            && let Err(error) = self.write(done)
        {
            self.failed = Some(error);
        }
    }

    fn write(&mut self, done: EntryResult) -> io::Result<()> {
        let (item, effects) = match done {
            EntryResult::Rehearsed(rehearsed) => *rehearsed,
            EntryResult::Reported(item) => {
                self.counts.add_unknown();
                let text = self.report.details(&item);
                return self.messages.write_all(text.as_bytes());
            }
        };
        self.counts.add(&effects);
        if !effects.is_touched() {
            return Ok(());
        }
        if self.json {
            let head = self.head();
            let first = !std::mem::replace(&mut self.has_entries, true);
            return self.out.write_all((head + &report_json::item_with(&item, Map::new(), first)).as_bytes());
        }
        let row = self.table.row(&shown::row(&item, &effects));
        self.rows.push(&(row + "\n"))?;
        self.has_entries = true;
        self.details.push(&self.report.details(&item))?;
        self.details.push(&shown::changes(&item))
    }

    /// Returns the beginning of the JSON report, before the first item.
    fn head(&self) -> String {
        if self.has_entries { String::new() } else { report_json::head("PolicyRehearsalReport") }
    }

    fn finish(self, release: Release, notes: &[RunNote]) -> Result<Exit, Failure> {
        if let Some(error) = self.failed {
            return Err(error.into());
        }
        if self.json {
            let head = self.head();
            let releases = report_json::releases(std::iter::once(release));
            let tail = shown::tail(&self.counts, &self.refused, releases, report_json::notes(notes));
            self.out.write_all((head + &tail).as_bytes())?;
        } else {
            if !self.refused.is_empty() {
                writeln!(self.out)?;
            }
            self.table.write(self.rows.lines()?, self.out)?;
            if self.has_entries {
                writeln!(self.out)?;
            }
            self.details.write_to(self.out)?;
            self.out.write_all(self.report.common_details().as_bytes())?;
            if self.has_entries {
                writeln!(self.out)?;
            }
            self.out.write_all(self.counts.text(self.look).as_bytes())?;
        }
        for note in notes {
            writeln!(self.messages, "note: {}", note.message)?;
        }
        let exit = match &self.counts {
            counts if counts.is_unsure() => Exit::CannotTell,
            counts if counts.denies() => Exit::Rejected,
            _ => Exit::Fine,
        };
        Ok(self.exit.max(exit))
    }
}
