use super::*;
use crate::fixture::kites;
use crate::suites::suite::Suite;
use crdx_text::yaml;

const SCHEMA: &str = "        {type: object, properties: {m: {type: integer, maximum: 9}}}";

/// A fixture of the kind under test.
const FIXTURE: &str = "{apiVersion: example.com/v1, kind: Kite, metadata: {name: fixture, namespace: default}, m: 1}";

const SUITE: &str = "
name: Isolated
crdName: kites.example.com
tests:
  onCreate:
  - &create
    name: an object with a fixed name
    initial: '{apiVersion: example.com/v1, kind: Kite, metadata: {name: a, finalizers: [a.b/c]}, m: 1}'
    expected: '{apiVersion: example.com/v1, kind: Kite, metadata: {finalizers: [a.b/c]}, m: 1}'
  - *create
  onUpdate:
  - name: the same name again, with a CRD that allows more
    initialCRDPatches:
    - {op: remove, path: /spec/versions/0/schema/openAPIV3Schema/properties/m/maximum}
    initial: '{apiVersion: example.com/v1, kind: Kite, metadata: {name: a}, m: 10}'
    updated: '{apiVersion: example.com/v1, kind: Kite, m: 11}'
    expectedError: should be less than or equal to 9
  onApply:
  - &apply
    name: a fixture is changed
    applied: '{apiVersion: example.com/v1, kind: Kite, metadata: {name: fixture, labels: {a: b}}}'
    expected: '{apiVersion: example.com/v1, kind: Kite, metadata: {labels: {a: b}}, m: 1}'
  - name: the change is not seen by the next case
    applied: '{apiVersion: example.com/v1, kind: Kite, metadata: {name: fixture}}'
    expected: '{apiVersion: example.com/v1, kind: Kite, m: 1}'
  - *apply
  onDelete:
  - name: the same name once more
    initial: '{apiVersion: example.com/v1, kind: Kite, metadata: {name: a}, m: 1}'
";

fn runner() -> CaseRunner {
    let read = |text: &str| Arc::new(yaml::read(text.as_bytes()).unwrap());
    let definition = Arc::new(kites(SCHEMA));
    CaseRunner::new(ServerSetup {
        round_trips: crate::suites::round_trips::RoundTripSetup::default(),
        plugins: crdx_server::server::AdmissionPlugins::default(),
        release: Release::NEWEST,
        subject: Subject::CustomResource { definition: Arc::clone(&definition), file: definition },
        additional_crds: Vec::new(),
        policies: vec![read(FIXTURE)],
        manages_fields: true,
        now: Timestamp::default(),
    })
    .unwrap()
}

#[test]
fn every_case_starts_from_the_crds_and_fixtures() {
    let suite = Suite::read("x", SUITE.as_bytes()).unwrap();
    assert_eq!(suite.cases.len(), 7);
    let answers = |runner: &CaseRunner, case: &Case| {
        let outcome = runner.run(case);
        assert_eq!(outcome.failure, None, "{}", case.name);
        outcome.writes.into_iter().map(|write| write.answer).collect::<Vec<_>>()
    };
    // The UIDs and resourceVersions are those of a case that runs alone, whatever ran before.
    let alone: Vec<_> = suite.cases.iter().map(|case| answers(&runner(), case)).collect();
    let shared = runner();
    let forwards: Vec<_> = suite.cases.iter().map(|case| answers(&shared, case)).collect();
    let mut backwards: Vec<_> = suite.cases.iter().rev().map(|case| answers(&shared, case)).collect();
    backwards.reverse();
    assert_eq!(forwards, alone);
    assert_eq!(backwards, alone);
}
