//! Policies of the cluster: what live mode reads, what it says where rights are missing, and a comparison with the real
//! server (`tests/apiserver/README.md`), started with `-policies`:
//! `CRDX_REAL=http://127.0.0.1:18080 cargo test --test tests live::policies -- --ignored`

use super::fake::{Fake, Reply};
use super::{TestDir, cluster, crd, group, groups, status};
use crate::conformance::exchange::{Client, Http};
use serde_json::{Value, json};
use std::time::Duration;

const ADMISSION: &str = "/apis/admissionregistration.k8s.io/v1";
const API: &str = "admissionregistration.k8s.io/v1";
const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const JSON: &str = "application/json";

const KINDS: [(&str, &str); 4] = [
    ("validatingadmissionpolicies", "ValidatingAdmissionPolicy"),
    ("validatingadmissionpolicybindings", "ValidatingAdmissionPolicyBinding"),
    ("mutatingadmissionpolicies", "MutatingAdmissionPolicy"),
    ("mutatingadmissionpolicybindings", "MutatingAdmissionPolicyBinding"),
];

/// Discovery of a cluster with policies; the real server does not list them.
fn discovery(path: &str) -> Option<Reply> {
    let body = match path {
        "/version" => r#"{"major":"1","minor":"37"}"#.to_owned(),
        "/api" => groups(&[group("", "v1", &[("configmaps", "ConfigMap")])]),
        "/apis" => groups(&[
            group("fake.example.com", "v1", &[("widgets", "Widget")]),
            group("admissionregistration.k8s.io", "v1", &KINDS),
        ]),
        _ => return None,
    };
    Some(Reply::Json(200, body))
}

/// Policies with their collections: at most as many as the param says, a warning, and a color.
fn policies() -> Vec<(String, Value)> {
    let rules = |operations: &[&str]| json!([{"apiGroups": ["fake.example.com"], "apiVersions": ["*"], "operations": operations, "resources": ["widgets"]}]);
    let named = |plural: &str, kind: &str, name: &str, spec: Value| {
        let object = json!({"apiVersion": API, "kind": kind, "metadata": {"name": name}, "spec": spec});
        (format!("{ADMISSION}/{plural}"), object)
    };
    let [policy, binding, mutating, mutating_binding] = KINDS;
    let limit = json!({
        "failurePolicy": "Fail",
        "paramKind": {"apiVersion": "v1", "kind": "ConfigMap"},
        "matchConstraints": {"matchPolicy": "Equivalent", "namespaceSelector": {"matchLabels": {"env": "prod"}}, "objectSelector": {}, "resourceRules": rules(&["CREATE", "UPDATE"])},
        "validations": [{"expression": "object.spec.size <= int(params.data.max)", "messageExpression": "'at most ' + params.data.max"}]
    });
    let warn = json!({
        "failurePolicy": "Fail",
        "matchConstraints": {"matchPolicy": "Equivalent", "namespaceSelector": {}, "objectSelector": {}, "resourceRules": rules(&["*"])},
        "validations": [{"expression": "object.spec.color != 'blue'", "message": "blue fades"}]
    });
    let paint = json!({
        "failurePolicy": "Fail", "reinvocationPolicy": "Never",
        "matchConstraints": {"matchPolicy": "Equivalent", "namespaceSelector": {}, "objectSelector": {}, "resourceRules": rules(&["CREATE"])},
        "mutations": [{"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": "Object{spec: Object.spec{color: 'blue'}}"}}]
    });
    vec![
        named(policy.0, policy.1, "limit", limit),
        named(policy.0, policy.1, "warn", warn),
        named(
            binding.0,
            binding.1,
            "limit",
            json!({"policyName": "limit", "paramRef": {"name": "limits", "parameterNotFoundAction": "Deny"}, "validationActions": ["Deny"]}),
        ),
        named(binding.0, binding.1, "warn", json!({"policyName": "warn", "validationActions": ["Warn"]})),
        named(mutating.0, mutating.1, "paint", paint),
        named(mutating_binding.0, mutating_binding.1, "paint", json!({"policyName": "paint"})),
    ]
}

