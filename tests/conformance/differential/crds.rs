//! Random CRDs: real CRDs with random changes, created with dry run.

use super::{
    Pair, Subject,
    mutate::{Rng, any_value, mutate},
};
use serde_json::{Value, json};

/// Values with a meaning somewhere in a CRD.
pub fn any_part(rng: &mut Rng) -> Value {
    match rng.below(24) {
        0 => json!("string"),
        1 => json!("integer"),
        2 => json!("object"),
        3 => json!("array"),
        4 => json!({"type": "string"}),
        5 => json!({"type": "object", "properties": {"a": {"type": "integer", "default": "x"}}}),
        6 => json!({"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"}),
        7 => {
            json!({"type": "array", "items": {"type": "object", "properties": {"k": {"type": "string"}}}, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"]})
        }
        8 => json!({"type": "integer", "x-kubernetes-validations": [{"rule": "self > 1"}, {"rule": "self.x"}]}),
        9 => json!({"x-kubernetes-preserve-unknown-fields": true}),
        10 => json!({"x-kubernetes-int-or-string": true, "default": 1.5}),
        11 => json!({"type": "object", "x-kubernetes-embedded-resource": true}),
        12 => json!({"type": "string", "format": "nope", "enum": ["a", null, 1], "default": "b"}),
        13 => json!({"type": "object", "additionalProperties": true, "default": {"x": 1}}),
        14 => json!({"anyOf": [{"type": "integer"}, {"type": "string"}]}),
        15 => json!([{"required": ["a"]}, {"properties": {"q": {"minimum": 1}}}]),
        16 => json!(".spec.replicas"),
        17 => json!("map"),
        18 => json!("atomic"),
        19 => json!("v2"),
        _ => any_value(rng),
    }
}

const KEYWORDS: [&str; 24] = [
    "type",
    "format",
    "default",
    "nullable",
    "pattern",
    "items",
    "properties",
    "additionalProperties",
    "required",
    "enum",
    "anyOf",
    "oneOf",
    "allOf",
    "not",
    "minimum",
    "maxLength",
    "uniqueItems",
    "x-kubernetes-list-type",
    "x-kubernetes-list-map-keys",
    "x-kubernetes-map-type",
    "x-kubernetes-preserve-unknown-fields",
    "x-kubernetes-embedded-resource",
    "x-kubernetes-int-or-string",
    "x-kubernetes-validations",
];

pub fn compare(pair: &mut Pair, subject: &Subject, rng: &mut Rng, rounds: u64) {
    let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions?dryRun=All&fieldValidation=";
    for _ in 0..rounds {
        let mut crd = subject.crd.clone();
        crd.as_object_mut().unwrap().remove("status");
        for _ in 0..=rng.below(2) {
            if rng.chance(2) {
                add_keyword(&mut crd, rng);
            } else {
                mutate(&mut crd, rng, |p| p.len() > 1, any_part);
            }
        }
        let validation = *rng.pick(&["Strict", "Warn"]);
        pair.ask("POST", &format!("{path}{validation}"), Some(&crd), "application/json", "application/json");
    }
}

/// Adds a keyword to a random schema node.
pub fn add_keyword(crd: &mut Value, rng: &mut Rng) {
    let nodes: Vec<_> =
        super::mutate::paths(crd).into_iter().filter(|p| p.last().is_some_and(Value::is_string)).collect();
    let schemas: Vec<_> =
        nodes.into_iter().filter(|p| super::mutate::at(crd, p).get("type").is_some_and(Value::is_string)).collect();
    if schemas.is_empty() {
        return;
    }
    let node = super::mutate::at(crd, &schemas[rng.below(schemas.len())]);
    let keyword = *rng.pick(&KEYWORDS);
    node[keyword] = match keyword {
        "nullable"
        | "uniqueItems"
        | "x-kubernetes-preserve-unknown-fields"
        | "x-kubernetes-embedded-resource"
        | "x-kubernetes-int-or-string" => json!(!rng.chance(4)),
        "x-kubernetes-list-map-keys" | "required" => json!(["name", "k"]),
        _ => any_part(rng),
    };
}
