//! Compares the published schemas of built-in kinds with those of Kubernetes (`api/openapi-spec/v3`, without
//! descriptions, in `tests/facts/builtin-openapi-1.37.jsonl.gz`).

use crate::facts::unpacked;
use crdx_server::server::{Method, Request, ResponseBody, Server};
use crdx_text::json;
use crdx_value::release::Release;
use crdx_value::{Map, Value};
use std::collections::BTreeMap;

fn recorded() -> BTreeMap<String, Value> {
    let lines = unpacked("builtin-openapi-1.37.jsonl.gz");
    let fact = |line: &str| {
        let fact = json::read(line.as_bytes()).unwrap();
        (fact.str_at(&["name"]).unwrap().to_owned(), fact.get("schema").unwrap().clone())
    };
    lines.lines().map(fact).collect()
}

fn get(server: &Server, path: &str) -> Value {
    match server.handle(&Request::new(Method::Get, path, "")).body {
        ResponseBody::Json(value) => (*value).clone(),
        ResponseBody::Text(text) => json::read(text.as_bytes()).unwrap(),
    }
}

/// The schema without descriptions, and without enums, which the recorded documents do not have.
fn bare(schema: &Value) -> Value {
    match schema {
        Value::Object(members) => {
            let kept = members.iter().filter(|(key, _)| !matches!(key.as_str(), "description" | "enum"));
            let inner = |(key, value): (&String, &Value)| {
                let value = match (key.as_str(), value) {
                    ("default", value) => value.clone(),
                    ("properties", Value::Object(all)) => {
                        Value::Object(all.iter().map(|(name, schema)| (name.clone(), bare(schema))).collect())
                    }
                    (_, value) => bare(value),
                };
                (key.clone(), value)
            };
            Value::Object(kept.map(inner).collect::<Map>())
        }
        Value::Array(items) => Value::Array(items.iter().map(bare).collect()),
        other => other.clone(),
    }
}

#[test]
fn published_schemas_are_those_of_kubernetes() {
    let server = crdx_kinds::builder(Release::NEWEST, 1).with_built_in_kinds().build();
    let (recorded, mut compared, mut wrong) = (recorded(), 0, BTreeMap::new());
    let index = get(&server, "/openapi/v3");
    for path in index.get("paths").and_then(Value::as_object).unwrap().keys() {
        let document = get(&server, &format!("/openapi/v3/{path}"));
        let schemas = document.at(&["components", "schemas"]).and_then(Value::as_object).unwrap();
        for (name, schema) in schemas.iter().filter(|(name, _)| name.starts_with("io.k8s.api.")) {
            let Some(expected) = recorded.get(name) else { panic!("{path}: {name} is not recorded") };
            compared += 1;
            if bare(schema) != *expected {
                let text = crdx_value::json::to_string;
                wrong.insert(name.clone(), format!("{}\n  instead of {}", text(&bare(schema)), text(expected)));
            }
        }
    }
    assert!(compared > 600, "{compared}");
    assert!(wrong.is_empty(), "{} of {compared}: {wrong:#?}", wrong.len());
}

#[test]
fn the_second_version_has_the_same_types() {
    let server = crdx_kinds::builder(Release::NEWEST, 1).with_built_in_kinds().build();
    let document = get(&server, "/openapi/v2");
    let definition = |name: &str| document.at(&["definitions", name]).unwrap();
    let template = definition("io.k8s.api.apps.v1.DeploymentSpec").at(&["properties", "template"]).unwrap();
    assert_eq!(template.str_at(&["$ref"]), Some("#/definitions/io.k8s.api.core.v1.PodTemplateSpec"));
    let kinds = definition("io.k8s.api.apps.v1.Deployment").get("x-kubernetes-group-version-kind").unwrap();
    assert_eq!(*kinds, json::read(br#"[{"group":"apps","version":"v1","kind":"Deployment"}]"#).unwrap());
    let path = "/apis/apps/v1/namespaces/{namespace}/deployments/{name}";
    let answer = document.at(&["paths", path, "get", "responses", "200", "schema"]).unwrap();
    assert_eq!(answer.str_at(&["$ref"]), Some("#/definitions/io.k8s.api.apps.v1.Deployment"));
}
