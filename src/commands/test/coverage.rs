//! `--coverage`: the constraints that the cases of all runs exercise.

use crdx_engine::report::SourceLocation;
use crdx_engine::suites::Coverage;
use crdx_runner::suites::load::Library;
use crdx_runner::suites::report::coverage::CoverageReport;
use crdx_runner::suites::suite_run::SuiteRun;
use crdx_value::Value;
use crdx_value::release::Release;
use std::sync::Arc;

/// Returns the coverage of each tested version of each CRD, in the order of the runs.
pub fn coverage(runs: &[SuiteRun], library: &Library) -> Vec<CoverageReport> {
    let mut all: Vec<(Arc<str>, Coverage, Arc<Value>)> = Vec::new();
    for run in runs {
        let (Some(definition), Ok(cases)) = (&run.definition, &run.cases) else { continue };
        let name = definition.str_at(&["metadata", "name"]).unwrap_or_default();
        for version in versions(definition) {
            let is_it = |(source, coverage, _): &&mut (Arc<str>, Coverage, Arc<Value>)| {
                *source == run.crd && coverage.crd == name && coverage.version == version
            };
            if all.iter_mut().find(is_it).is_none() {
                let Some(coverage) = Coverage::new(definition, &version, Release::NEWEST) else { continue };
                all.push((Arc::clone(&run.crd), coverage, Arc::clone(definition)));
            }
            let Some((_, coverage, _)) = all.iter_mut().find(is_it) else { continue };
            for write in cases.iter().flat_map(|(_, outcome)| &outcome.writes) {
                let api_version = write.sent.str_at(&["apiVersion"]).unwrap_or_default();
                if write.sent.is_null() || api_version.rsplit('/').next() == Some(&version) {
                    coverage.observe(write);
                }
            }
        }
    }
    all.into_iter().map(|(source, coverage, _)| located(&source, coverage, library)).collect()
}

/// Returns the served versions of a CRD.
fn versions(definition: &Value) -> Vec<String> {
    let versions = definition.at(&["spec", "versions"]).and_then(Value::as_array).unwrap_or_default();
    let served = versions.iter().filter(|version| version.get("served").and_then(Value::as_bool) == Some(true));
    served.filter_map(|version| version.str_at(&["name"])).map(str::to_owned).collect()
}

fn located(source: &Arc<str>, coverage: Coverage, library: &Library) -> CoverageReport {
    let positions = library.locations_of(source, &coverage.crd, &coverage.version);
    let location = |path: &str| match &positions {
        Some((positions, schema)) => {
            let position = positions.locate(&format!("{schema}.{path}")).value.start;
            SourceLocation { line: position.line, column: position.column, ..SourceLocation::source(source) }
        }
        None => SourceLocation::source(source),
    };
    let locations = coverage.constraints.iter().map(|constraint| location(&constraint.keyword_path)).collect();
    let location = SourceLocation::source(source);
    CoverageReport { coverage, locations, location }
}
