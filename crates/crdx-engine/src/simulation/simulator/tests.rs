//! A simulation without files, threads and a cluster.

use super::*;
use crate::documents::{self, InputEntry};
use crate::fixture::kites_yaml;
use crate::kubectl::{Action, FieldValidation, RequestKind, Verb};
use crate::report::severity::CONFLICTING_OBJECT;
use crate::simulation::existing::ExistingObjects;
use crate::simulation::object_store::MemoryStore;
use crate::simulation::{DefinitionSource, OrderedState};
use crdx_server::apply::field_manager::LAST_APPLIED;
use crdx_server::server::{AdmissionPlugins, Timestamp};
use crdx_value::Value;
use crdx_value::field::UNFINISHED;
use crdx_value::release::Release;

fn simulator() -> Simulator {
    simulator_of(RequestKind::default(), None)
}

/// A simulator of a request with an existing object.
fn simulator_of(request_kind: RequestKind, old: Option<&str>) -> Simulator {
    let mut given = GivenObjects::default();
    let existing = old.map_or(ExistingObjects::None, |old| {
        let entries = documents::read("old.yaml", old).into_iter();
        let store = Arc::new(MemoryStore::default());
        ExistingObjects::from_files(entries, store, (&mut given, "default"), &mut |item| panic!("{item:?}"))
    });
    let level = FieldValidation::Strict;
    let request_options = RequestOptions { level, dry_run: true, table: false, now: Timestamp::default() };
    let settings = SimulatorSettings {
        namespace: "default".to_owned(),
        request_options,
        show_last_applied: false,
        scale: false,
        ignore_missing: false,
        cluster: None,
        given: Arc::new(given),
        live: None,
        unsimulated: Arc::default(),
        served: Arc::default(),
        projects_of_group: |_| Vec::new(),
    };
    let tracks_fields = request_kind.verb == Verb::ServerSide;
    let configuration = ServerConfiguration {
        release: Release::NEWEST,
        now: Timestamp::default(),
        tracks_fields,
        plugins: AdmissionPlugins::all(),
        service_ranges: Vec::new(),
    };
    Simulator {
        settings,
        server: Arc::new(configuration.builder(None).build()),
        updates: Updates { request_kind, existing, compares: None },
        store: Box::<MemoryStore>::default(),
        lock: Arc::default(),
        built_in: Arc::new(BuiltInServer::new(configuration.clone())),
        configuration,
        admission: OnceLock::new(),
    }
}

/// The reports of the documents of an input.
fn reports(input: &str) -> Vec<ObjectReport> {
    reports_of(&simulator(), input)
}

fn reports_of(simulator: &Simulator, input: &str) -> Vec<ObjectReport> {
    reports_of_files(simulator, &[("input.yaml", input)], false)
}

