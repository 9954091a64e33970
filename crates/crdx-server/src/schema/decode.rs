//! Decodes a [`Schema`] from a [`Value`], like `json.Unmarshal` into `JSONSchemaProps` and the conversion to the
//! internal form.
//!
//! Unknown keys are ignored. `default: null`, an empty `enum`, `items: null` and other nulls are dropped. Decoding
//! stops at [`MAX_DEPTH`] levels.

use super::{ExternalDocumentation, Items, Schema, SchemaOrBool, SchemaOrNames, ValidationRule};
use crdx_value::{Map, Value};
use std::collections::BTreeMap;

/// The maximum depth of a schema, which is the server's limit for JSON.
const MAX_DEPTH: usize = 10_000;

impl Schema {
    /// Decodes a schema.
    ///
    /// # Errors
    /// Returns the first value of a wrong type.
    pub fn from_value(v: &Value) -> Result<Self, TypeMismatch> {
        schema(v, MAX_DEPTH)
    }
}

/// The error for a value of a wrong type in a schema: `.properties[a].type must be a string`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{} {text}", self.path())]
pub struct TypeMismatch {
    /// The keys of the path, innermost first.
    reversed_path: Vec<String>,
    text: String,
}

impl TypeMismatch {
    fn new(text: &str) -> Self {
        Self { reversed_path: Vec::new(), text: text.to_owned() }
    }

    fn under(mut self, key: impl Into<String>) -> Self {
        self.reversed_path.push(key.into());
        self
    }

    fn path(&self) -> String {
        self.reversed_path.iter().rev().map(String::as_str).collect()
    }
}

type Read<T> = Result<T, TypeMismatch>;

fn text(v: &Value) -> Read<String> {
    v.as_str().map(str::to_owned).ok_or_else(|| TypeMismatch::new("must be a string"))
}

fn flag(v: &Value) -> Read<bool> {
    v.as_bool().ok_or_else(|| TypeMismatch::new("must be a boolean"))
}

fn number(v: &Value) -> Read<f64> {
    match v {
        Value::Int(i) => Ok(*i as f64),
        Value::Float(x) => Ok(*x),
        _ => Err(TypeMismatch::new("must be a number")),
    }
}

fn integer(v: &Value) -> Read<i64> {
    v.as_int().ok_or_else(|| TypeMismatch::new("must be an integer"))
}

fn object(v: &Value) -> Read<&Map> {
    v.as_object().ok_or_else(|| TypeMismatch::new("must be an object"))
}

fn list<T>(v: &Value, read: impl Fn(&Value) -> Read<T>) -> Read<Vec<T>> {
    let items = v.as_array().ok_or_else(|| TypeMismatch::new("must be a list"))?;
    items.iter().enumerate().map(|(i, v)| read(v).map_err(|error| error.under(format!("[{i}]")))).collect()
}

fn names(v: &Value) -> Read<Vec<String>> {
    // A null in a list of strings is an empty string in Go.
    list(v, |v| if v.is_null() { Ok(String::new()) } else { text(v) })
}

fn map<T>(v: &Value, read: impl Fn(&Value) -> Read<T>) -> Read<BTreeMap<String, T>> {
    let read = |(name, v): (&String, &Value)| match read(v) {
        Ok(read) => Ok((name.clone(), read)),
        Err(error) => Err(error.under(format!("[{name}]"))),
    };
    object(v)?.iter().map(read).collect()
}

fn boxed(v: &Value, depth: usize) -> Read<Box<Schema>> {
    schema(v, depth).map(Box::new)
}

fn schema_or_bool(v: &Value, depth: usize) -> Read<SchemaOrBool> {
    match v {
        Value::Bool(b) => Ok(SchemaOrBool::Bool(*b)),
        v => boxed(v, depth).map(SchemaOrBool::Schema),
    }
}

fn items(v: &Value, depth: usize) -> Read<Items> {
    match v {
        Value::Array(_) => list(v, |v| schema(v, depth)).map(Items::Schemas),
        Value::Object(_) => boxed(v, depth).map(Items::Schema),
        // A value that is neither a schema nor a list of schemas is accepted, and omitted in responses.
        _ => Ok(Items::Schemas(Vec::new())),
    }
}

fn schema_or_names(v: &Value, depth: usize) -> Read<SchemaOrNames> {
    match v {
        Value::Array(_) => names(v).map(SchemaOrNames::Names),
        Value::Object(_) => boxed(v, depth).map(SchemaOrNames::Schema),
        _ => Ok(SchemaOrNames::Names(Vec::new())),
    }
}

fn schema(v: &Value, depth: usize) -> Read<Schema> {
    let mut read = Schema::default();
    if v.is_null() {
        return Ok(read);
    }
    let Some(depth) = depth.checked_sub(1) else { return Err(TypeMismatch::new("is nested too deeply")) };
    for (key, v) in object(v)?.iter().filter(|(_, v)| !v.is_null()) {
        field(&mut read, key, v, depth).map_err(|error| error.under(format!(".{key}")))?;
    }
    Ok(read)
}

