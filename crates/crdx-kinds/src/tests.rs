//! Requests for built-in kinds to the whole server.

mod actions;
mod in_memory;
mod preparation;
mod versions;

use crdx_server::cluster_state::{ClusterState, GroupVersionResource, Listed, Lookup, SERVICE_CIDRS, SERVICES, Unread};
use crdx_server::server::{
    Calls, Method, Namespaces, Paused, Reply, Request, Response, ResponseBody, SeedError, Server, ServerBuilder,
    Timestamp,
};
use crdx_text::json;
use crdx_types::service_families::ServiceRange;
use crdx_value::Value;
use crdx_value::base64::Encoding;
use crdx_value::release::Release;
use std::sync::Arc;
use std::time::Duration;

const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/default/deployments";
const DEPLOYMENT: &str = r#"{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d"},"spec":{
    "selector":{"matchLabels":{"app":"d"}},"template":{"metadata":{"labels":{"app":"d"}},"spec":{"containers":[
    {"name":"a","image":"nginx:1","ports":[{"containerPort":80}]}]}}},"status":{"replicas":7}}"#;

fn server() -> Server {
    crate::builder(Release::NEWEST, 1).with_built_in_kinds().build()
}

fn answer(server: &Server, method: Method, path: &str, content_type: &str, body: &str) -> Response {
    let mut request = Request::new(method, path, body);
    request.content_type = Some(content_type.to_owned());
    request.user_agent = Some("test/1".to_owned());
    server.handle(&request)
}

fn send(server: &Server, method: Method, path: &str, body: &str) -> Response {
    answer(server, method, path, "application/json", body)
}

fn body(response: &Response) -> Arc<Value> {
    match &response.body {
        ResponseBody::Json(value) => Arc::clone(value),
        ResponseBody::Text(text) => panic!("{text}"),
    }
}

/// The code and the body of a response.
#[allow(clippy::needless_pass_by_value, reason = "callers have no use for the response afterwards")]
pub(crate) fn code_and_body(response: Response) -> (u16, Value) {
    (response.code, Arc::unwrap_or_clone(body(&response)))
}

fn names(response: &Response) -> Vec<String> {
    let body = body(response);
    let items = body.get("items").and_then(Value::as_array).unwrap();
    items.iter().map(|item| item.str_at(&["metadata", "name"]).unwrap().to_owned()).collect()
}

#[test]
fn errors_with_the_same_text_are_reported_once_since_1_37() {
    let map = r#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"m","labels":{"a":"!","b":"!","c":"?"}}}"#;
    for (minor, expected) in [(37, 2), (34, 3)] {
        let release = Release::new(minor).unwrap();
        let server = crate::builder(release, 1).with_built_in_kinds().with_content_validation().build();
        let refused = send(&server, Method::Post, "/api/v1/namespaces/default/configmaps", map);
        let body = body(&refused);
        let causes = body.at(&["details", "causes"]).and_then(Value::as_array).unwrap();
        assert_eq!((refused.code, causes.len()), (422, expected), "1.{minor}: {causes:?}");
    }
}

#[test]
fn every_answer_about_a_deprecated_version_has_its_warning() {
    let warnings = |minor: u16| {
        let server = crate::builder(Release::new(minor).unwrap(), 1).with_built_in_kinds().build();
        send(&server, Method::Get, "/api/v1/namespaces/default/endpoints/a", "").warnings
    };
    assert_eq!(warnings(32), [""; 0]);
    assert_eq!(warnings(33), ["v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"]);
}

#[test]
fn a_patch_may_not_change_the_version_to_another_type() {
    let server = server();
    send(&server, Method::Post, DEPLOYMENTS, DEPLOYMENT);
    let path = format!("{DEPLOYMENTS}/d");
    let patch = r#"{"apiVersion":["x"],"metadata":{"name":null}}"#;
    let refused = answer(&server, Method::Patch, &path, "application/merge-patch+json", patch);
    let message = "couldn't get version/kind; json parse error: json: cannot unmarshal array into Go struct field .apiVersion of type string";
    assert_eq!(refused.code, 422);
    assert!(refused.body.message().contains(message), "{}", refused.body.message());
}

