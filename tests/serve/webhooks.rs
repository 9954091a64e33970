//! Admission webhooks and conversion webhooks, called by a server on a loopback port.

mod conversion;
pub mod hook;
mod round_trips;

use crate::conformance::exchange::{Client, Http, Reply};
use crdx_serve::{Running, ServeOptions, WebhookService, Webhooks};
use crdx_server::policies::authorizer::Rules;
use crdx_server::server::{Namespaces, Server, ServerBuilder};
use crdx_value::release::Release;
use hook::{Answer, CERTIFICATE, Hook, patched, reviewed};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

pub const CRDS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
pub const KITES: &str = "/apis/toys.example.com/v1/namespaces/default/kites";

/// Starts `serve --admission` with the webhook as the service `system/hook`.
fn server(hook: &Hook) -> Running {
    start(hook, unvalidated().with_policy_validation().build())
}

/// Returns the options of a server that stores configurations that a full API server rejects.
fn unvalidated() -> ServerBuilder {
    let allow = Arc::new(Rules::allow_all());
    let options = crdx_kinds::builder(Release::NEWEST, 7).with_namespaces(Namespaces::OnDemand, &[]);
    options.with_policies(allow)
}

fn start(hook: &Hook, server: Server) -> Running {
    let mut webhooks = Webhooks::default();
    webhooks.add("system", "hook", WebhookService::read(&hook.url).unwrap());
    let options = ServeOptions { webhooks: Some(webhooks), ..ServeOptions::default() };
    crdx_serve::start(crdx_serve::Runtime::new().unwrap(), Arc::new(server), options).unwrap()
}

fn send(url: &str, method: &str, path: &str, body: Option<&Value>) -> Reply {
    let text = body.map(ToString::to_string);
    let content_type = (method == "PATCH").then_some("application/merge-patch+json");
    Http::new(url).call(method, path, text.as_deref(), content_type, "application/json")
}

pub fn authority() -> String {
    crdx_value::base64::Encoding::Standard.encode(CERTIFICATE)
}

