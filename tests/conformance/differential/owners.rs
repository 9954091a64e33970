//! Writes by several managers that fill and empty lists, sets, maps and objects: compares who owns what.

use super::{Pair, mutate::Rng};
use serde_json::{Map, Value, json};

const JSON: &str = "application/json";
const OBJECTS: &str = "/apis/owners.example.com/v1/namespaces/default/shelves";

fn crd() -> Value {
    let texts = |kind: &str| json!({"type": "array", "x-kubernetes-list-type": kind, "items": {"type": "string"}});
    let entry = json!({"type": "object", "required": ["k"], "properties": {
        "k": {"type": "string"}, "v": {"type": "integer"}, "set": texts("set"),
        "o": {"type": "object", "additionalProperties": {"type": "string"}}}});
    let part = json!({"type": "object", "properties": {
        "atomic": texts("atomic"), "set": texts("set"), "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
        "map": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"], "items": entry},
        "o": {"type": "object", "additionalProperties": {"type": "string"}},
        "granular": {"type": "object", "properties": {"a": {"type": "string"}, "set": texts("set")}}}});
    let schema = json!({"type": "object", "properties": {"spec": part, "status": part}});
    json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "shelves.owners.example.com"},
        "spec": {"group": "owners.example.com", "scope": "Namespaced", "names": {"plural": "shelves", "kind": "Shelf"},
            "versions": [
                {"name": "v1", "served": true, "storage": true, "subresources": {"status": {}}, "schema": {"openAPIV3Schema": schema}},
                {"name": "v2", "served": true, "storage": false, "subresources": {"status": {}}, "schema": {"openAPIV3Schema": schema}}]}})
}

const FIELDS: [&str; 6] = ["atomic", "set", "map", "o", "granular", "free"];

/// A value of a field, which is often empty.
fn value(field: &str, rng: &mut Rng) -> Value {
    let texts = |rng: &mut Rng| rng.pick(&[json!([]), json!(["x"]), json!(["x", "y"]), json!(["y"])]).clone();
    match field {
        "atomic" | "set" => texts(rng),
        "map" => {
            let keys = *rng.pick(&[&[][..], &["a"], &["b"], &["a", "b"]]);
            let entry = |key: &&str| {
                let mut entry = json!({"k": key});
                for (name, value) in [("v", json!(1)), ("set", texts(rng)), ("o", value("o", rng))] {
                    if rng.chance(3) {
                        entry[name] = value;
                    }
                }
                entry
            };
            keys.iter().map(entry).collect()
        }
        "o" => rng.pick(&[json!({}), json!({"x": "1"}), json!({"x": "2", "y": "1"})]).clone(),
        "granular" => {
            rng.pick(&[json!({}), json!({"a": ""}), json!({"set": []}), json!({"a": "1", "set": ["x"]})]).clone()
        }
        _ => {
            rng.pick(&[json!({}), json!({"l": []}), json!({"l": ["x"]}), json!({"l": {}}), json!({"n": null})]).clone()
        }
    }
}

fn part(rng: &mut Rng) -> Value {
    let mut out = Map::new();
    for field in FIELDS {
        if rng.chance(2) {
            out.insert(field.to_owned(), if rng.chance(20) { Value::Null } else { value(field, rng) });
        }
    }
    Value::Object(out)
}

pub fn compare(pair: &mut Pair, rng: &mut Rng, rounds: u64) {
    if !pair.install(&crd()) {
        return;
    }
    for _ in 0..rounds {
        if pair.is_over() {
            break;
        }
        let version = if rng.chance(6) { "v2" } else { "v1" };
        let objects = OBJECTS.replace("v1", version);
        let name = format!("n{}", rng.below(3));
        let by = format!("fieldManager={}&fieldValidation=Ignore", rng.pick(&["one", "two", "three"]));
        let mut object = json!({"apiVersion": format!("owners.example.com/{version}"), "kind": "Shelf",
            "metadata": {"name": name}, "spec": part(rng)});
        if rng.chance(3) {
            object["status"] = part(rng);
        }
        let status = if rng.chance(5) { "/status" } else { "" };
        let one = format!("{objects}/{name}{status}");
        match rng.below(12) {
            0 => pair.ask("DELETE", &format!("{objects}/{name}"), None, JSON, JSON),
            1 | 2 => pair.ask("POST", &format!("{objects}?{by}"), Some(&object), JSON, JSON),
            3 | 4 => {
                object["metadata"]["resourceVersion"] = json!("{{resourceVersion}}");
                pair.ask("PUT", &format!("{one}?{by}"), Some(&object), JSON, JSON)
            }
            5 | 6 => {
                let patch = json!({"spec": object["spec"], "status": part(rng)});
                pair.ask("PATCH", &format!("{one}?{by}"), Some(&patch), "application/merge-patch+json", JSON)
            }
            7 => {
                let field = *rng.pick(&FIELDS);
                let patch = json!([{"op": "add", "path": format!("/spec/{field}"), "value": value(field, rng)}]);
                pair.ask("PATCH", &format!("{one}?{by}"), Some(&patch), "application/json-patch+json", JSON)
            }
            _ => {
                let by = by.replace("&fieldValidation=Ignore", "");
                let force = if rng.chance(3) { "" } else { "&force=true" };
                pair.ask("PATCH", &format!("{one}?{by}{force}"), Some(&object), "application/apply-patch+yaml", JSON)
            }
        };
    }
    pair.uninstall(&crd());
}
