//! Fields that the server changes in new objects and updates.

use super::*;

const DAEMON_SETS: &str = "/apis/apps/v1/namespaces/default/daemonsets";

fn daemon_set(generation: &str, image: &str) -> String {
    format!(
        r#"{{"apiVersion":"apps/v1","kind":"DaemonSet","metadata":{{"name":"d","annotations":{{
            "deprecated.daemonset.template.generation":"{generation}"}}}},"spec":{{"selector":{{"matchLabels":{{"app":"d"}}}},
            "template":{{"metadata":{{"labels":{{"app":"d"}}}},"spec":{{"containers":[{{"name":"a","image":"{image}"}}]}}}}}}}}"#
    )
}

#[test]
fn a_daemon_set_keeps_the_generation_of_its_template() {
    let server = server();
    let generation = |object: &Value| {
        let path = ["metadata", "annotations", "deprecated.daemonset.template.generation"];
        object.str_at(&path).unwrap().to_owned()
    };
    assert_eq!(generation(&created(&server, DAEMON_SETS, &daemon_set("5", "x"))), "5");
    let path = format!("{DAEMON_SETS}/d");
    let put = |text: &str| send(&server, Method::Put, &path, text);
    assert_eq!(generation(&body(&put(&daemon_set("9", "x")))), "5");
    assert_eq!(generation(&body(&put(&daemon_set("9", "y")))), "6");
    let status = merge(&server, &format!("{path}/status"), &daemon_set("7", "y"));
    assert_eq!(generation(&body(&status)), "6");
}

#[test]
fn the_generation_of_a_template_that_is_no_number_is_a_decoding_error() {
    let server = server();
    let refused = send(&server, Method::Post, DAEMON_SETS, &daemon_set("x", "x"));
    let message =
        r#"DaemonSet in version "v1" cannot be handled as a DaemonSet: strconv.ParseInt: parsing "x": invalid syntax"#;
    assert_eq!((refused.code, refused.body.message()), (400, message));
    created(&server, DAEMON_SETS, &daemon_set("1", "x"));
    let patch = r#"{"metadata":{"annotations":{"deprecated.daemonset.template.generation":"x"}}}"#;
    let path = format!("{DAEMON_SETS}/d");
    assert_eq!(merge(&server, &path, patch).code, 422);
    assert_eq!(answer(&server, Method::Patch, &path, "application/strategic-merge-patch+json", patch).code, 500);
    let applied = r#"{"apiVersion":"apps/v1","kind":"DaemonSet","metadata":{"name":"d","annotations":{
        "deprecated.daemonset.template.generation":"x"}}}"#;
    let path = format!("{path}?fieldManager=a&force=true");
    let refused = answer(&server, Method::Patch, &path, "application/apply-patch+yaml", applied);
    let message = r#"failed to convert to unversioned (/d; apps/v1, Kind=DaemonSet): strconv.ParseInt: parsing "x": invalid syntax"#;
    assert_eq!((refused.code, refused.body.message()), (500, message));
}

