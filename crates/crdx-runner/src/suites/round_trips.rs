//! The round trips of CRDs in files (`test --round-trip`).

use super::load::Library;
use super::plan::{self, Planned, Selection};
use crdx_engine::simulation::server_settings::ConfiguredServer;
use crdx_engine::suites::case_runner::ServerSetup;
use crdx_engine::suites::round_trips::RoundTripFields;
use crdx_engine::suites::{Case, Subject, Suite, Variant};
use crdx_server::server::Timestamp;
use crdx_value::Value;
use crdx_value::release::Release;
use std::path::Path;
use std::sync::Arc;

/// The runs for the CRDs of files and directories.
#[derive(Debug, Default)]
pub struct RoundTripPlan {
    pub planned: Vec<Planned>,
    /// The number of CRDs that were found.
    pub crds: usize,
    /// The names of CRDs with one version only, whose objects are never converted.
    pub single_version: Vec<String>,
}

/// Returns the runs for all CRDs, whose names contain the text of the filter.
pub fn plan(paths: &[String], selection: &Selection, library: &mut Library, now: Timestamp) -> RoundTripPlan {
    let mut plan = RoundTripPlan::default();
    for path in paths {
        for variant in library.crds(Path::new(path)).iter() {
            plan.crds += 1;
            let is_wanted = selection.filter.as_ref().is_none_or(|text| variant.name().contains(text.as_str()));
            let has_annotations = selection.annotations.iter().all(|(key, value)| variant.is_annotated(key, value));
            if !is_wanted || !has_annotations {
                continue;
            }
            if is_converted(&variant.definition) {
                plan.planned.extend(planned(variant, selection, now));
            } else {
                plan.single_version.push(variant.name().to_owned());
            }
        }
    }
    plan
}

/// Returns true if there is a served version besides the one in which objects are stored.
fn is_converted(definition: &Value) -> bool {
    let versions = definition.at(&["spec", "versions"]).and_then(Value::as_array).unwrap_or_default();
    let is = |version: &Value, key: &str| version.get(key).and_then(Value::as_bool).unwrap_or_default();
    versions.iter().any(|version| is(version, "served") && !is(version, "storage"))
}

fn planned(variant: &Variant, selection: &Selection, now: Timestamp) -> Vec<Planned> {
    let mut suite = Suite::of_documents(&variant.source, b"", vec![Case::round_trip(RoundTripFields::default())]);
    variant.name().clone_into(&mut suite.name);
    let suite = Arc::new(suite);
    let releases =
        selection.releases.as_ref().map_or_else(|| vec![Release::NEWEST], |releases| releases.iter().collect());
    let run = |release: Release| {
        let configured = ConfiguredServer::new(&selection.server, release);
        let setup = configured.map(|server| ServerSetup {
            release: server.release,
            subject: Subject::CustomResource {
                definition: Arc::new(variant.installable()),
                file: Arc::clone(&variant.definition),
            },
            additional_crds: Vec::new(),
            policies: Vec::new(),
            manages_fields: false,
            plugins: server.plugins,
            round_trips: selection.round_trips.clone(),
            now,
        });
        let setup = setup.map_err(|error| plan::failure("server", error.to_string(), "change the flags of the server"));
        Planned {
            suite: Arc::clone(&suite),
            crd: Arc::clone(&variant.source),
            release,
            cases: vec![0],
            setup,
            key: format!("{release} {} {}", variant.source, variant.name()),
        }
    };
    releases.into_iter().map(run).collect()
}
