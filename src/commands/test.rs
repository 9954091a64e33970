//! `test`: runs the suites of a CRD's authors ([`crate::simulation::testing`]) and prints the results.

pub mod args;
mod coverage;
mod first;
mod update;
mod watch;

use super::cases::Cases;
use super::terminal::{self, Content};
use crate::commands::exit::Exit;
use crate::commands::flags::{self, ReportFormat};
use crate::output::coverage::{CoverageReport, percent};
use crate::output::printable::complain;
use crate::output::report::json::head;
use crate::output::report::pipeline::Format;
use crate::output::suites::{self, Counts, SuiteRun};
use crate::simulation::ordered::threads;
use crate::simulation::testing::{find, load, plan, run};
use crdx::suites::{Action, Coverage, Suite, suite::Source};
use crdx_value::json;
use std::io::{self, BufWriter, Write};
use std::sync::Arc;

/// Runs the command.
///
/// # Errors
/// Returns an error if output cannot be written, or a watch cannot be started.
pub fn run(args: &args::Test, color: flags::Color) -> io::Result<Exit> {
    if let Some(crd) = &args.init {
        return first::print(args, crd);
    }
    if args.update {
        update::update(args)?;
    }
    if args.watch { watch::run(args, || once(args, color)) } else { once(args, color) }
}

/// Runs all suites once.
fn once(args: &args::Test, color: flags::Color) -> io::Result<Exit> {
    let mut problems = Vec::new();
    let suites = suites(args, &mut problems);
    for suite in &suites {
        for warning in &suite.warnings {
            complain!("warning: {}:{}: {}", suite.source, warning.position, warning.message);
        }
    }
    let mut library = load::Library::default();
    let selection = selection(args);
    let now = terminal::now();
    let planned = suites.iter().flat_map(|suite| plan::plan(suite, &selection, &mut library, now)).collect::<Vec<_>>();
    problems.append(&mut library.problems);
    for warning in library.warnings.take() {
        complain!("warning: {warning}");
    }
    for problem in &problems {
        complain!("error: {problem}");
    }
    if planned.is_empty() && problems.is_empty() {
        complain!("error: no case matches --filter or --kubernetes-version");
        return Ok(Exit::CannotTell);
    }
    let jobs = threads(args.jobs);
    let runs = run::run(planned, jobs, args.fail_fast)?;
    let mut counts = Counts { cannot_tell: problems.len(), ..Counts::default() };
    for run in &runs {
        counts.add(run);
    }
    let wants_coverage = args.coverage || args.min_coverage.is_some();
    let covered = wants_coverage.then(|| coverage::coverage(&runs, &library));
    let content = Content::text_if(matches!(args.output, None | Some(ReportFormat::Tap)));
    let stdout = terminal::Stream::stdout(color, content);
    let mut out = BufWriter::new(stdout.write);
    match args.output {
        None => text(&runs, &counts, covered.as_deref(), stdout.color, &mut out)?,
        Some(ReportFormat::Json) => report(&runs, &counts, covered.as_deref(), &mut out)?,
        Some(format) => {
            if let Some(format) = format.pipeline() {
                pipeline(&runs, format, &mut out)?;
            }
        }
    }
    out.flush()?;
    let too_little = args.min_coverage.is_some_and(|least| is_below(covered.as_deref().unwrap_or_default(), least));
    Ok(if counts.cannot_tell > 0 {
        Exit::CannotTell
    } else if counts.failed > 0 || too_little {
        Exit::Rejected
    } else {
        Exit::Fine
    })
}

/// Prints the CRDs whose coverage is less than `least` percent to standard error. Returns true if there are any.
fn is_below(covered: &[CoverageReport], least: u8) -> bool {
    let mut below = false;
    for report in covered {
        let percent = percent(report.coverage.covered());
        if percent < usize::from(least) {
            below = true;
            let Coverage { crd, version, .. } = &report.coverage;
            complain!(
                "error: the coverage of {crd} {version} ({}) is {percent} %, less than {least} %",
                report.location.source
            );
        }
    }
    below
}

/// Returns the cases that the flags select.
fn selection(args: &args::Test) -> plan::Selection {
    plan::Selection {
        crds: args.crds.clone(),
        annotations: args.annotation.clone(),
        filter: args.filter.clone(),
        releases: args.kubernetes.kubernetes_version.clone(),
    }
}

/// Returns the suites of all paths.
fn suites(args: &args::Test, problems: &mut Vec<String>) -> Vec<Arc<Suite>> {
    let found = find::find(&args.paths, problems);
    let mut all = Vec::new();
    for file in &found {
        match load::suites(file) {
            Ok(suites) => all.extend(suites),
            Err(more) => problems.extend(more),
        }
    }
    if args.default_expected {
        all = all.into_iter().map(|suite| Arc::new(with_expected(suite))).collect();
    }
    all
}

/// Sets the missing `expected` of cases whose writes must pass to the object that the case sends.
fn with_expected(suite: Arc<Suite>) -> Suite {
    let mut suite =
        Arc::try_unwrap(suite).unwrap_or_else(|shared| Suite::of_documents(&shared.source, &shared.text, Vec::new()));
    for case in &mut suite.cases {
        let passes = case.expected_error.is_none() && case.expected_status_error.is_none();
        let sent: Option<&Source> = match case.action {
            Action::Create => case.initial.as_ref(),
            Action::Update => case.changed.as_ref(),
            _ => None,
        };
        if passes && case.expected.is_none() {
            case.expected = sent.cloned();
        }
    }
    suite
}

fn text(
    runs: &[SuiteRun],
    counts: &Counts,
    covered: Option<&[CoverageReport]>,
    color: bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    for run in runs {
        out.write_all(run.line(color).as_bytes())?;
    }
    out.write_all(suites::failures(runs, color).as_bytes())?;
    for report in covered.unwrap_or_default() {
        out.write_all(report.text(color).as_bytes())?;
    }
    writeln!(out, "\n{}", counts.line())
}

fn report(
    runs: &[SuiteRun],
    counts: &Counts,
    covered: Option<&[CoverageReport]>,
    out: &mut dyn Write,
) -> io::Result<()> {
    out.write_all(head("TestReport").as_bytes())?;
    for (index, item) in runs.iter().flat_map(SuiteRun::items).enumerate() {
        let comma = if index == 0 { "\n" } else { ",\n" };
        write!(out, "{comma}{}", json::to_string(&item))?;
    }
    out.write_all(suites::tail(counts, covered).as_bytes())
}

fn pipeline(runs: &[SuiteRun], format: Format, out: &mut dyn Write) -> io::Result<()> {
    let mut cases = Cases::new(format, "test");
    for case in runs.iter().flat_map(SuiteRun::pipeline) {
        cases.add(&case)?;
    }
    cases.write_to(out)
}
