//! `rehearse NEW_CRDS`: shows the effects of all CRDs, policies and webhook configurations of an operator on stored objects, and the
//! steps of its upgrade.

use super::admission::{AdmissionRehearsal, AdmissionUpgrade, Sides, matches};
use super::args;
use super::definition::{all_releases, existing_crd, has_files, releases};
use super::matrix::{Matrix, MatrixPlan};
use super::objects::{Collection, Rehearsal, RehearsalRun, input_notes};
use super::planned::{
    DefinitionEffect, DeletedDefinition, DeletedObject, OperatorObject, PlannedDefinition, Upgraded, deletion, plan,
};
use super::policies::matched_resources;
use super::report::operator::OperatorReport;
use super::side::OperatorSide;
use super::update::{RehearsedDefinition, Upgrade, group_and_kind};
use crate::commands::error::Error;
use crate::commands::exit::Exit;
use crate::commands::flags::{self, Color};
use crate::commands::sink::{Ending, Sink, Streams};
use crate::commands::terminal;
use crdx_engine::rehearsal::policies::ReadDefinition;
use crdx_engine::rehearsal::{Plan, Releases};
use crdx_engine::report::RunNote;
use crdx_engine::simulation::admission::Admission;
use crdx_engine::simulation::identity::{self, FieldLocator};
use crdx_engine::simulation::object::Object;
use crdx_input::InputOptions;
use crdx_runner::simulation::admission::{PolicyOptions, Reading};
use crdx_runner::simulation::live::Live;
use crdx_types::resources::plural;
use crdx_types::table::table;
use crdx_value::release::ReleaseSet;
use crdx_value::{Value, group_version};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Rehearses the new CRDs, each with the old one of its name, and the new policies and webhook configurations.
///
/// # Errors
/// There is no result, or output cannot be written.
pub fn run(
    args: &args::Rehearse,
    (new, mut old): (OperatorSide, OperatorSide),
    options: &InputOptions,
    color: Color,
) -> Result<Exit, Error> {
    let streams = Streams::new(args.output, color);
    let target = args.cluster.target();
    let live = Arc::new(Live::new(target.clone()));
    let (releases, note) = releases(args, &live)?;
    let reads_old = args.old.is_none() && !args.cluster.is_offline();
    if reads_old && new.has_admission() {
        old.others = OperatorSide::existing_admission(&new, live.connection()?)?;
    }
    let namespace = crdx_cluster::namespace_or_default(args.cluster.namespace.as_deref(), &target);
    let has_cluster = !args.cluster.is_offline() && crdx_cluster::is_configured(&target);
    let policies = PolicyOptions { requests: args.policies.options().requests, ..PolicyOptions::default() };
    let reading = Reading {
        options: &policies,
        input: options.clone(),
        live: has_cluster.then_some(&live),
        objects: Some(live.objects()),
        namespace: &namespace,
    };
    let sides = Sides { reading, now: terminal::now() };
    let (new_side, old_side) = ((&new, releases.new), (&old, releases.old));
    let mut admission = AdmissionUpgrade::new(&sides, new_side, old_side);
    let cluster = reads_old.then_some(&*live);
    let DefinitionPlans { mut planned, deleted, pairs } = plans(args, (&new, &old), cluster, releases, &admission)?;
    let pairs: Vec<_> = pairs.iter().map(|(old, new)| (old.as_ref(), *new)).collect();
    let matrix = MatrixPlan::new(&pairs, &all_releases(args)?)?;
    let matrix = matrix.matrix(&namespace);
    let mut baseline = args.baseline.open()?;
    if let Some(baseline) = &mut baseline {
        for one in &mut planned {
            baseline.accept(&mut one.item);
        }
        admission.refused.iter_mut().for_each(|item| baseline.accept(item));
    }
    let update = |one| update(one, &namespace);
    let updates = planned.iter().map(update).collect::<Result<_, _>>()?;
    let read_definition = || -> ReadDefinition<'_> {
        Box::new(|group: &str, kind: &str| {
            let connection = live.connection().ok().filter(|_| has_cluster)?;
            connection.definitions_of(&[(group, kind)]).pop()?.ok()?
        })
    };
    let policies = admission.rehearsal(new_side, old_side, read_definition);
    let operator = Operator { updates, deleted: &deleted, policies, matrix: &matrix, namespace: &namespace };
    let upgraded = Upgraded { planned: &planned, deleted: &deleted, admission: &admission, matrix: &matrix, releases };
    let report = OperatorReport::new(upgraded, streams.out.look(), args.quiet);
    let mut sink = Sink::new(report, args.output, streams);
    sink.begin()?;
    let mut notes: Vec<RunNote> = note.map(|message| RunNote { kind: "version", message }).into_iter().collect();
    notes.extend(planned.iter().filter_map(|one| one.removed_versions.note()));
    notes.extend(admission.notes.iter().cloned());
    let mut run =
        RehearsalRun { args, rehearsal: &operator, sink: &mut sink, notes: &mut notes, baseline: &mut baseline };
    if has_files(args) {
        run.files(options)?;
    } else {
        let connection = live.connection()?;
        for collection in stored_objects(&live, (&planned, &deleted), admission.given())? {
            run.collection(connection, collection)?;
        }
    }
    notes.extend(input_notes(options, &args.severities.map()));
    notes.extend(flags::finish_baseline(baseline)?);
    let all = ReleaseSet::from_releases([releases.old, releases.new]).unwrap_or_else(|| releases.new.into());
    let report = sink.finish(&Ending { notes: &notes, releases: &all })?;
    Ok(report.exit())
}

