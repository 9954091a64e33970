//! Requests for the subresources to the whole server.

use crdx_server::server::{Calls, Method, Reply, Request, Response, ResponseBody, Server, Timestamp, UserInfo};
use crdx_text::json;
use crdx_value::Value;
use crdx_value::release::Release;
use std::sync::Arc;
use std::time::Duration;

const PODS: &str = "/api/v1/namespaces/default/pods";
const POD: &str = r#"{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","labels":{"app":"a"}},
    "spec":{"serviceAccountName":"sa","containers":[{"name":"a","image":"x"}]}}"#;
const BUDGET: &str = r#"{"apiVersion":"policy/v1","kind":"PodDisruptionBudget","metadata":{"name":"b"},
    "spec":{"selector":{"matchLabels":{"app":"a"}}}}"#;
const BUDGETS: &str = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";

fn server() -> Server {
    let server = crate::builder(Release::NEWEST, 1).with_built_in_kinds().build();
    assert_eq!(post(&server, PODS, POD).code, 201);
    server
}

fn send(server: &Server, method: Method, path: &str, body: &str) -> Response {
    let mut request = Request::new(method, path, body);
    let types = if method == Method::Patch { "application/merge-patch+json" } else { "application/json" };
    request.content_type = Some(types.to_owned());
    server.handle(&request)
}

fn post(server: &Server, path: &str, body: &str) -> Response {
    send(server, Method::Post, path, body)
}

fn body(response: &Response) -> Arc<Value> {
    match &response.body {
        ResponseBody::Json(value) => Arc::clone(value),
        ResponseBody::Text(text) => panic!("{text}"),
    }
}

fn get(server: &Server, path: &str) -> Arc<Value> {
    body(&send(server, Method::Get, path, ""))
}

fn bind(server: &Server, target: &str) -> Response {
    let binding = format!(
        r#"{{"apiVersion":"v1","kind":"Binding","metadata":{{"name":"p","labels":{{"l":"1"}}}},"target":{target}}}"#
    );
    post(server, &format!("{PODS}/p/binding"), &binding)
}

