//! `rehearse NEW_CRD`: shows the effect of a new CRD on its stored objects.

use super::args;
use super::matrix::{Matrix, MatrixPlan};
use super::objects::{Collection, Rehearsal, RehearsalRun, input_notes};
use super::possible_objects::PossibleObjects;
use super::report::rehearsed_object::RehearsedObject;
use super::report::{UpgradeReport, UpgradedDefinition};
use super::update::{RehearsedDefinition, Upgrade};
use crate::commands::error::Error;
use crate::commands::exit::Exit;
use crate::commands::flags::{self, Color};
use crate::commands::sink::{Ending, Sink, Streams};
use crate::commands::terminal;
use crdx_engine::rehearsal::{Plan, Releases};
use crdx_engine::report::{Action, ObjectReport, RunNote};
use crdx_engine::simulation::answer;
use crdx_engine::simulation::identity::{self, FieldLocator};
use crdx_engine::simulation::object::Object;
use crdx_engine::simulation::removed_versions::RemovedVersions;
use crdx_input::InputOptions;
use crdx_runner::simulation::live::Live;
use crdx_value::Value;
use crdx_value::release::Release;

/// Rehearses one new CRD.
///
/// # Errors
/// There is no result, or output cannot be written.
pub fn run(
    args: &args::Rehearse,
    (new, given_old): (RehearsedDefinition, Option<RehearsedDefinition>),
    options: &InputOptions,
    color: Color,
) -> Result<Exit, Error> {
    let streams = Streams::new(args.output, color);
    let target = args.cluster.target();
    let live = Live::new(target.clone());
    let from_files = has_files(args);
    let name = new.name().to_owned();
    let old = match given_old {
        Some(old) => Some(old.value),
        None if args.cluster.is_offline() => None,
        None => existing_crd(&live, &name)?,
    };
    let read = old.clone().filter(|_| args.old.is_none());
    let removed = old.as_ref().map(|old| RemovedVersions::between(old, &new.value)).unwrap_or_default();
    let unusable = |message: String| Error::input_at(message, new.object.finder().start(), None);
    let (releases, note) = releases(args, &live)?;
    let possible = PossibleObjects::search(old.as_ref(), &new.value, releases, args.printed_tries());
    let matrix = MatrixPlan::new(&[(old.as_ref(), Some(&new))], &all_releases(args)?)?;
    let plan =
        Plan::new(old, new.value.clone(), releases, terminal::now()).map_err(|error| unusable(error.to_string()))?;
    let namespace = crdx_cluster::namespace_or_default(args.cluster.namespace.as_deref(), &target);
    let mut crd_item = definition_report(&new, &plan, &removed);
    let mut baseline = args.baseline.open()?;
    if let Some(baseline) = &mut baseline {
        baseline.accept(&mut crd_item);
    }
    let matrix = matrix.matrix(&namespace);
    let upgraded = UpgradedDefinition { item: &crd_item, plan: &plan, possible: &possible, matrix: &matrix };
    let report = UpgradeReport::new(upgraded, streams.out.look(), args.quiet);
    let mut sink = Sink::new(report, args.output, streams);
    sink.begin()?;
    let upgrade = Upgrade::new(&plan, &namespace, &removed);
    upgrade.prepare().map_err(|error| unusable(error.to_string()))?;
    let rehearsal = DefinitionRehearsal { upgrade, matrix: &matrix };
    let mut notes: Vec<RunNote> = note.map(|message| RunNote { kind: "version", message }).into_iter().collect();
    notes.extend(removed.note());
    let mut run =
        RehearsalRun { args, rehearsal: &rehearsal, sink: &mut sink, notes: &mut notes, baseline: &mut baseline };
    if from_files {
        run.files(options)?;
    } else if let Some(path) = plan.collection() {
        run.collection(live.connection()?, Collection { path, definition: read, types: None })?;
    } else {
        let message = format!("the cluster has no CRD {name}, so it stores no objects of it");
        notes.push(RunNote { kind: "noObjects", message });
    }
    notes.extend(input_notes(options, &args.severities.map()));
    notes.extend(flags::finish_baseline(baseline)?);
    let report = sink.finish(&Ending { notes: &notes, releases: &plan.releases() })?;
    Ok(report.exit())
}

/// Returns true if the stored objects are in files.
pub fn has_files(args: &args::Rehearse) -> bool {
    !args.filenames.is_empty() || !args.kustomize.is_empty()
}

/// Returns the server's response to the new CRD.
pub fn definition_report(new: &RehearsedDefinition, plan: &Plan, removed: &RemovedVersions) -> ObjectReport {
    let identity = identity::identity(&new.value, identity::Namespace::None);
    let mut item =
        answer::read_definition_response(plan.answer.clone(), identity, &new.object.finder(), plan.releases().newest());
    item.action = if plan.is_update() { Action::Update } else { Action::Create };
    item.object = None;
    removed.complete(&mut item);
    item
}

/// Returns the releases before and after the upgrade, with the settings of the server: those requested, or the cluster's release
/// for both. Also returns a note about the choice.
///
/// # Errors
/// Returns an error if a server of a release does not accept the settings.
pub fn releases(args: &args::Rehearse, live: &Live) -> Result<(Releases, Option<String>), Error> {
    if let Some(set) = &args.kubernetes.kubernetes_version {
        let configured = |release| args.server.release(release);
        return Ok((Releases { old: configured(set.oldest())?, new: configured(set.newest())? }, None));
    }
    if args.cluster.is_offline() || (args.old.is_some() && !args.filenames.is_empty()) {
        return Ok((Releases::both(args.server.release(Release::NEWEST)?), None));
    }
    let crdx_cluster::Simulated { release, note } = crdx_cluster::simulated(live.connection());
    Ok((Releases::both(args.server.release_of_cluster(release, live.connection())?), note))
}

/// Returns the releases of `--kubernetes-version` with the settings of the server, oldest first.
///
/// # Errors
/// Returns an error if a server of a release does not accept the settings.
pub fn all_releases(args: &args::Rehearse) -> Result<Vec<Release>, Error> {
    let Some(set) = &args.kubernetes.kubernetes_version else { return Ok(Vec::new()) };
    set.iter().map(|release| args.server.release(release)).collect()
}

/// Reads the existing CRD from the cluster.
pub fn existing_crd(live: &Live, name: &str) -> Result<Option<Value>, Error> {
    live.connection().and_then(|connection| connection.definition(name)).map_err(|error| {
        let help = error.help.as_ref().map_or_else(String::new, |help| format!("{help}; or "));
        let help = Some(format!("{help}give the current CRD with --old, the stored objects with -f, and --offline"));
        crdx_cluster::Error { help, ..error }.into()
    })
}

/// The update of the CRD, alone and on every release.
struct DefinitionRehearsal<'a> {
    upgrade: Upgrade<'a>,
    matrix: &'a Matrix<'a>,
}

impl Rehearsal for DefinitionRehearsal<'_> {
    type Effect = RehearsedObject;

    fn takes(&self, object: &Object, group: &str, kind: &str) -> bool {
        self.upgrade.takes(object, group, kind)
    }

    fn rehearse(&self, object: Value, locator: &dyn FieldLocator) -> RehearsedObject {
        self.matrix.add(&object, locator);
        self.upgrade.rehearse(object, locator)
    }
}
