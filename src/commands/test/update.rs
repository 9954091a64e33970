//! `test --update`: writes the server's answers into suites.

use super::args;
use super::{selection, suites};
use crate::commands::error::Error;
use crate::commands::terminal;
use crdx_engine::suites::update::{Edit, NotUpdated, edits, updated};
use crdx_engine::suites::{Case, Suite};
use crdx_files::replace::replace;
use crdx_output::printable::complain;
use crdx_runner::suites::load::Library;
use crdx_runner::suites::suite_run::SuiteRun;
use crdx_runner::suites::{plan, run};
use std::collections::BTreeMap;
use std::io;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;

/// The maximum number of rounds: after an update, a case may fail for another reason.
const MAX_ROUNDS: usize = 4;

/// Updates the suites until they do not change. Prints the updated cases, and those that cannot be updated, to standard
/// error.
///
/// # Errors
/// Returns an error if the settings of the server cannot be used, or a suite cannot be written.
pub fn update(args: &args::Test) -> Result<(), Error> {
    let mut reported = Vec::new();
    for _ in 0..MAX_ROUNDS {
        if !round(args, &mut reported)? {
            break;
        }
    }
    for line in reported {
        complain!("{line}");
    }
    Ok(())
}

/// Updates the suites once. Returns true if some suite changed.
fn round(args: &args::Test, reported: &mut Vec<String>) -> Result<bool, Error> {
    let suites = suites(args, &mut Vec::new());
    let mut library = Library::default();
    let selection = selection(args)?;
    let now = terminal::now();
    let planned = suites.iter().flat_map(|suite| plan::plan(suite, &selection, &mut library, now)).collect();
    let runs = run::run(planned, args.jobs.unwrap_or(NonZeroUsize::MIN), false)?;
    let mut changed = false;
    for suite in &suites {
        changed |= update_suite(suite, &runs, reported)?;
    }
    Ok(changed)
}

fn update_suite(suite: &Arc<Suite>, runs: &[SuiteRun], reported: &mut Vec<String>) -> io::Result<bool> {
    let mut all: BTreeMap<usize, Result<Vec<Edit>, NotUpdated>> = BTreeMap::new();
    for run in runs.iter().filter(|run| Arc::ptr_eq(&run.suite, suite)) {
        for (index, outcome) in run.cases.iter().flatten() {
            let Some(case) = suite.cases.get(*index) else { continue };
            let edits = edits(case, outcome);
            // Runs on several CRDs or versions must agree.
            let known = all.entry(*index).or_insert_with(|| edits.clone());
            if *known != edits {
                *known = Err(NotUpdated::Disagreement);
            }
        }
    }
    let mut note = |case: &Case, message: &str| {
        let line = format!("{}:{}: {}: {message}", suite.source, suite.position_in(case, ""), case.name);
        if !reported.contains(&line) {
            reported.push(line);
        }
    };
    let mut wanted = Vec::new();
    for (index, edits) in all {
        let Some(case) = suite.cases.get(index) else { continue };
        match edits {
            Ok(edits) if edits.is_empty() => {}
            Ok(edits) => wanted.push((index, edits)),
            Err(error) => note(case, &format!("not updated: {error}")),
        }
    }
    let (text, failed) = updated(suite, &wanted);
    for (index, _) in &wanted {
        let Some(case) = suite.cases.get(*index) else { continue };
        if failed.contains(index) {
            note(case, &format!("not updated: {}", NotUpdated::Style));
        } else {
            note(case, "updated");
        }
    }
    // Do not replace a suite by a text that cannot be parsed.
    let is_suite = Suite::read(&suite.source, text.as_bytes()).is_ok();
    if failed.len() == wanted.len() || !is_suite || text.as_bytes() == &*suite.text {
        return Ok(false);
    }
    replace(Path::new(&*suite.source), text.as_bytes())?;
    Ok(true)
}