#[test]
fn a_binding_assigns_a_pod_once() {
    let server = server();
    let bound = bind(&server, r#"{"kind":"Node","name":"n1"}"#);
    assert_eq!((bound.code, body(&bound).str_at(&["status"])), (201, Some("Success")));
    let pod = get(&server, &format!("{PODS}/p"));
    assert_eq!(pod.str_at(&["spec", "nodeName"]), Some("n1"));
    assert_eq!(pod.str_at(&["metadata", "labels", "l"]), Some("1"));
    let condition = pod.at(&["status", "conditions"]).and_then(Value::as_array).unwrap().first().unwrap().clone();
    assert_eq!((condition.str_at(&["type"]), condition.str_at(&["status"])), (Some("PodScheduled"), Some("True")));
    assert_eq!(condition.get("lastProbeTime"), Some(&Value::Null));
    let again = bind(&server, r#"{"name":"n2"}"#);
    assert_eq!(
        (again.code, again.body.message()),
        (409, "Operation cannot be fulfilled on pods/binding \"p\": pod p is already assigned to node \"n1\"")
    );
    let wrong = bind(&server, r#"{"kind":"Rack"}"#);
    assert_eq!(
        (wrong.code, wrong.body.message()),
        (
            500,
            "[target.kind: Unsupported value: \"Rack\": supported values: \"Node\", \"<empty>\", target.name: Required value]"
        )
    );
    let other = post(&server, &format!("{PODS}/q/binding"), r#"{"metadata":{"name":"q"},"target":{"name":"n"}}"#);
    assert_eq!((other.code, other.body.message()), (404, "pods \"q\" not found"));
    let named = post(&server, &format!("{PODS}/q/binding"), r#"{"metadata":{"name":"p"},"target":{"name":"n"}}"#);
    assert_eq!((named.code, named.body.message()), (400, "name in URL does not match name in Binding object"));
    let stale = r#"{"metadata":{"name":"p","uid":"x"},"target":{"name":"n"}}"#;
    let stale = post(&server, &format!("{PODS}/p/binding"), stale);
    assert_eq!(stale.code, 409);
    assert!(
        stale.body.message().contains("Key: /registry/pods/default/p,")
            && stale.body.message().contains("UID in precondition: x,"),
        "{}",
        stale.body.message()
    );
    assert_eq!(send(&server, Method::Get, &format!("{PODS}/p/binding"), "").code, 405);
}

fn evict(server: &Server, options: &str) -> Response {
    let eviction = format!(r#"{{"apiVersion":"policy/v1","kind":"Eviction","metadata":{{"name":"p"}}{options}}}"#);
    post(server, &format!("{PODS}/p/eviction"), &eviction)
}

fn run(server: &Server, ready: bool) {
    let ready = if ready { "True" } else { "False" };
    let status = format!(r#"{{"status":{{"phase":"Running","conditions":[{{"type":"Ready","status":"{ready}"}}]}}}}"#);
    assert_eq!(send(server, Method::Patch, &format!("{PODS}/p/status"), &status).code, 200);
}

fn exists(server: &Server) -> bool {
    send(server, Method::Get, &format!("{PODS}/p"), "").code == 200
}

fn set_budget(server: &Server, status: &str) {
    let status = send(server, Method::Patch, &format!("{BUDGETS}/b/status"), &format!(r#"{{"status":{status}}}"#));
    assert_eq!(status.code, 200, "{}", status.body.message());
}

#[test]
fn an_eviction_deletes_a_pod() {
    let server = server();
    assert_eq!(evict(&server, r#","deleteOptions":{"dryRun":["All"]}"#).code, 201);
    assert!(exists(&server));
    let stale = evict(&server, r#","deleteOptions":{"preconditions":{"resourceVersion":"1"}}"#);
    assert_eq!(stale.code, 409);
    assert!(
        stale.body.message().starts_with("Operation cannot be fulfilled on Pod \"p\": the ResourceVersion in"),
        "{}",
        stale.body.message()
    );
    let evicted = evict(&server, "");
    assert_eq!((evicted.code, body(&evicted).str_at(&["status"])), (201, Some("Success")));
    assert!(!exists(&server));
    assert_eq!(evict(&server, "").code, 404);
}

#[test]
fn an_eviction_of_another_pod_with_the_name_is_a_conflict() {
    let server = server();
    let other = evict(&server, r#","deleteOptions":{"preconditions":{"uid":"x"}}"#);
    let start = "Operation cannot be fulfilled on Pod \"p\": the UID in the precondition (x) does not match";
    assert!(other.code == 409 && other.body.message().starts_with(start), "{}", other.body.message());
    assert!(exists(&server));
}

#[test]
fn the_options_of_an_eviction_are_validated_after_the_pod_has_its_condition() {
    let server = server();
    let refused = evict(&server, r#","deleteOptions":{"propagationPolicy":"Other"}"#);
    assert_eq!(refused.code, 422, "{}", refused.body.message());
    let pod = get(&server, &format!("{PODS}/p"));
    let conditions = pod.at(&["status", "conditions"]).and_then(Value::as_array).unwrap();
    assert_eq!(conditions.first().unwrap().str_at(&["type"]), Some("DisruptionTarget"));
    let options = r#"{"metadata":{"name":"p"},"deleteOptions":{"dryRun":["x"]}}"#;
    let other = post(&server, &format!("{PODS}/p/eviction?dryRun=All"), options);
    let text = "Non-matching dry-run options in request and content: [All] and [x]";
    assert_eq!((other.code, other.body.message()), (500, text));
}

#[test]
fn evictions_have_two_versions() {
    let server = server();
    let path = format!("{PODS}/p/eviction");
    let of =
        |api_version: &str| format!(r#"{{"apiVersion":"{api_version}","kind":"Eviction","metadata":{{"name":"p"}}}}"#);
    let wrong = post(&server, &path, &of("policy/v1beta2"));
    assert_eq!(wrong.code, 400, "{}", wrong.body.message());
    let dry_run = format!("{path}?dryRun=All");
    for api_version in ["policy/v1", "policy/v1beta1"] {
        assert_eq!(post(&server, &dry_run, &of(api_version)).code, 201, "{api_version}");
    }
    assert_eq!(post(&server, &path, &of("policy/v1beta1")).code, 201);
    assert!(!exists(&server));
}

#[test]
fn an_eviction_gives_a_running_pod_its_grace_period() {
    let server = server();
    assert_eq!(bind(&server, r#"{"name":"n1"}"#).code, 201);
    run(&server, true);
    assert_eq!(evict(&server, r#","deleteOptions":{"gracePeriodSeconds":7}"#).code, 201);
    let pod = get(&server, &format!("{PODS}/p"));
    assert_eq!(pod.at(&["metadata", "deletionGracePeriodSeconds"]), Some(&Value::Int(7)));
    assert!(pod.str_at(&["metadata", "deletionTimestamp"]).is_some());
}

#[test]
fn a_finalizer_keeps_an_evicted_pod_with_its_condition() {
    let server = server();
    let hold = r#"{"metadata":{"finalizers":["a.b/c"]}}"#;
    assert_eq!(send(&server, Method::Patch, &format!("{PODS}/p"), hold).code, 200);
    assert_eq!(evict(&server, "").code, 201);
    let pod = get(&server, &format!("{PODS}/p"));
    assert!(pod.str_at(&["metadata", "deletionTimestamp"]).is_some());
    let conditions = pod.at(&["status", "conditions"]).and_then(Value::as_array).unwrap();
    assert_eq!(conditions.first().unwrap().str_at(&["reason"]), Some("EvictionByEvictionAPI"));
}

#[test]
fn a_budget_limits_evictions() {
    let server = server();
    assert_eq!(post(&server, BUDGETS, BUDGET).code, 201);
    run(&server, true);
    let busy = evict(&server, "");
    assert_eq!(
        (busy.code, busy.body.message()),
        (429, "Cannot evict pod as it would violate the pod's disruption budget.")
    );
    assert_eq!(busy.headers, [("retry-after", "10".to_owned())]);
    let cause = |response: &Response| {
        let body = body(response);
        let causes = body.at(&["details", "causes"]).and_then(Value::as_array).unwrap();
        causes.first().unwrap().str_at(&["message"]).unwrap().to_owned()
    };
    assert_eq!(cause(&busy), "The disruption budget b is still being processed by the server.");
    set_budget(&server, r#"{"observedGeneration":1,"desiredHealthy":1,"currentHealthy":1}"#);
    assert_eq!(cause(&evict(&server, "")), "The disruption budget b needs 1 healthy pods and has 1 currently");
    set_budget(&server, r#"{"disruptionsAllowed":1}"#);
    assert_eq!(evict(&server, r#","deleteOptions":{"dryRun":["All"]}"#).code, 201);
    assert_eq!(evict(&server, "").code, 201);
    assert!(!exists(&server));
    let budget = get(&server, &format!("{BUDGETS}/b"));
    assert_eq!(budget.at(&["status", "disruptionsAllowed"]), Some(&Value::Int(0)));
    assert!(budget.at(&["status", "disruptedPods", "p"]).is_some());
    let condition = budget.at(&["status", "conditions"]).and_then(Value::as_array).unwrap().first().unwrap().clone();
    assert_eq!(condition.str_at(&["reason"]), Some("InsufficientPods"));
}

#[test]
fn an_unhealthy_pod_does_not_count_while_enough_are_healthy() {
    let server = server();
    assert_eq!(post(&server, BUDGETS, BUDGET).code, 201);
    run(&server, false);
    set_budget(&server, r#"{"observedGeneration":1,"desiredHealthy":2,"currentHealthy":1}"#);
    assert_eq!(evict(&server, "").code, 429);
    set_budget(&server, r#"{"currentHealthy":2}"#);
    assert_eq!(evict(&server, "").code, 201);
    assert!(!exists(&server));
}

/// Evicts the pod of a server whose deletions pause, and replaces the pod during the pause.
fn evict_while_the_pod_is_replaced(server: &Server) -> Response {
    let eviction = r#"{"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"p"}}"#;
    let request = Request {
        content_type: Some("application/json".to_owned()),
        ..Request::new(Method::Post, &format!("{PODS}/p/eviction"), eviction)
    };
    let Reply::Paused(paused) = server.reply(&request) else { panic!("no pause") };
    assert_eq!(send(server, Method::Delete, &format!("{PODS}/p"), "").code, 200);
    assert_eq!(post(server, PODS, POD).code, 201);
    let mut reply = server.resume(&request, &Calls::default(), paused);
    // The deletion of the new pod pauses, too.
    while let Reply::Paused(paused) = reply {
        reply = server.resume(&request, &Calls::default(), paused);
    }
    let Reply::Whole(response) = reply else { panic!("not resumed") };
    response
}

#[test]
fn an_eviction_of_a_pod_that_is_replaced_is_repeated_or_refused() {
    let server = || {
        let builder = crate::builder(Release::NEWEST, 1).with_built_in_kinds();
        let server = builder.with_pause_before_removal(Duration::from_millis(5)).build();
        assert_eq!(post(&server, PODS, POD).code, 201);
        server
    };
    let pending = server();
    assert_eq!(evict_while_the_pod_is_replaced(&pending).code, 201);
    assert!(!exists(&pending));
    let unhealthy = server();
    assert_eq!(post(&unhealthy, BUDGETS, BUDGET).code, 201);
    run(&unhealthy, false);
    set_budget(&unhealthy, r#"{"observedGeneration":1,"desiredHealthy":2,"currentHealthy":2}"#);
    assert_eq!(evict_while_the_pod_is_replaced(&unhealthy).code, 429);
    assert!(exists(&unhealthy));
}

#[test]
fn two_budgets_refuse_an_eviction() {
    let server = server();
    post(&server, BUDGETS, BUDGET);
    post(&server, BUDGETS, &BUDGET.replace(r#""b""#, r#""c""#));
    run(&server, true);
    let refused = evict(&server, "");
    assert_eq!(refused.code, 500);
    assert!(refused.body.message().starts_with("This pod has more than one PodDisruptionBudget"));
}

const ACCOUNTS: &str = "/api/v1/namespaces/default/serviceaccounts";

fn request_token(server: &Server, spec: &str) -> Response {
    let request = format!(r#"{{"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest","spec":{spec}}}"#);
    post(server, &format!("{ACCOUNTS}/sa/token"), &request)
}

#[test]
fn a_token_authenticates_its_service_account() {
    let server = server();
    let missing = request_token(&server, "{}");
    assert_eq!((missing.code, missing.body.message()), (404, "serviceaccounts \"sa\" not found"));
    let account = r#"{"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":"sa"}}"#;
    assert_eq!(post(&server, ACCOUNTS, account).code, 201);
    let issued = request_token(&server, r#"{"boundObjectRef":{"kind":"Pod","apiVersion":"v1","name":"p"}}"#);
    assert_eq!(issued.code, 201, "{}", issued.body.message());
    let request = body(&issued);
    assert_eq!(request.at(&["spec", "expirationSeconds"]), Some(&Value::Int(3600)));
    assert_eq!(request.str_at(&["metadata", "name"]), Some("sa"));
    assert_eq!(request.str_at(&["status", "expirationTimestamp"]), Some("1970-01-01T01:00:00Z"));
    let token = request.str_at(&["status", "token"]).unwrap();
    let claims = token.split('.').nth(1).unwrap();
    let claims = crdx_value::base64::Encoding::RawUrlSafe.decode(claims).unwrap();
    let claims = json::read(&claims).unwrap();
    assert_eq!(claims.str_at(&["sub"]), Some("system:serviceaccount:default:sa"));
    assert_eq!(claims.str_at(&["kubernetes.io", "pod", "name"]), Some("p"));
    assert_eq!(claims.get("aud"), request.at(&["spec", "audiences"]));
    let at = |seconds| server.user_of_token(token, Timestamp { seconds, nanos: 0 });
    let user = at(0).unwrap();
    assert_eq!(user.username, "system:serviceaccount:default:sa");
    let groups = ["system:serviceaccounts", "system:serviceaccounts:default", "system:authenticated"];
    assert_eq!(user.groups, groups);
    assert_eq!(user.extra.get("authentication.kubernetes.io/pod-name"), Some(&vec!["p".to_owned()]));
    assert_eq!(at(3600), None);
    assert_eq!(send(&server, Method::Delete, &format!("{PODS}/p"), "").code, 200);
    assert_eq!(at(0), None);
    for (spec, code, message) in [
        (
            r#"{"expirationSeconds":5}"#,
            422,
            "TokenRequest.authentication.k8s.io \"\" is invalid: spec.expirationSeconds: Invalid value: 5: may not specify a duration less than 10 minutes",
        ),
        (
            r#"{"boundObjectRef":{"kind":"Role","apiVersion":"rbac.authorization.k8s.io/v1","name":"r"}}"#,
            400,
            "cannot bind token to object of type rbac.authorization.k8s.io/v1, Kind=Role",
        ),
        (r#"{"boundObjectRef":{"kind":"Secret","apiVersion":"v1","name":"s"}}"#, 404, "secrets \"s\" not found"),
    ] {
        let refused = request_token(&server, spec);
        assert_eq!((refused.code, refused.body.message()), (code, message), "{spec}");
    }
}

const REQUESTS: &str = "/apis/certificates.k8s.io/v1/certificatesigningrequests";

#[test]
fn only_approval_decides_about_certificate_signing_requests() {
    let jane = UserInfo::authenticated("jane".to_owned(), vec!["dev".to_owned()]);
    let server = crate::builder(Release::NEWEST, 1).with_built_in_kinds().with_user(jane).build();
    let csr = r#"{"apiVersion":"certificates.k8s.io/v1","kind":"CertificateSigningRequest","metadata":{"name":"system:node:x"},
        "spec":{"signerName":"a.b/c","request":"","usages":["client auth"],"username":"admin"}}"#;
    let created = body(&post(&server, REQUESTS, csr));
    assert_eq!(created.str_at(&["spec", "username"]), Some("jane"));
    assert_eq!(created.at(&["spec", "groups"]), Some(&json::read(br#"["dev","system:authenticated"]"#).unwrap()));
    let patch = |subresource: &str, patch: &str| {
        send(&server, Method::Patch, &format!("{REQUESTS}/system:node:x{subresource}"), patch)
    };
    let approve = r#"{"spec":{"signerName":"x.y/z"},"status":{"certificate":"eA==","conditions":[{"type":"Approved","status":"True"}]}}"#;
    let ignored = body(&patch("", approve));
    assert_eq!((ignored.at(&["status", "conditions"]), ignored.str_at(&["spec", "signerName"])), (None, Some("a.b/c")));
    let refused = patch("/status", approve);
    assert_eq!(
        (refused.code, refused.body.message()),
        (
            422,
            "CertificateSigningRequest.certificates.k8s.io \"system:node:x\" is invalid: status.conditions: Forbidden: updates may not add a condition of type \"Approved\""
        )
    );
    let approved = patch("/approval", approve);
    assert_eq!(approved.code, 200, "{}", approved.body.message());
    let condition =
        body(&approved).at(&["status", "conditions"]).and_then(Value::as_array).unwrap().first().unwrap().clone();
    assert_eq!(condition.str_at(&["lastUpdateTime"]), Some("1970-01-01T00:00:00Z"));
    assert_eq!(condition.str_at(&["lastTransitionTime"]), Some("1970-01-01T00:00:00Z"));
    assert_eq!(body(&approved).at(&["status", "certificate"]), None);
    let denied =
        r#"{"status":{"conditions":[{"type":"Approved","status":"False"},{"type":"Denied","status":"True"}]}}"#;
    assert_eq!(
        patch("/approval", denied).body.message(),
        "CertificateSigningRequest.certificates.k8s.io \"system:node:x\" is invalid: [status.conditions[0].status: Unsupported value: \"False\": supported values: \"True\", status.conditions: Invalid value: \"Denied\": Approved and Denied conditions are mutually exclusive]"
    );
    let removed = patch("/approval", r#"{"status":{"conditions":null}}"#);
    assert_eq!(
        removed.body.message(),
        "CertificateSigningRequest.certificates.k8s.io \"system:node:x\" is invalid: status.conditions: Forbidden: updates may not remove a condition of type \"Approved\""
    );
    assert_eq!(
        body(&patch("/status", r#"{"status":{"certificate":"eA=="}}"#)).str_at(&["status", "certificate"]),
        Some("eA==")
    );
    assert_eq!(
        patch("/status", r#"{"status":{"certificate":"eQ=="}}"#).body.message(),
        "CertificateSigningRequest.certificates.k8s.io \"system:node:x\" is invalid: status.certificate: Forbidden: updates may not modify existing certificate content"
    );
}

#[test]
fn discovery_lists_actions() {
    let server = server();
    let list = get(&server, "/api/v1");
    let resources = list.get("resources").and_then(Value::as_array).unwrap();
    let named = |name: &str| resources.iter().find(|r| r.str_at(&["name"]) == Some(name)).unwrap();
    let eviction = named("pods/eviction");
    assert_eq!((eviction.str_at(&["group"]), eviction.str_at(&["kind"])), (Some("policy"), Some("Eviction")));
    assert_eq!(eviction.get("verbs"), Some(&json::read(br#"["create"]"#).unwrap()));
    assert_eq!(named("serviceaccounts/token").str_at(&["version"]), Some("v1"));
    assert_eq!(named("pods/binding").get("group"), None);
    let names: Vec<&str> =
        resources.iter().filter_map(|r| r.str_at(&["name"])).filter(|name| name.starts_with("pods")).collect();
    assert_eq!(
        names,
        ["pods", "pods/binding", "pods/ephemeralcontainers", "pods/eviction", "pods/resize", "pods/status"]
    );
    let bindings = named("bindings");
    assert_eq!((bindings.str_at(&["kind"]), bindings.str_at(&["singularName"])), (Some("Binding"), Some("binding")));
    assert_eq!(bindings.get("verbs"), Some(&json::read(br#"["create"]"#).unwrap()));
}

#[test]
fn a_scale_of_a_built_in_kind_is_typed() {
    let server = crate::builder(Release::NEWEST, 1).with_built_in_kinds().build();
    let deployments = "/apis/apps/v1/namespaces/default/deployments";
    let deployment = r#"{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d"},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{}}}"#;
    assert_eq!(post(&server, deployments, deployment).code, 201);
    let scale = |content_type: &str, text: &str| {
        let force = if content_type.contains("apply") { "&force=true" } else { "" };
        let mut request = Request::new(Method::Patch, &format!("{deployments}/d/scale?fieldManager=m{force}"), text);
        request.content_type = Some(content_type.to_owned());
        server.handle(&request)
    };
    let applied = scale(
        "application/apply-patch+yaml",
        r#"{"apiVersion":"autoscaling/v1","kind":"Scale","spec":{"replicas":3}}"#,
    );
    assert_eq!(applied.code, 200, "{}", applied.body.message());
    assert_eq!(body(&applied).at(&["spec", "replicas"]), Some(&Value::Int(3)));
    let merged = scale("application/strategic-merge-patch+json", r#"{"spec":{"replicas":2}}"#);
    assert_eq!(body(&merged).at(&["spec", "replicas"]), Some(&Value::Int(2)), "{}", merged.body.message());
    let negative = scale("application/merge-patch+json", r#"{"spec":{"replicas":-1}}"#);
    assert_eq!(
        (negative.code, negative.body.message()),
        (
            422,
            "Scale.autoscaling \"d\" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0"
        )
    );
    let other = scale("application/merge-patch+json", r#"{"metadata":{"uid":"x"}}"#);
    assert_eq!(other.code, 409);
    assert!(
        other
            .body
            .message()
            .starts_with("Operation cannot be fulfilled on deployments/scale.apps \"d\": Precondition failed"),
        "{}",
        other.body.message()
    );
}

#[test]
fn the_collection_of_bindings_assigns_the_pod_that_a_binding_names() {
    let server = server();
    let path = "/api/v1/namespaces/default/bindings";
    let binding = r#"{"metadata":{"name":"p","uid":"x"},"target":{"name":"n"}}"#;
    let bound = post(&server, path, binding);
    assert_eq!((bound.code, body(&bound).str_at(&["status"])), (201, Some("Success")), "the UID is no precondition");
    assert_eq!(get(&server, &format!("{PODS}/p")).str_at(&["spec", "nodeName"]), Some("n"));
    let unnamed = post(&server, path, r#"{"target":{"name":"n"}}"#);
    assert_eq!((unnamed.code, unnamed.body.message()), (400, "Name parameter required."));
    assert_eq!(send(&server, Method::Get, path, "").code, 405);
    assert_eq!(post(&server, &format!("{path}/p"), binding).code, 404);
}

#[test]
fn the_name_of_a_node_is_validated_since_1_37() {
    let server = server();
    let target = r#"{"name":"N_1"}"#;
    let refused = bind(&server, target);
    assert_eq!(refused.code, 500);
    let start = "target.name: Invalid value: \"N_1\": a lowercase RFC 1123 subdomain";
    assert!(refused.body.message().starts_with(start), "{}", refused.body.message());
    let older = crate::builder("1.36".parse().unwrap(), 1).with_built_in_kinds().build();
    assert_eq!(post(&older, PODS, POD).code, 201);
    assert_eq!(bind(&older, target).code, 201);
}

#[test]
fn a_binding_adds_its_annotations_except_those_of_former_init_containers() {
    for release in ["1.34", "1.37"] {
        let server = crate::builder(release.parse().unwrap(), 1).with_built_in_kinds().build();
        assert_eq!(post(&server, PODS, POD).code, 201);
        let annotations = r#"{"a":"b","pod.beta.kubernetes.io/init-containers":"x"}"#;
        let binding = format!(r#"{{"metadata":{{"name":"p","annotations":{annotations}}},"target":{{"name":"n"}}}}"#);
        assert_eq!(post(&server, &format!("{PODS}/p/binding"), &binding).code, 201);
        let kept = get(&server, &format!("{PODS}/p")).at(&["metadata", "annotations"]).cloned();
        assert_eq!(kept, Some(json::read(br#"{"a":"b"}"#).unwrap()), "{release}");
    }
}

/// `ValidatePodBinding`, and `setPodNodeAndMetadata` in `pkg/registry/core/pod/storage/storage.go`
#[test]
fn the_metadata_of_a_binding_are_validated_since_1_38() {
    let bound = |release: &str, metadata: &str| {
        let server = crate::builder(release.parse().unwrap(), 1).with_built_in_kinds().build();
        assert_eq!(post(&server, PODS, POD).code, 201);
        let binding = format!(r#"{{"metadata":{{"name":"p",{metadata}}},"target":{{"name":"n"}}}}"#);
        let response = post(&server, &format!("{PODS}/p/binding"), &binding);
        (response.code, response.body.message().to_owned())
    };
    let mirror = r#""annotations":{"kubernetes.io/config.mirror":"x"}"#;
    assert_eq!(bound("1.37", mirror).0, 201);
    let forbidden = "metadata.annotations[kubernetes.io/config.mirror]: Forbidden: may not add mirror pod annotation";
    assert_eq!(bound("1.38", mirror), (422, format!("Binding \"\" is invalid: {forbidden}")));
    let label = r#""labels":{"a":"-"}"#;
    assert_eq!(bound("1.37", label).0, 201);
    let (code, message) = bound("1.38", label);
    assert!(code == 500 && message.starts_with(r#"metadata.labels: Invalid value: "-": "#), "{code} {message}");
}

/// `BindingREST.Create` and `EvictionREST.Create`
#[test]
fn bindings_and_evictions_return_the_revision_of_the_pod_since_1_38() {
    for release in ["1.37", "1.38"] {
        let server = crate::builder(release.parse().unwrap(), 1).with_built_in_kinds().build();
        assert_eq!(post(&server, PODS, POD).code, 201);
        let revision = |of: &Value| of.str_at(&["metadata", "resourceVersion"]).map(str::to_owned);
        let is_newer = release == "1.38";
        let bound = bind(&server, r#"{"name":"n"}"#);
        let pod = revision(&get(&server, &format!("{PODS}/p")));
        assert_eq!(revision(&body(&bound)), pod.clone().filter(|_| is_newer));
        let evicted = revision(&body(&evict(&server, "")));
        assert_eq!(evicted.is_some(), is_newer);
        assert_ne!(evicted, pod);
    }
}

/// A server with generated fields and the Pod `p`, whose container requests CPU.
fn resizing_server(release: &str) -> Server {
    let builder = crate::builder(release.parse().unwrap(), 1).with_built_in_kinds();
    let server = builder.with_generated_fields().with_content_validation().build();
    let pod = r#"{"metadata":{"name":"p"},"spec":{"containers":[
        {"name":"a","image":"x","resources":{"requests":{"cpu":"1"}}}]}}"#;
    assert_eq!(post(&server, PODS, pod).code, 201);
    server
}

fn resize(server: &Server, cpu: &str) -> Response {
    let container = format!(r#"{{"name":"a","image":"y","resources":{{"requests":{{"cpu":"{cpu}"}}}}}}"#);
    let patch = format!(r#"{{"metadata":{{"labels":{{"l":"1"}}}},"spec":{{"containers":[{container}]}}}}"#);
    send(server, Method::Patch, &format!("{PODS}/p/resize"), &patch)
}

#[test]
fn a_resize_changes_resources_only() {
    let server = resizing_server("1.37");
    let resized = resize(&server, "2");
    assert_eq!(resized.code, 200, "{}", resized.body.message());
    let pod = get(&server, &format!("{PODS}/p"));
    let container = pod.at(&["spec", "containers"]).and_then(Value::as_array).unwrap().first().unwrap();
    assert_eq!(container.str_at(&["resources", "requests", "cpu"]), Some("2"));
    assert_eq!((container.str_at(&["image"]), pod.at(&["metadata", "labels"])), (Some("x"), None));
    assert_eq!(pod.at(&["metadata", "generation"]), Some(&Value::Int(2)));
    let mut read = Request::new(Method::Get, &format!("{PODS}/p/resize"), "");
    read.accept = Some("application/json;as=Table;v=v1;g=meta.k8s.io,application/json".to_owned());
    assert_eq!(*body(&server.handle(&read)), *pod, "it has no Table");
    assert_eq!(send(&server, Method::Delete, &format!("{PODS}/p/resize"), "").code, 405);
    assert_eq!(resize(&resizing_server("1.32"), "2").code, 404);
}

#[test]
fn a_node_accepts_the_resize_of_its_pod_since_1_36() {
    let reason = |server: &Server| {
        assert_eq!(bind(server, r#"{"kind":"Node","name":"n"}"#).code, 201);
        let response = resize(server, "2");
        (response.code, response.body.message().to_owned())
    };
    assert_eq!(reason(&resizing_server("1.35")).0, 200);
    let server = resizing_server("1.37");
    assert_eq!(reason(&server), (403, "pods \"p\" is forbidden: node \"n\" not found".to_owned()));
    let node = r#"{"metadata":{"name":"n"},"status":{"allocatable":{"cpu":"1500m","memory":"1Gi"}}}"#;
    assert_eq!(post(&server, "/api/v1/nodes", node).code, 201);
    let refused = resize(&server, "2");
    let causes = body(&refused).at(&["details", "causes"]).cloned();
    assert_eq!(causes, Some(json::read(br#"[{"reason":"NodeCapacity"}]"#).unwrap()));
    assert_eq!(resize(&server, "1200m").code, 200);
}

#[test]
fn a_limit_range_limits_a_resize() {
    let server = resizing_server("1.37");
    let range = r#"{"metadata":{"name":"l"},"spec":{"limits":[{"type":"Container","min":{"cpu":"2"}}]}}"#;
    assert_eq!(post(&server, "/api/v1/namespaces/default/limitranges", range).code, 201);
    let refused = resize(&server, "1500m");
    let text = "pods \"p\" is forbidden: minimum cpu usage per Container is 2, but request is 1500m";
    assert_eq!((refused.code, refused.body.message()), (403, text));
    assert_eq!(resize(&server, "3").code, 200);
}

#[test]
fn ephemeral_containers_are_added_through_their_subresource() {
    let server = resizing_server("1.37");
    let path = format!("{PODS}/p/ephemeralcontainers");
    let add = r#"{"metadata":{"labels":{"l":"1"}},"spec":{"ephemeralContainers":[{"name":"e","image":"x"}]}}"#;
    let added = send(&server, Method::Patch, &path, add);
    assert_eq!(added.code, 200, "{}", added.body.message());
    let pod = get(&server, &path);
    let containers = pod.at(&["spec", "ephemeralContainers"]).and_then(Value::as_array).unwrap();
    assert_eq!((containers.len(), pod.at(&["metadata", "labels"])), (1, None));
    assert_eq!(pod.at(&["metadata", "generation"]), Some(&Value::Int(2)));
    let removed = send(&server, Method::Patch, &path, r#"{"spec":{"ephemeralContainers":null}}"#);
    assert_eq!(removed.code, 422);
    let main = send(&server, Method::Patch, &format!("{PODS}/p"), r#"{"spec":{"ephemeralContainers":null}}"#);
    assert_eq!(main.code, 422);
}
