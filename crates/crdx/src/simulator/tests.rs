//! A simulation without files, threads and a cluster.

use super::object_store::MemoryStore;
use super::*;
use crate::documents::{self, Entry};
use crate::fixture::kites_yaml;
use crate::kubectl::{FieldValidation, RequestKind};
use crate::report::SourceLocation;
use crdx_server::apply::field_manager::LAST_APPLIED;
use crdx_server::server::Timestamp;
use crdx_value::field::UNFINISHED;
use crdx_value::release::Release;

fn simulator() -> Simulator {
    let level = FieldValidation::Strict;
    let request_options = RequestOptions { level, dry_run: true, table: false, now: Timestamp::default() };
    let request_kind = RequestKind::default();
    let settings = Settings {
        namespace: "default".to_owned(),
        request_options,
        show_last_applied: false,
        scale: false,
        ignore_missing: false,
        builtin: builtin::Rules { release: Release::NEWEST, level, verb: request_kind.verb },
        cluster: None,
    };
    Simulator {
        settings,
        server: Arc::new(Server::builder(Release::NEWEST, 0).build()),
        updates: Updates { request_kind, existing: existing::ExistingObjects::None, compares: None },
        store: Box::<MemoryStore>::default(),
        built_in: Arc::default(),
        admission: OnceLock::new(),
    }
}

/// The reports of the documents of an input.
fn reports(input: &str) -> Vec<ObjectReport> {
    reports_of(&simulator(), input)
}

fn reports_of(simulator: &Simulator, input: &str) -> Vec<ObjectReport> {
    let mut state = OrderedState::new(simulator.store.empty());
    let report = |entry| {
        let Entry::Document(document) = entry else { panic!("{entry:?}") };
        let destination = state.destination(simulator, Object { document, warnings: Vec::new() });
        simulator.simulate(state.prepare(simulator, destination, &mut None))
    };
    documents::read("input.yaml", input).into_iter().map(report).collect()
}

/// The CRD of kites that cannot shrink.
fn definition() -> String {
    kites_yaml(
        "        type: object
        properties:
          spec:
            type: object
            properties:
              length: {type: integer, maximum: 100}
            x-kubernetes-validations:
            - {rule: '!has(oldSelf.length) || self.length >= oldSelf.length', message: it cannot shrink}
",
    )
}

fn kite(length: u32) -> String {
    format!("---\n{{apiVersion: example.com/v1, kind: Kite, metadata: {{name: a}}, spec: {{length: {length}}}}}\n")
}

#[test]
fn the_crd_of_an_input_decides_on_its_objects() {
    let input = [definition(), kite(7), kite(101)].concat();
    let reports = reports(&input);
    let verdicts: Vec<Verdict> = reports.iter().map(|report| report.verdict).collect();
    assert_eq!(verdicts, [Verdict::Accepted, Verdict::Accepted, Verdict::Rejected]);
    let error = &reports[2].errors[0];
    assert_eq!(error.field.as_deref(), Some("spec.length"));
    assert_eq!(error.location.as_ref().map(SourceLocation::to_string).as_deref(), Some("input.yaml:25:78"));
}

#[test]
fn a_second_object_of_the_same_name_is_an_update() {
    let reports = reports(&[definition(), kite(7), kite(5)].concat());
    assert_eq!(reports[1].verdict, Verdict::Accepted);
    assert_eq!(reports[2].verdict, Verdict::Rejected);
    assert!(reports[2].errors[0].message.contains("it cannot shrink"), "{:?}", reports[2].errors);
    assert!(matches!(reports[2].remarks[..], [Remark::SameObject(_)]));
}

#[test]
fn built_in_kinds_are_validated() {
    let config = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {a/b: c}}\n";
    let reports = reports(config);
    assert_eq!(reports[0].verdict, Verdict::Rejected);
    assert_eq!(reports[0].errors[0].field.as_deref(), Some("data[a/b]"));
}

/// A `StorageClass` with this number of equal topologies. The server reports an error for each pair.
fn class(topologies: usize) -> String {
    let topologies = vec!["{}"; topologies].join(",");
    format!(
        "---\n{{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {{name: a}}, provisioner: a, allowedTopologies: [{topologies}]}}\n"
    )
}

#[test]
fn a_create_whose_validation_is_not_finished_is_not_decided() {
    let reports = reports(&class(10_000));
    assert_eq!((reports[0].verdict, reports[0].reason.as_str()), (Verdict::CannotTell, UNFINISHED));
}

#[test]
fn an_update_whose_validation_is_not_finished_is_not_decided() {
    let reports = reports(&[class(0), class(10_000)].concat());
    assert_eq!(reports[0].verdict, Verdict::Accepted);
    assert_eq!((reports[1].verdict, reports[1].reason.as_str()), (Verdict::CannotTell, UNFINISHED));
}

#[test]
fn an_object_without_a_crd_is_not_decided() {
    let reports = reports(&kite(7));
    assert_eq!(reports[0].verdict, Verdict::CannotTell);
    assert_eq!(reports[0].reason, "no CRD for example.com/v1 Kite");
}

#[test]
fn the_last_applied_annotation_of_a_crd_has_its_status_and_nulls() {
    let mut simulator = simulator();
    simulator.settings.show_last_applied = true;
    let definition =
        kites_yaml("        type: object\n").replace("metadata: {", "metadata: {creationTimestamp: null, ");
    let reports = reports_of(&simulator, &format!("{definition}status: {{storedVersions: [v1]}}\n"));
    let object = reports[0].object.as_ref().unwrap();
    let annotation = object.at(&["metadata", "annotations", LAST_APPLIED]).and_then(Value::as_str).unwrap();
    assert!(
        annotation.contains(r#""metadata":{"annotations":{},"creationTimestamp":null,"name":"kites.example.com"}"#)
    );
    assert!(annotation.ends_with("\"status\":{\"storedVersions\":[\"v1\"]}}\n"), "{annotation}");
    assert_eq!(object.get("status"), None);
}

#[test]
fn the_range_of_node_ports_is_not_known() {
    let service = "apiVersion: v1
kind: Service
metadata: {name: a}
spec: {type: NodePort, ports: [{port: 80, nodePort: 25000}]}
";
    let reports = reports(&format!("{service}---\n{}", service.replace("25000", "25001")));
    assert_eq!(reports.iter().map(|report| report.verdict).collect::<Vec<_>>(), [Verdict::Accepted; 2]);
}
