//! Writes of objects with unusual metadata: names, owners, finalizers, labels, managedFields and members of wrong types.

use super::Pair;
use super::mutate::{Rng, any_value};
use serde_json::{Value, json};

const JSON: &str = "application/json";
const MERGE: &str = "application/merge-patch+json";
const APPLY: &str = "application/apply-patch+yaml";
const NOTES: &str = "/apis/metadata.example.com/v1/namespaces/default/notes";

fn crd() -> Value {
    let schema = json!({"openAPIV3Schema": {"type": "object", "properties": {
        "spec": {"type": "object", "properties": {"text": {"type": "string"}, "size": {"type": "integer"}, "selector": {"type": "string"},
            "any": {"x-kubernetes-preserve-unknown-fields": true},
            "inner": {"type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true},
            "many": {"type": "array", "items": {"type": "object", "x-kubernetes-embedded-resource": true, "properties": {"spec": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}},
            "each": {"type": "object", "additionalProperties": {"type": "array", "items": {"type": "object", "properties": {"a": {"type": "integer"}}}}}}},
        "status": {"type": "object", "properties": {"size": {"type": "integer"}, "selector": {"type": "string"}}}}}});
    json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "notes.metadata.example.com"},
        "spec": {"group": "metadata.example.com", "scope": "Namespaced", "names": {"plural": "notes", "kind": "Note"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": schema, "subresources": {"status": {},
                "scale": {"specReplicasPath": ".spec.any.size", "statusReplicasPath": ".status.size", "labelSelectorPath": ".status.selector"}}}]}})
}

fn owner(rng: &mut Rng) -> Value {
    let mut owner = json!({"apiVersion": rng.pick(&["v1", "apps/v1", "a/b/c", "", "/", "a/", "v1 "]), "kind": rng.pick(&["Pod", "", "Event"]),
        "name": rng.pick(&["p", "", "P Q"]), "uid": rng.pick(&["u", "", "1-2"])});
    if rng.chance(2) {
        owner["controller"] = json!(rng.chance(2));
    }
    if rng.chance(3) {
        owner["blockOwnerDeletion"] = json!(rng.chance(2));
    }
    if rng.chance(8) {
        let key = *rng.pick(&["apiVersion", "kind", "name", "uid", "controller", "unknown"]);
        owner[key] = any_value(rng);
    }
    owner
}

fn managed(rng: &mut Rng) -> Value {
    let mut entry = json!({"manager": rng.pick(&["m", "", "\u{e9}\u{7}", "n"]), "operation": rng.pick(&["Apply", "Update", "", "Other"]),
        "apiVersion": rng.pick(&["metadata.example.com/v1", "v1", "metadata.example.com/v9", ""]), "fieldsType": rng.pick(&["FieldsV1", "FieldsV1", "FieldsV2", ""]),
        "fieldsV1": rng.pick(&[json!({"f:spec": {"f:text": {}}}), json!({}), json!({"q:": 1}), json!({"f:metadata": {"f:labels": {".": {}, "f:a": {}}}}),
            json!({"k:{\"a\":1}": {}}), json!({"v:1": {}}), json!({"i:0": {}}), json!({"f:spec": null})])});
    if rng.chance(3) {
        entry["time"] = json!(rng.pick(&["2020-01-01T00:00:00Z", "now", ""]));
    }
    if rng.chance(5) {
        entry["subresource"] = json!(rng.pick(&["status", "scale", "other", &"s".repeat(300)]));
    }
    if rng.chance(8) {
        entry["manager"] = json!("m".repeat(129));
    }
    entry
}