fn field(s: &mut Schema, key: &str, v: &Value, depth: usize) -> Read<()> {
    match key {
        "id" => s.id = text(v)?,
        "$schema" => s.schema = text(v)?,
        "$ref" => s.reference = Some(text(v)?),
        "description" => s.description = text(v)?,
        "type" => s.type_ = text(v)?,
        "format" => s.format = text(v)?,
        "title" => s.title = text(v)?,
        "default" => s.default = Some(v.clone()),
        "maximum" => s.maximum = Some(number(v)?),
        "exclusiveMaximum" => s.exclusive_maximum = flag(v)?,
        "minimum" => s.minimum = Some(number(v)?),
        "exclusiveMinimum" => s.exclusive_minimum = flag(v)?,
        "maxLength" => s.max_length = Some(integer(v)?),
        "minLength" => s.min_length = Some(integer(v)?),
        "pattern" => s.pattern = text(v)?,
        "maxItems" => s.max_items = Some(integer(v)?),
        "minItems" => s.min_items = Some(integer(v)?),
        "uniqueItems" => s.unique_items = flag(v)?,
        "multipleOf" => s.multiple_of = Some(number(v)?),
        "maxProperties" => s.max_properties = Some(integer(v)?),
        "minProperties" => s.min_properties = Some(integer(v)?),
        "items" => s.items = Some(items(v, depth)?),
        "not" => s.not = Some(boxed(v, depth)?),
        "additionalProperties" => s.additional_properties = Some(schema_or_bool(v, depth)?),
        "additionalItems" => s.additional_items = Some(schema_or_bool(v, depth)?),
        "externalDocs" => s.external_docs = Some(external_documentation(v)?),
        "example" => s.example = Some(v.clone()),
        "nullable" => s.nullable = flag(v)?,
        "x-kubernetes-preserve-unknown-fields" => s.x_preserve_unknown_fields = Some(flag(v)?),
        "x-kubernetes-embedded-resource" => s.x_embedded_resource = flag(v)?,
        "x-kubernetes-int-or-string" => s.x_int_or_string = flag(v)?,
        "x-kubernetes-list-type" => s.x_list_type = Some(text(v)?),
        "x-kubernetes-map-type" => s.x_map_type = Some(text(v)?),
        _ => return collection(s, key, v, depth),
    }
    Ok(())
}

/// Decodes lists and maps, and records which of them are empty but present.
fn collection(s: &mut Schema, key: &str, v: &Value, depth: usize) -> Read<()> {
    match key {
        "enum" => s.enum_ = list(v, |v| Ok(v.clone()))?,
        "required" => s.required = names(v)?,
        "allOf" => s.all_of = list(v, |v| schema(v, depth))?,
        "oneOf" => s.one_of = list(v, |v| schema(v, depth))?,
        "anyOf" => s.any_of = list(v, |v| schema(v, depth))?,
        "properties" => s.properties = map(v, |v| boxed(v, depth))?,
        "patternProperties" => s.pattern_properties = map(v, |v| boxed(v, depth))?,
        "dependencies" => s.dependencies = map(v, |v| schema_or_names(v, depth))?,
        "definitions" => s.definitions = map(v, |v| boxed(v, depth))?,
        "x-kubernetes-list-map-keys" => s.x_list_map_keys = names(v)?,
        "x-kubernetes-validations" => s.x_validations = list(v, rule)?,
        _ => return Ok(()),
    }
    let is_empty = match v {
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        _ => false,
    };
    if is_empty {
        s.empty.0.push(key.to_owned());
    }
    Ok(())
}

fn external_documentation(v: &Value) -> Read<ExternalDocumentation> {
    let mut read = ExternalDocumentation::default();
    for (key, v) in object(v)?.iter().filter(|(_, v)| !v.is_null()) {
        match key.as_str() {
            "description" => read.description = text(v)?,
            "url" => read.url = text(v)?,
            _ => {}
        }
    }
    Ok(read)
}

fn rule(v: &Value) -> Read<ValidationRule> {
    let mut read = ValidationRule::default();
    if v.is_null() {
        return Ok(read);
    }
    for (key, v) in object(v)?.iter().filter(|(_, v)| !v.is_null()) {
        match key.as_str() {
            "rule" => read.rule = text(v)?,
            "message" => read.message = text(v)?,
            "messageExpression" => read.message_expression = text(v)?,
            "reason" => read.reason = Some(text(v)?),
            "fieldPath" => read.field_path = text(v)?,
            "optionalOldSelf" => read.optional_old_self = Some(flag(v)?),
            _ => {}
        }
    }
    Ok(read)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_value::object;

    #[test]
    fn nulls_and_empty_lists_are_omitted() {
        let v = object([("default", Value::Null), ("enum", Value::Array(vec![])), ("items", Value::Null)]);
        assert_eq!(Schema::from_value(&v), Ok(Schema::default()));
    }

    #[test]
    fn wrong_types_are_reported_with_their_path() {
        let inner = object([("type", Value::Int(1))]);
        let v = object([("properties", object([("a", inner)]))]);
        assert_eq!(Schema::from_value(&v).unwrap_err().to_string(), ".properties[a].type must be a string");
    }

    #[test]
    fn depth_is_bounded() {
        let mut v = Value::Object(Map::new());
        for _ in 0..50 {
            v = object([("items", v)]);
        }
        assert!(schema(&v, 40).is_err());
        assert!(schema(&v, 60).is_ok());
    }
}
