//! Schemas with all references resolved (`PopulateRefs` in `k8s.io/apiserver/pkg/cel/openapi/resolver`).

use super::{OpenApiVersion, PREFIX_V3, model_name, schemas};
use crate::types::{TypeId, Types};
use crdx_value::{Map, Value, object};

/// The OpenAPI v3 schema of a kind, like [`resolve`].
pub fn resolved(types: &'static Types, id: TypeId) -> Value {
    resolve(&schemas(types, id, OpenApiVersion::V3), &model_name(types, id))
}

/// The schema `name` of OpenAPI v3 `schemas`, with every reference replaced by the schema it refers to. A recursive
/// reference becomes an object without properties.
pub fn resolve(schemas: &Map, name: &str) -> Value {
    let mut schema = schemas.get(name).cloned().unwrap_or_default();
    populate(schemas, &mut vec![name.to_owned()], &mut schema);
    schema
}

fn populate(schemas: &Map, visited: &mut Vec<String>, schema: &mut Value) {
    let name = reference(schema).map(str::to_owned);
    if let Some(name) = &name {
        if visited.contains(name) {
            *schema = object([("type", "object")]);
            return;
        }
        let Some(found) = schemas.get(name) else { return };
        *schema = found.clone();
        visited.push(name.clone());
    }
    let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
    properties.into_iter().flat_map(Map::values_mut).for_each(|property| populate(schemas, visited, property));
    for key in ["additionalProperties", "items"] {
        if let Some(inner) = schema.get_mut(key).filter(|inner| inner.as_object().is_some()) {
            populate(schemas, visited, inner);
        }
    }
    if name.is_some() {
        visited.pop();
    }
}

/// The name of the type that a schema refers to, directly or in `allOf`, where references with a description are.
fn reference(schema: &Value) -> Option<&str> {
    if let Some(reference) = schema.str_at(&["$ref"]) {
        return reference.strip_prefix(PREFIX_V3);
    }
    schema.get("allOf").and_then(Value::as_array)?.iter().find_map(reference)
}