fn widget(name: &str, namespace: &str, size: u64) -> Value {
    let metadata = json!({"name": name, "namespace": namespace});
    json!({"apiVersion": "fake.example.com/v1", "kind": "Widget", "metadata": metadata, "spec": {"size": size}})
}

fn written(objects: &[Value]) -> String {
    let texts: Vec<String> = objects.iter().map(ToString::to_string).collect();
    texts.join("\n---\n")
}

/// A cluster with the policies, their namespace and, if it may be read, the param.
fn faked(path: &str, param: u16) -> Reply {
    if let Some(reply) = discovery(path) {
        return reply;
    }
    let list = |kind: &str, items: Vec<Value>| json!({"apiVersion": API, "kind": format!("{kind}List"), "metadata": {}, "items": items});
    for (plural, kind) in KINDS {
        if path == format!("{ADMISSION}/{plural}") {
            let items = policies().into_iter().filter(|(collection, _)| *collection == path).map(|(_, object)| object);
            return Reply::Json(200, list(kind, items.collect()).to_string());
        }
    }
    match path {
        "/api/v1/namespaces/red" => {
            let labels = json!({"env": "prod", "kubernetes.io/metadata.name": "red"});
            Reply::Json(200, json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "red", "uid": "n", "resourceVersion": "3", "labels": labels}}).to_string())
        }
        "/api/v1/namespaces/red/configmaps/limits" if param == 200 => Reply::Json(
            200,
            json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "limits", "namespace": "red", "uid": "c", "resourceVersion": "4"}, "data": {"max": "3"}}).to_string(),
        ),
        "/api/v1/namespaces/red/configmaps/limits" => status(param, "no"),
        _ => cluster(path),
    }
}

#[test]
fn the_policies_of_the_cluster_are_evaluated() {
    let place = TestDir::new("policies");
    place.write("objects.yaml", &written(&[widget("a", "red", 2), widget("b", "red", 5)]));
    let fake = Fake::serve(|path, _| faked(path, 200));
    let line = format!("validate -f objects.yaml --server {}", fake.url);
    place.run(&line).ends(
        1,
        &[
            "1 accepted, 1 rejected",
            "ValidatingAdmissionPolicy 'limit' with binding 'limit' denied request: at most 3",
            "blue fades",
        ],
    );
    assert!(fake.asked().iter().all(|asked| asked.method == "GET"));
    assert_eq!(fake.count("/api/v1/namespaces/red/configmaps/limits"), 1, "{:?}", fake.paths());
    fake.forget();
    place.run(&format!("{line} --no-policies")).ends(0, &["2 accepted"]);
    assert_eq!(fake.count("/api/v1/namespaces/red/configmaps/limits"), 0, "{:?}", fake.paths());
}

#[test]
fn a_namespace_that_does_not_exist_is_named() {
    let place = TestDir::new("policies-no-namespace");
    place.write("objects.yaml", &written(&[widget("a", "gone", 2)]));
    let fake = Fake::serve(|path, _| match path {
        "/api/v1/namespaces/gone" => status(404, "not found"),
        path => faked(path, 200),
    });
    let line = format!("validate -f objects.yaml --server {}", fake.url);
    let open = place.run(&line).ends(
        2,
        &[
            "1 cannot tell",
            "depends on the label env of namespace \"gone\", which the cluster does not have",
            "create the Namespace first, or give the one that will be created, with its labels, with --policies",
        ],
    );
    assert!(!open.out.contains("rights") && !open.err.contains("rights"), "{open:?}");
    // The Namespace that will be created decides.
    let labels = json!({"env": "test"});
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "gone", "labels": labels}});
    place.write("namespace.yaml", &written(&[namespace]));
    place.run(&format!("{line} --policies namespace.yaml")).ends(0, &["1 accepted"]);
}

