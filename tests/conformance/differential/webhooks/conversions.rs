//! Random answers of a conversion webhook.

use super::answers::envelope;
use super::{Hook, Rng, Servers};
use crate::conformance::differential::mutate::any_value;
use crate::serve::webhooks::authority;
use crate::serve::webhooks::hook::Answer;
use serde_json::{Value, json};

const GROUP: &str = "/apis/toys.example.com";

/// Compares `rounds` random answers. Every round has its own CRD, because the path of its webhook is the seed.
pub fn compare(seed: u64, rounds: u64) {
    let hook = Hook::serve(|path, review| {
        let seed = path.rsplit('/').next().and_then(|seed| seed.parse().ok()).unwrap_or(0);
        conversion(&mut Rng::new(seed), review)
    });
    // The watch cache of the real server converts objects at any time.
    let mut servers = Servers::start(hook, false);
    let mut rng = Rng::new(seed);
    for round in 0..rounds {
        let plural = format!("kites{round}");
        let seed = rng.next() >> 16;
        let crd = crd(&mut rng, &plural, &format!("{}/{seed}", servers.hook.url));
        let path = |version: &str| format!("{GROUP}/{version}/namespaces/default/{plural}");
        servers.install(&crd, &path("v1"));
        let sample = conversion(&mut Rng::new(seed), &json!({"apiVersion": "?"}));
        let context = format!("round {round}\n  answers {} {} {}", sample.code, sample.content_type, sample.body);
        let kite = |version: &str, name: &str| {
            json!({"apiVersion": format!("toys.example.com/{version}"), "kind": kind(&plural), "metadata": {"name": name,
                "labels": {"a": "b"}}, "spec": {"length": 3}})
        };
        servers.set_up("POST", &path("v1"), Some(&kite("v1", "a")));
        servers.compare("GET", &format!("{}/a", path("v2")), None, &context);
        servers.compare("POST", &format!("{}?dryRun=All", path("v2")), Some(&kite("v2", "b")), &context);
        servers.compare("PATCH", &format!("{}/a", path("v2")), Some(&json!({"spec": {"length": 4}})), &context);
        servers.compare(
            "PATCH",
            &format!("{}/a?fieldManager=m&force=true", path("v2")),
            Some(&kite("v2", "a")),
            &context,
        );
        // The watch cache of the real server reads the objects again and again if the webhook fails.
        servers.remove(&crd);
    }
    servers.finish();
}

/// The kind of a plural, such as `Kite7`.
fn kind(plural: &str) -> String {
    plural.replace("kites", "Kite")
}

fn crd(rng: &mut Rng, plural: &str, url: &str) -> Value {
    let spec = json!({"type": "object", "properties": {"length": {"type": "integer"}}});
    let version = |name: &str| {
        json!({"name": name, "served": true, "storage": name == "v1", "schema": {"openAPIV3Schema": {"type": "object",
            "properties": {"spec": spec}}}})
    };
    let versions = *rng.pick(&[&["v1"][..], &["v1"], &["v1beta1"], &["v2", "v1beta1"]]);
    json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.toys.example.com")}, "spec": {"group": "toys.example.com",
        "scope": "Namespaced", "names": {"plural": plural, "kind": kind(plural)},
        "versions": [version("v1"), version("v2")], "conversion": {"strategy": "Webhook", "webhook": {
            "conversionReviewVersions": versions, "clientConfig": {"url": url, "caBundle": authority()}}}}})
}

/// The answer to a review.
fn conversion(rng: &mut Rng, review: &Value) -> Answer {
    let request = &review["request"];
    let kind = rng.below(16);
    let other = any_value(rng);
    let convert = |object: &Value| {
        let mut object = object.clone();
        object["apiVersion"] = request["desiredAPIVersion"].clone();
        match kind {
            0 => object["metadata"]["name"] = json!("other"),
            1 => object["metadata"]["labels"] = json!({"x": "y"}),
            2 => object["metadata"]["labels"] = other.clone(),
            3 => object["kind"] = json!("Other"),
            4 => object["apiVersion"] = json!("toys.example.com/v3"),
            5 => object["metadata"] = other.clone(),
            6 => object["spec"] = other.clone(),
            7 => object["metadata"]["finalizers"] = json!(["example.com/g"]),
            8 => object = other.clone(),
            9 => object["metadata"]["annotations"] = json!({"x": "y"}),
            _ => {}
        }
        object
    };
    let mut objects: Vec<Value> = request["objects"].as_array().into_iter().flatten().map(convert).collect();
    match rng.below(14) {
        0 => objects.push(json!({})),
        1 => objects.clear(),
        _ => {}
    }
    let mut response = json!({"uid": request["uid"], "result": {"status": "Success"}, "convertedObjects": objects});
    let version = if rng.chance(12) { json!("apiextensions.k8s.io/v2") } else { review["apiVersion"].clone() };
    match rng.below(16) {
        0 => response["result"] = json!({"status": "Failure", "message": "cannot convert"}),
        1 => response["result"] = json!({"status": rng.pick(&["Failure", "", "Other"])}),
        2 => response["result"] = any_value(rng),
        3 => response["uid"] = rng.pick(&[json!("x"), Value::Null, json!(1)]).clone(),
        4 => response["convertedObjects"] = any_value(rng),
        5 => response = rng.pick(&[Value::Null, json!({}), json!([])]).clone(),
        _ => {}
    }
    let mut body = json!({"kind": "ConversionReview", "apiVersion": version, "response": response});
    if rng.chance(16) {
        body["kind"] = rng.pick(&[json!("Other"), Value::Null, json!("AdmissionReview")]).clone();
    }
    envelope(rng, &body)
}