/// The updates and deletions of the CRDs of an operator.
struct DefinitionPlans<'a> {
    planned: Vec<PlannedDefinition>,
    deleted: Vec<DeletedDefinition>,
    /// The old and the new form of each CRD.
    pairs: Vec<(Option<Value>, Option<&'a RehearsedDefinition>)>,
}

/// Plans the update of each CRD of the new side, and the deletion of those that only the old side has. The CRDs that are replaced are
/// those of the cluster, if it is given.
fn plans<'a>(
    args: &args::Rehearse,
    (new, old): (&'a OperatorSide, &OperatorSide),
    cluster: Option<&Live>,
    releases: Releases,
    admission: &AdmissionUpgrade<'_>,
) -> Result<DefinitionPlans<'a>, Error> {
    let mut olds: BTreeMap<&str, Value> = old.definitions.iter().map(|old| (old.name(), old.value.clone())).collect();
    let (mut planned, mut pairs) = (Vec::new(), Vec::new());
    for one in &new.definitions {
        let given = olds.remove(one.name());
        let read = cluster.map(|live| existing_crd(live, one.name())).transpose()?;
        let old = read.clone().unwrap_or(given);
        pairs.push((old.clone(), Some(one)));
        planned.push(plan(one, old, read.flatten(), releases, args.printed_tries(), admission)?);
    }
    let removed = old.definitions.iter().filter(|old| olds.contains_key(old.name()));
    let deleted = removed.map(|old| deletion(old, releases)).collect::<Result<_, _>>()?;
    pairs.extend(olds.into_values().map(|old| (Some(old), None)));
    Ok(DefinitionPlans { planned, deleted, pairs })
}

/// Returns the collections of a cluster whose objects the upgrade concerns: those of the CRDs, and of the resources for which a new
/// policy or webhook has a rule.
fn stored_objects(
    live: &Live,
    (planned, deleted): (&[PlannedDefinition], &[DeletedDefinition]),
    admission: Option<&Admission>,
) -> Result<Vec<Collection>, Error> {
    let mut plans: Vec<(&Plan, Option<Value>)> = planned.iter().map(|one| (&one.plan, one.read.clone())).collect();
    for one in deleted {
        // A cluster without the CRD has no objects of it.
        if existing_crd(live, &one.name)?.is_some() {
            plans.push((&one.plan, None));
        }
    }
    let (mut listed, mut found) = (Vec::new(), Vec::new());
    for (plan, definition) in plans {
        if let Some(path) = plan.collection() {
            listed.push(plan.name.as_str());
            found.push(Collection { path, definition, types: None });
        }
    }
    let Some(admission) = admission else { return Ok(found) };
    let is_matched = |group: &str, plural: &str| matches(admission, group, plural);
    for (resource, definition) in matched_resources(live.connection()?, &is_matched)? {
        if !listed.contains(&format!("{}.{}", resource.plural, resource.group).as_str()) {
            let types = (group_version::api_version(&resource.group, &resource.version), resource.kind.clone());
            found.push(Collection { path: resource.path(None), definition, types: Some(types) });
        }
    }
    Ok(found)
}

