//! The OpenAPI documents that the server publishes for a CRD (`pkg/controller/openapi{,v3}`,
//! `kube-openapi/pkg/builder{,3}`).
//!
//! [`v3`] and [`v2`] build the document of one version of one CRD; [`merge`] combines documents. `common.json` has the
//! parts that are the same for all CRDs: the types of Kubernetes itself and the query parameters, as Kubernetes
//! publishes them. `own.json` has the documents that a server without CRDs publishes.
//!
//! OpenAPI v2 is lossy: `anyOf` and similar keywords are dropped, and nullable fields and fields that preserve unknown
//! fields lose their type and nested schemas, because kubectl would otherwise reject objects that the server accepts.

mod older;
mod own;
mod paths;
pub mod protobuf;
mod resolve;
mod schema;

pub use older::adapt;
pub use own::{OWN_PATHS, own};
pub use resolve::resolved;

use super::CustomResourceDefinition;
use crdx_embedded::embedded;
use crdx_text::{TooLong, json};
use crdx_types::openapi::{OpenApiVersion, PREFIX_V2, PREFIX_V3};
use crdx_value::json::length;
use crdx_value::release::Release;
use crdx_value::{Map, Value, object};
use std::sync::OnceLock;

const META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.";
const SCALE: &str = "io.k8s.api.autoscaling.v1.Scale";

/// A part of `common.json`.
fn common(part: &str) -> &'static Map {
    static COMMON: OnceLock<Value> = OnceLock::new();
    static NOTHING: Map = Map::new();
    let all = COMMON.get_or_init(|| json::read(embedded!("common.json").text().as_bytes()).unwrap_or_default());
    all.get(part).and_then(Value::as_object).unwrap_or(&NOTHING)
}

/// The name of a kind's schema: the reversed group, the version and the kind.
pub fn model_name(group: &str, version: &str, kind: &str) -> String {
    let mut parts: Vec<&str> = group.split('.').collect();
    parts.reverse();
    format!("{}.{version}.{kind}", parts.join("."))
}

/// The document at `/openapi/v3/apis/<group>/<version>` if this is the only CRD.
pub fn v3(crd: &CustomResourceDefinition, version: &str, release: Release) -> Value {
    let schemas = definitions(crd, version, OpenApiVersion::V3, release);
    object([
        ("openapi", Value::from("3.0.0")),
        ("info", info()),
        ("paths", Value::Object(paths::paths(crd, version, OpenApiVersion::V3))),
        ("components", object([("schemas", Value::Object(schemas))])),
    ])
}

/// The part of `/openapi/v2` for this CRD.
pub fn v2(crd: &CustomResourceDefinition, version: &str, release: Release) -> Value {
    let mut definitions = Value::Object(definitions(crd, version, OpenApiVersion::V2, release));
    definitions.as_object_mut().into_iter().flat_map(Map::values_mut).for_each(|v| remove_keywords(v, &["default"]));
    let mut parameters = common("parameters").clone();
    if !crd.spec.namespaced() {
        parameters.retain(|name, _| !name.starts_with("namespace-"));
    }
    object([
        ("swagger", Value::from("2.0")),
        ("info", info()),
        ("paths", Value::Object(paths::paths(crd, version, OpenApiVersion::V2))),
        ("definitions", definitions),
        ("parameters", Value::Object(parameters)),
    ])
}

fn info() -> Value {
    object([("title", "Kubernetes CRD Swagger"), ("version", "v0.1.0")])
}

/// Merges documents of one edition; parts with the same name are identical in all documents.
pub fn merge(documents: impl IntoIterator<Item = Value>) -> Value {
    merge_within(usize::MAX, documents.into_iter().map(Ok::<_, TooLong>)).unwrap_or_default()
}

/// As [`merge`], for a document whose parts have at most `limit` bytes of compact JSON. It stops at the first error.
///
/// # Errors
/// A document is an error, or the parts would be longer.
pub fn merge_within<E: From<TooLong>>(
    limit: usize,
    documents: impl IntoIterator<Item = Result<Value, E>>,
) -> Result<Value, E> {
    let mut all = Map::new();
    let mut left = limit;
    for document in documents {
        if let Value::Object(members) = document? {
            // Merges down to individual paths, parameters and types.
            fold(&mut all, members, 2, &mut left).ok_or(TooLong(limit))?;
        }
    }
    Ok(Value::Object(all))
}

/// Adds the members that are missing; `None` if they are longer than what is `left`.
fn fold(into: &mut Map, from: Map, depth: usize, left: &mut usize) -> Option<()> {
    for (key, v) in from {
        match (into.get_mut(&key), v) {
            (Some(Value::Object(into)), Value::Object(from)) if depth > 0 => fold(into, from, depth - 1, left)?,
            (Some(_), _) => {}
            (None, v) => {
                *left = left.checked_sub(length(&v))?;
                into.insert(key, v);
            }
        }
    }
    Some(())
}