/// The reports of the documents of several files, or of the directories that were rendered.
fn reports_of_files(simulator: &Simulator, files: &[(&str, &str)], is_rendered: bool) -> Vec<ObjectReport> {
    let mut state = OrderedState::new(simulator.store.empty());
    let report = |entry| {
        let InputEntry::Document(mut document) = entry else { panic!("{entry:?}") };
        document.is_rendered = is_rendered;
        let destination = state.destination(simulator, Object { document, warnings: Vec::new() });
        simulator.simulate(state.prepare(simulator, destination, &mut None))
    };
    files.iter().flat_map(|(name, text)| documents::read(name, text)).map(report).collect()
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
fn an_object_of_another_file_is_validated_alone() {
    let files = [("crd.yaml", &*definition()), ("a.yaml", &kite(7)), ("b.yaml", &kite(5)), ("c.yaml", &kite(5))];
    let reports = reports_of_files(&simulator(), &files, false);
    assert_eq!(verdicts(&reports), [Verdict::Accepted; 4]);
    let [warning] = reports[2].warnings.as_slice() else { panic!("{:?}", reports[2]) };
    assert!(warning.message.starts_with("as an update of a.yaml:2, it would be rejected: spec: "), "{warning:?}");
    assert_eq!((warning.kind.as_str(), reports[2].action), (CONFLICTING_OBJECT, Action::Create));
    let remarks: Vec<_> = reports.iter().flat_map(|report| &report.remarks).map(Remark::message).collect();
    assert_eq!(remarks, ["differs from the same object at a.yaml:2", "same object as b.yaml:2, applied after it"]);
}

#[test]
fn a_rejected_object_of_another_file_is_no_existing_object() {
    let (valid, invalid) = (kite(7), kite(101));
    let files = [("crd.yaml", &*definition()), ("a.yaml", &*valid), ("b.yaml", &invalid), ("c.yaml", &kite(3))];
    let reports = reports_of_files(&simulator(), &files, false);
    assert_eq!(verdicts(&reports)[2..], [Verdict::Rejected, Verdict::Accepted]);
    assert!(reports[3].warnings[0].message.contains("as an update of a.yaml:2,"), "{:?}", reports[3].warnings);
}

#[test]
fn existing_objects_are_updated_by_every_file() {
    let simulator = simulator_of(RequestKind::default(), Some(&kite(6)));
    let files = [("crd.yaml", &*definition()), ("a.yaml", &kite(7)), ("b.yaml", &kite(5))];
    let reports = reports_of_files(&simulator, &files, false);
    assert_eq!(verdicts(&reports)[1..], [Verdict::Accepted, Verdict::Rejected]);
}

#[test]
fn rendered_directories_are_independent() {
    let base = [definition(), kite(7)].concat();
    let production = [kite(6), kite(5)].concat();
    let files = [("base", &*base), ("production", &*production), ("staging", &kite(5))];
    let reports = reports_of_files(&simulator(), &files, true);
    let [accepted, rejected] = [Verdict::Accepted, Verdict::Rejected];
    // Within a directory, the second object updates the first.
    assert_eq!(verdicts(&reports), [accepted, accepted, accepted, rejected, accepted]);
    assert_eq!(reports.iter().filter(|report| report.remarks.is_empty()).count(), 4);
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

const AUTOSCALER: &str =
    "{apiVersion: autoscaling/v1, kind: HorizontalPodAutoscaler, metadata: {name: a}, spec: {maxReplicas: 4,
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: d}}}\n";

fn verdicts(reports: &[ObjectReport]) -> Vec<Verdict> {
    reports.iter().map(|report| report.verdict).collect()
}

#[test]
fn an_earlier_input_may_have_another_version() {
    let newer = AUTOSCALER.replace("autoscaling/v1", "autoscaling/v2");
    for (first, second) in [(AUTOSCALER, newer.as_str()), (&newer, AUTOSCALER)] {
        let changed = second.replace("maxReplicas: 4", "maxReplicas: 5");
        let reports = reports(&format!("{first}---\n{second}---\n{changed}"));
        assert_eq!(verdicts(&reports), [Verdict::Accepted; 3], "{reports:?}");
        assert!(matches!(reports[1].remarks[..], [Remark::SameObject(_)]));
    }
}

#[test]
fn an_event_of_an_earlier_input_may_be_in_the_other_group() {
    let event =
        "{apiVersion: v1, kind: Event, metadata: {name: a}, involvedObject: {kind: Pod, name: a, namespace: default},
  reason: x, message: m}\n";
    let other = "{apiVersion: events.k8s.io/v1, kind: Event, metadata: {name: a}, note: changed, reason: x,
  regarding: {kind: Pod, name: a, namespace: default}}\n";
    let reports = reports(&format!("{event}---\n{other}"));
    assert_eq!(verdicts(&reports), [Verdict::Accepted, Verdict::Rejected]);
    assert_eq!(reports[1].errors[0].message, "message: Invalid value: \"changed\": field is immutable");
}

#[test]
fn an_old_object_may_have_an_unserved_version_with_the_same_fields() {
    let cron = |version: &str, spec: &str| {
        format!(
            "{{apiVersion: batch/{version}, kind: CronJob, metadata: {{name: a}}, spec: {{schedule: '* * * * *', {spec}
  jobTemplate: {{spec: {{template: {{spec: {{restartPolicy: Never, containers: [{{name: a, image: b}}]}}}}}}}}}}}}\n"
        )
    };
    let report = |old: &str| {
        let simulator = simulator_of(RequestKind::default(), Some(old));
        reports_of(&simulator, &cron("v1", "")).remove(0)
    };
    assert_eq!(report(&cron("v1beta1", "")).verdict, Verdict::Accepted);
    assert_eq!(report(&cron("v1beta1", "unknown: 1,")).verdict, Verdict::CannotTell);
    let never = report(&cron("v9", ""));
    assert_eq!(never.verdict, Verdict::CannotTell);
    assert_eq!(
        never.reason,
        "the old object at old.yaml:1 could not have been stored: Kubernetes 1.37 does not serve batch/v9"
    );
}