#[test]
fn missing_rights_are_a_note_or_leave_the_verdict_open() {
    let place = TestDir::new("policies-forbidden");
    place.write("objects.yaml", &written(&[widget("a", "red", 2)]));
    let fake = Fake::serve(|path, _| match path {
        path if path.starts_with(ADMISSION) => status(403, "no"),
        path => discovery(path).unwrap_or_else(|| cluster(path)),
    });
    let notes = [
        "1 accepted",
        "note: these could not be read from the cluster, so admission is simulated without them: mutatingadmissionpolicies (403), mutatingadmissionpolicybindings (403), validatingadmissionpolicies (403), validatingadmissionpolicybindings (403); kubectl crdx rbac prints the permissions to read them",
    ];
    place.run(&format!("validate -f objects.yaml --server {}", fake.url)).ends(0, &notes);
    let fake = Fake::serve(|path, _| faked(path, 403));
    let open = [
        "1 cannot tell",
        "depends on the param v1 ConfigMap \"limits\" in namespace \"red\", which is not known",
        "kubectl crdx rbac prints the permissions to read it",
    ];
    place.run(&format!("validate -f objects.yaml --server {}", fake.url)).ends(2, &open);
}

#[test]
fn the_role_grants_what_policies_need() {
    let place = TestDir::new("policies-role");
    let role = place.run("rbac widgets.fake.example.com -o json").ends(0, &[]);
    let role: Value = serde_json::from_str(&role.out).unwrap();
    let grants = |group: &str, resource: &str, verb: &str| {
        role["rules"].as_array().unwrap().iter().any(|rule| {
            let has = |key: &str, text: &str| rule[key].as_array().is_some_and(|list| list.contains(&json!(text)));
            has("apiGroups", group) && has("resources", resource) && has("verbs", verb)
        })
    };
    for (plural, _) in KINDS {
        assert!(grants("admissionregistration.k8s.io", plural, "list"), "{plural}");
    }
    for (group, resource) in [("", "namespaces"), ("", "configmaps"), ("fake.example.com", "widgets")] {
        assert!(grants(group, resource, "get"), "{resource}");
    }
    for resource in ["roles", "rolebindings", "clusterroles", "clusterrolebindings"] {
        assert!(grants("rbac.authorization.k8s.io", resource, "list"), "{resource}");
    }
}

/// Stores an object, or fails unless it exists.
fn store(real: &mut Http, path: &str, object: &Value) {
    let reply = real.call("POST", path, Some(&object.to_string()), Some(JSON), JSON);
    assert!(matches!(reply.code, 201 | 409), "{path}: {} {}", reply.code, reply.body);
}

