//! Conversion webhooks.

use super::{CRDS, Hook, authority, message, send, server};
use crate::conformance::exchange::{Client, Http};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const V1: &str = "/apis/toys.example.com/v1/namespaces/default/kites";
const V2: &str = "/apis/toys.example.com/v2/namespaces/default/kites";

fn crd(hook: &str) -> Value {
    let version = |name: &str, field: &str| {
        let spec = json!({"type": "object", "properties": {field: {"type": "integer"}}});
        json!({"name": name, "served": true, "storage": name == "v1", "schema": {"openAPIV3Schema":
            {"type": "object", "properties": {"spec": spec}}}})
    };
    json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "kites.toys.example.com"}, "spec": {"group": "toys.example.com", "scope": "Namespaced",
        "names": {"plural": "kites", "kind": "Kite"}, "versions": [version("v1", "length"), version("v2", "metres")],
        "conversion": {"strategy": "Webhook", "webhook": {"conversionReviewVersions": ["v1"],
            "clientConfig": {"url": format!("{hook}/convert"), "caBundle": authority()}}}}})
}

fn install(url: &str, hook: &str) {
    assert_eq!(send(url, "POST", CRDS, Some(&crd(hook))).code, 201);
    assert!((0..500).any(|_| send(url, "GET", V1, None).code == 200 || {
        std::thread::sleep(Duration::from_millis(5));
        false
    }));
}

fn converted(review: &Value, change: &dyn Fn(&mut Value)) -> (u16, Value) {
    let request = &review["request"];
    let convert = |object: &Value| {
        let mut object = object.clone();
        object["apiVersion"] = request["desiredAPIVersion"].clone();
        let spec = object["spec"].as_object_mut().unwrap();
        let (from, to) = if spec.contains_key("length") { ("length", "metres") } else { ("metres", "length") };
        if let Some(value) = spec.remove(from) {
            spec.insert(to.to_owned(), value);
        }
        change(&mut object);
        object
    };
    let objects: Vec<Value> = request["objects"].as_array().unwrap().iter().map(convert).collect();
    let response = json!({"uid": request["uid"], "result": {"status": "Success"}, "convertedObjects": objects});
    (200, json!({"kind": "ConversionReview", "apiVersion": "apiextensions.k8s.io/v1", "response": response}))
}

fn kite(version: &str, name: &str, field: &str) -> Value {
    json!({"apiVersion": format!("toys.example.com/{version}"), "kind": "Kite", "metadata": {"name": name}, "spec": {field: 3}})
}

#[test]
fn objects_are_converted_by_the_webhook() {
    let hook = Hook::serve(|_, review| converted(review, &|_| {}));
    let running = server(&hook);
    let url = &running.url();
    install(url, &hook.url);
    assert_eq!(send(url, "POST", V1, Some(&kite("v1", "a", "length"))).code, 201);
    assert_eq!(hook.calls().len(), 0, "it is stored as it came");
    let read = send(url, "GET", &format!("{V2}/a"), None);
    assert_eq!(read.body["spec"], json!({"metres": 3}), "{}", read.body);
    assert_eq!(
        (&read.body["apiVersion"], &read.body["metadata"]["resourceVersion"].is_string()),
        (&json!("toys.example.com/v2"), &true)
    );
    let [(path, review)] = &hook.calls()[..] else { panic!("one call") };
    assert_eq!(path, "/convert?timeout=30s");
    assert_eq!(review["request"]["objects"][0]["metadata"].get("resourceVersion"), None);
    let created = send(url, "POST", V2, Some(&kite("v2", "b", "metres")));
    assert_eq!((created.code, &created.body["spec"]), (201, &json!({"metres": 3})), "{}", created.body);
    assert_eq!(send(url, "GET", &format!("{V1}/b"), None).body["spec"], json!({"length": 3}));
    let patched = send(url, "PATCH", &format!("{V2}/a"), Some(&json!({"spec": {"metres": 4}})));
    assert_eq!((patched.code, &patched.body["spec"]), (200, &json!({"metres": 4})), "{}", patched.body);
    assert_eq!(send(url, "GET", &format!("{V1}/a"), None).body["spec"], json!({"length": 4}));
    let list = send(url, "GET", V2, None);
    assert_eq!(
        list.body["items"].as_array().unwrap().iter().map(|o| o["spec"]["metres"].as_i64()).collect::<Vec<_>>(),
        [Some(4), Some(3)]
    );
    let watch = format!("{V2}?watch=1&resourceVersion=0&timeoutSeconds=1");
    let events = Http::new(url).call("GET", &watch, None, None, "application/json");
    let events =
        events.body.as_array().unwrap().iter().map(|e| e["object"]["spec"]["metres"].as_i64()).collect::<Vec<_>>();
    assert_eq!(events, [Some(4), Some(3)]);
}