#[test]
fn a_crd_in_a_version_that_is_not_served_is_no_update() {
    let simulator = simulator_of(RequestKind::default(), Some(&definition()));
    let removed = definition().replacen("apiextensions.k8s.io/v1", "apiextensions.k8s.io/v1beta1", 1);
    let report = reports_of(&simulator, &removed).remove(0);
    assert_eq!(report.verdict, Verdict::Rejected);
    assert_eq!(
        report.errors[0].message,
        "no matches for kind \"CustomResourceDefinition\" in version \"apiextensions.k8s.io/v1beta1\""
    );
}

/// A custom resource with a field that [`kite`] does not have.
fn tagged_kite(metadata: &str) -> String {
    kite(7).replacen("name: a", &format!("name: a, labels: {{team: a}}{metadata}"), 1)
}

#[test]
fn a_field_of_an_old_manifest_that_the_new_one_lacks_is_removed() {
    let labels = |verb: Verb, metadata: &str| {
        let request_kind = RequestKind { verb, ..RequestKind::default() };
        let simulator = simulator_of(request_kind, Some(&tagged_kite(metadata)));
        let report = reports_of(&simulator, &[definition(), kite(8)].concat()).pop().unwrap();
        assert_eq!(report.verdict, Verdict::Accepted, "{verb:?}: {:?}", report.errors);
        report.object.unwrap().at(&["metadata", "labels"]).is_some()
    };
    for verb in [Verb::Apply, Verb::ServerSide, Verb::Replace] {
        assert!(!labels(verb, ""), "{verb:?}");
    }
    // The object of a cluster without kubectl's annotation was not created by kubectl apply.
    assert!(labels(Verb::Apply, ", uid: u"));
}

#[test]
fn conflicts_with_an_old_object_without_field_managers_are_not_decided() {
    let verdict = |metadata: &str, force: bool| {
        let request_kind = RequestKind { verb: Verb::ServerSide, force, ..RequestKind::default() };
        let simulator = simulator_of(request_kind, Some(&tagged_kite(metadata)));
        reports_of(&simulator, &[definition(), kite(8)].concat()).pop().unwrap().verdict
    };
    assert_eq!(verdict(", uid: u", false), Verdict::CannotTell);
    assert_eq!(verdict(", uid: u", true), Verdict::Accepted);
    assert_eq!(verdict(", uid: u, managedFields: []", false), Verdict::Rejected);
}

#[test]
fn fields_of_an_old_object_without_field_managers_are_not_silent() {
    let server_side = || RequestKind { verb: Verb::ServerSide, ..RequestKind::default() };
    let last = |definition: String, old: &str| {
        let simulator = simulator_of(server_side(), Some(old));
        reports_of(&simulator, &[definition, kite(8)].concat()).pop().unwrap()
    };
    let same = kite(8).replacen("name: a", "name: a, uid: u", 1);
    let tagged = same.replacen("uid: u", "uid: u, labels: {team: x}, annotations: {a/b: c}", 1);
    let report = last(definition(), &tagged);
    assert_eq!(report.verdict, Verdict::Accepted);
    let [warning] = report.warnings.as_slice() else { panic!("{:?}", report.warnings) };
    assert_eq!(warning.kind, "UnknownFieldManagers");
    let message = "the old object has no managedFields, so it is unknown which fields \"kubectl\" applied before. If it applied \
                   these, the server removes or resets them; here they are kept: metadata.annotations, metadata.labels";
    assert_eq!(warning.message, message);
    // Nothing depends on the managers, or they are known.
    assert_eq!(last(definition(), &same).warnings, []);
    assert_eq!(last(definition(), &tagged.replacen("uid: u", "uid: u, managedFields: []", 1)).warnings, []);
    assert_eq!(last(definition(), &tagged.replacen("uid: u", "uid: u, managedFields: null", 1)).warnings.len(), 1);
    assert_eq!(last(definition(), &kite(8)).warnings, []);
    // The new object is valid only with a field of the old one.
    let strict = definition().replacen(
        "properties:\n              length",
        "required: [colour]\n            properties:\n              colour: {type: string}\n              length",
        1,
    );
    assert_ne!(strict, definition());
    let coloured = same.replacen("length: 8", "length: 8, colour: red", 1);
    let report = last(strict.clone(), &coloured);
    assert_eq!(report.verdict, Verdict::CannotTell, "{:?}", report.errors);
    assert!(report.reason.contains(" they are removed, and the server rejects the object: "), "{}", report.reason);
    // The new object is invalid only with a field of the old one.
    let strict = strict.replacen("required: [colour]", "maxProperties: 1", 1);
    let report = last(strict, &coloured.replacen("length: 8, ", "", 1));
    assert_eq!(report.verdict, Verdict::CannotTell, "{:?}", report.errors);
    assert!(report.reason.contains(" they are kept, and the server rejects the object: "), "{}", report.reason);
}

