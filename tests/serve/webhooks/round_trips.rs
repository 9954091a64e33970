//! `test --round-trip` with a conversion webhook.

use super::{Hook, hook::CERTIFICATE};
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

/// A CRD whose objects the Service `system/hook` converts.
fn crd() -> Value {
    let version = |name: &str| {
        let spec =
            json!({"type": "object", "properties": {"length": {"type": "integer"}, "colour": {"type": "string"}}});
        json!({"name": name, "served": true, "storage": name == "v1", "schema": {"openAPIV3Schema":
            {"type": "object", "properties": {"spec": spec}}}})
    };
    json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "kites.toys.example.com"}, "spec": {"group": "toys.example.com", "scope": "Namespaced",
        "names": {"plural": "kites", "kind": "Kite"}, "versions": [version("v1"), version("v2")],
        "conversion": {"strategy": "Webhook", "webhook": {"conversionReviewVersions": ["v1"],
            "clientConfig": {"service": {"namespace": "system", "name": "hook", "path": "/convert"}}}}}})
}

/// Starts a webhook whose reviews `change` changes.
fn webhook(change: impl Fn(&mut Value) + Send + Sync + 'static) -> Hook {
    Hook::serve(move |_, review| {
        let request = &review["request"];
        let mut objects = request["objects"].clone();
        for object in objects.as_array_mut().unwrap() {
            object["apiVersion"] = request["desiredAPIVersion"].clone();
        }
        let mut response = json!({"uid": request["uid"], "result": {"status": "Success"}, "convertedObjects": objects});
        change(&mut response);
        (200, json!({"kind": "ConversionReview", "apiVersion": "apiextensions.k8s.io/v1", "response": response}))
    })
}

struct Files {
    _directory: tempfile::TempDir,
    crd: PathBuf,
    authority: PathBuf,
}

fn files() -> Files {
    let directory = tempfile::tempdir().unwrap();
    let (crd_file, authority) = (directory.path().join("crd.yaml"), directory.path().join("ca.crt"));
    fs::write(&crd_file, crd().to_string()).unwrap();
    fs::write(&authority, CERTIFICATE).unwrap();
    Files { _directory: directory, crd: crd_file, authority }
}

fn run(files: &Files, flags: &[&str]) -> (Option<i32>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kubectl-crdx"));
    command.args(["test", "--round-trip", "--tries", "20"]).arg(&files.crd).args(flags);
    let Output { status, stdout, stderr } = command.env("KUBECONFIG", "/nonexistent").output().unwrap();
    let text = String::from_utf8(stdout).unwrap() + &String::from_utf8(stderr).unwrap();
    (status.code(), text.split_whitespace().collect::<Vec<_>>().join(" "))
}

fn with_host(hook: &Hook) -> (Option<i32>, String) {
    let files = files();
    let host = hook.url.strip_prefix("https://").unwrap();
    run(&files, &["--webhook-host", host, "--webhook-ca", files.authority.to_str().unwrap()])
}

#[test]
fn the_service_is_replaced_and_its_path_kept() {
    let hook = webhook(|_| {});
    let (code, text) = with_host(&hook);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("v1 -> v2 -> v1: no change found in 20 objects"), "{text}");
    let calls = hook.calls();
    assert!(calls.len() > 20 && calls.iter().all(|(path, _)| path == "/convert?timeout=30s"), "{}", calls.len());
}

#[test]
fn a_planted_loss_is_found() {
    let hook = webhook(|response| {
        let spec = response["convertedObjects"][0]["spec"].as_object_mut();
        spec.and_then(|spec| spec.remove("colour"));
    });
    let (code, text) = with_host(&hook);
    assert_eq!(code, Some(1), "{text}");
    assert!(
        text.contains("v1 -> v2 -> v1: 1 field changes") && text.contains("spec.colour: \"example\", then none"),
        "{text}"
    );
}

#[test]
fn answers_are_held_to_the_protocol() {
    type Change = fn(&mut Value);
    let faults: [(&str, Change); 4] = [
        ("returned 0 objects, expected 1", |response| response["convertedObjects"] = json!([])),
        ("expected response.uid=", |response| response["uid"] = json!("x")),
        ("must have the same name: example != x", |response| {
            response["convertedObjects"][0]["metadata"]["name"] = json!("x");
        }),
        ("invalid groupVersion (expected toys.example.com/v2, received a/v1)", |response| {
            response["convertedObjects"][0]["apiVersion"] = json!("a/v1");
        }),
    ];
    for (message, change) in faults {
        let (code, text) = with_host(&webhook(change));
        assert!(code == Some(1) && text.contains(message), "{code:?} {text}");
    }
}

#[test]
fn a_webhook_that_is_not_trusted_is_no_verdict() {
    let hook = webhook(|_| {});
    let url = format!("{}/convert", hook.url);
    let (code, text) = run(&files(), &["--webhook-url", &url]);
    assert!(code == Some(2) && text.contains("x509: certificate signed by unknown authority"), "{text}");
    assert!(hook.calls().is_empty());
}