/// A member of the metadata and an unusual value.
fn member(rng: &mut Rng) -> (&'static str, Value) {
    let wrong = rng.chance(10);
    let pick = |rng: &mut Rng, values: &[Value]| rng.pick(values).clone();
    let (key, value) = match rng.below(15) {
        0 => (
            "name",
            pick(
                rng,
                &[
                    json!("n0"),
                    json!("UPPER"),
                    json!(""),
                    json!("a/b"),
                    json!("x".repeat(254)),
                    json!("-a"),
                    json!("a..b"),
                    json!("%"),
                ],
            ),
        ),
        1 => ("generateName", pick(rng, &[json!("gen-"), json!(""), json!("x".repeat(260))])),
        2 => ("namespace", pick(rng, &[json!("default"), json!("other"), json!(""), json!("Bad Name")])),
        3 => ("uid", pick(rng, &[json!("{{uid}}"), json!("other"), json!("")])),
        4 => (
            "resourceVersion",
            pick(
                rng,
                &[
                    json!("{{resourceVersion}}"),
                    json!("{{resourceVersion}}"),
                    json!("1"),
                    json!("x"),
                    json!("0"),
                    json!(""),
                ],
            ),
        ),
        5 => ("generation", pick(rng, &[json!(1), json!(99), json!(-1), json!(1.5), json!(1e3), json!("1")])),
        6 => (
            "creationTimestamp",
            pick(
                rng,
                &[json!("2020-01-01T00:00:00Z"), json!("2020-01-01T00:00:00.5+02:00"), json!("now"), json!(null)],
            ),
        ),
        7 => ("deletionTimestamp", pick(rng, &[json!("2020-01-01T00:00:00Z"), json!("2020"), json!(null)])),
        8 => ("deletionGracePeriodSeconds", pick(rng, &[json!(0), json!(5), json!(-1), json!(2.5), json!(null)])),
        9 => (
            "labels",
            pick(
                rng,
                &[
                    json!({"a": "b"}),
                    json!({"a": ""}),
                    json!({"a b": "c"}),
                    json!({"x/": "y"}),
                    json!({"A.b/c": "-"}),
                    json!({"a": "b".repeat(64)}),
                    json!({"a": 1, "b": true}),
                    json!({"": ""}),
                ],
            ),
        ),
        10 => (
            "annotations",
            pick(
                rng,
                &[
                    json!({"a": "b"}),
                    json!({"a b": "c"}),
                    json!({"a": 5}),
                    json!({"x/y/z": ""}),
                    json!({"k": "v".repeat(262_144)}),
                ],
            ),
        ),
        11 => ("ownerReferences", (0..rng.below(4)).map(|_| owner(rng)).collect()),
        12 => (
            "finalizers",
            pick(
                rng,
                &[
                    json!(["example.com/a"]),
                    json!(["example.com/a", "example.com/b"]),
                    json!(["orphan", "foregroundDeletion"]),
                    json!(["plain"]),
                    json!(["a/b/c", "", "x y"]),
                    json!([]),
                    json!(["kubernetes"]),
                    json!([1]),
                ],
            ),
        ),
        13 => ("managedFields", (0..rng.below(3)).map(|_| managed(rng)).collect()),
        _ => ("selfLink", pick(rng, &[json!("/x"), json!(1)])),
    };
    (key, if wrong { any_value(rng) } else { value })
}

fn note(rng: &mut Rng, name: &str) -> Value {
    let mut note = json!({"apiVersion": "metadata.example.com/v1", "kind": "Note", "metadata": {"name": name}, "spec": {"text": "t", "size": rng.below(3)}});
    for _ in 0..=rng.below(3) {
        let (key, value) = member(rng);
        note["metadata"][key] = value;
    }
    if rng.chance(30) {
        note["metadata"] = any_value(rng);
    }
    if rng.chance(4) {
        let mut embedded = json!({"apiVersion": rng.pick(&[json!("v1"), json!(""), json!(1), json!("a/b/c")]), "kind": rng.pick(&[json!("Pod"), json!(""), json!("a b"), json!(1), json!(null)]), "metadata": {}});
        // Which of several wrong members the real server names is random.
        let is_valid = embedded["apiVersion"] == "v1" && embedded["kind"] == "Pod";
        for _ in 0..if is_valid { rng.below(3) } else { 0 } {
            let (key, value) = member(rng);
            embedded["metadata"][key] = value;
        }
        if is_valid && rng.chance(4) {
            embedded["metadata"] = any_value(rng);
        }
        if rng.chance(2) {
            note["spec"]["inner"] = embedded;
        } else {
            note["spec"]["many"] = json!([embedded, {"apiVersion": "v1", "kind": "Pod"}]);
        }
    }
    if rng.chance(6) {
        note["spec"]["each"] = json!({"x": [{"a": 1, "b": 2}, any_value(rng)], "y": any_value(rng)});
    }
    note
}