#[test]
fn fields_of_other_kinds_without_field_managers_are_not_silent() {
    let request_kind = RequestKind { verb: Verb::ServerSide, ..RequestKind::default() };
    let map = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {a: x}}\n";
    for (old, new, fields) in [
        (map.replacen("a: x", "a: x, b: z", 1).replacen("name: a", "name: a, uid: u", 1), map.to_owned(), "data.b"),
        (
            map.replacen("name: a", "name: a, uid: u, finalizers: [a/b, a/c]", 1),
            map.replacen("name: a", "name: a, finalizers: [a/b]", 1),
            "metadata.finalizers (items)",
        ),
        (
            definition().replacen("name: kites", "labels: {team: x}, uid: u, name: kites", 1),
            definition(),
            "metadata.labels",
        ),
    ] {
        let report = reports_of(&simulator_of(request_kind.clone(), Some(&old)), &new).remove(0);
        assert_eq!(report.verdict, Verdict::Accepted, "{old} {} {:?}", report.reason, report.errors);
        let [warning] = report.warnings.as_slice() else { panic!("{old}: {:?}", report.warnings) };
        assert!(warning.message.ends_with(&format!("here they are kept: {fields}")), "{}", warning.message);
    }
}

#[test]
fn fields_that_components_write_were_not_applied() {
    let request_kind = RequestKind { verb: Verb::ServerSide, ..RequestKind::default() };
    let job = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: a}\nspec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: x}]}}}\n";
    let labels = "labels: {batch.kubernetes.io/controller-uid: b, controller-uid: b, job-name: a}";
    let selector = "selector: {matchLabels: {batch.kubernetes.io/controller-uid: b}}";
    let old_job = job.replacen("name: a", "name: a, uid: b", 1);
    let old_job =
        old_job.replacen("spec: {template: {", &format!("spec: {{{selector}, template: {{metadata: {{{labels}}}, "), 1);
    let claim = "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: a}\nspec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}\n";
    let old_claim = claim.replacen("name: a", "name: a, uid: b, finalizers: [kubernetes.io/pvc-protection]", 1);
    let old_claim = old_claim.replacen("spec: {", "spec: {volumeName: v, storageClassName: fast, ", 1);
    for (old, new) in [(old_job.as_str(), job), (&old_claim, claim)] {
        let report = reports_of(&simulator_of(request_kind.clone(), Some(old)), new).remove(0);
        assert_eq!(report.verdict, Verdict::Accepted, "{old} {} {:?}", report.reason, report.errors);
        assert_eq!(report.warnings, [], "{old}");
    }
}

#[test]
fn an_old_manifest_may_violate_its_crd() {
    let definition = definition().replacen("maximum: 100", "minimum: 3", 1);
    let simulator = simulator_of(RequestKind { verb: Verb::ServerSide, ..RequestKind::default() }, Some(&kite(1)));
    let report = reports_of(&simulator, &[definition, kite(8)].concat()).pop().unwrap();
    assert_eq!(report.verdict, Verdict::Accepted, "{:?}", report.errors);
}

#[test]
fn a_field_of_an_old_crd_that_the_new_one_lacks_is_removed() {
    let labelled = definition().replacen("name: kites", "labels: {team: a}, name: kites", 1);
    let labelled = labelled + "status: {storedVersions: [v1]}\n";
    let simulator = simulator_of(RequestKind::default(), Some(&labelled));
    let report = reports_of(&simulator, &definition()).remove(0);
    assert_eq!(report.object.unwrap().at(&["metadata", "labels"]), None);
}