fn definitions(
    crd: &CustomResourceDefinition,
    version: &str,
    openapi_version: OpenApiVersion,
    release: Release,
) -> Map {
    let scale = crd.spec.subresources(version).is_some_and(|s| s.scale.is_some());
    let shared = common("definitions").iter().filter(|(name, _)| scale || !name.starts_with(SCALE));
    let mut all: Map = shared.map(|(name, v)| (name.clone(), v.clone())).collect();
    if openapi_version == OpenApiVersion::V3 {
        all.values_mut().for_each(wrap_references);
    }
    let names = &crd.spec.names;
    let group = &crd.spec.group;
    all.insert(model_name(group, version, &names.kind), schema::object_schema(crd, version, openapi_version, release));
    all.insert(model_name(group, version, &names.list_kind), schema::list_schema(crd, version, openapi_version));
    all
}

/// Converts references to OpenAPI v3, where `$ref` has no siblings.
fn wrap_references(v: &mut Value) {
    match v {
        Value::Array(items) => items.iter_mut().for_each(wrap_references),
        Value::Object(members) => {
            members.values_mut().for_each(wrap_references);
            let Some(Value::String(text)) = members.get_mut("$ref") else { return };
            *text = text.replacen(PREFIX_V2, PREFIX_V3, 1);
            if members.len() > 1
                && let Some(reference) = members.remove("$ref")
            {
                members.insert("allOf".to_owned(), Value::Array(vec![object([("$ref", reference)])]));
            }
        }
        _ => {}
    }
}

/// Removes keywords from a schema and the schemas in it, except where they are names of properties.
fn remove_keywords(schema: &mut Value, keywords: &[&str]) {
    let Value::Object(members) = schema else { return };
    for keyword in keywords {
        members.remove(keyword);
    }
    if let Some(Value::Object(properties)) = members.get_mut("properties") {
        for v in properties.values_mut() {
            remove_keywords(v, keywords);
        }
    }
    for key in ["items", "additionalProperties", "not"] {
        if let Some(v) = members.get_mut(key) {
            remove_keywords(v, keywords);
        }
    }
    for key in ["allOf", "anyOf", "oneOf"] {
        if let Some(Value::Array(items)) = members.get_mut(key) {
            for v in items {
                remove_keywords(v, keywords);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crd::decode;

    const WIDGET: &str = r#"{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.lab.example.io"},
        "spec": {"group": "lab.example.io", "scope": "Namespaced", "names": {"plural": "widgets", "kind": "Widget"},
          "versions": [{"name": "v1", "served": true, "storage": true, "subresources": {"status": {}},
            "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": {"type": "object",
              "required": ["port", "soft"], "properties": {
                "port": {"x-kubernetes-int-or-string": true, "default": 80},
                "soft": {"type": "object", "nullable": true, "properties": {"a": {"type": "string"}}},
                "default": {"type": "string"}}}}}}}]}}"#;

    fn spec(document: &Value, part: &[&str]) -> String {
        let spec = document.at(part).and_then(|d| d.at(&["io.example.lab.v1.Widget", "properties", "spec"]));
        crdx_value::json::to_string(spec.unwrap())
    }

    #[test]
    fn openapi_v3_is_complete_and_v2_is_reduced_for_kubectl() {
        let crd = decode(&json::read(WIDGET.as_bytes()).unwrap()).unwrap().crd;
        assert_eq!(
            spec(&v3(&crd, "v1", Release::NEWEST), &["components", "schemas"]),
            concat!(
                r#"{"properties":{"default":{"type":"string"},"port":{"anyOf":[{"type":"integer"},{"type":"string"}],"default":80,"x-kubernetes-int-or-string":true},"#,
                r#""soft":{"nullable":true,"properties":{"a":{"type":"string"}},"type":"object"}},"required":["port","soft"],"type":"object"}"#
            )
        );
        assert_eq!(
            spec(&v2(&crd, "v1", Release::NEWEST), &["definitions"]),
            concat!(
                r#"{"properties":{"default":{"type":"string"},"port":{"x-kubernetes-int-or-string":true},"soft":{}},"#,
                r#""required":["port"],"type":"object"}"#
            )
        );
    }

    #[test]
    fn merged_documents_have_all_paths_and_types() {
        let first = decode(&json::read(WIDGET.as_bytes()).unwrap()).unwrap().crd;
        let other = WIDGET.replace("widget", "gadget").replace("Widget", "Gadget");
        let second = decode(&json::read(other.as_bytes()).unwrap()).unwrap().crd;
        let all = merge([v3(&first, "v1", Release::NEWEST), v3(&second, "v1", Release::NEWEST)]);
        let count = |path: &[&str]| all.at(path).and_then(Value::as_object).map(Map::len);
        assert_eq!(count(&["paths"]), Some(8));
        assert_eq!(count(&["components", "schemas"]), Some(common("definitions").len() - 3 + 4));
    }
}
