//! Runs suites on several threads. Suites that can share a server run on it one after the other, so the answers do not
//! depend on the number of threads.

use super::plan::Planned;
use crate::suites::suite_run::{SuiteFailure, SuiteRun};
use crdx_engine::suites::case_runner::SetupError;
use crdx_engine::suites::{CaseOutcome, CaseRunner};
use crdx_value::STACK_SIZE;
use crdx_value::lock::lock;
use crdx_value::sort::sort_by_key;
use std::collections::HashMap;
use std::io;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

type Cases = Result<Vec<(usize, CaseOutcome)>, SuiteFailure>;

/// Runs all suites; with `fail_fast`, up to the first failure in the order of `planned`.
///
/// # Errors
/// Returns an error if a thread cannot be started.
pub fn run(planned: Vec<Planned>, jobs: NonZeroUsize, fail_fast: bool) -> io::Result<Vec<SuiteRun>> {
    let groups = groups(&planned);
    let limit = Limit { first: AtomicUsize::new(usize::MAX), enabled: fail_fast };
    let done: Mutex<Vec<Option<Cases>>> = Mutex::new(planned.iter().map(|_| None).collect());
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some(group) = groups.get(next.fetch_add(1, Ordering::Relaxed)) {
            for (index, cases) in group_cases(&planned, group, &limit) {
                let mut done = lock(&done);
                if let Some(slot) = done.get_mut(index) {
                    *slot = Some(cases);
                }
            }
        }
    };
    thread::scope(|scope| {
        for _ in 1..jobs.get().min(groups.len()) {
            thread::Builder::new().stack_size(STACK_SIZE).spawn_scoped(scope, work)?;
        }
        work();
        io::Result::Ok(())
    })?;
    let last = limit.first.into_inner();
    let done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    let runs = planned.into_iter().zip(done).enumerate().take_while(|(index, _)| *index <= last);
    let run = |(_, (planned, cases)): (usize, (Planned, Option<Cases>))| {
        let mut cases = cases.unwrap_or_else(|| Ok(Vec::new()));
        if let (true, Ok(cases)) = (fail_fast, &mut cases)
            && let Some(failed) = cases.iter().position(|(_, outcome)| outcome.failure.is_some())
        {
            cases.truncate(failed + 1);
        }
        let definition = planned.setup.ok().and_then(|setup| setup.subject.definition().cloned());
        SuiteRun { suite: planned.suite, crd: planned.crd, definition, release: planned.release, cases }
    };
    Ok(runs.map(run).collect())
}

/// The index of the first run with a failure; subsequent runs can be skipped.
struct Limit {
    first: AtomicUsize,
    enabled: bool,
}

impl Limit {
    fn failed(&self, index: usize) {
        if self.enabled {
            self.first.fetch_min(index, Ordering::Relaxed);
        }
    }

    fn is_past(&self, index: usize) -> bool {
        index > self.first.load(Ordering::Relaxed)
    }
}

/// Returns the indices of runs that share a server, the longest group first.
fn groups(planned: &[Planned]) -> Vec<Vec<usize>> {
    let mut by_key: HashMap<&str, usize> = HashMap::new();
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (index, one) in planned.iter().enumerate() {
        let group = *by_key.entry(&one.key).or_insert(groups.len());
        if group == groups.len() {
            groups.push(Vec::new());
        }
        if let Some(group) = groups.get_mut(group) {
            group.push(index);
        }
    }
    let cases = |group: &Vec<usize>| group.iter().filter_map(|i| planned.get(*i)).map(|one| one.cases.len()).sum();
    sort_by_key(&mut groups, |group| std::cmp::Reverse::<usize>(cases(group)));
    groups
}

fn group_cases(planned: &[Planned], group: &[usize], limit: &Limit) -> Vec<(usize, Cases)> {
    let mut bench: Option<Result<CaseRunner, SuiteFailure>> = None;
    let mut all = Vec::new();
    for index in group {
        let Some(one) = planned.get(*index).filter(|_| !limit.is_past(*index)) else { continue };
        let bench = bench.get_or_insert_with(|| {
            let rejected = |error: SetupError| SuiteFailure {
                field: "crdName",
                rejected: !matches!(error, SetupError::Unfinished),
                message: error.to_string(),
                help: None,
            };
            one.setup.clone().and_then(|setup| CaseRunner::new(setup).map_err(rejected))
        });
        let cases = match bench {
            Err(failure) => Err(failure.clone()),
            Ok(bench) => {
                let cases = one.cases.iter().filter_map(|case| Some((*case, one.suite.cases.get(*case)?)));
                Ok(cases.map(|(case, spec)| (case, bench.run(spec))).collect::<Vec<_>>())
            }
        };
        if cases.as_ref().map_or(true, |cases| cases.iter().any(|(_, outcome)| outcome.failure.is_some())) {
            limit.failed(*index);
        }
        all.push((*index, cases));
    }
    all
}
