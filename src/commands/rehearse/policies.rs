//! `rehearse --policies`: shows the effect of new admission policies on the next write of stored objects.

use super::args;
use super::known::AcceptKnown;
use super::objects::{Collection, Rehearsal, RehearsalRun, input_notes};
use super::report::PolicyReport;
use super::report::policies::PolicyCounts;
use crate::commands::error::Error;
use crate::commands::exit::Exit;
use crate::commands::flags::{self, Color, ReportFormat};
use crate::commands::sink::{Ending, Sink, Streams};
use crate::commands::terminal;
use crdx_cluster::Resource;
use crdx_engine::documents::InputEntry;
use crdx_engine::rehearsal::policies::{Effects, PolicyRehearsal};
use crdx_engine::report::{ObjectReport, RunNote};
use crdx_engine::simulation::admission::Admission;
use crdx_engine::simulation::identity::FieldLocator;
use crdx_engine::simulation::object::{self as input_object, Object};
use crdx_input::baseline::Baseline;
use crdx_input::required::{Required, Sources};
use crdx_output::secrets;
use crdx_runner::simulation::admission;
use crdx_runner::simulation::live::Live;
use crdx_types::resources::plural;
use crdx_types::table;
use crdx_value::release::Release;
use crdx_value::{Value, group_version};
use std::sync::Arc;

/// Rehearses the policies of `--policies`.
///
/// # Errors
/// There is no result, or output cannot be written.
pub fn run(args: &args::Rehearse, color: Color) -> Result<Exit, Error> {
    let usage = |message: &str| Err(Error::usage(message));
    if args.output == Some(ReportFormat::Html) {
        return usage("--policies does not support -o html: use -o json, or no -o");
    }
    let from_files = !args.filenames.is_empty() || !args.kustomize.is_empty();
    let target = args.cluster.target();
    let live = Arc::new(Live::new(target.clone()));
    let has_cluster = !args.cluster.is_offline() && crdx_cluster::is_configured(&target);
    let (release, note) = match &args.kubernetes.kubernetes_version {
        Some(set) => match set.single() {
            Some(release) => (release, None),
            None => return usage("--policies takes one Kubernetes version"),
        },
        None if has_cluster => {
            let simulated = crdx_cluster::simulated(live.connection());
            (simulated.release, simulated.note)
        }
        None => (Release::NEWEST, None),
    };
    let release = match &args.kubernetes.kubernetes_version {
        None if has_cluster => args.server.release_of_cluster(release, live.connection())?,
        _ => args.server.release(release)?,
    };
    let namespace = crdx_cluster::namespace_or_default(args.cluster.namespace.as_deref(), &target);
    let options = args.reading.options();
    let policies = args.policies.options();
    let reading = admission::Reading {
        options: &policies,
        input: options.clone(),
        live: (has_cluster && !policies.skips_cluster).then_some(&live),
        objects: Some(live.objects()),
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
    let objects = reading.read_in_use(&crds, &mut show_refused, &mut notes);
    let admission =
        admission::standalone(&objects, &reading, release, crds.clone(), now, &mut show_refused, &mut notes);
    let mut baseline = args.baseline.open()?;
    if let Some(baseline) = &mut baseline {
        for item in &mut refused {
            baseline.accept(item);
        }
    }
    let streams = Streams::new(args.output, color);
    let counts = admission.as_ref().map(|admission| PolicyCounts::new(admission.given())).unwrap_or_default();
    let report = PolicyReport::new(counts, refused, streams.out.look(), args.quiet);
    let mut sink = Sink::new(report, args.output, streams);
    sink.begin()?;
    let Some(admission) = admission else {
        return Err(Error::input("--policies has no admission policy or binding"));
    };
    notes.extend(admission.without_effect().map(|message| RunNote { kind: "unboundPolicies", message }));
    let crds = admission.definitions().iter().map(|object| object.value().clone()).chain(crds);
    let crds: Vec<Value> = crds.collect();
    let read_definition = |group: &str, kind: &str| {
        let connection = live.connection().ok().filter(|_| has_cluster)?;
        connection.definitions_of(&[(group, kind)]).pop()?.ok()?
    };
    let rehearsal = NewPolicies {
        admission: &admission,
        servers: PolicyRehearsal::new(&admission, (release, now), &namespace, crds, Box::new(read_definition)),
    };
    let mut run =
        RehearsalRun { args, rehearsal: &rehearsal, sink: &mut sink, notes: &mut notes, baseline: &mut baseline };
    if from_files {
        run.files(&options)?;
    } else {
        let connection = live.connection()?;
        let matches = |group: &str, plural: &str| admission.matches_resource(group, plural);
        for (resource, definition) in matched_resources(connection, &matches)? {
            let types = (group_version::api_version(&resource.group, &resource.version), resource.kind.clone());
            run.collection(connection, Collection { path: resource.path(None), definition, types: Some(types) })?;
        }
    }
    notes.extend(input_notes(&options, &args.severities.map()));
    notes.extend(flags::finish_baseline(baseline)?);
    let report = sink.finish(&Ending { notes: &notes, releases: &release.into() })?;
    Ok(report.exit())
}

impl AcceptKnown for (ObjectReport, Effects) {
    fn accept(&mut self, baseline: &mut Baseline) {
        let (item, effects) = self;
        accept_denials(item, effects, baseline);
    }
}

/// Marks the known denials of an object.
pub fn accept_denials(item: &mut ObjectReport, effects: &Effects, baseline: &mut Baseline) {
    // An object that is rejected without the new policies, too, does not make the rehearsal fail.
    if !effects.denied.is_empty() && !effects.refused_anyway {
        baseline.accept(item);
    } else {
        baseline.add_without_finding(item);
    }
}

struct NewPolicies<'a> {
    admission: &'a Admission,
    servers: PolicyRehearsal<'a>,
}

impl Rehearsal for NewPolicies<'_> {
    type Effect = (ObjectReport, Effects);

    /// Policies, CRDs, and objects of built-in kinds that no policy matches are left out.
    fn takes(&self, object: &Object, group: &str, kind: &str) -> bool {
        if is_builtin(group) {
            return is_rehearsed(group) && self.admission.matches_resource(group, &plural(kind));
        }
        !object.is_definition()
    }

    fn rehearse(&self, object: Value, locator: &dyn FieldLocator) -> Self::Effect {
        let (mut item, effects) = self.servers.rehearse(object, locator);
        secrets::hide_lines(&mut item);
        (item, effects)
    }
}

/// The custom resources of the cluster that `matches` is true for by group and plural name, with their CRDs, and the resources of built-in
/// kinds that can be listed and written.
pub fn matched_resources(
    connection: &crdx_cluster::Connection,
    matches: &dyn Fn(&str, &str) -> bool,
) -> Result<Vec<(Resource, Option<Value>)>, crdx_cluster::Error> {
    let all = connection.resources()?;
    let matched = all.iter().filter(|r| matches(&r.group, &r.plural));
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
