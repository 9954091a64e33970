//! The CRDs, params and namespaces of the rounds, and random requests.

use crate::conformance::differential::mutate::{Rng, any_value};
use serde_json::{Value, json};

const GROUP: &str = "/apis/d.example.com";

fn definition(plural: &str, kind: &str, scope: &str, spec: &Value) -> Value {
    let version = |name: &str, storage: bool| {
        json!({
            "name": name, "served": true, "storage": storage,
            "schema": {"openAPIV3Schema": {"type": "object", "properties": {
                "spec": spec,
                "status": {"type": "object", "properties": {"phase": {"type": "string"}, "replicas": {"type": "integer"}}}
            }}},
            "subresources": {"status": {}, "scale": {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}}
        })
    };
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.d.example.com")},
        "spec": {
            "group": "d.example.com", "scope": scope, "names": {"plural": plural, "kind": kind},
            "versions": [version("v1", true), version("v2", false)]
        }
    })
}

pub fn definitions() -> Vec<Value> {
    let text = json!({"type": "string"});
    let spec = json!({"type": "object", "properties": {
        "replicas": {"type": "integer", "default": 2, "minimum": 0},
        "note": text,
        "mode": {"type": "string", "enum": ["on", "off"], "default": "on"},
        "ratio": {"type": "number"},
        "when": {"type": "string", "format": "date-time"},
        "port": {"x-kubernetes-int-or-string": true},
        "tags": {"type": "array", "maxItems": 6, "items": text},
        "marks": {"type": "array", "x-kubernetes-list-type": "set", "items": text},
        "env": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
            "items": {"type": "object", "required": ["name"], "properties": {"name": text, "value": {"type": "string", "default": "-"}}}},
        "limits": {"type": "object", "additionalProperties": {"type": "integer"}},
        "inner": {"type": "object", "properties": {"a": {"type": "integer"}, "b": text, "c-d": text}},
        "any": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}
    }});
    let param = json!({"type": "object", "properties": {"max": {"type": "integer"}, "word": text, "words": {"type": "array", "items": text}}});
    vec![
        definition("widgets", "Widget", "Namespaced", &spec),
        definition("plants", "Plant", "Cluster", &spec),
        definition("bounds", "Bound", "Namespaced", &param),
        definition("quotas", "Quota", "Cluster", &param),
    ]
}

/// Returns namespaces and params.
pub fn setting() -> Vec<(String, Value)> {
    let mut all = Vec::new();
    for (name, env) in [("red", "prod"), ("blue", "dev")] {
        let labels = json!({"env": env});
        all.push((
            "/api/v1/namespaces".to_owned(),
            json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}),
        ));
    }
    for (namespace, name, max, label) in [
        ("red", "x", "3", "one"),
        ("red", "y", "1", "two"),
        ("blue", "x", "5", "one"),
        ("default", "x", "2", "one"),
        ("default", "y", "nine", "one"),
    ] {
        let metadata = json!({"name": name, "labels": {"of": label}});
        all.push((
            format!("/api/v1/namespaces/{namespace}/configmaps"),
            json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"max": max, "word": name}}),
        ));
        all.push((
            format!("{GROUP}/v1/namespaces/{namespace}/bounds"),
            json!({"apiVersion": "d.example.com/v1", "kind": "Bound", "metadata": metadata, "spec": {"max": max.len(), "word": name, "words": [name, max]}}),
        ));
    }
    for (name, max) in [("x", 3), ("y", 0)] {
        let metadata = json!({"name": name, "labels": {"of": "one"}});
        all.push((
            format!("{GROUP}/v1/quotas"),
            json!({"apiVersion": "d.example.com/v1", "kind": "Quota", "metadata": metadata, "spec": {"max": max, "word": name}}),
        ));
    }
    all
}

/// Returns the collections that are deleted after each round.
pub fn collections() -> [&'static str; 4] {
    [
        "/apis/d.example.com/v1/namespaces/red/widgets",
        "/apis/d.example.com/v1/namespaces/blue/widgets",
        "/apis/d.example.com/v1/namespaces/gone/widgets",
        "/apis/d.example.com/v1/plants",
    ]
}

pub fn param_kind(rng: &mut Rng) -> Option<Value> {
    match rng.below(9) {
        0 | 1 => Some(json!({"apiVersion": "v1", "kind": "ConfigMap"})),
        2 => Some(json!({"apiVersion": "d.example.com/v1", "kind": "Bound"})),
        3 => Some(json!({"apiVersion": "d.example.com/v2", "kind": "Quota"})),
        4 if rng.chance(30) => Some(json!({"apiVersion": "d.example.com/v1", "kind": "Nothing"})),
        _ => None,
    }
}