#[test]
fn a_deployment_is_defaulted_and_has_a_generation() {
    let server = server();
    let created = send(&server, Method::Post, DEPLOYMENTS, DEPLOYMENT);
    assert_eq!(created.code, 201, "{}", created.body.message());
    let object = body(&created);
    assert_eq!(object.at(&["spec", "replicas"]), Some(&Value::Int(1)));
    assert_eq!(object.at(&["status"]), Some(&json::read(b"{}").unwrap()));
    assert_eq!(object.at(&["metadata", "generation"]), Some(&Value::Int(1)));
    let path = format!("{DEPLOYMENTS}/d");
    let merge = |path: &str, patch: &str| answer(&server, Method::Patch, path, "application/merge-patch+json", patch);
    let scaled = body(&merge(&path, r#"{"spec":{"replicas":3},"status":{"replicas":5}}"#));
    assert_eq!(scaled.at(&["metadata", "generation"]), Some(&Value::Int(2)));
    assert_eq!(scaled.at(&["status", "replicas"]), None);
    let status = body(&merge(&format!("{path}/status"), r#"{"spec":{"replicas":9},"status":{"replicas":2}}"#));
    assert_eq!(status.at(&["metadata", "generation"]), Some(&Value::Int(2)));
    assert_eq!(status.at(&["spec", "replicas"]), Some(&Value::Int(3)));
    assert_eq!(status.at(&["status", "replicas"]), Some(&Value::Int(2)));
    let scale = body(&send(&server, Method::Get, &format!("{path}/scale"), ""));
    assert_eq!(scale.str_at(&["status", "selector"]), Some("app=d"));
    let scaled = merge(&format!("{path}/scale"), r#"{"spec":{"replicas":4}}"#);
    assert_eq!(body(&scaled).at(&["spec", "replicas"]), Some(&Value::Int(4)), "{}", scaled.body.message());
}

#[test]
fn strategic_merge_patches_and_applies_merge_by_key() {
    let server = server();
    send(&server, Method::Post, DEPLOYMENTS, DEPLOYMENT);
    let path = format!("{DEPLOYMENTS}/d");
    let patch = r#"{"spec":{"template":{"spec":{"containers":[{"name":"b","image":"x"}]}}}}"#;
    let patched = answer(&server, Method::Patch, &path, "application/strategic-merge-patch+json", patch);
    let containers = |object: &Value| {
        let items = object.at(&["spec", "template", "spec", "containers"]).and_then(Value::as_array).unwrap().to_vec();
        items.iter().map(|c| c.str_at(&["name"]).unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(containers(&body(&patched)), ["b", "a"], "{}", patched.body.message());
    let apply = |text: &str| {
        let path = format!("{path}?fieldManager=m");
        answer(&server, Method::Patch, &path, "application/apply-patch+yaml", text)
    };
    let head = r#""apiVersion":"apps/v1","kind":"Deployment""#;
    let container = r#"{"name":"a","image":"nginx:2"}"#;
    let applied = apply(&format!(r#"{{{head},"spec":{{"template":{{"spec":{{"containers":[{container}]}}}}}}}}"#));
    assert_eq!(applied.code, 409);
    assert_eq!(
        applied.body.message(),
        "Apply failed with 1 conflict: conflict with \"test\" using apps/v1: .spec.template.spec.containers[name=\"a\"].image"
    );
    let invalid =
        answer(&server, Method::Patch, &path, "application/strategic-merge-patch+json", r#"{"spec":{"replicas":"x"}}"#);
    assert_eq!(invalid.code, 422);
    assert_eq!(
        invalid.body.message(),
        r#" "" is invalid: patch: Invalid value: "map[spec:map[replicas:x]]": unrecognized type: int32"#
    );
}

#[test]
fn bodies_are_decoded_as_by_the_server() {
    let server = server();
    let invalid = DEPLOYMENT.replace(r#""name":"a""#, r#""name":1"#);
    let refused = send(&server, Method::Post, DEPLOYMENTS, &invalid);
    assert_eq!(refused.code, 400);
    assert_eq!(
        refused.body.message(),
        "Deployment in version \"v1\" cannot be handled as a Deployment: json: cannot unmarshal number into Go struct field Container.spec.template.spec.containers.name of type string"
    );
    let unknown = DEPLOYMENT.replace(r#""selector""#, r#""x":1,"selector""#);
    let refused = send(&server, Method::Post, &format!("{DEPLOYMENTS}?fieldValidation=Strict"), &unknown);
    assert_eq!(
        refused.body.message(),
        "Deployment in version \"v1\" cannot be handled as a Deployment: strict decoding error: unknown field \"spec.x\""
    );
    let accepted = send(&server, Method::Post, DEPLOYMENTS, &unknown);
    assert_eq!((accepted.code, accepted.warnings), (201, vec!["unknown field \"spec.x\"".to_owned()]));
    let other = send(&server, Method::Post, "/apis/apps/v1/namespaces/none/deployments", DEPLOYMENT);
    assert_eq!((other.code, other.body.message()), (404, "namespaces \"none\" not found"));
}

#[test]
fn field_selectors_are_those_of_the_kind() {
    let server = server();
    let pods = "/api/v1/namespaces/default/pods";
    for (name, node) in [("a", "n1"), ("b", "n2")] {
        let pod = format!(
            r#"{{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"{name}"}},"spec":{{"nodeName":"{node}","containers":[]}}}}"#
        );
        assert_eq!(send(&server, Method::Post, pods, &pod).code, 201);
    }
    let list = |query: &str| send(&server, Method::Get, &format!("{pods}?fieldSelector={query}"), "");
    assert_eq!(names(&list("spec.nodeName=n2")), ["b"]);
    assert_eq!(names(&list("status.phase=Pending,spec.hostNetwork=false")), ["a", "b"]);
    let refused = list("spec.x=1");
    assert_eq!((refused.code, refused.body.message()), (400, "field label not supported: spec.x"));
    let refused = send(&server, Method::Get, &format!("{DEPLOYMENTS}?fieldSelector=spec.x=1"), "");
    assert_eq!(
        refused.body.message(),
        r#""spec.x" is not a known field selector: only "metadata.name", "metadata.namespace""#
    );
    let items = body(&list(""));
    assert_eq!(items.str_at(&["kind"]), Some("PodList"));
    assert!(items.get("items").and_then(Value::as_array).unwrap().iter().all(|pod| pod.get("kind").is_none()));
}

#[test]
fn events_of_both_groups_are_the_same() {
    let server = server();
    let event = r#"{"apiVersion":"v1","kind":"Event","metadata":{"name":"e"},"involvedObject":{"name":"p"},
        "message":"m","reportingComponent":"c","count":2}"#;
    assert_eq!(send(&server, Method::Post, "/api/v1/namespaces/default/events", event).code, 201);
    let new = "/apis/events.k8s.io/v1/namespaces/default/events";
    let read = body(&send(&server, Method::Get, &format!("{new}/e"), ""));
    assert_eq!(read.str_at(&["regarding", "name"]), Some("p"));
    assert_eq!((read.str_at(&["note"]), read.str_at(&["reportingController"])), (Some("m"), Some("c")));
    let changed =
        answer(&server, Method::Patch, &format!("{new}/e"), "application/merge-patch+json", r#"{"note":"n"}"#);
    assert_eq!(changed.code, 200, "{}", changed.body.message());
    let old = body(&send(&server, Method::Get, "/api/v1/namespaces/default/events/e", ""));
    assert_eq!((old.str_at(&["message"]), old.str_at(&["apiVersion"])), (Some("n"), Some("v1")));
    let found = send(&server, Method::Get, &format!("{new}?fieldSelector=regarding.name=p"), "");
    assert_eq!(names(&found), ["e"]);
}

#[test]
fn discovery_lists_the_kinds_of_the_release() {
    let server = server();
    let list = body(&send(&server, Method::Get, "/apis/apps/v1", ""));
    let resources = list.get("resources").and_then(Value::as_array).unwrap();
    let named = |name: &str| resources.iter().find(|r| r.str_at(&["name"]) == Some(name));
    assert!(named("deployments/scale").is_some() && named("daemonsets/scale").is_none());
    assert_eq!(named("deployments").unwrap().get("shortNames"), Some(&json::read(br#"["deploy"]"#).unwrap()));
    let older = crate::builder(Release::OLDEST, 1).with_built_in_kinds().build();
    assert_eq!(send(&server, Method::Get, "/apis/resource.k8s.io/v1", "").code, 200);
    assert_eq!(send(&older, Method::Get, "/apis/resource.k8s.io/v1", "").code, 404);
    let namespaces = names(&send(&server, Method::Get, "/api/v1/namespaces", ""));
    assert_eq!(namespaces, ["default", "kube-node-lease", "kube-public", "kube-system"]);
}

#[test]
fn a_deleted_namespace_is_removed_with_its_last_object() {
    let options = crate::builder(Release::NEWEST, 1).with_namespaces(Namespaces::Controlled, &["work".to_owned()]);
    let server = options.with_built_in_kinds().build();
    let deployments = "/apis/apps/v1/namespaces/work/deployments";
    let with_finalizer = DEPLOYMENT.replace(r#"{"name":"d"}"#, r#"{"name":"d","finalizers":["example.com/a"]}"#);
    assert_eq!(send(&server, Method::Post, deployments, &with_finalizer).code, 201);
    assert_eq!(send(&server, Method::Delete, "/api/v1/namespaces/work", "").code, 200);
    let namespace = send(&server, Method::Get, "/api/v1/namespaces/work", "");
    assert_eq!(body(&namespace).str_at(&["status", "phase"]), Some("Terminating"));
    let patch = r#"{"metadata":{"finalizers":null}}"#;
    let path = format!("{deployments}/d");
    assert_eq!(answer(&server, Method::Patch, &path, "application/merge-patch+json", patch).code, 200);
    assert_eq!(send(&server, Method::Get, &path, "").code, 404);
    assert_eq!(send(&server, Method::Get, "/api/v1/namespaces/work", "").code, 404);
}

const PODS: &str = "/api/v1/namespaces/default/pods";

/// Creates a pod that runs on a node.
fn create_pod(server: &Server, name: &str, metadata: &str) {
    let pod = format!(
        r#"{{"metadata":{{"name":"{name}"{metadata}}},"spec":{{"nodeName":"n","containers":[{{"name":"a","image":"x"}}]}}}}"#
    );
    assert_eq!(send(server, Method::Post, PODS, &pod).code, 201);
}

fn at(server: &Server, method: Method, path: &str, body: &str, now: i64) -> Response {
    let mut request = Request::new(method, path, body);
    request.now = Timestamp { seconds: now, nanos: 0 };
    server.handle(&request)
}

/// The time and the grace period of the deletion, and the generation.
fn deletion(response: &Response) -> (String, i64, i64) {
    let object = body(response);
    let number = |key: &str| object.at(&["metadata", key]).and_then(Value::as_int).unwrap();
    let time = object.str_at(&["metadata", "deletionTimestamp"]).unwrap().to_owned();
    (time, number("deletionGracePeriodSeconds"), number("generation"))
}

#[test]
fn a_running_pod_is_deleted_after_its_grace_period() {
    let server = server();
    create_pod(&server, "p", "");
    let path = format!("{PODS}/p");
    let delete = |body: &str, now: i64| at(&server, Method::Delete, &path, body, now);
    let first = delete("", 100);
    // The default of terminationGracePeriodSeconds is 30.
    assert_eq!((first.code, deletion(&first)), (200, ("1970-01-01T00:02:10Z".to_owned(), 30, 2)));
    let pending = delete("", 110);
    assert_eq!(body(&pending), body(&first));
    assert_eq!(body(&delete(r#"{"gracePeriodSeconds":60}"#, 110)), body(&first));
    let shortened = delete(r#"{"gracePeriodSeconds":20}"#, 110);
    assert_eq!(deletion(&shortened), ("1970-01-01T00:02:00Z".to_owned(), 20, 2));
    let dry = delete(r#"{"gracePeriodSeconds":0,"dryRun":["All"]}"#, 110);
    assert_eq!((dry.code, deletion(&dry).1), (200, 0));
    assert_eq!(deletion(&send(&server, Method::Get, &path, "")).1, 20);
    // An update removes no pod that has a grace period.
    let label = r#"{"metadata":{"labels":{"a":"b"}}}"#;
    let patched = answer(&server, Method::Patch, &path, "application/merge-patch+json", label);
    assert_eq!((patched.code, deletion(&patched).1), (200, 20));
    // This is what the kubelet sends; the removed object has the revision of the removal.
    let gone = delete(r#"{"gracePeriodSeconds":0}"#, 110);
    assert_eq!((gone.code, deletion(&gone)), (200, ("1970-01-01T00:01:50Z".to_owned(), 0, 2)));
    let revision = |response: &Response| -> u64 {
        body(response).str_at(&["metadata", "resourceVersion"]).unwrap().parse().unwrap()
    };
    assert_eq!(revision(&gone), revision(&patched) + 2);
    assert_eq!(delete("", 110).code, 404);
}

#[test]
fn a_pod_without_node_and_a_terminated_pod_are_deleted_at_once() {
    let server = server();
    let pod = r#"{"metadata":{"name":"a"},"spec":{"containers":[{"name":"a","image":"x"}]}}"#;
    assert_eq!(send(&server, Method::Post, PODS, pod).code, 201);
    create_pod(&server, "b", "");
    let failed = r#"{"status":{"phase":"Failed"}}"#;
    let status = answer(&server, Method::Patch, &format!("{PODS}/b/status"), "application/merge-patch+json", failed);
    assert_eq!(status.code, 200);
    create_pod(&server, "c", r#","finalizers":["x.y/z"]"#);
    for name in ["a", "b"] {
        let gone = send(&server, Method::Delete, &format!("{PODS}/{name}"), r#"{"gracePeriodSeconds":5}"#);
        assert_eq!((gone.code, body(&gone).str_at(&["kind"])), (200, Some("Pod")));
        assert_eq!(send(&server, Method::Get, &format!("{PODS}/{name}"), "").code, 404);
    }
    // A finalizer keeps a pod without grace period.
    let path = format!("{PODS}/c");
    let kept = at(&server, Method::Delete, &path, r#"{"gracePeriodSeconds":0}"#, 100);
    assert_eq!((kept.code, deletion(&kept)), (200, ("1970-01-01T00:01:40Z".to_owned(), 0, 2)));
    let free = r#"{"metadata":{"finalizers":null}}"#;
    assert_eq!(answer(&server, Method::Patch, &path, "application/merge-patch+json", free).code, 200);
    assert_eq!(send(&server, Method::Get, &path, "").code, 404);
}

#[test]
fn a_collection_of_pods_is_deleted_gracefully() {
    let server = server();
    create_pod(&server, "a", "");
    create_pod(&server, "b", "");
    assert_eq!(send(&server, Method::Delete, PODS, "").code, 200);
    assert_eq!(deletion(&send(&server, Method::Get, &format!("{PODS}/b"), "")).1, 30);
    assert_eq!(send(&server, Method::Delete, PODS, r#"{"gracePeriodSeconds":0}"#).code, 200);
    assert_eq!(names(&send(&server, Method::Get, PODS, "")), Vec::<String>::new());
}

#[test]
fn some_kinds_return_the_deleted_object() {
    let server = server();
    let account = "/api/v1/namespaces/default/serviceaccounts";
    assert_eq!(send(&server, Method::Post, account, r#"{"metadata":{"name":"a"}}"#).code, 201);
    let gone = send(&server, Method::Delete, &format!("{account}/a"), "");
    assert_eq!((gone.code, body(&gone).str_at(&["kind"])), (200, Some("ServiceAccount")));
    let maps = "/api/v1/namespaces/default/configmaps";
    assert_eq!(send(&server, Method::Post, maps, r#"{"metadata":{"name":"a"}}"#).code, 201);
    let gone = send(&server, Method::Delete, &format!("{maps}/a"), "");
    assert_eq!((gone.code, body(&gone).str_at(&["kind"])), (200, Some("Status")));
}

#[test]
fn an_old_autoscaler_is_validated_in_its_stored_form() {
    let server = crate::builder(Release::NEWEST, 1).with_built_in_kinds().with_content_validation().build();
    let autoscaler = r#"{"apiVersion":"autoscaling/v1","kind":"HorizontalPodAutoscaler","metadata":{"name":"a"},"spec":{
        "scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"d"},"maxReplicas":3,
        "targetCPUUtilizationPercentage":-1}}"#;
    let path = "/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers";
    let refused = send(&server, Method::Post, path, autoscaler);
    let message = "spec.metrics[0].resource.target.averageUtilization: Invalid value: -1: must be greater than 0";
    assert!(refused.body.message().contains(message), "{}", refused.body.message());
}

#[test]
fn autoscalers_have_two_versions() {
    let server = server();
    let path = |version: &str| format!("/apis/autoscaling/{version}/namespaces/default/horizontalpodautoscalers");
    let old = r#"{"metadata":{"name":"h"},"spec":{"scaleTargetRef":{"kind":"Deployment","name":"d"},"maxReplicas":3,
        "targetCPUUtilizationPercentage":50}}"#;
    assert_eq!(send(&server, Method::Post, &path("v1"), old).code, 201);
    let new = body(&send(&server, Method::Get, &format!("{}/h", path("v2")), ""));
    assert_eq!(new.str_at(&["apiVersion"]), Some("autoscaling/v2"));
    let metric = new.at(&["spec", "metrics"]).and_then(Value::as_array).unwrap().first().unwrap();
    assert_eq!(metric.at(&["resource", "target", "averageUtilization"]), Some(&Value::Int(50)));
    // Another manager applies a field in the other version; the owner of the field is found in its own version.
    let apply = |version: &str, manager: &str, max: i64, force: bool| {
        let applied = format!(
            r#"{{"apiVersion":"autoscaling/{version}","kind":"HorizontalPodAutoscaler","metadata":{{"name":"h"}},"spec":{{"maxReplicas":{max}}}}}"#
        );
        let path = format!("{}/h?fieldManager={manager}&force={force}", path(version));
        answer(&server, Method::Patch, &path, "application/apply-patch+yaml", &applied)
    };
    let conflict = apply("v2", "two", 5, false);
    assert_eq!(conflict.code, 409, "{}", conflict.body.message());
    assert!(conflict.body.message().contains("using autoscaling/v1"), "{}", conflict.body.message());
    let forced = apply("v2", "two", 5, true);
    assert_eq!((forced.code, body(&forced).at(&["spec", "maxReplicas"])), (200, Some(&Value::Int(5))));
    let read = body(&send(&server, Method::Get, &format!("{}/h", path("v1")), ""));
    assert_eq!(read.at(&["spec", "targetCPUUtilizationPercentage"]), Some(&Value::Int(50)));
    assert_eq!(names(&send(&server, Method::Get, &path("v1"), "")), ["h"]);
}

/// A server whose deletions pause, with the Pods `p` and `q`.
fn with_pauses() -> Server {
    let server = crate::builder(Release::NEWEST, 1).with_built_in_kinds().with_pause_before_removal(PAUSE).build();
    for name in ["p", "q"] {
        let pod = format!(r#"{{"metadata":{{"name":"{name}"}}}}"#);
        assert_eq!(send(&server, Method::Post, PODS, &pod).code, 201);
    }
    server
}

const PAUSE: Duration = Duration::from_millis(300);

fn paused(reply: Reply) -> Box<Paused> {
    match reply {
        Reply::Paused(paused) => {
            assert_eq!(paused.duration(), PAUSE);
            paused
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_pod_is_marked_before_it_is_removed() {
    let server = with_pauses();
    let (path, calls) = (format!("{PODS}/p"), Calls::default());
    let read = || send(&server, Method::Get, &path, "");
    let delete = Request::new(Method::Delete, &path, "");
    let first = paused(server.reply(&delete));
    assert!(body(&read()).at(&["metadata", "deletionTimestamp"]).is_some());
    let Reply::Whole(deleted) = server.resume(&delete, &calls, first) else { panic!("not resumed") };
    assert_eq!((deleted.code, body(&deleted).str_at(&["metadata", "name"])), (200, Some("p")));
    assert_eq!(read().code, 404);
    // A caller in the same process does not wait.
    assert_eq!(send(&server, Method::Delete, &format!("{PODS}/q"), "").code, 200);
    assert_eq!(send(&server, Method::Get, &format!("{PODS}/q"), "").code, 404);
}

#[test]
fn the_deletion_of_a_collection_pauses_for_each_pod() {
    let server = with_pauses();
    let calls = Calls::default();
    let delete = Request::new(Method::Delete, PODS, "");
    let read = |name: &str| send(&server, Method::Get, &format!("{PODS}/{name}"), "").code;
    let first = paused(server.reply(&delete));
    let second = paused(server.resume(&delete, &calls, first));
    assert_eq!((read("p"), read("q")), (404, 200));
    let Reply::Whole(deleted) = server.resume(&delete, &calls, second) else { panic!("not resumed") };
    assert_eq!(read("q"), 404);
    assert_eq!(body(&deleted).at(&["items"]).and_then(Value::as_array).map(<[Value]>::len), Some(2));
}

#[test]
fn a_pod_that_replaces_another_one_during_a_pause_is_not_removed() {
    let server = with_pauses();
    let path = format!("{PODS}/p");
    let pod = send(&server, Method::Get, &path, "");
    let revision = body(&pod).str_at(&["metadata", "resourceVersion"]).unwrap().to_owned();
    let options = format!(r#"{{"preconditions":{{"resourceVersion":"{revision}"}}}}"#);
    let delete = Request::new(Method::Delete, &path, options.as_str());
    let first = paused(server.reply(&delete));
    assert_eq!(send(&server, Method::Delete, &path, "").code, 200);
    assert_eq!(send(&server, Method::Post, PODS, r#"{"metadata":{"name":"p"}}"#).code, 201);
    let Reply::Whole(refused) = server.resume(&delete, &Calls::default(), first) else { panic!("not resumed") };
    assert_eq!(refused.code, 409);
    assert_eq!(send(&server, Method::Get, &path, "").code, 200);
}

#[test]
fn containers_need_names_and_images() {
    let server = crate::builder(Release::NEWEST, 1).with_built_in_kinds().with_content_validation().build();
    let message = |path: &str, object: &str| send(&server, Method::Post, path, object).body.message().to_owned();
    let unnamed = r#"{"metadata":{"name":"p"},"spec":{
        "containers":[{"image":"x"},{"name":"a"},{"name":"a","image":"x"}],"initContainers":[{"name":"a","image":"x"}]}}"#;
    assert_eq!(
        message(PODS, unnamed),
        "Pod \"p\" is invalid: [spec.containers[0].name: Required value, spec.containers[1].image: Required value, \
         spec.containers[2].name: Duplicate value: \"a\", spec.initContainers[0].name: Duplicate value: \"a\"]"
    );
    assert_eq!(message(PODS, r#"{"metadata":{"name":"p"}}"#), "Pod \"p\" is invalid: spec.containers: Required value");
    assert_eq!(
        message(
            "/apis/batch/v1/namespaces/default/jobs",
            r#"{"metadata":{"name":"j"},"spec":{"manualSelector":true}}"#
        ),
        "Job.batch \"j\" is invalid: [spec.template.spec.containers: Required value, \
         spec.template.spec.restartPolicy: Required value: valid values: \"OnFailure\", \"Never\", \
         spec.selector: Required value, \
         spec.template.metadata.labels: Invalid value: null: `selector` does not match template `labels`]"
    );
    assert_eq!(
        message("/api/v1/namespaces/default/podtemplates", r#"{"metadata":{"name":"t"}}"#),
        "PodTemplate \"t\" is invalid: template.spec.containers: Required value"
    );
    assert_eq!(send(&server, Method::Post, DEPLOYMENTS, DEPLOYMENT).code, 201);
    let patch = |path: &str, patch: &str| {
        let path = format!("{DEPLOYMENTS}/d{path}");
        answer(&server, Method::Patch, &path, "application/strategic-merge-patch+json", patch)
    };
    let refused = patch("", r#"{"spec":{"template":{"spec":{"containers":[{"name":"a","image":null}]}}}}"#);
    assert_eq!(refused.code, 422);
    assert_eq!(
        refused.body.message(),
        "Deployment.apps \"d\" is invalid: spec.template.spec.containers[0].image: Required value"
    );
    assert_eq!(patch("/status", r#"{"status":{"replicas":1}}"#).code, 200);
}

#[test]
fn immutable_secrets_and_config_maps_keep_their_data() {
    let server = crate::builder(Release::NEWEST, 1).with_built_in_kinds().with_content_validation().build();
    let core = "/api/v1/namespaces/default";
    let patch = |path: &str, patch: &str| {
        let answer = answer(&server, Method::Patch, &format!("{core}/{path}"), "application/merge-patch+json", patch);
        (answer.code, answer.body.message().to_owned())
    };
    let accepted = (200, String::new());
    let secret = r#"{"metadata":{"name":"s"},"type":"example.com/a","stringData":{"k":"v"}}"#;
    assert_eq!(send(&server, Method::Post, &format!("{core}/secrets"), secret).code, 201);
    assert_eq!(
        patch("secrets/s", r#"{"type":"Opaque"}"#),
        (422, "Secret \"s\" is invalid: type: Invalid value: \"Opaque\": field is immutable".to_owned())
    );
    assert_eq!(patch("secrets/s", r#"{"stringData":{"k":"w"},"immutable":true}"#), accepted);
    assert_eq!(
        patch("secrets/s", r#"{"data":{"k":"eA=="},"immutable":false}"#),
        (
            422,
            "Secret \"s\" is invalid: [immutable: Forbidden: field is immutable when `immutable` is set, \
             data: Forbidden: field is immutable when `immutable` is set]"
                .to_owned()
        )
    );
    assert_eq!(patch("secrets/s", r#"{"metadata":{"labels":{"a":"b"}}}"#), accepted);
    let map = r#"{"metadata":{"name":"m"},"data":{"k":"v"},"immutable":true}"#;
    assert_eq!(send(&server, Method::Post, &format!("{core}/configmaps"), map).code, 201);
    assert_eq!(
        patch("configmaps/m", r#"{"binaryData":{"b":"eA=="}}"#),
        (
            422,
            "ConfigMap \"m\" is invalid: binaryData: Forbidden: field is immutable when `immutable` is set".to_owned()
        )
    );
    assert_eq!(patch("configmaps/m", r#"{"metadata":{"labels":{"a":"b"}}}"#), accepted);
}

/// A server that generates fields of new objects.
fn generating() -> Server {
    crate::builder(Release::NEWEST, 1).with_built_in_kinds().with_generated_fields().build()
}

#[track_caller]
fn created(server: &Server, path: &str, object: &str) -> Arc<Value> {
    let response = send(server, Method::Post, path, object);
    assert_eq!(response.code, 201, "{}", response.body.message());
    body(&response)
}

fn merge(server: &Server, path: &str, patch: &str) -> Response {
    answer(server, Method::Patch, path, "application/merge-patch+json", patch)
}

fn json(text: &str) -> Value {
    json::read(text.as_bytes()).unwrap()
}

#[test]
fn new_pods_have_priority_tolerations_and_quality() {
    let server = generating();
    let pod = created(
        &server,
        PODS,
        r#"{"metadata":{"name":"p"},"spec":{"tolerations":[{"key":"node.kubernetes.io/not-ready"}],
        "containers":[{"name":"a","image":"x","resources":{"requests":{"cpu":"1"}}}]}}"#,
    );
    let spec = pod.get("spec").unwrap();
    assert_eq!(
        (spec.get("priority"), spec.str_at(&["preemptionPolicy"])),
        (Some(&Value::Int(0)), Some("PreemptLowerPriority"))
    );
    let unreachable =
        r#"{"effect":"NoExecute","key":"node.kubernetes.io/unreachable","operator":"Exists","tolerationSeconds":300}"#;
    let tolerations = spec.get("tolerations").and_then(Value::as_array).unwrap();
    assert_eq!(tolerations.get(1..), Some(&[json(unreachable)][..]));
    assert_eq!(pod.str_at(&["status", "qosClass"]), Some("Burstable"));
    let patch = r#"{"metadata":{"labels":{"a":"b"}},"spec":{"priority":null,"tolerations":null}}"#;
    let patched = body(&merge(&server, &format!("{PODS}/p"), patch));
    assert_eq!(patched.at(&["spec", "priority"]), Some(&Value::Int(0)));
    let tolerations = patched.at(&["spec", "tolerations"]).and_then(Value::as_array).unwrap();
    assert_eq!(tolerations.len(), 2);
    let patch = r#"{"status":{"phase":"Running","qosClass":null}}"#;
    let patched = body(&merge(&server, &format!("{PODS}/p/status"), patch));
    assert_eq!(patched.get("status"), Some(&json(r#"{"phase":"Running","qosClass":"Burstable"}"#)));
}

#[test]
fn new_jobs_select_their_pods() {
    let server = generating();
    let jobs = "/apis/batch/v1/namespaces/default/jobs";
    let pods = r#""spec":{"restartPolicy":"Never","containers":[{"name":"a","image":"x"}]}"#;
    let job = created(&server, jobs, &format!(r#"{{"metadata":{{"name":"j"}},"spec":{{"template":{{{pods}}}}}}}"#));
    let uid = job.str_at(&["metadata", "uid"]).unwrap();
    let labels = json(&format!(
        r#"{{"batch.kubernetes.io/controller-uid":"{uid}","batch.kubernetes.io/job-name":"j","controller-uid":"{uid}","job-name":"j"}}"#
    ));
    assert_eq!(job.at(&["spec", "template", "metadata", "labels"]), Some(&labels));
    assert_eq!(job.at(&["metadata", "labels"]), Some(&labels));
    let selector = json(&format!(r#"{{"matchLabels":{{"batch.kubernetes.io/controller-uid":"{uid}"}}}}"#));
    assert_eq!(job.at(&["spec", "selector"]), Some(&selector));
    let manual = format!(r#"{{"metadata":{{"name":"m"}},"spec":{{"manualSelector":true,"template":{{{pods}}}}}}}"#);
    assert_eq!(created(&server, jobs, &manual).at(&["spec", "selector"]), None);
}

#[test]
fn new_volumes_and_nodes_are_protected() {
    let server = generating();
    let claim = created(&server, "/api/v1/namespaces/default/persistentvolumeclaims", r#"{"metadata":{"name":"c"}}"#);
    assert_eq!(claim.at(&["metadata", "finalizers"]), Some(&json(r#"["kubernetes.io/pvc-protection"]"#)));
    let volume = created(&server, "/api/v1/persistentvolumes", r#"{"metadata":{"name":"v","finalizers":["a/b"]}}"#);
    assert_eq!(volume.at(&["metadata", "finalizers"]), Some(&json(r#"["a/b","kubernetes.io/pv-protection"]"#)));
    assert!(volume.at(&["status", "lastPhaseTransitionTime"]).is_some());
    let node = created(&server, "/api/v1/nodes", r#"{"metadata":{"name":"n"}}"#);
    let taints = r#"[{"effect":"NoSchedule","key":"node.kubernetes.io/not-ready"}]"#;
    assert_eq!(node.at(&["spec", "taints"]), Some(&json(taints)));
}

#[test]
fn services_get_addresses_and_ports() {
    const SERVICES: &str = "/api/v1/namespaces/default/services";
    let server = generating();
    let service = |name: &str, spec: &str| {
        let object = created(&server, SERVICES, &format!(r#"{{"metadata":{{"name":"{name}"}},"spec":{spec}}}"#));
        object.get("spec").cloned().unwrap()
    };
    let addressed = |spec: &Value, address: &str, families: &str, policy: &str| {
        assert_eq!(spec.str_at(&["clusterIP"]), Some(address));
        assert_eq!(spec.get("clusterIPs"), Some(&json(&format!(r#"["{address}"]"#))));
        assert_eq!((spec.get("ipFamilies"), spec.str_at(&["ipFamilyPolicy"])), (Some(&json(families)), Some(policy)));
    };
    let ports = r#""ports":[{"name":"a","port":80},{"name":"b","port":81,"nodePort":30001}]"#;
    addressed(
        &service("given", r#"{"clusterIP":"10.0.0.2","selector":{"a":"b"}}"#),
        "10.0.0.2",
        r#"["IPv4"]"#,
        "SingleStack",
    );
    addressed(&service("a", r#"{"selector":{"a":"b"}}"#), "10.0.0.3", r#"["IPv4"]"#, "SingleStack");
    addressed(&service("none", r#"{"clusterIP":"None","selector":{"a":"b"}}"#), "None", r#"["IPv4"]"#, "SingleStack");
    addressed(&service("dual", r#"{"clusterIP":"None"}"#), "None", r#"["IPv4","IPv6"]"#, "RequireDualStack");
    assert_eq!(service("ext", r#"{"type":"ExternalName","externalName":"x.y"}"#).get("clusterIP"), None);
    let numbers = |spec: &Value| {
        let ports = spec.get("ports").and_then(Value::as_array).unwrap().iter();
        ports.map(|port| port.get("nodePort").and_then(Value::as_int)).collect::<Vec<_>>()
    };
    assert_eq!(numbers(&service("np", &format!(r#"{{"type":"NodePort",{ports}}}"#))), [Some(30_000), Some(30_001)]);
    let local = service(
        "lb",
        &format!(r#"{{"type":"LoadBalancer","externalTrafficPolicy":"Local",{}}}"#, r#""ports":[{"port":80}]"#),
    );
    assert_eq!(numbers(&local), [Some(30_002)]);
    assert_eq!(local.get("healthCheckNodePort"), Some(&Value::Int(30_003)));

    let put = |name: &str, spec: &str| {
        let object = format!(r#"{{"metadata":{{"name":"{name}"}},"spec":{spec}}}"#);
        let response = send(&server, Method::Put, &format!("{SERVICES}/{name}"), &object);
        assert_eq!(response.code, 200, "{}", response.body.message());
        body(&response).get("spec").cloned().unwrap()
    };
    let updated = put("np", r#"{"type":"NodePort","ports":[{"name":"a","port":90},{"name":"b","port":91}]}"#);
    assert_eq!(numbers(&updated), [Some(30_000), Some(30_001)]);
    addressed(&updated, "10.0.0.4", r#"["IPv4"]"#, "SingleStack");
    let plain = put(
        "np",
        r#"{"type":"ClusterIP","ports":[{"name":"a","port":90,"nodePort":30000},{"name":"b","port":91,"nodePort":30001}]}"#,
    );
    assert_eq!(numbers(&plain), [None, None]);
    let external =
        put("a", r#"{"type":"ExternalName","externalName":"x.y","clusterIP":"10.0.0.3","clusterIPs":["10.0.0.3"]}"#);
    assert_eq!((external.get("clusterIP"), external.get("clusterIPs")), (None, None));
}

#[test]
fn a_service_gets_no_port_that_it_requests_itself() {
    let server = generating();
    let ports = r#"[{"name":"a","port":80},{"name":"b","port":81,"nodePort":30000}]"#;
    let object = format!(r#"{{"metadata":{{"name":"s"}},"spec":{{"type":"NodePort","ports":{ports}}}}}"#);
    let service = created(&server, "/api/v1/namespaces/default/services", &object);
    let ports = service.at(&["spec", "ports"]).and_then(Value::as_array).unwrap();
    let numbers: Vec<_> = ports.iter().map(|port| port.get("nodePort").and_then(Value::as_int)).collect();
    assert_eq!(numbers, [Some(30_001), Some(30_000)]);
}

/// A server that validates built-in kinds and generates their fields.
fn validating() -> Server {
    complete().build()
}

/// The options of a server that behaves like a cluster.
fn complete() -> ServerBuilder {
    crate::builder(Release::NEWEST, 1).with_built_in_kinds().with_generated_fields().with_content_validation()
}

#[test]
fn ports_of_a_service_with_the_same_number_share_their_node_port() {
    let service = |query: &str, policy: &str| {
        let ports = r#"[{"name":"a","port":80},{"name":"b","port":80,"protocol":"UDP"},{"name":"c","port":80}]"#;
        let object = format!(r#"{{"metadata":{{"name":"s"}},"spec":{{"type":"NodePort"{policy},"ports":{ports}}}}}"#);
        let path = format!("/api/v1/namespaces/default/services{query}");
        send(&validating(), Method::Post, &path, &object).body.message().to_owned()
    };
    // A dry run shows the port after the range.
    for (query, number) in [("", 30_000), ("?dryRun=All", 32_769)] {
        let text = format!("spec.ports[2].nodePort: Duplicate value: {number}");
        let message = service(query, "");
        assert!(message.contains(&text), "{message}");
    }
    let message = service("", r#","ipFamilyPolicy":"""#);
    assert!(message.contains(r#"spec.ipFamilyPolicy: Unsupported value: """#), "{message}");
}

#[test]
fn a_service_loses_fields_that_its_new_type_does_not_have() {
    let (server, path) = (validating(), "/api/v1/namespaces/default/services");
    let spec = r#"{"type":"LoadBalancer","loadBalancerClass":"a.b/c","ports":[{"port":80}]}"#;
    created(&server, path, &format!(r#"{{"metadata":{{"name":"s"}},"spec":{spec}}}"#));
    let response = merge(&server, &format!("{path}/s"), r#"{"spec":{"type":"ClusterIP"}}"#);
    assert_eq!(response.code, 200, "{}", response.body.message());
    let object = body(&response);
    for field in ["allocateLoadBalancerNodePorts", "loadBalancerClass", "externalTrafficPolicy"] {
        assert_eq!(object.at(&["spec", field]), None, "{field}");
    }
}

#[test]
fn a_load_balancer_without_allocated_ports_keeps_those_it_names() {
    let (server, path) = (validating(), "/api/v1/namespaces/default/services");
    let spec = r#"{"type":"LoadBalancer","ports":[{"port":80,"nodePort":30080}]}"#;
    created(&server, path, &format!(r#"{{"metadata":{{"name":"s"}},"spec":{spec}}}"#));
    let ports = |patch: &str| {
        let response = merge(&server, &format!("{path}/s"), &format!(r#"{{"spec":{patch}}}"#));
        assert_eq!(response.code, 200, "{}", response.body.message());
        let ports = body(&response).at(&["spec", "ports"]).and_then(Value::as_array).unwrap().to_vec();
        ports.first().and_then(|port| port.get("nodePort")).and_then(Value::as_int)
    };
    assert_eq!(ports(r#"{"allocateLoadBalancerNodePorts":false}"#), Some(30080));
    assert_eq!(ports(r#"{"type":"ClusterIP","allocateLoadBalancerNodePorts":null}"#), None);
}

#[test]
fn a_cluster_ip_of_another_family_is_reported_as_not_configured() {
    let object = r#"{"metadata":{"name":"s"},"spec":{"clusterIP":"::1","ports":[{"port":80}]}}"#;
    let response = send(&validating(), Method::Post, "/api/v1/namespaces/default/services", object);
    let text = r#"spec.clusterIPs[0]: Invalid value: ["::1"]: IPv6 is not configured on this cluster"#;
    assert!(response.body.message().contains(text), "{}", response.body.message());
}

#[test]
fn a_cluster_ip_stays() {
    const SERVICES: &str = "/api/v1/namespaces/default/services";
    let server = validating();
    let object =
        r#"{"metadata":{"name":"s"},"spec":{"clusterIP":"10.0.0.5","ipFamilies":["IPv4"],"ports":[{"port":80}]}}"#;
    let stored = created(&server, SERVICES, object);
    let update = |address: &str| {
        let mut object = Value::clone(&stored);
        object.insert_at(&["spec", "clusterIP"], address.into());
        let response =
            send(&server, Method::Put, &format!("{SERVICES}/s?dryRun=All"), &crdx_value::json::to_string(&object));
        (response.code, response.body.message().to_owned())
    };
    let errors = [
        ("None", r#"spec.clusterIPs[0]: Invalid value: ["None"]: may not change once set"#),
        (
            "a",
            r#"spec.clusterIPs[0]: Invalid value: "a": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"#,
        ),
    ];
    for (address, error) in errors {
        assert_eq!(update(address), (422, format!(r#"Service "s" is invalid: {error}"#)));
    }
    for address in ["10.0.0.5", ""] {
        assert_eq!(update(address).0, 200, "{address}");
    }
}

#[test]
fn a_given_empty_list_is_owned() {
    let owned = |rules: &str| {
        let role = format!(r#"{{"metadata":{{"name":"r"}}{rules}}}"#);
        let path = "/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles";
        created(&validating(), path, &role).at(&["metadata", "managedFields"]).map(crdx_value::json::to_string)
    };
    assert_eq!(owned(""), None);
    let fields = owned(r#","rules":[]"#).unwrap_or_default();
    assert!(fields.contains(r#""fieldsV1":{"f:rules":{}}"#), "{fields}");
}

#[test]
fn requests_for_clients_do_not_ask_for_the_group_of_administrators() {
    // The subject is O = system:masters, CN = a.
    const REQUEST: &str = "-----BEGIN CERTIFICATE REQUEST-----\n\
        MIHgMIGHAgEAMCUxFzAVBgNVBAoMDnN5c3RlbTptYXN0ZXJzMQowCAYDVQQDDAFh\n\
        MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEBPbc6MDW4Nt93EcNoGqGzrsytFLH\n\
        VRiXxLFJzTmT4vEHliogZYRgfaB+3jDxNjan9nk6RWmjbdmlJkbmscVOc6AAMAoG\n\
        CCqGSM49BAMCA0gAMEUCIGaIPIBv4C5h1SwgvdksghDKLIWHiuRs0ZdEPz0cyPBw\n\
        AiEAh4Hl0ZYsDVLvl7g567wsr+LANuSFhib/nkpbLmVYOHI=\n\
        -----END CERTIFICATE REQUEST-----\n";
    let request = Encoding::Standard.encode(REQUEST.as_bytes());
    let create = |signer: &str| {
        let object = format!(
            r#"{{"metadata":{{"name":"r"}},"spec":{{"request":"{request}","signerName":"{signer}","usages":["client auth"]}}}}"#
        );
        let path = "/apis/certificates.k8s.io/v1/certificatesigningrequests?dryRun=All";
        let response = send(&validating(), Method::Post, path, &object);
        (response.code, response.body.message().to_owned())
    };
    assert_eq!(create("example.com/a"), (201, String::new()));
    let refused = r#"certificatesigningrequests.certificates.k8s.io "r" is forbidden: use of kubernetes.io/kube-apiserver-client signer with system:masters group is not allowed"#;
    assert_eq!(create("kubernetes.io/kube-apiserver-client"), (403, refused.to_owned()));
}

#[test]
fn a_bound_claim_that_loses_its_size_keeps_the_rest() {
    const CLAIMS: &str = "/api/v1/namespaces/default/persistentvolumeclaims";
    let server = validating();
    let claim = r#"{"metadata":{"name":"c"},"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}}"#;
    created(&server, CLAIMS, claim);
    let patch = |path: &str, patch: &str| {
        let path = format!("{CLAIMS}/{path}");
        answer(&server, Method::Patch, &path, "application/merge-patch+json", patch).body.message().to_owned()
    };
    assert_eq!(patch("c/status", r#"{"status":{"phase":"Bound"}}"#), "");
    let message = patch("c", r#"{"spec":{"resources":{"requests":{"storage":null}}}}"#);
    assert!(message.contains("spec.resources[storage]: Required value") && !message.contains("immutable"), "{message}");
}

/// Creates a Service with this specification, and returns the code and the message of the answer.
fn create_service(server: &Server, name: &str, spec: &str, query: &str) -> (u16, String) {
    let object = format!(r#"{{"metadata":{{"name":"{name}"}},"spec":{spec}}}"#);
    let response = send(server, Method::Post, &format!("/api/v1/namespaces/default/services{query}"), &object);
    (response.code, response.body.message().to_owned())
}

#[test]
fn only_one_service_has_a_cluster_ip() {
    let server = validating();
    let spec = r#"{"clusterIP":"10.0.0.5","ports":[{"port":80}]}"#;
    assert_eq!(create_service(&server, "first", spec, "").0, 201);
    let text = r#"Service "second" is invalid: spec.clusterIPs: Invalid value: ["10.0.0.5"]: failed to allocate IP 10.0.0.5: provided IP is already allocated"#;
    assert_eq!(create_service(&server, "second", spec, ""), (422, text.to_owned()));
    assert_eq!(create_service(&server, "second", spec, "?dryRun=All").0, 201, "a dry run does not look");
}

fn ranges(text: &str) -> Vec<ServiceRange> {
    vec![ServiceRange::parse(text).unwrap()]
}

/// A cluster with a range and one Service.
#[derive(Debug)]
struct OtherServices;

impl ClusterState for OtherServices {
    fn object(&self, _: GroupVersionResource<'_>, _: &str, _: &str) -> Result<Lookup<Arc<Value>>, Unread> {
        Ok(Lookup::Unknown)
    }

    fn list(&self, of: GroupVersionResource<'_>, _: &str) -> Result<Listed, Unread> {
        let text = match of {
            SERVICES => r#"{"spec":{"clusterIPs":["10.0.0.7"],"ports":[{"nodePort":30007}]}}"#,
            SERVICE_CIDRS => r#"{"metadata":{"name":"kubernetes"},"spec":{"cidrs":["10.0.0.0/24"]}}"#,
            _ => return Ok(Listed::default()),
        };
        Ok(Listed { objects: vec![Arc::new(json::read(text.as_bytes()).unwrap())], is_complete: true })
    }
}

#[test]
fn services_that_are_not_stored_have_addresses_and_ports_too() {
    let server = complete().with_cluster_state(Arc::new(OtherServices)).build();
    let create = |spec: &str| create_service(&server, "s", spec, "").1;
    let taken = create(r#"{"clusterIP":"10.0.0.7","ports":[{"port":80}]}"#);
    assert!(taken.ends_with("failed to allocate IP 10.0.0.7: provided IP is already allocated"), "{taken}");
    let outside = create(r#"{"clusterIP":"10.0.1.7","ports":[{"port":80}]}"#);
    assert!(outside.ends_with("the provided network does not match the current range"), "{outside}");
    let port = create(r#"{"type":"NodePort","ports":[{"port":80,"nodePort":30007}]}"#);
    assert!(
        port.ends_with("spec.ports[0].nodePort: Invalid value: 30007: provided port is already allocated"),
        "{port}"
    );
    assert_eq!(create(r#"{"clusterIP":"10.0.0.8","type":"NodePort","ports":[{"port":80,"nodePort":30008}]}"#), "");
}

/// Answers of real servers.
#[test]
fn a_cluster_ip_outside_the_range_is_refused() {
    let refusal = |minor: u16, address: &str, query: &str| {
        let options = crate::builder(Release::new(minor).unwrap(), 1).with_built_in_kinds().with_content_validation();
        let server = options.with_generated_fields().with_service_ranges(ranges("10.0.0.0/24")).build();
        create_service(&server, "s", &format!(r#"{{"clusterIP":"{address}","ports":[{{"port":80}}]}}"#), query).1
    };
    let outside = "failed to allocate IP 10.1.0.5: the provided network does not match the current range";
    assert!(refusal(37, "10.1.0.5", "").ends_with(outside));
    let text = "the provided IP (10.0.0.0) is not in the valid range. The range of valid IPs is 10.0.0.0/24";
    for (minor, query) in [(37, "?dryRun=All"), (32, ""), (32, "?dryRun=All")] {
        let message = refusal(minor, "10.0.0.0", query);
        assert!(message.ends_with(&format!("failed to allocate IP 10.0.0.0: {text}")), "{message}");
        assert_eq!(refusal(minor, "10.0.0.254", query), "");
    }
}

/// Answers of a real server.
#[test]
fn the_ranges_of_ready_service_cidrs_have_cluster_ips() {
    let server = complete().with_service_ranges(ranges("10.0.0.0/24")).build();
    let create = |name: &str| create_service(&server, name, r#"{"clusterIP":"10.8.0.5","ports":[{"port":80}]}"#, "").1;
    let outside = "failed to allocate IP 10.8.0.5: the provided network does not match the current range";
    assert!(create("a").ends_with(outside));
    let path = "/apis/networking.k8s.io/v1/servicecidrs";
    created(&server, path, r#"{"metadata":{"name":"extra"},"spec":{"cidrs":["10.8.0.0/16"]}}"#);
    let set_ready = |ready: &str| {
        let condition = format!(
            r#"{{"type":"Ready","status":"{ready}","reason":"R","message":"","lastTransitionTime":"2026-01-02T03:04:05Z"}}"#
        );
        let status = format!(r#"{{"status":{{"conditions":[{condition}]}}}}"#);
        assert_eq!(merge(&server, &format!("{path}/extra/status"), &status).code, 200);
    };
    set_ready("False");
    assert!(create("b").ends_with(outside));
    set_ready("True");
    assert_eq!(create("c"), "");
}

#[test]
fn addresses_are_allocated_from_the_range() {
    let server = complete().with_service_ranges(ranges("10.7.0.0/30")).build();
    let path = "/api/v1/namespaces/default/services";
    let object = r#"{"metadata":{"name":"a"},"spec":{"ports":[{"port":80}]}}"#;
    let dry = created(&server, &format!("{path}?dryRun=All"), object);
    assert_eq!(dry.str_at(&["spec", "clusterIP"]), Some("10.7.0.0"), "a dry run allocates nothing");
    assert_eq!(created(&server, path, object).str_at(&["spec", "clusterIP"]), Some("10.7.0.2"));
    let full = r#"Internal error occurred: failed to allocate a serviceIP for Service "b": range is full"#;
    assert_eq!(create_service(&server, "b", r#"{"ports":[{"port":80}]}"#, ""), (500, full.to_owned()));
}

#[test]
fn a_family_that_is_not_configured_is_reported_before_an_address_is_allocated() {
    let object = r#"{"metadata":{"name":"s"},"spec":{"ipFamilies":["IPv6"],"ports":[{"port":80}]}}"#;
    let response = send(&validating(), Method::Post, "/api/v1/namespaces/default/services", object);
    let text = r#"Service "s" is invalid: spec.ipFamilies[0]: Invalid value: "IPv6": not configured on this cluster"#;
    assert_eq!(response.body.message(), text);
}

#[test]
fn metadata_of_a_disruption_budget_are_validated_last() {
    let create = |policy: &str| {
        let object =
            format!(r#"{{"metadata":{{"name":"b","labels":{{"a":"a/b"}}}},"spec":{{"minAvailable":1{policy}}}}}"#);
        let path = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
        send(&validating(), Method::Post, path, &object).body.message().to_owned()
    };
    assert!(create("").contains("metadata.labels: Invalid value"), "{}", create(""));
    let both = create(r#","maxUnavailable":1"#);
    assert!(both.contains("cannot be both set") && !both.contains("metadata"), "{both}");
}

#[test]
fn a_limit_range_without_name_gets_one() {
    let object = created(&validating(), "/api/v1/namespaces/default/limitranges", r#"{"metadata":{}}"#);
    assert_eq!(object.str_at(&["metadata", "name"]), object.str_at(&["metadata", "uid"]));
}

#[test]
fn empty_lists_are_shown_in_errors_about_created_and_patched_objects() {
    let (server, path) = (validating(), "/apis/networking.k8s.io/v1/namespaces/default/ingresses");
    let text = "spec: Invalid value: []: either `defaultBackend` or `rules` must be specified";
    let object = r#"{"metadata":{"name":"i"},"spec":{"rules":[]}}"#;
    let message = send(&server, Method::Post, path, object).body.message().to_owned();
    assert!(message.contains(text), "{message}");
    created(&server, path, r#"{"metadata":{"name":"i"},"spec":{"rules":[{"host":"a.b"}]}}"#);
    let message = merge(&server, &format!("{path}/i"), r#"{"spec":{"rules":[]}}"#).body.message().to_owned();
    assert!(message.contains(text), "{message}");
}

#[test]
fn labels_of_endpoint_slices_change_the_generation() {
    let (server, path) = (server(), "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices");
    created(&server, path, r#"{"metadata":{"name":"e"},"addressType":"IPv4"}"#);
    let patch = |patch: &str| body(&merge(&server, &format!("{path}/e"), patch));
    let generation = |object: &Value| object.at(&["metadata", "generation"]).and_then(Value::as_int);
    assert_eq!(generation(&patch(r#"{"metadata":{"annotations":{"a":"b"}}}"#)), Some(1));
    assert_eq!(generation(&patch(r#"{"metadata":{"labels":{"a":"b"}}}"#)), Some(2));
}

#[test]
fn an_empty_list_of_scaling_policies_has_no_default() {
    let server = crate::builder(Release::NEWEST, 1).with_built_in_kinds().with_content_validation().build();
    let path = "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers";
    let create = |rules: &str| {
        let target = r#""scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"a"},"maxReplicas":2"#;
        let object = format!(r#"{{"metadata":{{"name":"h"}},"spec":{{{target},"behavior":{{"scaleDown":{rules}}}}}}}"#);
        send(&server, Method::Post, &format!("{path}?dryRun=All"), &object).body.message().to_owned()
    };
    assert_eq!(create(r#"{"selectPolicy":"Min"}"#), "");
    assert_eq!(
        create(r#"{"policies":[]}"#),
        "HorizontalPodAutoscaler.autoscaling \"h\" is invalid: spec.behavior.scaleDown.policies: Required value: \
         must specify at least one Policy"
    );
}

#[test]
fn keys_of_custom_resources_have_no_prefix_beside_built_in_kinds() {
    let crd = r#"{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"kites.a.com"},
        "spec":{"group":"a.com","scope":"Cluster","names":{"plural":"kites","kind":"Kite"},"versions":[{"name":"v1","served":true,
        "storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}}"#;
    let kite = r#"{"apiVersion":"a.com/v1","kind":"Kite","metadata":{"name":"k"}}"#;
    let key = |server: &Server| {
        send(server, Method::Post, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crd);
        send(server, Method::Post, "/apis/a.com/v1/kites", kite);
        let other = kite.replace(r#""name":"k""#, r#""name":"k","uid":"b0045219-e219-11e8-9f93-42010a80021d""#);
        let message = send(server, Method::Put, "/apis/a.com/v1/kites/k", &other).body.message().to_owned();
        message.split("Key: ").nth(1).and_then(|rest| rest.split(',').next()).unwrap_or(&message).to_owned()
    };
    assert_eq!(key(&server()), "/registry/a.com/kites/k");
    assert_eq!(key(&Server::new(Release::NEWEST, 1)), "/registry/apiextensions.kubernetes.io/a.com/kites/k");
}

#[test]
fn the_key_of_a_scale_is_that_of_its_object() {
    let server = server();
    send(&server, Method::Post, DEPLOYMENTS, DEPLOYMENT);
    let scale = r#"{"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"d","namespace":"default",
        "uid":"b0045219-e219-11e8-9f93-42010a80021d"},"spec":{"replicas":1}}"#;
    let refused = send(&server, Method::Put, &format!("{DEPLOYMENTS}/d/scale"), scale);
    assert!(refused.body.message().contains("Key: /registry/deployments/default/d,"), "{}", refused.body.message());
}

#[test]
fn statuses_are_validated() {
    let server = crate::builder(Release::NEWEST, 1).with_built_in_kinds().with_content_validation().build();
    send(&server, Method::Post, DEPLOYMENTS, DEPLOYMENT);
    let path = format!("{DEPLOYMENTS}/d/status");
    let status = DEPLOYMENT.replace(r#""replicas":7"#, r#""replicas":1,"readyReplicas":2"#);
    let refused = send(&server, Method::Put, &path, &status);
    assert_eq!(
        (refused.code, refused.body.message()),
        (
            422,
            r#"Deployment.apps "d" is invalid: status.readyReplicas: Invalid value: 2: cannot be greater than status.replicas"#
        )
    );
    assert_eq!(send(&server, Method::Put, &path, DEPLOYMENT).code, 200);
}

#[test]
fn only_a_load_balancer_has_its_addresses() {
    let server = crate::builder(Release::NEWEST, 1).with_built_in_kinds().with_content_validation().build();
    let path = "/api/v1/namespaces/default/services";
    let service = |type_: &str, status: &str| {
        format!(
            r#"{{"apiVersion":"v1","kind":"Service","metadata":{{"name":"s"}},"spec":{{"type":"{type_}","ports":[{{"port":80}}]}},"status":{{{status}}}}}"#
        )
    };
    send(&server, Method::Post, path, &service("LoadBalancer", ""));
    let balancer = r#""loadBalancer":{"ingress":[{"ip":"192.0.2.1"}]}"#;
    let written = send(&server, Method::Put, &format!("{path}/s/status"), &service("LoadBalancer", balancer));
    let mode =
        body(&written).at(&["status", "loadBalancer", "ingress"]).and_then(Value::as_array).map(<[Value]>::to_vec);
    assert_eq!(mode.unwrap()[0].str_at(&["ipMode"]), Some("VIP"));
    let changed = send(&server, Method::Put, &format!("{path}/s"), &service("ClusterIP", ""));
    assert_eq!(body(&changed).get("status"), Some(&json::read(br#"{"loadBalancer":{}}"#).unwrap()));
}

#[test]
fn an_empty_family_policy_of_a_service_is_rejected() {
    let server = crate::builder(Release::NEWEST, 1).with_built_in_kinds().with_content_validation();
    let server = server.with_generated_fields().build();
    let services = "/api/v1/namespaces/default/services";
    let service = r#"{"metadata":{"name":"s"},"spec":{"ports":[{"port":80}]}}"#;
    assert_eq!(send(&server, Method::Post, services, service).code, 201);
    let patch = r#"{"spec":{"ipFamilyPolicy":""}}"#;
    let answer = answer(&server, Method::Patch, &format!("{services}/s"), "application/merge-patch+json", patch);
    assert!(answer.body.message().contains("spec.ipFamilyPolicy: Unsupported value: \"\""));
}

#[test]
fn api_services_are_validated() {
    let server = crate::builder(Release::NEWEST, 1).with_built_in_kinds().with_content_validation().build();
    let create = |object: &str| {
        let path = "/apis/apiregistration.k8s.io/v1/apiservices";
        let answer = send(&server, Method::Post, path, object);
        (answer.code, answer.body.message().to_owned())
    };
    let spec = r#"{"group":"a.b","version":"v1","groupPriorityMinimum":1,"versionPriority":1,"service":{"name":"s","namespace":"n"}}"#;
    assert_eq!(create(&format!(r#"{{"metadata":{{"name":"v1.a.b"}},"spec":{spec}}}"#)).0, 201);
    assert_eq!(create(&format!(r#"{{"metadata":{{"name":"v2.a.b"}},"spec":{spec}}}"#)).0, 422);
}

#[test]
fn the_generation_follows_the_kind() {
    let server = server();
    let generation = |response: &Response| body(response).at(&["metadata", "generation"]).and_then(Value::as_int);
    let classes = "/apis/scheduling.k8s.io/v1/priorityclasses";
    let class = |text: &str| {
        format!(
            r#"{{"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{{"name":"a"}},"value":1,"description":"{text}"}}"#
        )
    };
    assert_eq!(generation(&send(&server, Method::Post, classes, &class("a"))), Some(1));
    assert_eq!(generation(&send(&server, Method::Put, &format!("{classes}/a"), &class("b"))), Some(1));

    let drivers = "/apis/storage.k8s.io/v1/csidrivers";
    let driver = r#"{"apiVersion":"storage.k8s.io/v1","kind":"CSIDriver","metadata":{"name":"a"},"spec":{}}"#;
    assert_eq!(generation(&send(&server, Method::Post, drivers, driver)), None);
    let merge =
        |patch: &str| answer(&server, Method::Patch, &format!("{drivers}/a"), "application/merge-patch+json", patch);
    assert_eq!(generation(&merge(r#"{"metadata":{"labels":{"a":"b"}}}"#)), None);
    assert_eq!(generation(&merge(r#"{"spec":{"requiresRepublish":true}}"#)), Some(1));

    // The server does not set the generation of other kinds.
    let maps = "/api/v1/namespaces/default/configmaps";
    let map = |generation: i64| {
        format!(
            r#"{{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"a{generation}","generation":{generation}}}}}"#
        )
    };
    assert_eq!(generation(&send(&server, Method::Post, maps, &map(5))), Some(5));
    let negative = send(&server, Method::Post, maps, &map(-1).replace("a-1", "a"));
    assert!(
        negative.body.message().contains("metadata.generation: Invalid value: -1: must be greater than or equal to 0"),
        "{}",
        negative.body.message()
    );
}

#[test]
fn a_patch_that_removes_the_api_version_leaves_no_object() {
    let server = server();
    send(&server, Method::Post, DEPLOYMENTS, DEPLOYMENT);
    let merge = |query: &str| {
        let path = format!("{DEPLOYMENTS}/d?{query}");
        answer(&server, Method::Patch, &path, "application/merge-patch+json", r#"{"apiVersion":null}"#)
    };
    let strict = merge("fieldValidation=Strict");
    assert_eq!(strict.code, 422);
    let end = r#": strict decoding error: unknown field "metadata", unknown field "spec", unknown field "status""#;
    assert!(strict.body.message().ends_with(end), "{}", strict.body.message());
    let lenient = merge("fieldValidation=Ignore");
    assert_eq!(lenient.code, 400);
    assert_eq!(
        lenient.body.message(),
        "the name of the object (d based on URL) was undeterminable: name must be provided"
    );
}

#[test]
fn an_empty_list_resets_the_managed_fields() {
    let server = server();
    let maps = "/api/v1/namespaces/default/configmaps";
    let map = r#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"a":"b"}}"#;
    let managed = |response: &Response| body(response).at(&["metadata", "managedFields"]).is_some();
    assert!(managed(&send(&server, Method::Post, maps, map)));
    let path = format!("{maps}/a");
    assert!(managed(&send(&server, Method::Put, &path, map)));
    let reset = map.replace(r#""name":"a""#, r#""name":"a","managedFields":[]"#);
    assert!(!managed(&send(&server, Method::Put, &path, &reset)));
}

#[test]
fn an_empty_map_in_an_atomic_list_changes_the_owner_of_the_list() {
    let server = crate::builder(Release::NEWEST, 1).with_built_in_kinds().with_content_validation().build();
    let ranges = "/api/v1/namespaces/default/limitranges";
    let range = |item: &str| {
        format!(r#"{{"apiVersion":"v1","kind":"LimitRange","metadata":{{"name":"a"}},"spec":{{"limits":[{item}]}}}}"#)
    };
    let limits = r#"{"max":{"cpu":"1"},"type":"Pod"}"#;
    let owner_after = |item: &str| {
        let updated = send(&server, Method::Put, &format!("{ranges}/a?fieldManager=other&dryRun=All"), &range(item));
        let updated = body(&updated);
        let managers = updated.at(&["metadata", "managedFields"]).and_then(Value::as_array).unwrap();
        assert_eq!(managers.len(), 1);
        managers[0].str_at(&["manager"]).unwrap().to_owned()
    };
    assert_eq!(send(&server, Method::Post, ranges, &range(limits)).code, 201);
    assert_eq!(owner_after(limits), "test");
    assert_eq!(owner_after(r#"{"max":{"cpu":"1"},"min":{},"type":"Pod"}"#), "other");
}

#[test]
fn errors_of_an_apply_show_empty_maps() {
    let server = crate::builder(Release::NEWEST, 1).with_built_in_kinds().with_content_validation().build();
    let deployment = r#"{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d"},"spec":{
        "selector":{"matchLabels":{"app":"d"}},"template":{"metadata":{"labels":{}},"spec":{"containers":[{"name":"a","image":"i"}]}}}}"#;
    for (given, shown) in [(r#""labels":{}"#, "{}"), (r#""labels":null"#, "null")] {
        let deployment = deployment.replace(r#""labels":{}"#, given);
        let path = format!("{DEPLOYMENTS}/d?fieldManager=m");
        let refused = answer(&server, Method::Patch, &path, "application/apply-patch+yaml", &deployment);
        let message = format!(
            "spec.template.metadata.labels: Invalid value: {shown}: `selector` does not match template `labels`"
        );
        assert!(refused.body.message().contains(&message), "{}", refused.body.message());
    }
}

#[test]
fn the_time_of_a_taint_is_that_of_the_request() {
    let server = crate::builder(Release::NEWEST, 1).with_built_in_kinds().with_generated_fields().build();
    let rule = r#"{"apiVersion":"resource.k8s.io/v1","kind":"DeviceTaintRule","metadata":{"name":"a"},"spec":{
        "deviceSelector":{"driver":"x.example.com"},"taint":{"key":"k","effect":"NoExecute"}}}"#;
    let created = send(&server, Method::Post, "/apis/resource.k8s.io/v1/devicetaintrules", rule);
    let path = "/apis/resource.k8s.io/v1/devicetaintrules/b?fieldManager=m";
    let applied = rule.replace(r#""name":"a""#, r#""name":"b""#);
    let applied = answer(&server, Method::Patch, path, "application/apply-patch+yaml", &applied);
    assert_eq!(body(&applied).str_at(&["spec", "taint", "timeAdded"]), Some("1970-01-01T00:00:00Z"));
    assert_eq!(body(&created).str_at(&["spec", "taint", "timeAdded"]), Some("1970-01-01T00:00:00Z"));
    let slice = r#"{"apiVersion":"resource.k8s.io/v1","kind":"ResourceSlice","metadata":{"name":"a"},"spec":{
        "driver":"x.example.com","nodeName":"n","pool":{"name":"p","resourceSliceCount":1,"generation":1},
        "devices":[{"name":"d","taints":[{"key":"k","effect":"NoExecute"}]}]}}"#;
    let created = send(&server, Method::Post, "/apis/resource.k8s.io/v1/resourceslices", slice);
    let devices = body(&created);
    let devices = devices.at(&["spec", "devices"]).and_then(Value::as_array).unwrap();
    let taints = devices[0].get("taints").and_then(Value::as_array).unwrap();
    assert_eq!(taints[0].str_at(&["timeAdded"]), Some("1970-01-01T00:00:00Z"));
}
