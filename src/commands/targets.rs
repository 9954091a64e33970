//! The simulations of `validate` and `diff`: one, or one for each target.

use super::flags;
use super::sink::{Report, Sink};
use super::terminal;
use crdx_engine::report::severity::Severities;
use crdx_engine::report::{ObjectReport, RunNote};
use crdx_input::render::{ChartValues, Renderer};
use crdx_input::{ReadBytes, files};
use crdx_output::secrets;
use crdx_runner::simulation::{self, Plan, RunSummary};
use crdx_server::server::ServerSettings;
use crdx_value::release::{Release, ReleaseSet};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

/// The plan of a target, with its name if there are several.
pub type TargetPlan = (Option<Arc<str>>, Plan);

/// Returns the versions that charts are rendered for: those that are simulated, unless a cluster decides. Helm's own default may be an
/// old version, for which charts have other objects.
fn rendered(releases: Option<&ReleaseSet>, cluster: &flags::ClusterArgs) -> Option<ReleaseSet> {
    releases.cloned().or_else(|| cluster.is_offline().then(|| Release::NEWEST.into()))
}

/// Returns the plan for the flags that `validate` and `diff` share, or the plan of each target.
pub fn plans(
    inputs: &flags::Inputs,
    updates: &flags::Updates,
    releases: Option<&ReleaseSet>,
    cluster: &flags::ClusterArgs,
) -> Vec<TargetPlan> {
    if inputs.resolved.is_empty() {
        return with_profiles((None, plan(inputs, updates, releases.cloned(), cluster)), cluster);
    }
    let of_target = |target: &flags::Target| {
        let releases = target.releases.clone().or_else(|| releases.cloned());
        let namespace = cluster.namespace.clone().or_else(|| target.namespace.clone());
        let mut plan = plan(inputs, updates, releases.clone(), cluster);
        let rendered = rendered(releases.as_ref(), cluster);
        plan.options = inputs.paths.options(rendered.as_ref(), namespace.as_deref(), &target.values);
        plan.options.ignore = plan.options.ignore.clone().and_paths(&target.left_out);
        plan.options.other_targets.clone_from(&target.left_out);
        plan.options.may_be_empty = !target.left_out.is_empty();
        plan.filenames.clone_from(&target.paths);
        plan.crds.extend(target.crds.iter().cloned());
        plan.policies.paths.extend(target.policies.iter().cloned());
        plan.old.clone_from(&target.old);
        plan.namespace = namespace;
        (target.name.clone(), plan)
    };
    inputs.resolved.iter().map(of_target).flat_map(|one| with_profiles(one, cluster)).collect()
}

/// Returns a plan for each profile, with its name if there are several.
fn with_profiles((target, plan): TargetPlan, cluster: &flags::ClusterArgs) -> Vec<TargetPlan> {
    if cluster.profile.len() < 2 {
        return vec![(target, plan)];
    }
    let of_profile = |profile: &PathBuf| {
        let name = profile.display().to_string();
        let name = target.as_ref().map_or_else(|| name.clone(), |target| format!("{target}, {name}"));
        let mut plan = plan.clone();
        plan.target.profile = Some(profile.clone());
        (Some(name.into()), plan)
    };
    cluster.profile.iter().map(of_profile).collect()
}

fn plan(
    inputs: &flags::Inputs,
    updates: &flags::Updates,
    releases: Option<ReleaseSet>,
    cluster: &flags::ClusterArgs,
) -> Plan {
    let rendered = rendered(releases.as_ref(), cluster);
    let options = inputs.paths.options(rendered.as_ref(), cluster.namespace.as_deref(), &ChartValues::default());
    Plan {
        releases,
        filenames: inputs.paths.all(),
        crds: inputs.crds.clone(),
        old: updates.old.clone(),
        kustomizations: inputs.paths.kustomize.clone(),
        old_kustomizations: Vec::new(),
        options,
        policies: inputs.policies.options(),
        skip: inputs.skip.clone(),
        selector: inputs.selector.clone(),
        field_validation: inputs.field_validation.into(),
        ignore_missing_crds: inputs.ignore_missing_crds,
        jobs: inputs.jobs,
        table: false,
        scale: false,
        request_kind: updates.request_kind(),
        show_last_applied: false,
        compares: None,
        target: cluster.target(),
        offline: cluster.is_offline(),
        namespace: cluster.namespace.clone(),
        server: ServerSettings::default(),
        now: terminal::now(),
    }
}