/// The live mode against the real server: the verdicts and texts of `validate` are those of its dry runs.
#[test]
#[ignore = "needs the real server with -policies: see tests/apiserver/README.md"]
fn real_policies() {
    let url = std::env::var("CRDX_REAL").expect("CRDX_REAL is the URL of the real server");
    let mut real = Http::new(&url);
    store(&mut real, DEFINITIONS, &serde_json::from_str(&crd("", 10)).unwrap());
    let served = (0..100).any(|_| {
        std::thread::sleep(Duration::from_millis(100));
        real.call("GET", "/apis/fake.example.com/v1/widgets", None, None, JSON).code == 200
    });
    assert!(served);
    std::thread::sleep(Duration::from_secs(1));
    for (name, env) in [("red", "prod"), ("blue", "dev")] {
        let metadata = json!({"name": name, "labels": {"env": env}});
        store(&mut real, "/api/v1/namespaces", &json!({"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}));
    }
    let limits = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "limits"}, "data": {"max": "3"}});
    store(&mut real, "/api/v1/namespaces/red/configmaps", &limits);
    let widgets = |namespace: &str| format!("/apis/fake.example.com/v1/namespaces/{namespace}/widgets");
    for (name, size) in [("old", 5), ("small", 1)] {
        store(&mut real, &widgets("red"), &widget(name, "red", size));
    }
    for (path, object) in policies() {
        store(&mut real, &path, &object);
    }
    let objects = [widget("a", "red", 2), widget("b", "red", 5), widget("c", "blue", 9), widget("d", "gone", 1)];
    let place = TestDir::new("policies-real");
    place.write("objects.yaml", &written(&objects));
    let upstream = url.clone();
    let front = Fake::serve(move |path, _| {
        discovery(path).unwrap_or_else(|| {
            let reply = Http::new(&upstream).call("GET", path, None, None, JSON);
            Reply::Json(reply.code, reply.body.to_string())
        })
    });
    let report = place.run(&format!("validate -f objects.yaml -o json --server {}", front.url));
    let report: Value = serde_json::from_str(&report.out).unwrap_or_else(|error| panic!("{error}: {report:?}"));
    for (object, item) in objects.iter().zip(report["items"].as_array().unwrap()) {
        if object["metadata"]["namespace"] == "gone" {
            // The namespace may be created before the object.
            assert_eq!(item["verdict"], "cannotTell");
            continue;
        }
        let path = format!("{}?dryRun=All", widgets(object["metadata"]["namespace"].as_str().unwrap()));
        let reply = real.call("POST", &path, Some(&object.to_string()), Some(JSON), JSON);
        assert_eq!(item["answer"]["code"], json!(reply.code), "{object}\n{item}\n{}", reply.body);
        if reply.code == 201 {
            assert_eq!(item["result"]["spec"], reply.body["spec"]);
        } else {
            assert_eq!(item["answer"]["message"], reply.body["message"]);
        }
        let warnings: Vec<&Value> =
            item["warnings"].as_array().unwrap().iter().map(|warning| &warning["message"]).collect();
        assert_eq!(json!(warnings), json!(reply.warnings));
    }
    assert!(front.asked().iter().all(|asked| asked.method == "GET"));
    let plain = place.run(&format!("validate -f objects.yaml -o json --no-policies --server {}", front.url));
    let plain: Value = serde_json::from_str(&plain.out).unwrap();
    assert_eq!(plain["summary"]["accepted"], 4);
    // What a new policy does to the stored objects, and what the server then does.
    let mut strict: Vec<Value> =
        policies().into_iter().map(|(_, object)| object).filter(|o| o["metadata"]["name"] == "warn").collect();
    for object in &mut strict {
        object["metadata"]["name"] = json!("strict");
        if object["spec"]["policyName"].is_string() {
            object["spec"]["policyName"] = json!("strict");
            object["spec"]["validationActions"] = json!(["Deny"]);
        } else {
            object["spec"]["validations"] = json!([{"expression": "object.spec.size < 2"}]);
        }
    }
    place.write("new.yaml", &written(&strict));
    let rehearsed = place.run(&format!("rehearse --policies new.yaml -o json --server {}", front.url)).ends(1, &[]);
    let rehearsed: Value = serde_json::from_str(&rehearsed.out).unwrap();
    assert_eq!(rehearsed["summary"]["objects"], 2, "{rehearsed}");
    assert_eq!(rehearsed["summary"]["denied"], 1, "{rehearsed}");
    let denied = rehearsed["items"].as_array().unwrap().iter().find(|item| item["verdict"] == "rejected").unwrap();
    assert_eq!(denied["name"], "old");
    let created = |object: &Value| {
        let plural = KINDS.iter().find(|(_, kind)| object["kind"] == *kind).unwrap().0;
        format!("{ADMISSION}/{plural}")
    };
    for object in &strict {
        store(&mut real, &created(object), object);
    }
    for (name, code) in [("old", 422), ("small", 200)] {
        let body = r#"{"metadata":{"labels":{"crdx-rehearsal":"touched"}}}"#;
        let path = format!("{}/{name}?dryRun=All", widgets("red"));
        assert_eq!(
            real.call("PATCH", &path, Some(body), Some("application/merge-patch+json"), JSON).code,
            code,
            "{name}"
        );
    }
    let all = policies().into_iter().map(|(_, object)| object).chain(strict);
    for object in all {
        let path = format!("{}/{}", created(&object), object["metadata"]["name"].as_str().unwrap());
        real.call("DELETE", &path, None, None, JSON);
    }
}
