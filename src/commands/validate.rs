//! `validate`: shows what the server would do with every object. [`crdx_runner::simulation`] simulates the requests; `show`
//! prints the results.

pub mod args;
mod report;
mod wide;

use super::sink::{Ending, Sink, Streams};
use super::terminal;
use super::watching;
use crate::commands::error::Error;
use crate::commands::exit::Exit;
use crate::commands::flags;
use crdx_engine::report::{ObjectReport, Summary, severity};
use crdx_engine::simulation::CompareOptions;
use crdx_input::render::Renderer;
use crdx_output::report::fields::FieldLists;
use crdx_output::report::text::Style;
use crdx_output::secrets;
use crdx_runner::simulation::{self, Plan};
use crdx_server::server::ServerSettings;
use crdx_value::release::ReleaseSet;
use report::ValidateReport;

/// Runs the command. `verbosity` is the level of `-v`.
pub fn run(args: &args::Validate, color: flags::Color, verbosity: u8) -> Result<Exit, Error> {
    let once = || once(args, color, FieldLists::of_verbosity(verbosity));
    if args.watch { watch(&args.inputs, &args.updates, once) } else { once() }
}

/// Calls `once` whenever a file changes.
///
/// # Errors
/// Returns the errors of `once`, and an error if an input cannot be watched.
pub fn watch(
    inputs: &flags::Inputs,
    updates: &flags::Updates,
    once: impl FnMut() -> Result<Exit, Error>,
) -> Result<Exit, Error> {
    let others = inputs.crds.iter().chain(&updates.old).chain(&inputs.policies.policies).cloned();
    let paths: Vec<String> = inputs.paths.all().into_iter().chain(others).collect();
    watching::run_inputs(&paths, &inputs.paths, once)
}

/// Validates everything once.
fn once(args: &args::Validate, color: flags::Color, fields: FieldLists) -> Result<Exit, Error> {
    let releases = &args.kubernetes.kubernetes_version;
    if releases.as_ref().is_some_and(|releases| releases.single().is_none())
        && matches!(args.output, Some(flags::ReportFormat::Yaml | flags::ReportFormat::Wide))
    {
        let message = "-o yaml and -o wide show what one version stores: give --kubernetes-version a single version";
        return Err(Error::usage(message));
    }
    let streams = Streams::new(args.output, color);
    let is_table = matches!(args.output, None | Some(flags::ReportFormat::Table));
    let text_goes_to = if is_table { &streams.out } else { &streams.messages };
    let style = Style { color: text_goes_to.color, quiet: args.quiet, width: text_goes_to.width, fields };
    let mut sink = Sink::new(ValidateReport::new(args.output, style, releases.as_ref()), args.output, streams);
    // The HTML page shows changes if there are existing objects.
    let live = !args.cluster.offline && crdx_cluster::is_configured(&args.cluster.target());
    let has_existing = live || !args.updates.old.is_empty();
    let mut plan = Plan {
        server: args.server.settings()?,
        show_last_applied: args.show_last_applied,
        table: args.output == Some(flags::ReportFormat::Wide),
        scale: matches!(args.output, Some(flags::ReportFormat::Json | flags::ReportFormat::Wide)),
        compares: (args.output == Some(flags::ReportFormat::Html) && has_existing)
            .then_some(CompareOptions { server_metadata: false }),
        ..plan(&args.inputs, &args.updates, releases.clone(), &args.cluster)
    };
    plan.policies.paths.extend(plan.server.admission.manifest_directories().map(str::to_owned));
    plan.options.read = sink.measure(&plan.filenames, &plan.kustomizations, &plan.options);
    let (severities, renderer) = (args.severities.map(), plan.options.render.clone());
    let run = simulation::run(&plan, &mut |mut item| {
        complete(&mut item, &severities, renderer.as_ref());
        sink.add(&item);
    })?;
    let report = sink.finish(&Ending { notes: &run.notes, releases: &run.releases })?;
    Ok(verdict(&report.summary))
}

/// Sets the severities of the findings of an object, maps them to the files from which it was rendered, and hides secrets.
pub fn complete(item: &mut ObjectReport, severities: &severity::Severities, renderer: Option<&Renderer>) {
    severities.apply(item);
    if let Some(renderer) = renderer {
        renderer.map_report(item);
    }
    secrets::hide_lines(item);
}

/// Returns the plan for the flags that `validate` and `diff` share.
pub fn plan(
    inputs: &flags::Inputs,
    updates: &flags::Updates,
    releases: Option<ReleaseSet>,
    cluster: &flags::Cluster,
) -> Plan {
    let options = inputs.paths.options(releases.as_ref(), cluster.namespace.as_deref());
    Plan {
        releases,
        filenames: inputs.paths.all(),
        crds: inputs.crds.clone(),
        old: updates.old.clone(),
        kustomizations: inputs.paths.kustomize.clone(),
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
        offline: cluster.offline,
        namespace: cluster.namespace.clone(),
        server: ServerSettings::default(),
        now: terminal::now(),
    }
}

/// Returns the exit code: "cannot tell" takes precedence over "rejected", and "rejected" over "accepted".
fn verdict(summary: &Summary) -> Exit {
    if summary.cannot_tell > 0 {
        Exit::CannotTell
    } else if summary.rejected > 0 {
        Exit::Rejected
    } else {
        Exit::Accepted
    }
}