pub fn compare(pair: &mut Pair, rng: &mut Rng, rounds: u64) {
    assert!(pair.install(&crd()));
    for _ in 0..rounds {
        if pair.is_over() {
            break;
        }
        let name = *rng.pick(&["n0", "n1", "n2"]);
        let one = format!("{NOTES}/{name}");
        let validation = rng.pick(&["", "", "fieldValidation=Strict", "fieldValidation=Ignore"]);
        match rng.below(14) {
            0..=3 => drop(pair.ask("POST", &format!("{NOTES}?{validation}"), Some(&note(rng, name)), JSON, JSON)),
            4..=6 => drop(pair.ask("PUT", &format!("{one}?{validation}"), Some(&note(rng, name)), JSON, JSON)),
            7 | 8 => {
                let (key, value) = member(rng);
                let patch = json!({"metadata": {key: value}});
                pair.ask("PATCH", &format!("{one}?{validation}"), Some(&patch), MERGE, JSON);
            }
            9 => {
                let path = format!("{one}?fieldManager={}&force=true", rng.pick(&["one", "two"]));
                pair.ask("PATCH", &path, Some(&note(rng, name)), APPLY, JSON);
            }
            10 => {
                let mut changed = note(rng, name);
                changed["status"] = json!({"size": rng.below(4), "selector": rng.pick(&["a=b", ""])});
                pair.ask("PUT", &format!("{one}/status"), Some(&changed), JSON, JSON);
            }
            11 => scale(pair, rng, &one),
            _ => {
                let query = rng.pick(&["", "", "?propagationPolicy=Foreground", "?propagationPolicy=Orphan"]);
                pair.ask("DELETE", &format!("{one}{query}"), None, JSON, JSON);
            }
        }
    }
    for name in ["n0", "n1", "n2"] {
        pair.remove_finalizers(&format!("{NOTES}/{name}"));
    }
    pair.uninstall(&crd());
}

/// Reads and writes of the Scale subresource, whose paths may lead to values of wrong types.
fn scale(pair: &mut Pair, rng: &mut Rng, one: &str) {
    let path = format!("{one}/scale");
    let any = [
        json!({"size": 3}),
        json!({"size": "x"}),
        json!(5),
        json!(null),
        json!({"size": 1.5}),
        json!([]),
        json!({"size": null}),
    ];
    let patch = json!({"spec": {"any": rng.pick(&any)}});
    pair.ask("PATCH", one, Some(&patch), MERGE, JSON);
    let mut scale = json!({"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": one.rsplit('/').next()}, "spec": {"replicas": rng.pick(&[json!(2), json!(-1), json!("x"), json!(null), json!(1.5), json!(0)])}});
    if rng.chance(2) {
        let (key, value) = member(rng);
        scale["metadata"][key] = value;
    }
    if rng.chance(6) {
        let key = *rng.pick(&["status", "spec", "metadata", "kind", "apiVersion", "unknown"]);
        scale[key] = any_value(rng);
    }
    match rng.below(4) {
        0 => pair.ask("GET", &path, None, JSON, JSON),
        1 => {
            pair.ask("PATCH", &path, Some(&json!({"spec": scale["spec"], "metadata": scale["metadata"]})), MERGE, JSON)
        }
        2 => pair.ask("PATCH", &format!("{path}?fieldManager=s&force=true"), Some(&scale), APPLY, JSON),
        _ => pair.ask("PUT", &path, Some(&scale), JSON, JSON),
    };
}