pub fn param_ref(rng: &mut Rng, one_only: bool) -> Value {
    let mut found = serde_json::Map::new();
    match rng.below(8) {
        0 if !one_only => {
            let selectors = [json!({"matchLabels": {"of": "one"}}), json!({}), json!({"matchLabels": {"of": "none"}})];
            found.insert("selector".to_owned(), rng.pick(&selectors).clone());
        }
        1 => {
            found.insert("selector".to_owned(), json!({"matchLabels": {"of": "two"}}));
        }
        2 => {
            found.insert("name".to_owned(), json!("absent"));
        }
        _ => {
            found.insert("name".to_owned(), json!(rng.pick(&["x", "x", "y"])));
        }
    }
    if rng.chance(15) {
        found.insert("name".to_owned(), json!("x"));
    }
    if rng.chance(3) {
        found.insert("namespace".to_owned(), json!(rng.pick(&["red", "default", "gone"])));
    }
    if !rng.chance(4) {
        found.insert("parameterNotFoundAction".to_owned(), json!(rng.pick(&["Allow", "Deny"])));
    }
    found.into()
}

fn spec(rng: &mut Rng) -> Value {
    let mut spec = serde_json::Map::new();
    let mut put = |rng: &mut Rng, key: &str, one_in: usize, values: &[Value]| {
        if rng.chance(one_in) {
            spec.insert(key.to_owned(), rng.pick(values).clone());
        }
    };
    put(rng, "replicas", 2, &[json!(0), json!(1), json!(3), json!(7), json!(40)]);
    put(
        rng,
        "note",
        2,
        &[
            json!("a"),
            json!("hello"),
            json!(""),
            json!("a-b.c"),
            json!("x".repeat(40)),
            json!("1Gi"),
            json!("10.0.0.1"),
        ],
    );
    put(rng, "mode", 4, &[json!("on"), json!("off")]);
    put(rng, "ratio", 3, &[json!(1), json!(0.5), json!(1.0), json!(3.25)]);
    put(rng, "when", 4, &[json!("2024-01-02T03:04:05Z"), json!("2030-12-31T23:59:59+01:00")]);
    put(rng, "port", 3, &[json!(80), json!("http")]);
    put(rng, "tags", 2, &[json!([]), json!(["a"]), json!(["a", "b", "a"]), json!(["x", "y"])]);
    put(rng, "marks", 3, &[json!(["a"]), json!(["b", "a"])]);
    put(rng, "env", 2, &[json!([{"name": "A"}]), json!([{"name": "A", "value": "1"}, {"name": "B"}])]);
    put(rng, "limits", 3, &[json!({}), json!({"cpu": 2}), json!({"cpu": 2, "mem": 5})]);
    put(rng, "inner", 3, &[json!({"a": 1}), json!({"b": "x", "c-d": "y"}), json!({})]);
    put(rng, "any", 4, &[json!({}), json!({"x": [1, 2.5, null, "s"], "y": {"z": true}})]);
    spec.into()
}

fn labels(rng: &mut Rng) -> Value {
    let all = [json!({"app": "a"}), json!({"app": "b"}), json!({"app": "a", "tier": "x"}), json!({})];
    rng.pick(&all).clone()
}

/// Returns a Widget or Plant with random fields.
fn object(rng: &mut Rng, kind: &str, version: &str, name: &str) -> Value {
    let mut metadata = json!({"name": name});
    if rng.chance(2) {
        metadata["labels"] = labels(rng);
    }
    if rng.chance(8) {
        metadata["annotations"] = json!({"note": "n"});
    }
    let mut object = json!({"apiVersion": format!("d.example.com/{version}"), "kind": kind, "metadata": metadata});
    if !rng.chance(15) {
        object["spec"] = spec(rng);
    }
    if rng.chance(12)
        && let Some(members) = object["spec"].as_object_mut()
        && let Some(key) = members.keys().next().cloned()
    {
        members.insert(key, any_value(rng));
    }
    object
}

/// Returns the objects that are stored before the policies.
pub fn stored(rng: &mut Rng) -> Vec<(String, Value)> {
    let valid = |rng: &mut Rng, kind: &str, name: &str| {
        let labels = labels(rng);
        json!({"apiVersion": "d.example.com/v1", "kind": kind, "metadata": {"name": name, "labels": labels}, "spec": spec(rng)})
    };
    let mut all: Vec<(String, Value)> = Vec::new();
    for namespace in ["red", "blue"] {
        for name in ["one", "two", "three"] {
            all.push((format!("{GROUP}/v1/namespaces/{namespace}/widgets"), valid(rng, "Widget", name)));
        }
    }
    all.push((format!("{GROUP}/v1/plants"), valid(rng, "Plant", "one")));
    all
}