#[test]
fn a_list_converts_all_objects_at_once() {
    let hook = Hook::serve(|_, review| converted(review, &|_| {}));
    let running = server(&hook);
    let url = &running.url();
    install(url, &hook.url);
    for i in 0..20 {
        assert_eq!(send(url, "POST", V1, Some(&kite("v1", &format!("k{i:02}"), "length"))).code, 201);
    }
    let list = send(url, "GET", V2, None);
    let items = list.body["items"].as_array().unwrap();
    assert!(items.iter().all(|item| item["spec"] == json!({"metres": 3})), "{}", list.body);
    assert_eq!((items.len(), hook.calls().len()), (20, 20));
}

#[test]
fn a_wrong_conversion_is_refused_in_the_words_of_the_server() {
    type Change = Box<dyn Fn(&Value) -> (u16, Value) + Send + Sync>;
    let answer: Arc<Mutex<Change>> = Arc::new(Mutex::new(Box::new(|review| converted(review, &|_| {}))));
    let current = Arc::clone(&answer);
    let hook = Hook::serve(move |_, review| (current.lock().unwrap())(review));
    let running = server(&hook);
    let url = &running.url();
    install(url, &hook.url);
    assert_eq!(send(url, "POST", V1, Some(&kite("v1", "a", "length"))).code, 201);
    let failing = |text: &'static str| -> Change {
        Box::new(move |review| {
            let response = json!({"uid": review["request"]["uid"], "result": {"status": "Failure", "message": text}});
            (200, json!({"kind": "ConversionReview", "apiVersion": "apiextensions.k8s.io/v1", "response": response}))
        })
    };
    let changing = |change: fn(&mut Value)| -> Change { Box::new(move |review| converted(review, &change)) };
    let of = "conversion webhook for toys.example.com/v1, Kind=Kite";
    for (change, expected) in [
        (failing("too long"), format!("{of} failed: too long")),
        (
            changing(|o| o["metadata"]["name"] = json!("b")),
            format!("{of} returned invalid object: must have the same name: a != b"),
        ),
        (
            changing(|o| o["kind"] = json!("Bike")),
            format!("{of} returned invalid object at index 0: invalid kind (expected Kite, received Bike)"),
        ),
        (
            changing(|o| o["metadata"]["labels"] = json!({"a b": "c"})),
            format!(
                "{of} returned invalid metadata: metadata.labels: Invalid value: \"a b\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
            ),
        ),
        (
            Box::new(|_: &Value| (503_u16, json!({}))) as Change,
            format!("{of} failed: the server is currently unable to handle the request"),
        ),
    ] {
        *answer.lock().unwrap() = change;
        let refused = send(url, "GET", &format!("{V2}/a"), None);
        let (code, text) = message(&refused);
        let corrupt = "Internal error occurred: StorageError: corrupt object, Code: 7, Key: /toys.example.com/kites/default/a, ResourceVersion: 0, AdditionalErrorMsg: object not decodable revision=";
        assert!(code == 500 && text.starts_with(corrupt) && text.ends_with(&format!(": {expected}")), "{text}");
        assert_eq!(send(url, "GET", &format!("{V1}/a"), None).code, 200);
    }
    // Labels and annotations may change, other metadata stays.
    *answer.lock().unwrap() = changing(|o| {
        o["metadata"]["labels"] = json!({"new": "1"});
        o["metadata"]["generation"] = json!(9);
    });
    let read = send(url, "GET", &format!("{V2}/a"), None);
    assert_eq!(
        (&read.body["metadata"]["labels"], &read.body["metadata"]["generation"]),
        (&json!({"new": "1"}), &json!(1))
    );
}
