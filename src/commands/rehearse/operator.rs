//! `rehearse NEW_CRDS`: shows the effects of all CRDs of an operator on their stored objects, and the steps of its upgrade.

use super::args;
use super::definition::{RehearsedDefinition, Upgrade, existing_crd, has_files, releases};
use super::objects::{Collection, Rehearsal, RehearsalRun, input_notes};
use super::planned::{DeletedDefinition, DeletedObject, OperatorObject, PlannedDefinition, deletion, plan};
use super::report::operator::OperatorReport;
use crate::commands::error::Error;
use crate::commands::exit::Exit;
use crate::commands::flags::{self, Color};
use crate::commands::sink::{Ending, Sink, Streams};
use crdx_engine::rehearsal::Plan;
use crdx_engine::report::RunNote;
use crdx_engine::simulation::identity::{self, FieldLocator};
use crdx_engine::simulation::object::Object;
use crdx_input::InputOptions;
use crdx_runner::simulation::live::Live;
use crdx_value::Value;
use crdx_value::release::ReleaseSet;
use std::collections::BTreeMap;

/// Rehearses the new CRDs, each with the old one of its name.
///
/// # Errors
/// There is no result, or output cannot be written.
pub fn run(
    args: &args::Rehearse,
    (news, olds): (Vec<RehearsedDefinition>, Vec<RehearsedDefinition>),
    options: &InputOptions,
    color: Color,
) -> Result<Exit, Error> {
    let streams = Streams::new(args.output, color);
    let target = args.cluster.target();
    let live = Live::new(target.clone());
    let (releases, note) = releases(args, &live)?;
    let mut olds: BTreeMap<String, RehearsedDefinition> =
        olds.into_iter().map(|old| (old.name().to_owned(), old)).collect();
    let mut planned = Vec::new();
    for new in news {
        let old = match (&args.old, olds.remove(new.name())) {
            (Some(_), old) => old.map(|old| old.value),
            (None, _) if args.cluster.is_offline() => None,
            (None, _) => existing_crd(&live, new.name())?,
        };
        let read = old.clone().filter(|_| args.old.is_none());
        planned.push(plan(&new, old, read, releases, args.printed_tries())?);
    }
    let deleted: Vec<DeletedDefinition> =
        olds.into_values().map(|old| deletion(&old, releases)).collect::<Result<_, _>>()?;
    let namespace = crdx_cluster::namespace_or_default(args.cluster.namespace.as_deref(), &target);
    let mut baseline = args.baseline.open()?;
    if let Some(baseline) = &mut baseline {
        planned.iter_mut().for_each(|one| baseline.accept(&mut one.item));
    }
    let update = |one| update(one, &namespace);
    let updates = planned.iter().map(update).collect::<Result<_, _>>()?;
    let operator = Operator { updates, deleted: &deleted, namespace: &namespace };
    let report = OperatorReport::new(&planned, &deleted, streams.out.look(), args.quiet);
    let mut sink = Sink::new(report, args.output, streams);
    sink.begin()?;
    let mut notes: Vec<RunNote> = note.map(|message| RunNote { kind: "version", message }).into_iter().collect();
    notes.extend(planned.iter().filter_map(|one| one.removed_versions.note()));
    let mut run =
        RehearsalRun { args, rehearsal: &operator, sink: &mut sink, notes: &mut notes, baseline: &mut baseline };
    if has_files(args) {
        run.files(options)?;
    } else {
        let updated = planned.iter().map(|one| (&one.plan, one.read.clone()));
        for (plan, definition) in updated.chain(deleted.iter().map(|one| (&one.plan, None))) {
            if let Some(path) = plan.collection() {
                run.collection(live.connection()?, Collection { path, definition, types: None })?;
            }
        }
    }
    notes.extend(input_notes(options, &args.severities.map()));
    notes.extend(flags::finish_baseline(baseline)?);
    let all = ReleaseSet::from_releases([releases.old, releases.new]).unwrap_or_else(|| releases.new.into());
    let report = sink.finish(&Ending { notes: &notes, releases: &all })?;
    Ok(report.exit())
}

fn update<'a>(planned: &'a PlannedDefinition, namespace: &'a str) -> Result<Upgrade<'a>, Error> {
    let PlannedDefinition { plan, item, removed_versions, .. } = planned;
    let stage = plan.stage().map_err(|error| Error::input_at(error.to_string(), item.location.clone(), None))?;
    Ok(Upgrade::new(plan, stage, namespace, removed_versions))
}

/// The updates and deletions of the CRDs of an operator.
struct Operator<'a> {
    updates: Vec<Upgrade<'a>>,
    deleted: &'a [DeletedDefinition],
    namespace: &'a str,
}

impl Operator<'_> {
    fn deleted(&self, group: &str, kind: &str) -> Option<(usize, &Plan)> {
        let plans = self.deleted.iter().map(|one| &one.plan).enumerate();
        plans.into_iter().find(|(_, plan)| plan.group == group && plan.kind == kind)
    }
}

impl Rehearsal for Operator<'_> {
    type Effect = OperatorObject;

    fn takes(&self, object: &Object, group: &str, kind: &str) -> bool {
        self.updates.iter().any(|update| update.takes(object, group, kind)) || self.deleted(group, kind).is_some()
    }

    fn rehearse(&self, object: Value, locator: &dyn FieldLocator) -> OperatorObject {
        let api_version = object.str_at(&["apiVersion"]).unwrap_or_default();
        let group = crdx_value::group_version::group(api_version).to_owned();
        let kind = object.str_at(&["kind"]).unwrap_or_default().to_owned();
        if let Some((index, update)) = self.updates.iter().enumerate().find(|(_, update)| update.is_of(&group, &kind)) {
            return OperatorObject::Updated(index, Box::new(update.rehearse(object, locator)));
        }
        let deleted = self.deleted(&group, &kind);
        let is_namespaced = deleted.is_none_or(|(_, plan)| plan.namespaced);
        let namespace = if is_namespaced { identity::Namespace::Or(self.namespace) } else { identity::Namespace::None };
        let definition = deleted.map_or(self.deleted.len(), |(index, _)| index);
        let (identity, location) = (identity::identity(&object, namespace), locator.start());
        OperatorObject::Deleted(DeletedObject { definition, identity, location, known: None })
    }
}
