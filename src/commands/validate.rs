//! `validate`: shows what the server would do with every object. [`crdx_runner::simulation`] simulates the requests; `show`
//! prints the results.

pub mod args;
mod report;
mod wide;

use super::sink::{Ending, Sink, Streams};
use super::watching;
use crate::commands::error::Error;
use crate::commands::exit::Exit;
use crate::commands::flags;
use crate::commands::targets::{self, TargetPlan};
use crdx_engine::report::Summary;
use crdx_engine::simulation::CompareOptions;
use crdx_output::report::fields::FieldLists;
use crdx_output::report::text::Style;
use crdx_runner::simulation::Plan;
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
    let mut paths: Vec<String> = inputs.paths.all().into_iter().chain(others).collect();
    for target in &inputs.resolved {
        paths.extend([&target.paths, &target.crds, &target.policies, &target.old].into_iter().flatten().cloned());
    }
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
    let live = !args.cluster.is_offline() && crdx_cluster::is_configured(&args.cluster.target());
    let has_existing = live || !args.updates.old.is_empty();
    let server = args.server.settings()?;
    let plan = |plan: Plan| Plan {
        show_last_applied: args.show_last_applied,
        table: args.output == Some(flags::ReportFormat::Wide),
        scale: matches!(args.output, Some(flags::ReportFormat::Json | flags::ReportFormat::Wide)),
        compares: (args.output == Some(flags::ReportFormat::Html) && has_existing)
            .then_some(CompareOptions { server_metadata: false, keeps_sent: false }),
        ..targets::with_server(plan, &server)
    };
    let plans = targets::plans(&args.inputs, &args.updates, releases.as_ref(), &args.cluster);
    let plans: Vec<TargetPlan> = plans.into_iter().map(|(target, one)| (target, plan(one))).collect();
    let read = targets::measure(&sink, &plans);
    let severities = args.severities.map();
    let mut baseline = args.baseline.open()?;
    let mut run = targets::run(plans, read.as_ref(), &severities, &mut |mut item| {
        if let Some(baseline) = &mut baseline {
            baseline.accept(&mut item);
        }
        sink.add(&item);
    })?;
    run.notes.extend(flags::finish_baseline(baseline)?);
    let report = sink.finish(&Ending { notes: &run.notes, releases: &run.releases })?;
    Ok(verdict(&report.summary))
}

/// Returns the exit code: "cannot tell" takes precedence over "rejected", and "rejected" over "accepted".
fn verdict(summary: &Summary) -> Exit {
    if summary.cannot_tell > 0 {
        Exit::CannotTell
    } else if summary.rejected - summary.known + summary.failed > 0 {
        Exit::Rejected
    } else {
        Exit::Accepted
    }
}
