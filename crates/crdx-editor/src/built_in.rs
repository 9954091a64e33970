//! The schemas of built-in kinds, from the table of Go types, which has no descriptions.

use crdx_text::spans::PathStep;
use crdx_types::openapi::{OpenApiVersion, PREFIX_V2, model_name, schemas};
use crdx_types::types::Types;
use crdx_value::release::Release;
use crdx_value::{Map, Value};

/// The keywords whose schema is that of the values of a list or a map.
const VALUES: [&str; 2] = ["items", "additionalProperties"];

/// The schema of a built-in object, as far as the field at `path` and its members need it: a schema of all fields would repeat
/// the same types many times.
pub fn schema(object: &Value, path: &[PathStep], release: Release) -> Option<Value> {
    let types = Types::for_release(release.minor().number().into());
    let id = types.of_kind(object.str_at(&["apiVersion"])?, object.str_at(&["kind"])?)?;
    let all = schemas(types, id, OpenApiVersion::V2);
    Some(expanded(&all, all.get(&model_name(types, id))?, path))
}

/// A schema without references on the way to the field at `path`.
fn expanded(all: &Map, schema: &Value, path: &[PathStep]) -> Value {
    let mut schema = resolved(all, schema);
    let Some(members) = schema.as_object_mut() else { return schema };
    let (next, rest) = path.split_first().map_or((None, path), |(next, rest)| (Some(next), rest));
    let child = |child: &Value, is_next: bool| {
        if is_next {
            return expanded(all, child, rest);
        }
        let mut child = without_properties(all, child);
        for key in VALUES {
            if let Some(values) = child.get_mut(key).filter(|values| values.as_object().is_some()) {
                *values = without_properties(all, values);
            }
        }
        child
    };
    let is_property = |name: &str| matches!(next, Some(PathStep::Member(member)) if member == name);
    if let Some(Value::Object(properties)) = members.get_mut("properties") {
        for (name, property) in properties.iter_mut() {
            *property = child(property, is_property(name));
        }
    }
    let is_values = [matches!(next, Some(PathStep::Item(_))), matches!(next, Some(PathStep::Member(_)))];
    for (key, is_next) in VALUES.into_iter().zip(is_values) {
        if let Some(values) = members.get_mut(key).filter(|values| values.as_object().is_some()) {
            *values = child(values, is_next);
        }
    }
    schema
}

/// A schema without its properties and without a reference.
fn without_properties(all: &Map, schema: &Value) -> Value {
    let mut schema = resolved(all, schema);
    if let Some(members) = schema.as_object_mut() {
        members.remove("properties");
    }
    schema
}

/// The schema to which a schema refers, with the keywords beside the reference.
fn resolved(all: &Map, schema: &Value) -> Value {
    let target = schema.str_at(&["$ref"]).and_then(|name| all.get(name.strip_prefix(PREFIX_V2)?));
    let mut found = target.cloned().unwrap_or_default();
    let mut members = found.as_object().cloned().unwrap_or_default();
    for (key, value) in schema.as_object().into_iter().flatten().filter(|(key, _)| *key != "$ref") {
        members.insert(key.clone(), value.clone());
    }
    if members.get("format").and_then(Value::as_str) == Some("int-or-string") {
        members.insert("x-kubernetes-int-or-string".to_owned(), true.into());
    }
    // The generator gives every field that is no pointer the zero value of its Go type.
    members.retain(|key, value| key != "default" || !is_zero(value));
    found = Value::Object(members);
    found
}

fn is_zero(value: &Value) -> bool {
    match value {
        Value::Bool(value) => !value,
        Value::Int(number) => *number == 0,
        Value::String(text) => text.is_empty(),
        Value::Object(members) => members.is_empty(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::super::schema::{at, type_name};
    use super::*;
    use crdx_value::object;

    #[test]
    fn the_schema_follows_the_path() {
        let pod = object([("apiVersion", "v1"), ("kind", "Pod")]);
        let member = |name: &str| PathStep::Member(name.to_owned());
        let path = [member("spec"), member("containers"), PathStep::Item(0), member("imagePullPolicy")];
        let root = schema(&pod, &path, Release::NEWEST).unwrap();
        let policy = at(&root, &path).unwrap();
        assert_eq!(policy.get("enum").and_then(Value::as_array).map(<[Value]>::len), Some(3), "{policy:?}");
        let container = at(&root, &path[..3]).unwrap();
        let types =
            ["name", "ports", "livenessProbe", "tty"].map(|name| type_name(at(container, &[member(name)]).unwrap()));
        assert_eq!(types, ["string", "[]object", "object", "boolean"]);
        assert_eq!(at(&root, &[member("metadata"), member("name"), member("x")]), None);
        assert_eq!(schema(&object([("apiVersion", "v1"), ("kind", "Kite")]), &[], Release::NEWEST), None);
    }
}
