//! The schema of a field, found in a stored CRD or in the table of Go types.

use super::built_in;
use super::check::Checker;
use crdx_engine::schema_steps;
use crdx_engine::simulation::hints;
use crdx_text::spans::PathStep;
use crdx_value::{Value, group_version};
use std::borrow::Cow;

/// The schema of an object's version.
pub fn of_object<'a>(definition: &'a Value, object: &Value) -> Option<&'a Value> {
    let (_, version) = group_version::split(object.str_at(&["apiVersion"])?);
    hints::schema(definition, version)
}

/// The schema of an object's version, as far as the field at `path` and its members need it.
pub fn root<'a>(checker: &'a Checker, object: &Value, path: &[PathStep]) -> Option<Cow<'a, Value>> {
    match checker.definition(object) {
        Some(definition) => of_object(definition, object).map(Cow::Borrowed),
        None => built_in::schema(object, path, checker.releases().newest()).map(Cow::Owned),
    }
}

/// The schema of the field at `path`.
pub fn at<'a>(schema: &'a Value, path: &[PathStep]) -> Option<&'a Value> {
    path.iter().try_fold(schema, |schema, step| Some(below(schema, step)?.1))
}

/// The path of a field in the schema, as the server prints it: `.properties[spec].items`.
pub fn schema_path(root: &Value, path: &[PathStep]) -> Option<String> {
    Some(schema_steps::schema_path(&steps(root, path)?))
}

/// The path of a field as `lint` prints it: `spec.list[*].name`.
pub fn value_path(root: &Value, path: &[PathStep]) -> Option<String> {
    Some(schema_steps::value_path(&steps(root, path)?))
}

fn steps(root: &Value, path: &[PathStep]) -> Option<Vec<schema_steps::SchemaStep>> {
    let mut schema = root;
    let step = |step: &PathStep| {
        let (found, next) = below(schema, step)?;
        schema = next;
        Some(found)
    };
    path.iter().map(step).collect()
}

/// The step to the schema of a member or item, and this schema.
fn below<'a>(schema: &'a Value, step: &PathStep) -> Option<(schema_steps::SchemaStep, &'a Value)> {
    match step {
        PathStep::Item(_) => Some((schema_steps::SchemaStep::Items, schema.get("items")?)),
        PathStep::Member(name) => {
            let property = schema.get("properties").and_then(|properties| properties.get(name));
            let values = || schema.get("additionalProperties").filter(|schema| schema.as_object().is_some());
            match property {
                Some(property) => Some((schema_steps::SchemaStep::Property(name.clone()), property)),
                None => Some((schema_steps::SchemaStep::Values, values()?)),
            }
        }
    }
}

/// The type of a field in a readable form: `[]string`, `map[string]integer`, `integer or string`.
pub fn type_name(schema: &Value) -> String {
    if schema.get("x-kubernetes-int-or-string").and_then(Value::as_bool) == Some(true) {
        return "integer or string".to_owned();
    }
    match schema.str_at(&["type"]) {
        Some("array") => format!("[]{}", schema.get("items").map_or_else(|| "any".to_owned(), inner_name)),
        Some("object") => match schema.get("additionalProperties").filter(|values| values.as_object().is_some()) {
            Some(values) => format!("map[string]{}", inner_name(values)),
            None => "object".to_owned(),
        },
        Some(name) => name.to_owned(),
        None => "any".to_owned(),
    }
}

/// As [`type_name`], one level deep.
fn inner_name(schema: &Value) -> String {
    schema.str_at(&["type"]).unwrap_or("any").to_owned()
}

/// True if `name` is required in an object of this schema.
pub fn is_required(schema: &Value, name: &str) -> bool {
    let required = schema.get("required").and_then(Value::as_array).unwrap_or_default();
    required.iter().any(|required| required.as_str() == Some(name))
}