#[test]
fn a_job_without_labels_shares_those_of_its_template() {
    let server = generating();
    let labels = |metadata: &str| {
        let job = format!(
            r#"{{"apiVersion":"batch/v1","kind":"Job","metadata":{{{metadata}}},"spec":{{"template":{{
                "metadata":{{"labels":{{"a":"b"}}}},"spec":{{"restartPolicy":"Never","containers":[{{"name":"a","image":"x"}}]}}}}}}}}"#
        );
        let job = created(&server, "/apis/batch/v1/namespaces/default/jobs", &job);
        let count = |path: &[&str]| job.at(path).and_then(Value::as_object).unwrap().len();
        (count(&["metadata", "labels"]), count(&["spec", "template", "metadata", "labels"]))
    };
    assert_eq!(labels(r#""name":"shares""#), (5, 5));
    assert_eq!(labels(r#""name":"empty","labels":{}"#), (5, 5));
    assert_eq!(labels(r#""name":"same","labels":{"a":"b"}"#), (1, 5));
}

#[test]
fn an_empty_list_of_a_network_policy_changes_the_generation() {
    let server = validating();
    let path = "/apis/networking.k8s.io/v1/namespaces/default/networkpolicies";
    let policy = |spec: &str| {
        format!(
            r#"{{"apiVersion":"networking.k8s.io/v1","kind":"NetworkPolicy","metadata":{{"name":"n"}},"spec":{{{spec}}}}}"#
        )
    };
    created(&server, path, &policy(r#""podSelector":{}"#));
    let generation = |spec: &str| {
        let updated = send(&server, Method::Put, &format!("{path}/n?dryRun=All"), &policy(spec));
        body(&updated).at(&["metadata", "generation"]).cloned().unwrap()
    };
    assert_eq!(generation(r#""podSelector":{}"#), Value::Int(1));
    assert_eq!(generation(r#""podSelector":{},"ingress":[]"#), Value::Int(2));
    assert_eq!(generation(r#""podSelector":{"matchLabels":{}}"#), Value::Int(2));
}

#[test]
fn a_dropped_field_does_not_change_the_generation() {
    let server = generating();
    created(&server, DEPLOYMENTS, DEPLOYMENT);
    let path = format!("{DEPLOYMENTS}/d");
    let patch = r#"{"spec":{"template":{"spec":{"schedulingGroup":{"podGroupName":"a"}}}}}"#;
    let patched = body(&merge(&server, &path, patch));
    assert_eq!(patched.at(&["metadata", "generation"]), Some(&Value::Int(1)));
    assert_eq!(patched.at(&["spec", "template", "spec", "schedulingGroup"]), None);
}

#[test]
fn a_claim_with_a_source_has_a_reference_to_it() {
    let server = generating();
    let path = "/api/v1/namespaces/default/persistentvolumeclaims";
    let claim = r#"{"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":"c"},"spec":{
        "accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}},
        "dataSource":{"kind":"PersistentVolumeClaim","name":"s"}}}"#;
    let claim = created(&server, path, claim);
    assert_eq!(claim.at(&["spec", "dataSourceRef"]), claim.at(&["spec", "dataSource"]));
}

#[test]
fn resources_of_a_pod_follow_from_those_of_its_containers() {
    for (minor, limited) in [(33, false), (34, true), (37, true)] {
        let server =
            crate::builder(Release::new(minor).unwrap(), 1).with_built_in_kinds().with_generated_fields().build();
        let pod = r#"{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"resources":{"limits":{"cpu":"2"}},
            "containers":[{"name":"a","image":"x","resources":{"limits":{"cpu":"1"}}}]}}"#;
        let pod = created(&server, "/api/v1/namespaces/default/pods", pod);
        assert_eq!(pod.str_at(&["spec", "resources", "requests", "cpu"]), limited.then_some("1"), "1.{minor}");
    }
}

#[test]
fn a_status_without_a_quality_of_service_removes_it_before_1_32() {
    for (minor, expected) in [(31, None), (32, Some("BestEffort"))] {
        let server =
            crate::builder(Release::new(minor).unwrap(), 1).with_built_in_kinds().with_generated_fields().build();
        let pods = "/api/v1/namespaces/default/pods";
        let pod = r#"{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"containers":[{"name":"a","image":"x"}]}}"#;
        assert_eq!(created(&server, pods, pod).str_at(&["status", "qosClass"]), Some("BestEffort"));
        let status = send(&server, Method::Put, &format!("{pods}/p/status"), pod);
        assert_eq!(body(&status).str_at(&["status", "qosClass"]), expected, "1.{minor}");
    }
}

#[test]
fn an_empty_overhead_needs_a_class_with_overhead() {
    let server = crate::builder(Release::NEWEST, 0).with_built_in_kinds().with_content_validation();
    let server = server.with_generated_fields().build();
    let create_class = |name: &str, more: &str| {
        let class = format!(r#"{{"metadata":{{"name":"{name}"}},"handler":"h",{more}}}"#);
        assert_eq!(send(&server, Method::Post, "/apis/node.k8s.io/v1/runtimeclasses", &class).code, 201);
    };
    create_class("with", r#""overhead":{"podFixed":{"cpu":"1"}}"#);
    create_class("without", r#""scheduling":{"nodeSelector":{"a":"b"}}"#);
    let create_pod = |spec: &str| {
        let pod =
            format!(r#"{{"metadata":{{"name":"p"}},"spec":{{{spec},"containers":[{{"name":"c","image":"i"}}]}}}}"#);
        send(&server, Method::Post, "/api/v1/namespaces/default/pods?dryRun=All", &pod).code
    };
    assert_eq!(create_pod(r#""overhead":{}"#), 403);
    assert_eq!(create_pod(r#""overhead":{},"runtimeClassName":"without""#), 403);
    assert_eq!(create_pod(r#""overhead":{},"runtimeClassName":"with""#), 201);
}
