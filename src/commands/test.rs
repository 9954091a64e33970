//! `test`: runs the suites of a CRD's authors ([`crdx_runner::suites`]) and prints the results.

pub mod args;
mod coverage;
mod first;
mod round_trips;
mod update;
mod watch;

use super::sink::{Ending, Output, Report, Sink, Streams};
use super::terminal;
use crate::commands::error::Error;
use crate::commands::exit::Exit;
use crate::commands::flags;
use crdx_engine::report::severity::{self, Severity};
use crdx_engine::suites::{Action, Suite, suite::CaseObject};
use crdx_output::printable::complain;
use crdx_output::report::case::Case;
use crdx_runner::simulation::ordered::threads;
use crdx_runner::suites::report::coverage::CoverageReport;
use crdx_runner::suites::report::{self, Counts};
use crdx_runner::suites::suite_run::SuiteRun;
use crdx_runner::suites::{find, load, plan, run};
use crdx_value::release::Release;
use crdx_value::{Value, json};
use std::io;
use std::sync::Arc;

/// Runs the command.
///
/// # Errors
/// Returns an error if output cannot be written, or a watch cannot be started.
pub fn run(args: &args::Test, color: flags::Color) -> Result<Exit, Error> {
    if let Some(crd) = &args.init {
        return first::print(args, crd);
    }
    if args.update {
        update::update(args)?;
    }
    if args.watch { watch::run(args, || once(args, color)) } else { once(args, color) }
}

/// Runs all suites once.
fn once(args: &args::Test, color: flags::Color) -> Result<Exit, Error> {
    let mut problems = Vec::new();
    let suites = if args.round_trips.round_trip { Vec::new() } else { suites(args, &mut problems) };
    let severity = args.severities.map().of(severity::INPUT).unwrap_or(Severity::Warning);
    let warn = |text: &str| {
        if severity != Severity::Off {
            complain!("{}: {text}", severity.as_str());
        }
    };
    for suite in &suites {
        for warning in &suite.warnings {
            warn(&format!("{}:{}: {}", suite.source, warning.position, warning.message));
        }
    }
    let mut library = load::Library::default();
    let selection = selection(args)?;
    let now = terminal::now();
    let planned: Vec<plan::Planned> = if args.round_trips.round_trip {
        round_trips::planned(&args.paths, &selection, &mut library, now)
    } else {
        suites.iter().flat_map(|suite| plan::plan(suite, &selection, &mut library, now)).collect()
    };
    problems.append(&mut library.problems);
    library.warnings.take().iter().for_each(|warning| warn(warning));
    for problem in &problems {
        complain!("error: {problem}");
    }
    if planned.is_empty() && problems.is_empty() && !args.round_trips.round_trip {
        complain!("error: no case matches --filter or --kubernetes-version");
        return Ok(Exit::CannotTell);
    }
    let jobs = threads(args.jobs);
    let runs = run::run(planned, jobs, args.fail_fast)?;
    let counts = Counts { cannot_tell: problems.len(), ..Counts::default() };
    let wants_coverage = args.coverage || args.min_coverage.is_some();
    let covered = wants_coverage.then(|| coverage::coverage(&runs, &library));
    let streams = Streams::new(args.output, color);
    let least = args.min_coverage;
    let report = TestReport { runs: &runs, counts, covered: covered.as_deref(), least, color: streams.out.color };
    let mut sink = Sink::new(report, args.output, streams);
    sink.begin()?;
    for run in &runs {
        sink.add(run);
    }
    let TestReport { counts, .. } = sink.finish(&Ending { notes: &[], releases: &Release::NEWEST.into() })?;
    let below = least.map(|least| report::coverage::below(covered.as_deref().unwrap_or_default(), least));
    let below = below.unwrap_or_default();
    for (_, message) in &below {
        complain!("error: {message}");
    }
    Ok(if counts.cannot_tell > 0 {
        Exit::CannotTell
    } else if counts.failed > 0 || !below.is_empty() {
        Exit::Rejected
    } else {
        Exit::Accepted
    })
}

/// Returns the cases that the flags select.
fn selection(args: &args::Test) -> Result<plan::Selection, Error> {
    let mut releases = args.kubernetes.kubernetes_version.clone();
    let mut server = args.server.settings()?;
    if let Some(folder) = args.profile.first() {
        let connection = flags::server::connection_to_profile(folder)?;
        let own = crdx_cluster::simulated(Ok(&connection)).release;
        let first = releases.as_ref().and_then(|releases| releases.iter().next()).unwrap_or(own);
        server = flags::server::of_cluster(&server, first, Ok(&connection))?.1;
        releases.get_or_insert_with(|| own.into());
    }
    Ok(plan::Selection {
        crds: args.crds.clone(),
        annotations: args.annotation.clone(),
        filter: args.filter.clone(),
        releases,
        server,
        round_trips: args.round_trips.setup()?,
    })
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
        let sent: Option<&CaseObject> = match case.action {
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

/// What `test` prints.
struct TestReport<'a> {
    runs: &'a [SuiteRun],
    counts: Counts,
    covered: Option<&'a [CoverageReport]>,
    /// The least coverage in percent, if one is demanded.
    least: Option<u8>,
    color: bool,
}

impl Report for TestReport<'_> {
    type Item = SuiteRun;
    const COMMAND: &'static str = "test";
    const KIND: &'static str = "TestReport";

    fn count(&mut self, run: &SuiteRun) {
        self.counts.add(run);
    }

    fn json(&mut self, run: &SuiteRun) -> impl IntoIterator<Item = String> {
        run.items().into_iter().map(|item| json::to_string(&item))
    }

    fn cases(&mut self, run: &SuiteRun) -> impl IntoIterator<Item = Case> {
        run.pipeline()
    }

    fn begin_cases(&mut self) -> Vec<Case> {
        let Some(least) = self.least else { return Vec::new() };
        report::coverage::below_cases(self.covered.unwrap_or_default(), least)
    }

    fn text(&mut self, run: &SuiteRun, out: &mut Output) -> io::Result<()> {
        out.show(&run.line(self.color))
    }

    fn counts_line(&self, _: &Ending) -> String {
        self.counts.line()
    }

    fn members(&mut self, _: &Ending) -> Vec<(&'static str, Value)> {
        report::members(&self.counts, self.covered)
    }

    fn end_text(&mut self, _: &Ending, out: &mut Output) -> io::Result<()> {
        out.show(&report::failures(self.runs, self.color))?;
        out.end_of_text()?;
        for report in self.covered.unwrap_or_default() {
            out.print(&report.text(self.color))?;
        }
        out.print(&format!("\n{}\n", self.counts.line()))
    }
}
