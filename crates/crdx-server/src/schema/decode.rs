//! Decodes a [`Schema`] from a [`Value`], like `json.Unmarshal` into `JSONSchemaProps` and the conversion to the
//! internal form.
//!
//! Unknown keys are ignored. `default: null`, an empty `enum`, `items: null` and other nulls are dropped. Decoding
//! stops at [`MAX_DEPTH`] levels.

use super::keywords::KeywordField;
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

/// Decodes the value of a keyword. Records lists and maps that are empty but present.
fn field(s: &mut Schema, key: &str, v: &Value, depth: usize) -> Read<()> {
    let Some(field) = s.field(key) else { return Ok(()) };
    let is_collection = field.is_collection();
    match field {
        KeywordField::Text(field) => *field = text(v)?,
        KeywordField::OptionalText(field) => *field = Some(text(v)?),
        KeywordField::Flag(field) => *field = flag(v)?,
        KeywordField::OptionalFlag(field) => *field = Some(flag(v)?),
        KeywordField::Number(field) => *field = Some(number(v)?),
        KeywordField::Integer(field) => *field = Some(integer(v)?),
        KeywordField::Json(field) => *field = Some(v.clone()),
        KeywordField::Items(field) => *field = Some(items(v, depth)?),
        KeywordField::Schema(field) => *field = Some(boxed(v, depth)?),
        KeywordField::SchemaOrBool(field) => *field = Some(schema_or_bool(v, depth)?),
        KeywordField::ExternalDocs(field) => *field = Some(external_documentation(v)?),
        KeywordField::JsonList(field) => *field = list(v, |v| Ok(v.clone()))?,
        KeywordField::Names(field) => *field = names(v)?,
        KeywordField::Schemas(field) => *field = list(v, |v| schema(v, depth))?,
        KeywordField::SchemaMap(field) | KeywordField::Definitions(field) => {
            *field = map(v, |v| boxed(v, depth))?;
        }
        KeywordField::Dependencies(field) => *field = map(v, |v| schema_or_names(v, depth))?,
        KeywordField::Rules(field) => *field = list(v, rule)?,
    }
    let is_empty = match v {
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        _ => false,
    };
    if is_collection && is_empty {
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