/// Returns a plan with the settings of the server.
pub fn with_server(plan: Plan, server: &ServerSettings) -> Plan {
    Plan { server: server.clone(), ..plan }
}

/// Returns the counter for the bytes of the objects of all plans, for the progress line.
pub fn measure<R: Report>(sink: &Sink<R>, plans: &[TargetPlan]) -> Option<ReadBytes> {
    let paths: Vec<String> = plans.iter().flat_map(|(_, plan)| plan.filenames.iter().cloned()).collect();
    let (_, first) = plans.first()?;
    sink.measure(&paths, &first.kustomizations, &first.options)
}

/// Simulates every plan and passes the completed items to `show`. Returns the notes and releases of all of them.
///
/// # Errors
/// Returns the errors of [`simulation::run`].
pub fn run(
    plans: Vec<TargetPlan>,
    read: Option<&ReadBytes>,
    severities: &Severities,
    show: &mut (dyn FnMut(ObjectReport) + Send),
) -> io::Result<RunSummary> {
    let mut notes: Vec<(Option<Arc<str>>, RunNote)> = Vec::new();
    let mut releases: Vec<Release> = Vec::new();
    for (target, mut plan) in plans {
        plan.options.read = read.cloned();
        let renderer = plan.options.render.clone();
        let names_roots = target.is_none() && files::has_several_roots(&plan.filenames, &plan.options);
        files::prepare_rendering(&plan.filenames, &plan.options);
        let run = simulation::run(&plan, &mut |mut item| {
            item.target.clone_from(&target);
            if names_roots && renderer.as_ref().is_some_and(|renderer| renderer.has(&item.location.source)) {
                item.target = Some(Arc::clone(&item.location.source));
            }
            complete(&mut item, severities, renderer.as_ref());
            show(item);
        })?;
        releases.extend(run.releases.iter());
        notes.extend(run.notes.into_iter().map(|note| (target.clone(), note)));
    }
    let releases = ReleaseSet::from_releases(releases).unwrap_or_else(|| Release::NEWEST.into());
    Ok(RunSummary { releases, notes: merged(notes) })
}

/// Sets the severities of the findings of an object, maps them to the files from which it was rendered, and hides secrets.
fn complete(item: &mut ObjectReport, severities: &Severities, renderer: Option<&Renderer>) {
    severities.apply(item);
    if let Some(renderer) = renderer {
        renderer.map_report(item);
    }
    secrets::hide_lines(item);
}

/// Returns the notes of all targets: one that several have is there once, and the others name their target.
fn merged(notes: Vec<(Option<Arc<str>>, RunNote)>) -> Vec<RunNote> {
    let mut merged: Vec<(Option<Arc<str>>, RunNote, usize)> = Vec::new();
    for (target, note) in notes {
        match merged.iter_mut().find(|(_, known, _)| *known == note) {
            Some((_, _, count)) => *count += 1,
            None => merged.push((target, note, 1)),
        }
    }
    let named = |(target, note, count): (Option<Arc<str>>, RunNote, usize)| match target {
        Some(target) if count == 1 => RunNote { message: format!("{target}: {}", note.message), ..note },
        _ => note,
    };
    merged.into_iter().map(named).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_of_several_targets_is_there_once() {
        let note = |target: Option<&str>, message: &str| {
            (target.map(Arc::from), RunNote { kind: "k", message: message.to_owned() })
        };
        let notes = merged(vec![note(Some("a"), "x"), note(Some("b"), "x"), note(Some("b"), "y"), note(None, "z")]);
        assert_eq!(notes.iter().map(|note| note.message.as_str()).collect::<Vec<_>>(), ["x", "b: y", "z"]);
    }
}