#[test]
fn a_create_of_an_existing_object_is_refused() {
    let by_create = RequestKind { verb: Verb::Create, ..RequestKind::default() };
    let map = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n";
    let policy =
        "{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, metadata: {name: a}}\n";
    for (old, new, message) in [
        (map.to_owned(), map.to_owned(), "configmaps \"a\" already exists"),
        (kite(7), [definition(), kite(8)].concat(), "kites.example.com \"a\" already exists"),
        (
            policy.to_owned(),
            policy.to_owned(),
            "validatingwebhookconfigurations.admissionregistration.k8s.io \"a\" already exists",
        ),
        (
            definition(),
            definition(),
            "customresourcedefinitions.apiextensions.k8s.io \"kites.example.com\" already exists",
        ),
    ] {
        let simulator = simulator_of(by_create.clone(), Some(&old));
        let report = reports_of(&simulator, &new).pop().unwrap();
        let answer = report.answer.map(|answer| (answer.code, answer.message));
        assert_eq!(answer, Some((409, message.to_owned())));
        assert_eq!(simulator.updates.existing.left(), None);
    }
}

#[test]
fn a_server_side_apply_has_the_errors_of_an_apply() {
    let simulator = simulator_of(RequestKind { verb: Verb::ServerSide, ..RequestKind::default() }, None);
    let pod = |metadata: &str, container: &str| {
        format!(
            "{{apiVersion: v1, kind: Pod, metadata: {{name: a{metadata}}}, spec: {{containers: [{{name: m, image: b{container}}}]}}}}\n---\n"
        )
    };
    let input = [
        pod("", ", env: [{name: A, value: one}, {name: A, value: two}]"),
        pod(", managedFields: [{manager: m, operation: Apply}]", ""),
        pod(", uid: u", ""),
        pod("", ", unknown: 1"),
        pod("", ""),
    ];
    let reports = reports_of(&simulator, &input.concat());
    let answers = reports.iter().map(|report| report.answer.as_ref().map(|a| (a.code, a.message.as_str())).unwrap());
    let typed = "failed to create typed patch object (default/a; /v1, Kind=Pod):";
    let expected = [
        (500, format!("{typed} .spec.containers[name=\"m\"].env: duplicate entries for key [name=\"A\"]")),
        (400, "metadata.managedFields must be nil".to_owned()),
        (
            409,
            "Operation cannot be fulfilled on pods \"a\": uid mismatch: the provided object specified uid u, and no existing object was found"
                .to_owned(),
        ),
        (500, format!("{typed} .spec.containers[name=\"m\"].unknown: field not declared in schema")),
        (201, String::new()),
    ];
    for (answer, (code, message)) in answers.zip(expected) {
        assert_eq!(answer, (code, message.as_str()));
    }
}

#[test]
fn a_new_crd_has_the_answer_to_every_request() {
    let answer = |verb: Verb, text: &str| {
        let simulator = simulator_of(RequestKind { verb, ..RequestKind::default() }, None);
        let reports = reports_of(&simulator, &[text, &kite(7)].concat());
        let answer = reports[0].answer.as_ref().map(|answer| (answer.code, answer.message.clone()));
        // Its kind is known in any case.
        let kind = reports[1].answer.as_ref().map(|answer| answer.code);
        (answer.unwrap(), kind)
    };
    let text = definition();
    let missing = "customresourcedefinitions.apiextensions.k8s.io \"kites.example.com\" not found";
    assert_eq!(answer(Verb::Replace, &text), ((404, missing.to_owned()), Some(404)));
    assert_eq!(answer(Verb::ServerSide, &text), ((201, String::new()), Some(201)));
    let owned = text.replace("metadata: {", "metadata: {managedFields: [{manager: m}], ");
    let (refusal, _) = answer(Verb::ServerSide, &owned);
    assert_eq!(refusal, (400, "metadata.managedFields must be nil".to_owned()));
}