fn update<'a>(planned: &'a PlannedDefinition, namespace: &'a str) -> Result<Upgrade<'a>, Error> {
    let PlannedDefinition { plan, item, removed_versions, .. } = planned;
    let upgrade = Upgrade::new(plan, namespace, removed_versions);
    upgrade.prepare().map_err(|error| Error::input_at(error.to_string(), item.location.clone(), None))?;
    Ok(upgrade)
}

/// The updates and deletions of the CRDs of an operator, and its new policies.
struct Operator<'a> {
    updates: Vec<Upgrade<'a>>,
    deleted: &'a [DeletedDefinition],
    policies: Option<AdmissionRehearsal<'a>>,
    matrix: &'a Matrix<'a>,
    namespace: &'a str,
}

impl Operator<'_> {
    fn deleted(&self, group: &str, kind: &str) -> Option<(usize, &Plan)> {
        let plans = self.deleted.iter().map(|one| &one.plan).enumerate();
        plans.into_iter().find(|(_, plan)| plan.group == group && plan.kind == kind)
    }

    fn updated(&self, group: &str, kind: &str) -> Option<(usize, &Upgrade<'_>)> {
        self.updates.iter().enumerate().find(|(_, update)| update.is_of(group, kind))
    }

    /// Returns the policies and webhooks, if one has a rule for a kind that is still there after the upgrade.
    fn policies(&self, group: &str, kind: &str) -> Option<&AdmissionRehearsal<'_>> {
        let policies = self.policies.as_ref()?;
        let is_built_in = group.is_empty() || table().has_group(group);
        // The plural name of another custom resource is in its CRD.
        let guessed = || is_built_in.then(|| plural(kind));
        let plural = self.updated(group, kind).map(|(_, update)| update.plural().to_owned()).or_else(guessed);
        let is_deleted = self.deleted(group, kind).is_some();
        // Policies do not apply to policies, and CRDs are the other part of the upgrade.
        let is_excluded = matches!(group, crdx_server::policies::GROUP | crdx_server::crd::GROUP);
        (!is_deleted && !is_excluded && policies.takes(group, plural.as_deref())).then_some(policies)
    }

    fn definition_effect(&self, object: &Value, locator: &dyn FieldLocator) -> Option<DefinitionEffect> {
        let (group, kind) = group_and_kind(object);
        if let Some((index, update)) = self.updated(group, kind) {
            let effect = update.rehearse(object.clone(), locator);
            return Some(DefinitionEffect::Updated(index, Box::new(effect)));
        }
        let (definition, plan) = self.deleted(group, kind)?;
        let namespace =
            if plan.namespaced { identity::Namespace::Or(self.namespace) } else { identity::Namespace::None };
        let (identity, location) = (identity::identity(object, namespace), locator.start());
        Some(DefinitionEffect::Deleted(DeletedObject { definition, identity, location, known: None }))
    }
}

impl Rehearsal for Operator<'_> {
    type Effect = OperatorObject;

    fn takes(&self, _: &Object, group: &str, kind: &str) -> bool {
        self.updated(group, kind).is_some()
            || self.deleted(group, kind).is_some()
            || self.policies(group, kind).is_some()
    }

    fn rehearse(&self, object: Value, locator: &dyn FieldLocator) -> OperatorObject {
        let (group, kind) = group_and_kind(&object);
        self.matrix.add(&object, locator);
        let definition = self.definition_effect(&object, locator);
        let policies = self.policies(group, kind);
        OperatorObject { definition, admission: policies.map(|policies| policies.rehearse(object, locator)) }
    }
}
