//! Any suite is read or rejected, and its cases run on a server with the CRD of the examples.

use crdx_engine::suites::case_runner::{CaseRunner, ServerSetup};
use crdx_engine::suites::round_trips::RoundTripSetup;
use crdx_engine::suites::{Coverage, Subject, Suite};
use crdx_server::server::Timestamp;
use crdx_text::yaml;
use crdx_value::STACK_SIZE;
use crdx_value::release::Release;
use std::sync::Arc;
use std::thread;

const KITES: &[u8] = include_bytes!("../../examples/suites/kites.crd.yaml");

fn run(text: &[u8]) {
    let Ok(suite) = Suite::read("fuzzed", text) else { return };
    let definition = Arc::new(yaml::read(KITES).expect("the example is YAML"));
    let setup = ServerSetup {
        plugins: crdx_server::server::AdmissionPlugins::default(),
        release: Release::NEWEST,
        subject: Subject::CustomResource { definition: Arc::clone(&definition), file: Arc::clone(&definition) },
        additional_crds: Vec::new(),
        policies: Vec::new(),
        manages_fields: true,
        round_trips: RoundTripSetup { tries: Some(2), ..RoundTripSetup::default() },
        now: Timestamp::default(),
    };
    let runner = CaseRunner::new(setup).expect("the example is a valid CRD");
    let mut coverage = Coverage::new(&definition, "v1", Release::NEWEST);
    for case in suite.cases.iter().take(8) {
        let outcome = runner.run(case);
        for write in &outcome.writes {
            if let Some(coverage) = &mut coverage {
                coverage.observe(write);
            }
        }
        let position = suite.position_in(case, "initial");
        assert!(position.line >= 1);
    }
}

pub fn check(input: &[u8]) {
    thread::scope(|scope| {
        let worker = thread::Builder::new().stack_size(STACK_SIZE).spawn_scoped(scope, || run(input));
        worker.expect("a thread").join().expect("no panic");
    });
}
