//! Random requests for custom resources: create, update, patch, apply, status, scale, tables and deletion.

use super::{
    Pair, Subject,
    mutate::{Rng, any_value, mutate, paths},
};
use serde_json::{Value, json};

const JSON: &str = "application/json";
const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io";

pub fn compare(pair: &mut Pair, subject: &Subject, rng: &mut Rng, rounds: u64) {
    if !pair.install(&subject.crd) {
        return;
    }
    let spec = &subject.crd["spec"];
    let namespace = if spec["scope"] == "Namespaced" { "/namespaces/default" } else { "" };
    let plural = spec["names"]["plural"].as_str().unwrap();
    let base = |version: &str| format!("/apis/{}/{version}{namespace}/{plural}", spec["group"].as_str().unwrap());
    let versions: Vec<&str> = spec["versions"].as_array().unwrap().iter().filter_map(|v| v["name"].as_str()).collect();
    let mut stored = Vec::new();
    for round in 0..rounds {
        if pair.is_over() {
            break;
        }
        let mut object = rng.pick(&subject.objects).clone();
        object["metadata"].as_object_mut().map(|m| m.remove("namespace"));
        let version = object["apiVersion"].as_str().unwrap().split_once('/').map_or("v1", |(_, v)| v).to_owned();
        let name = format!("n{}", rng.below(6));
        object["metadata"]["name"] = json!(name);
        let calm = |p: &[Value]| {
            !matches!(p, [only] if ["apiVersion", "kind"].iter().any(|k| only == k)) && !p.ends_with(&[json!("name")])
                || p.len() > 2
        };
        let kind_of_change = |p: &[Value]| calm(p) && p[0] != "apiVersion";
        for _ in 0..rng.below(3) {
            mutate(&mut object, rng, kind_of_change, any_value);
        }
        if !object["metadata"].is_object() {
            object["metadata"] = json!({"name": name});
        }
        let validation = *rng.pick(&["Strict", "Warn", "Ignore"]);
        let one = format!("{}/{name}", base(&version));
        match if round < 3 { 1 } else { rng.below(14) } {
            0 | 10 | 11 => {
                pair.ask(
                    "POST",
                    &format!("{}?dryRun=All&fieldValidation={validation}", base(&version)),
                    Some(&object),
                    JSON,
                    JSON,
                );
            }
            1 => {
                let clean = if rng.chance(2) { object } else { with_name(rng.pick(&subject.objects), &name) };
                pair.ask(
                    "POST",
                    &format!("{}?fieldValidation={validation}&fieldManager=maker", base(&version)),
                    Some(&clean),
                    JSON,
                    JSON,
                );
                stored.push(name);
            }
            2 => {
                object["metadata"]["resourceVersion"] = json!("{{resourceVersion}}");
                pair.ask(
                    "PUT",
                    &format!("{one}?fieldValidation={validation}&fieldManager=putter"),
                    Some(&object),
                    JSON,
                    JSON,
                );
            }
            3 | 12 => {
                let patch =
                    json!({"spec": pruned(&object["spec"], rng), "metadata": {"labels": {"a": any_value(rng)}}});
                let patch = if rng.chance(3) { json!({"metadata": {"labels": {"x": "y"}}}) } else { patch };
                pair.ask(
                    "PATCH",
                    &format!("{one}?fieldValidation={validation}&fieldManager=merger"),
                    Some(&patch),
                    "application/merge-patch+json",
                    JSON,
                );
            }
            4 => {
                let candidates = paths(&object);
                let path = &candidates[rng.below(candidates.len())];
                let mut pointer = String::new();
                for step in path {
                    pointer.push('/');
                    pointer +=
                        &step.as_str().map_or_else(|| step.to_string(), |t| t.replace('~', "~0").replace('/', "~1"));
                }
                let operation = *rng.pick(&["add", "replace", "remove", "test"]);
                let patch = json!([{"op": operation, "path": pointer, "value": any_value(rng)}]);
                pair.ask(
                    "PATCH",
                    &format!("{one}?fieldValidation={validation}"),
                    Some(&patch),
                    "application/json-patch+json",
                    JSON,
                );
            }
            5 | 13 => {
                let manager = *rng.pick(&["one", "two", "kubectl"]);
                let force = if rng.chance(3) { "&force=true" } else { "" };
                object.as_object_mut().unwrap().remove("status");
                if rng.chance(2) {
                    object["spec"] = pruned(&object["spec"], rng);
                }
                pair.ask(
                    "PATCH",
                    &format!("{one}?fieldManager={manager}{force}"),
                    Some(&object),
                    "application/apply-patch+yaml",
                    JSON,
                );
            }
            6 => {
                object["metadata"]["resourceVersion"] = json!("{{resourceVersion}}");
                object["status"] = any_value(rng);
                pair.ask("PUT", &format!("{one}/status?fieldManager=st"), Some(&object), JSON, JSON);
            }
            7 => {
                let version = *rng.pick(&versions);
                pair.ask("GET", &base(version), None, JSON, TABLE);
                pair.ask("GET", &format!("{}/{name}", base(version)), None, JSON, JSON);
            }
            8 => {
                pair.ask("GET", &format!("{one}/scale"), None, JSON, JSON);
                let patch = json!({"spec": {"replicas": any_value(rng)}});
                pair.ask("PATCH", &format!("{one}/scale"), Some(&patch), "application/merge-patch+json", JSON);
            }
            _ => {
                let policy =
                    *rng.pick(&["", "?propagationPolicy=Foreground", "?propagationPolicy=Orphan", "?dryRun=All"]);
                pair.ask("DELETE", &format!("{one}{policy}"), None, JSON, JSON);
            }
        }
    }
    for name in stored {
        let path = format!("{}/{name}", base(versions[0]));
        pair.remove_finalizers(&path);
    }
    pair.uninstall(&subject.crd);
}

fn with_name(object: &Value, name: &str) -> Value {
    let mut object = object.clone();
    object["metadata"]["name"] = json!(name);
    object["metadata"].as_object_mut().unwrap().remove("namespace");
    object
}

/// A part of an object: some members are removed, and some are null.
fn pruned(value: &Value, rng: &mut Rng) -> Value {
    match value {
        Value::Object(members) => members
            .iter()
            .filter_map(|(key, child)| match rng.below(6) {
                0 => None,
                1 => Some((key.clone(), any_value(rng))),
                _ => Some((key.clone(), pruned(child, rng))),
            })
            .collect(),
        other => other.clone(),
    }
}
