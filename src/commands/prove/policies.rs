//! `prove --policies`: searches for the smallest objects that new admission policies deny and the old ones allow.

use super::args;
use super::policy_report::PolicyProveReport;
use crate::commands::error::Error;
use crate::commands::exit::Exit;
use crate::commands::flags::{self, Color};
use crate::commands::sink::{Ending, Sink, Streams};
use crate::commands::terminal;
use crdx_engine::documents::InputEntry;
use crdx_engine::report::{ObjectReport, RunNote};
use crdx_engine::search::Effort;
use crdx_engine::search::policies::PolicyUpgrade;
use crdx_engine::simulation::admission::Admission;
use crdx_engine::simulation::object;
use crdx_input::InputOptions;
use crdx_input::required::{Required, Sources};
use crdx_runner::simulation::admission::{self, PolicyOptions};
use crdx_value::Value;
use crdx_value::release::Release;

/// The namespace of objects without one.
const NAMESPACE: &str = "default";

/// Runs the command for policies.
///
/// # Errors
/// An input cannot be read, the server would reject a policy, or output cannot be written.
pub fn run(args: &args::Prove, release: Release, effort: Effort, color: Color) -> Result<Exit, Error> {
    let options = args.reading.options();
    let definitions = definitions(&args.crds, &options)?;
    let mut notes = Vec::new();
    let new = args.policies.options();
    let with_commits = InputOptions { reads_commits: true, ..options.clone() };
    let mut side = |paths: &[String], input: &InputOptions| {
        let of_side = PolicyOptions { paths: paths.to_vec(), ..new.clone() };
        admission((&of_side, input), release, &definitions, &mut notes)
    };
    let old = if args.old_policies.is_empty() { None } else { side(&args.old_policies, &with_commits)? };
    let Some(new) = side(&args.policies.policies, &options)? else {
        return Err(Error::input("--policies has no admission policy or binding"));
    };
    notes.extend(new.without_effect().map(|message| RunNote { kind: "unboundPolicies", message }));
    let own = new.definitions().iter().map(|object| object.value().clone());
    let definitions: Vec<Value> = own.chain(definitions).collect();
    let upgrade =
        PolicyUpgrade { old: old.as_ref(), new: &new, definitions: &definitions, release, now: terminal::now() };
    let streams = Streams::new(args.output, color);
    let mut sink = Sink::new(PolicyProveReport::new(streams.out.look(), effort), args.output, streams);
    sink.begin()?;
    for kind in upgrade.search(effort) {
        sink.add(&kind);
    }
    let report = sink.finish(&Ending { notes: &notes, releases: &release.into() })?;
    flags::report_notes(&options);
    Ok(report.exit)
}

/// Returns the CRDs at the paths.
fn definitions(paths: &[String], options: &InputOptions) -> Result<Vec<Value>, Error> {
    let mut found = Vec::new();
    for entry in Sources::open(paths, options.clone(), Required::Definition, "--crds") {
        match entry {
            InputEntry::Document(document) if document.is_definition() => found.push(document.value),
            InputEntry::Problem(note) => return Err(unusable(&object::problem(note))),
            InputEntry::Document(_) | InputEntry::Warning(_) => {}
        }
    }
    Ok(found)
}

/// Returns the policies of one side.
fn admission(
    (options, input): (&PolicyOptions, &InputOptions),
    release: Release,
    definitions: &[Value],
    notes: &mut Vec<RunNote>,
) -> Result<Option<Admission>, Error> {
    let reading = admission::Reading { options, input: input.clone(), live: None, objects: None, namespace: NAMESPACE };
    let mut refused: Option<ObjectReport> = None;
    let mut show = |item: ObjectReport| {
        refused.get_or_insert(item);
    };
    let objects = reading.read_in_use(definitions, &mut show, notes);
    let definitions = definitions.to_vec();
    let found = admission::standalone(&objects, &reading, release, definitions, terminal::now(), &mut show, notes);
    match refused {
        Some(item) => Err(unusable(&item)),
        None => Ok(found),
    }
}

fn unusable(item: &ObjectReport) -> Error {
    let message = item.errors.first().map_or_else(|| item.reason.clone(), |error| error.message.clone());
    Error::input_at(message, item.location.clone(), item.help.as_deref())
}