/// Returns a random write: method, path, body and content type.
pub fn request(rng: &mut Rng, mutates: bool) -> (&'static str, String, Option<Value>, &'static str) {
    let version = *rng.pick(&["v1", "v1", "v2"]);
    let (kind, collection) = if rng.chance(7) {
        ("Plant", format!("{GROUP}/{version}/plants"))
    } else {
        let namespace = if rng.chance(25) { "gone" } else { *rng.pick(&["red", "blue"]) };
        ("Widget", format!("{GROUP}/{version}/namespaces/{namespace}/widgets"))
    };
    let name = *rng.pick(&["one", "two", "three"]);
    let fresh = *rng.pick(&["new", "other", "one"]);
    let mut query = Vec::new();
    if rng.chance(5) {
        query.push("dryRun=All".to_owned());
    }
    if rng.chance(4) {
        query.push(format!("fieldValidation={}", rng.pick(&["Strict", "Ignore", "Warn"])));
    }
    let with =
        |path: String, query: &[String]| if query.is_empty() { path } else { format!("{path}?{}", query.join("&")) };
    let one = format!("{collection}/{name}");
    match rng.below(19) {
        0..=4 => {
            let mut body = object(rng, kind, version, fresh);
            if rng.chance(12) {
                body["metadata"] = json!({"generateName": "gen-"});
            }
            ("POST", with(collection, &query), Some(body), super::JSON)
        }
        5 | 6 => {
            let mut body = object(rng, kind, version, name);
            body["metadata"]["resourceVersion"] = json!("{{resourceVersion}}");
            ("PUT", with(one, &query), Some(body), super::JSON)
        }
        7 | 8 => {
            let body = match rng.below(3) {
                0 => json!({"metadata": {"labels": {"touched": "yes"}}}),
                1 => json!({}),
                _ => json!({"spec": spec(rng)}),
            };
            ("PATCH", with(one, &query), Some(body), "application/merge-patch+json")
        }
        9 => {
            let body = json!([{"op": "add", "path": "/spec/note", "value": rng.pick(&["a", "patched"])}]);
            ("PATCH", with(one, &query), Some(body), "application/json-patch+json")
        }
        10 | 11 => {
            query.push("fieldManager=applier".to_owned());
            if rng.chance(2) {
                query.push("force=true".to_owned());
            }
            let name = if rng.chance(3) { fresh } else { name };
            let body = object(rng, kind, version, name);
            ("PATCH", with(format!("{collection}/{name}"), &query), Some(body), "application/apply-patch+yaml")
        }
        12 => {
            let body = json!({"status": {"phase": rng.pick(&["Ready", "Lost"]), "replicas": rng.below(9)}});
            ("PATCH", with(format!("{one}/status"), &query), Some(body), "application/merge-patch+json")
        }
        13 if !mutates => {
            let body = json!({"spec": {"replicas": rng.below(9)}});
            ("PATCH", with(format!("{one}/scale"), &query), Some(body), "application/merge-patch+json")
        }
        14 => {
            let mut body = object(rng, kind, version, name);
            body["metadata"]["resourceVersion"] = json!("{{resourceVersion}}");
            body["status"] = json!({"phase": rng.pick(&["Ready", "Lost"])});
            ("PUT", with(format!("{one}/status"), &query), Some(body), super::JSON)
        }
        15 => {
            query.push("fieldManager=reporter".to_owned());
            query.push("force=true".to_owned());
            let mut body = object(rng, kind, version, name);
            body["status"] = json!({"replicas": rng.below(9)});
            ("PATCH", with(format!("{one}/status"), &query), Some(body), "application/apply-patch+yaml")
        }
        16 => {
            let mut body = json!({"apiVersion": "v1", "kind": "DeleteOptions"});
            if rng.chance(2) {
                body["propagationPolicy"] = json!(rng.pick(&["Foreground", "Background", "Orphan"]));
            }
            if rng.chance(2) {
                body["gracePeriodSeconds"] = json!(rng.below(3));
            }
            if rng.chance(3) {
                body["dryRun"] = json!(["All"]);
            }
            if rng.chance(4) {
                body["preconditions"] = rng
                    .pick(&[
                        json!({"uid": "{{uid}}"}),
                        json!({"uid": "x"}),
                        json!({"resourceVersion": "{{resourceVersion}}"}),
                    ])
                    .clone();
            }
            if rng.chance(6) {
                body.as_object_mut().unwrap().remove("propagationPolicy");
                body["orphanDependents"] = json!(rng.chance(2));
            }
            ("DELETE", one, Some(body), super::JSON)
        }
        17 => ("DELETE", with(collection, &["labelSelector=app%3Da".to_owned()]), None, super::JSON),
        _ => ("DELETE", with(one, &query), None, super::JSON),
    }
}