pub fn crd() -> Value {
    let spec = json!({"type": "object", "properties": {"length": {"type": "integer", "minimum": 1},
        "colour": {"type": "string", "default": "red"}}});
    json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "kites.toys.example.com"}, "spec": {"group": "toys.example.com", "scope": "Namespaced",
        "names": {"plural": "kites", "kind": "Kite"}, "versions": [{"name": "v1", "served": true, "storage": true,
        "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}}}]}})
}

pub fn kite(name: &str, length: i64) -> Value {
    json!({"apiVersion": "toys.example.com/v1", "kind": "Kite", "metadata": {"name": name}, "spec": {"length": length}})
}

/// Installs the CRD and one webhook; `more` overrides its fields.
fn install(url: &str, family: &str, path: &str, hook: &str, more: &Value) {
    if send(url, "GET", &format!("{CRDS}/kites.toys.example.com"), None).code == 404 {
        assert_eq!(send(url, "POST", CRDS, Some(&crd())).code, 201);
        let served = || send(url, "GET", KITES, None).code == 200;
        assert!((0..500).any(|_| served() || {
            std::thread::sleep(Duration::from_millis(5));
            false
        }));
    }
    let mut webhook = json!({"name": format!("{}.example.com", path.replace('/', "")),
        "clientConfig": {"url": format!("{hook}{path}"), "caBundle": authority()},
        "rules": [{"operations": ["*"], "apiGroups": ["toys.example.com"], "apiVersions": ["*"], "resources": ["kites"]}],
        "sideEffects": "None", "admissionReviewVersions": ["v1"]});
    for (key, value) in more.as_object().unwrap() {
        webhook[key] = value.clone();
    }
    let configuration = json!({"apiVersion": "admissionregistration.k8s.io/v1",
        "kind": format!("{family}WebhookConfiguration"), "metadata": {"name": path.replace('/', "")}, "webhooks": [webhook]});
    let collection = format!("/apis/admissionregistration.k8s.io/v1/{}webhookconfigurations", family.to_lowercase());
    let stored = send(url, "POST", &collection, Some(&configuration));
    assert_eq!(stored.code, 201, "{}", stored.body);
}

fn message(reply: &Reply) -> (u16, &str) {
    (reply.code, reply.body["message"].as_str().unwrap_or_default())
}

#[test]
fn webhooks_change_objects_and_then_decide() {
    let hook = Hook::serve(|path, review| {
        if path == "/mutate" {
            let labels = json!({"op": "add", "path": "/metadata/labels", "value": {"mutated": "yes"}});
            return patched(review, &json!([{"op": "add", "path": "/spec/length", "value": 5}, labels]));
        }
        let denied = review["request"]["name"] == "bad";
        let status = json!({"code": 403, "message": "no such kite", "reason": "Forbidden"});
        reviewed(review, json!({"allowed": !denied, "status": status, "warnings": ["fly low"]}))
    });
    let running = server(&hook);
    let url = &running.url();
    install(url, "Mutating", "/mutate", &hook.url, &json!({}));
    install(url, "Validating", "/validate", &hook.url, &json!({"timeoutSeconds": 3}));
    let created = send(url, "POST", KITES, Some(&kite("a", 1)));
    assert_eq!((created.code, created.warnings.len()), (201, 1), "{}", created.body);
    assert_eq!(created.body["spec"], json!({"length": 5, "colour": "red"}));
    assert_eq!(created.body["metadata"]["labels"]["mutated"], "yes");
    let calls = hook.calls();
    let paths: Vec<&str> = calls.iter().map(|(path, _)| path.as_str()).collect();
    assert_eq!(paths, ["/mutate?timeout=10s", "/validate?timeout=3s"]);
    let request = &calls[1].1["request"];
    assert_eq!(
        request["object"],
        created.body["metadata"]
            .as_object()
            .map(|_| {
                let mut object = created.body.clone();
                object["metadata"].as_object_mut().unwrap().remove("resourceVersion");
                object
            })
            .unwrap()
    );
    assert_eq!((&request["operation"], &request["oldObject"]), (&json!("CREATE"), &Value::Null));
    assert_eq!(request["userInfo"]["username"], "kubernetes-admin");
    assert_eq!(request["options"]["kind"], "CreateOptions");
    assert_ne!(calls[0].1["request"]["uid"], calls[1].1["request"]["uid"]);

    let denied = send(url, "POST", KITES, Some(&kite("bad", 1)));
    assert_eq!(message(&denied), (403, "admission webhook \"validate.example.com\" denied the request: no such kite"));
    assert_eq!((denied.body["reason"].as_str(), denied.warnings.len()), (Some("Forbidden"), 1));
    assert_eq!(send(url, "GET", &format!("{KITES}/bad"), None).code, 404);
    // Validating webhooks do not receive an object that is invalid after the mutation.
    hook.calls();
    let mut invalid = kite("c", 1);
    invalid["spec"]["colour"] = json!(3);
    assert_eq!(send(url, "POST", KITES, Some(&invalid)).code, 422);
    assert_eq!(hook.calls().len(), 1);
    // Webhooks of both kinds are called for a deletion.
    assert_eq!(send(url, "DELETE", &format!("{KITES}/a"), None).code, 500);
    let calls = hook.calls();
    assert_eq!((calls.len(), &calls[0].1["request"]["object"]), (1, &Value::Null));
}

#[test]
fn a_patch_of_a_deletion_is_refused() {
    let hook = Hook::serve(|_, review| patched(review, &json!([{"op": "remove", "path": "/spec"}])));
    let running = server(&hook);
    let url = &running.url();
    install(
        url,
        "Mutating",
        "/mutate",
        &hook.url,
        &json!({"rules": [{"operations": ["DELETE"], "apiGroups": ["*"],
        "apiVersions": ["*"], "resources": ["kites"]}]}),
    );
    assert_eq!(send(url, "POST", KITES, Some(&kite("a", 1))).code, 201);
    let refused = send(url, "DELETE", &format!("{KITES}/a"), None);
    let why = "Internal error occurred: admission webhook \"mutate.example.com\" attempted to modify the object, which is not supported for this operation";
    assert_eq!(message(&refused), (500, why));
}

#[test]
fn failures_are_those_of_the_server() {
    let hook = Hook::serve(|path, review| match path {
        "/slow" => {
            std::thread::sleep(Duration::from_secs(3));
            reviewed(review, json!({"allowed": true}))
        }
        "/gone" => (404, json!("nothing here")),
        "/uid" => (
            200,
            json!({"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1",
            "response": {"uid": "x", "allowed": true}}),
        ),
        "/path" => patched(review, &json!([{"op": "remove", "path": "/spec/nothing"}])),
        _ => patched(review, &json!({"op": "add"})),
    });
    let url_of = hook.url.clone();
    let called = |path: &str| format!("failed calling webhook \"{path}.example.com\": ");
    for (family, path, more, expected) in [
        (
            "Validating",
            "/slow",
            json!({"timeoutSeconds": 1}),
            called("slow")
                + &format!("failed to call webhook: Post \"{url_of}/slow?timeout=1s\": context deadline exceeded"),
        ),
        (
            "Validating",
            "/gone",
            json!({}),
            called("gone") + "failed to call webhook: the server could not find the requested resource",
        ),
        (
            "Validating",
            "/dead",
            json!({"clientConfig": {"url": "https://127.0.0.1:1/dead"}}),
            called("dead")
                + "failed to call webhook: Post \"https://127.0.0.1:1/dead?timeout=10s\": dial tcp 127.0.0.1:1: connect: connection refused",
        ),
        (
            "Validating",
            "/untrusted",
            json!({"clientConfig": {"url": format!("{url_of}/untrusted")}}),
            called("untrusted")
                + &format!(
                    "failed to call webhook: Post \"{url_of}/untrusted?timeout=10s\": tls: failed to verify certificate: x509: certificate signed by unknown authority"
                ),
        ),
        (
            "Validating",
            "/other",
            json!({"clientConfig": {"service": {"namespace": "system", "name": "other", "path": "/other"},
            "caBundle": authority()}}),
            called("other")
                + "failed to call webhook: Post \"https://other.system.svc:443/other?timeout=10s\": dial tcp: lookup other.system.svc: no such host",
        ),
        (
            "Mutating",
            "/undecodable",
            json!({}),
            called("undecodable")
                + "received undecodable patch in webhook response: json: cannot unmarshal object into Go value of type jsonpatch.Patch",
        ),
        (
            "Validating",
            "/patching",
            json!({}),
            called("patching") + "received invalid webhook response: validating webhook may not return response.patch",
        ),
        (
            "Mutating",
            "/path",
            json!({}),
            "error in remove for path: '/spec/nothing': Unable to remove nonexistent key: nothing: missing value"
                .to_owned(),
        ),
    ] {
        let running = server(&hook);
        let url = &running.url();
        install(url, family, path, &url_of, &more);
        let refused = send(url, "POST", KITES, Some(&kite("a", 1)));
        assert_eq!(message(&refused), (500, format!("Internal error occurred: {expected}").as_str()));
        assert_eq!(refused.body["details"]["causes"][0]["message"], expected.as_str());
        if path != "/path" {
            let ignoring = server(&hook);
            let mut more = more.clone();
            more["failurePolicy"] = json!("Ignore");
            install(&ignoring.url(), family, path, &url_of, &more);
            assert_eq!(send(&ignoring.url(), "POST", KITES, Some(&kite("a", 1))).code, 201, "{path}");
        }
    }
    let running = server(&hook);
    install(&running.url(), "Validating", "/uid", &url_of, &json!({}));
    let refused = send(&running.url(), "POST", KITES, Some(&kite("a", 1)));
    assert!(message(&refused).1.ends_with(", got \"x\""), "{}", refused.body);
}

/// The answers of the real server, which `bindings/go/crdxtest/webhook_client_test.go` asks.
#[test]
fn redirects_and_repetitions_are_those_of_client_go() {
    let tries = Arc::<AtomicUsize>::default();
    let count = Arc::clone(&tries);
    let hook = Hook::serve(move |path, review| {
        let answer = |code: u16, name: &'static str, value: &str| Answer {
            headers: vec![(name, value.to_owned())],
            ..Answer::from((code, json!("no")))
        };
        let is_first = || count.fetch_add(1, Ordering::SeqCst) == 0;
        match path {
            "/found" => answer(302, "Location", "/allow"),
            "/moved" => answer(308, "Location", "allow"),
            "/loop" => answer(307, "Location", "/loop"),
            "/refused" => answer(307, "Location", "https://127.0.0.1:1/x"),
            "/ftp" => answer(307, "Location", "ftp://a/b"),
            "/nowhere" => answer(307, "Server", "none"),
            "/later" if is_first() => answer(503, "Retry-After", "0"),
            "/never" => answer(429, "Retry-After", "1"),
            _ if review.is_null() => (418, json!("")).into(),
            _ => reviewed(review, json!({"allowed": true})).into(),
        }
    });
    let failed = |why: &str| Some(format!("failed to call webhook: {why}"));
    let status =
        |code: u16| format!("the server responded with the status code {code} but did not return more information");
    for (path, expected) in [
        ("/found", failed(&status(418))),
        ("/moved", None),
        ("/loop", failed("Post \"/loop\": stopped after 10 redirects")),
        ("/refused", failed("Post \"https://127.0.0.1:1/x\": dial tcp 127.0.0.1:1: connect: connection refused")),
        ("/ftp", failed("Post \"ftp://a/b\": unsupported protocol scheme \"ftp\"")),
        ("/nowhere", failed(&status(307))),
        ("/later", None),
        ("/never", failed(&format!("Post \"{}/never?timeout=2s\": context deadline exceeded", hook.url))),
    ] {
        let running = server(&hook);
        let url = &running.url();
        install(url, "Validating", path, &hook.url, &json!({"timeoutSeconds": 2}));
        let reply = send(url, "POST", KITES, Some(&kite("a", 1)));
        let Some(expected) = expected else {
            assert_eq!(reply.code, 201, "{path}: {}", reply.body);
            continue;
        };
        let called = format!("failed calling webhook \"{}.example.com\": ", path.replace('/', ""));
        assert_eq!(message(&reply), (500, format!("Internal error occurred: {called}{expected}").as_str()), "{path}");
    }
    assert_eq!(tries.load(Ordering::SeqCst), 2);
}

#[test]
fn a_response_has_a_limit() {
    let hook = Hook::serve(|_, _| Answer { body: " ".repeat((16 << 20) + 1), ..Answer::from((200, Value::Null)) });
    let running = server(&hook);
    install(&running.url(), "Validating", "/v", &hook.url, &json!({}));
    let refused = send(&running.url(), "POST", KITES, Some(&kite("a", 1)));
    let why = "unexpected error when reading response body. Please retry. Original error: the response is longer than 16777216 bytes";
    assert!(message(&refused).1.ends_with(why), "{}", refused.body);
}

#[test]
fn a_service_is_called_at_the_address_of_the_flag() {
    let hook = Hook::serve(|_, review| reviewed(review, json!({"allowed": false})));
    let running = server(&hook);
    let url = &running.url();
    let service = json!({"service": {"namespace": "system", "name": "hook", "path": "/v"}, "caBundle": authority()});
    install(url, "Validating", "/v", &hook.url, &json!({"clientConfig": service}));
    let refused = send(url, "POST", KITES, Some(&kite("a", 1)));
    assert_eq!(message(&refused), (400, "admission webhook \"v.example.com\" denied the request without explanation"));
}

#[test]
fn a_dry_run_calls_only_webhooks_without_side_effects() {
    let hook = Hook::serve(|_, review| reviewed(review, json!({"allowed": review["request"]["dryRun"] == true})));
    for (side_effects, expected) in
        [("NoneOnDryRun", (201, "")), ("Some", (400, "admission webhook \"v.example.com\" does not support dry run"))]
    {
        let running = start(&hook, unvalidated().build());
        let url = &running.url();
        let version = json!({"admissionReviewVersions": ["v1beta1"], "sideEffects": side_effects});
        install(url, "Validating", "/v", &hook.url, &version);
        let answer = send(url, "POST", &format!("{KITES}?dryRun=All"), Some(&kite("a", 1)));
        assert_eq!(message(&answer), expected);
        assert_eq!(send(url, "POST", KITES, Some(&kite("a", 1))).code, 400);
    }
}

#[test]
fn a_webhook_that_writes_the_object_is_called_again() {
    let address = Arc::<OnceLock<String>>::default();
    let asked = Arc::<AtomicUsize>::default();
    let (server_url, count) = (Arc::clone(&address), Arc::clone(&asked));
    let hook = Hook::serve(move |_, review| {
        let labels = json!({"metadata": {"labels": {"by": "webhook"}}});
        if count.fetch_add(1, Ordering::SeqCst) == 0 {
            // This update is also reviewed, while the first one waits.
            let path = format!("{KITES}/a");
            assert_eq!(send(server_url.get().unwrap(), "PATCH", &path, Some(&labels)).code, 200);
        }
        reviewed(review, json!({"allowed": true}))
    });
    let running = server(&hook);
    let url = &running.url();
    address.set(url.clone()).unwrap();
    install(
        url,
        "Validating",
        "/v",
        &hook.url,
        &json!({"rules": [{"operations": ["UPDATE"], "apiGroups": ["*"],
        "apiVersions": ["*"], "resources": ["kites"]}]}),
    );
    assert_eq!(send(url, "POST", KITES, Some(&kite("a", 1))).code, 201);
    let updated = send(url, "PATCH", &format!("{KITES}/a"), Some(&json!({"spec": {"length": 9}})));
    assert_eq!(updated.code, 200, "{}", updated.body);
    assert_eq!(
        (&updated.body["spec"]["length"], &updated.body["metadata"]["labels"]["by"]),
        (&json!(9), &json!("webhook"))
    );
    // The calls are: the first one, the one for the webhook's own update, and one with the updated object.
    assert_eq!(asked.load(Ordering::SeqCst), 3);
}

#[test]
fn a_webhook_that_wants_it_sees_later_changes() {
    let hook = Hook::serve(|path, review| {
        let labels = &review["request"]["object"]["metadata"]["labels"];
        let seen = labels.as_object().map_or(0, serde_json::Map::len);
        match path {
            "/a" => patched(
                review,
                &json!([{"op": "add", "path": "/metadata/annotations", "value": {"seen": seen.to_string()}}]),
            ),
            _ => patched(review, &json!([{"op": "add", "path": "/metadata/labels", "value": {"b": "1"}}])),
        }
    });
    for (policy, expected, calls) in [("IfNeeded", "1", 3), ("Never", "0", 2)] {
        let running = server(&hook);
        let url = &running.url();
        install(url, "Mutating", "/a", &hook.url, &json!({"reinvocationPolicy": policy}));
        install(url, "Mutating", "/b", &hook.url, &json!({}));
        let created = send(url, "POST", KITES, Some(&kite("a", 1)));
        assert_eq!(created.body["metadata"]["annotations"]["seen"], expected, "{}", created.body);
        assert_eq!(hook.calls().len(), calls, "{policy}");
    }
}

#[test]
fn every_object_of_a_collection_is_reviewed_before_the_first_is_deleted() {
    let hook = Hook::serve(|_, review| {
        reviewed(review, json!({"allowed": review["request"]["oldObject"]["metadata"]["name"] != "z"}))
    });
    let running = server(&hook);
    let url = &running.url();
    install(
        url,
        "Validating",
        "/v",
        &hook.url,
        &json!({"rules": [{"operations": ["DELETE"], "apiGroups": ["*"],
        "apiVersions": ["*"], "resources": ["kites"]}]}),
    );
    for name in ["a", "b"] {
        assert_eq!(send(url, "POST", KITES, Some(&kite(name, 1))).code, 201);
    }
    let deleted = send(url, "DELETE", KITES, None);
    assert_eq!((deleted.code, deleted.body["items"].as_array().map(Vec::len)), (200, Some(2)));
    assert_eq!(hook.calls().len(), 2);
    assert_eq!(send(url, "POST", KITES, Some(&kite("z", 1))).code, 201);
    assert_eq!(send(url, "DELETE", KITES, None).code, 400);
    assert_eq!(send(url, "GET", &format!("{KITES}/z"), None).code, 200);
}