#[test]
fn an_object_without_a_name_is_created_by_every_command() {
    let map = "{apiVersion: v1, kind: ConfigMap, metadata: {generateName: Wrong}}\n";
    let valid = map.replace("Wrong", "right-");
    for verb in [Verb::Apply, Verb::ServerSide, Verb::Replace] {
        let simulator = simulator_of(RequestKind { verb, ..RequestKind::default() }, None);
        let reports = reports_of(&simulator, &format!("{map}---\n{valid}"));
        assert_eq!(verdicts(&reports), [Verdict::Rejected, Verdict::Accepted], "{verb:?}");
        assert!(reports[0].errors[1].message.starts_with("metadata.name: Invalid value: \"Wrong*\""), "{verb:?}");
        assert!(matches!(reports[1].remarks[..], [Remark::SentAsCreate]), "{verb:?}");
    }
}

/// The CRD of kites of at most this length.
fn definition_up_to(length: u32) -> String {
    definition().replace("maximum: 100", &format!("maximum: {length}"))
}

#[test]
fn a_rendered_directory_may_have_its_own_crd() {
    let of = |longest: u32| [definition_up_to(longest), kite(7)].concat();
    let reports = reports_of_files(&simulator(), &[("a", &of(10)), ("b", &of(5)), ("c", &of(10))], true);
    let [accepted, rejected, skipped] = [Verdict::Accepted, Verdict::Rejected, Verdict::Skipped];
    assert_eq!(verdicts(&reports), [accepted, accepted, accepted, rejected, skipped, Verdict::CannotTell]);
    assert_eq!(reports[4].reason, "the same CRD as at a:1");
}

#[test]
fn crds_that_differ_are_ambiguous_elsewhere() {
    let (a, b) = (definition_up_to(10), definition_up_to(5));
    let reports = reports_of_files(&simulator(), &[("a", &a), ("b", &b), ("c", &kite(7))], true);
    assert_eq!(verdicts(&reports), [Verdict::Accepted, Verdict::Accepted, Verdict::CannotTell]);
    assert_eq!(reports[2].reason, "its CRDs differ: a:1 and b:1");
    let reports = reports_of_files(&simulator(), &[("a", &a), ("c", &kite(7)), ("b", &b)], true);
    assert_eq!(verdicts(&reports), [Verdict::Accepted, Verdict::Accepted, Verdict::CannotTell]);
    assert_eq!(reports[2].reason, "another CRD with this name is at a:1");
    let reports = reports_of_files(&simulator(), &[("a.yaml", &a), ("b.yaml", &b)], false);
    assert_eq!(verdicts(&reports), [Verdict::Accepted, Verdict::CannotTell]);
}

#[test]
fn a_crd_that_is_given_decides_about_objects() {
    let simulator = simulator();
    let mut state = OrderedState::new(simulator.store.empty());
    let object = |text: &str| {
        let InputEntry::Document(document) = documents::read("a.yaml", text).remove(0) else { panic!("{text}") };
        Object { document, warnings: Vec::new() }
    };
    let given = object(&definition_up_to(5));
    state.install(&simulator, given, DefinitionSource::Given, (None, FieldValidation::Ignore));
    let mut report = |text: &str| {
        let destination = state.destination(&simulator, object(text));
        simulator.simulate(state.prepare(&simulator, destination, &mut None))
    };
    let same = report(&definition_up_to(5));
    assert_eq!((same.verdict, same.remarks.as_slice()), (Verdict::Accepted, &[][..]));
    let other = report(&definition_up_to(10));
    assert_eq!(other.verdict, Verdict::Accepted);
    assert!(matches!(other.remarks[..], [Remark::OtherDefinition(_)]));
    let misspelt = report(&definition_up_to(5).replace("scope:", "unknown: 1\n  scope:"));
    assert_eq!(misspelt.verdict, Verdict::Rejected, "the server checks each CRD that is sent");
    assert_eq!(report(&kite(7)).verdict, Verdict::Rejected);
}

#[test]
fn a_crd_with_other_metadata_has_a_verdict_of_its_own() {
    let labelled = |label: &str| {
        definition()
            .replace("{name: kites.example.com}", &format!("{{name: kites.example.com, labels: {{a: {label}}}}}"))
    };
    let files = [definition(), labelled("good"), labelled("'not good'"), labelled("good")];
    let files: Vec<(&str, &str)> = files.iter().map(|text| ("a.yaml", text.as_str())).collect();
    let [accepted, rejected] = [Verdict::Accepted, Verdict::Rejected];
    assert_eq!(verdicts(&reports_of_files(&simulator(), &files, false)), [accepted, accepted, rejected, accepted]);
}
