//! [`Schema`] from a [`Value`]: what `json.Unmarshal` into `JSONSchemaProps` and its conversion to the internal form make of it.
//!
//! Unknown keys are ignored. `default: null` and an empty `enum` vanish; so do `items: null` and other nulls. The reader
//! stops at [`MAX_DEPTH`] levels.

use super::{Empty, ExternalDocumentation, Items, Schema, SchemaOrBool, SchemaOrNames, ValidationRule};
use crate::value::{Map, Value};
use std::collections::BTreeMap;

/// The deepest schema that is read; JSON itself ends at this depth on the server.
const MAX_DEPTH: usize = 10_000;

impl Schema {
    /// Reads a schema. `Err` holds the first wrong type that was found, with its place.
    pub fn from_value(v: &Value) -> Result<Self, String> {
        schema(v, "", MAX_DEPTH)
    }
}

fn wrong(path: &str, key: &str, expected: &str) -> String {
    format!("{path}.{key} must be {expected}")
}

struct Reader<'a> {
    members: &'a Map,
    path: &'a str,
}

impl<'a> Reader<'a> {
    fn get(&self, key: &str) -> Option<&'a Value> {
        self.members.get(key).filter(|v| !v.is_null())
    }
    fn text(&self, key: &str) -> Result<String, String> {
        Ok(self.optional_text(key)?.unwrap_or_default())
    }
    fn optional_text(&self, key: &str) -> Result<Option<String>, String> {
        match self.get(key) {
            None => Ok(None),
            Some(Value::String(s)) => Ok(Some(s.clone())),
            Some(_) => Err(wrong(self.path, key, "a string")),
        }
    }
    fn flag(&self, key: &str) -> Result<bool, String> {
        Ok(self.optional_flag(key)?.unwrap_or_default())
    }
    fn optional_flag(&self, key: &str) -> Result<Option<bool>, String> {
        match self.get(key) {
            None => Ok(None),
            Some(Value::Bool(b)) => Ok(Some(*b)),
            Some(_) => Err(wrong(self.path, key, "a boolean")),
        }
    }
    fn number(&self, key: &str) -> Result<Option<f64>, String> {
        match self.get(key) {
            None => Ok(None),
            Some(Value::Int(i)) => Ok(Some(*i as f64)),
            Some(Value::Float(x)) => Ok(Some(*x)),
            Some(_) => Err(wrong(self.path, key, "a number")),
        }
    }
    fn integer(&self, key: &str) -> Result<Option<i64>, String> {
        match self.get(key) {
            None => Ok(None),
            Some(Value::Int(i)) => Ok(Some(*i)),
            Some(_) => Err(wrong(self.path, key, "an integer")),
        }
    }
    fn list(&self, key: &str) -> Result<&'a [Value], String> {
        match self.get(key) {
            None => Ok(&[]),
            Some(Value::Array(items)) => Ok(items),
            Some(_) => Err(wrong(self.path, key, "a list")),
        }
    }
    fn names(&self, key: &str) -> Result<Vec<String>, String> {
        names(self.list(key)?).ok_or_else(|| wrong(self.path, key, "a list of strings"))
    }
    fn schemas(&self, key: &str, depth: usize) -> Result<Vec<Schema>, String> {
        let items = self.list(key)?.iter().enumerate();
        items.map(|(i, v)| schema(v, &format!("{}.{key}[{i}]", self.path), depth)).collect()
    }
    fn map<T>(
        &self,
        key: &str,
        read: impl Fn(&Value, &str) -> Result<T, String>,
    ) -> Result<BTreeMap<String, T>, String> {
        match self.get(key) {
            None => Ok(BTreeMap::new()),
            Some(Value::Object(members)) => members
                .iter()
                .map(|(name, v)| Ok((name.clone(), read(v, &format!("{}.{key}[{name}]", self.path))?)))
                .collect(),
            Some(_) => Err(wrong(self.path, key, "an object")),
        }
    }
    fn schema_or_bool(&self, key: &str, depth: usize) -> Result<Option<SchemaOrBool>, String> {
        Ok(match self.get(key) {
            None => None,
            Some(Value::Bool(b)) => Some(SchemaOrBool::Bool(*b)),
            Some(v) => Some(SchemaOrBool::Schema(Box::new(schema(v, &format!("{}.{key}", self.path), depth)?))),
        })
    }
}

fn names(items: &[Value]) -> Option<Vec<String>> {
    // A null in a list of strings is an empty string to Go.
    items.iter().map(|v| if v.is_null() { Some(String::new()) } else { v.as_str().map(str::to_owned) }).collect()
}

fn schema(v: &Value, path: &str, depth: usize) -> Result<Schema, String> {
    let members = match v {
        Value::Object(members) => members,
        Value::Null => return Ok(Schema::default()),
        _ => return Err(format!("{path} must be an object")),
    };
    let Some(depth) = depth.checked_sub(1) else { return Err(format!("{path} is nested too deeply")) };
    let r = Reader { members, path };
    Ok(Schema {
        id: r.text("id")?,
        schema: r.text("$schema")?,
        reference: r.optional_text("$ref")?,
        description: r.text("description")?,
        type_: r.text("type")?,
        format: r.text("format")?,
        title: r.text("title")?,
        default: r.get("default").cloned(),
        maximum: r.number("maximum")?,
        exclusive_maximum: r.flag("exclusiveMaximum")?,
        minimum: r.number("minimum")?,
        exclusive_minimum: r.flag("exclusiveMinimum")?,
        max_length: r.integer("maxLength")?,
        min_length: r.integer("minLength")?,
        pattern: r.text("pattern")?,
        max_items: r.integer("maxItems")?,
        min_items: r.integer("minItems")?,
        unique_items: r.flag("uniqueItems")?,
        multiple_of: r.number("multipleOf")?,
        enum_: r.list("enum")?.to_vec(),
        max_properties: r.integer("maxProperties")?,
        min_properties: r.integer("minProperties")?,
        required: r.names("required")?,
        items: match r.get("items") {
            None => None,
            Some(Value::Array(_)) => Some(Items::Schemas(r.schemas("items", depth)?)),
            Some(v @ Value::Object(_)) => Some(Items::Schema(Box::new(schema(v, &format!("{path}.items"), depth)?))),
            // Not refused: neither a schema nor a list of them, and written as null.
            Some(_) => Some(Items::Schemas(Vec::new())),
        },
        all_of: r.schemas("allOf", depth)?,
        one_of: r.schemas("oneOf", depth)?,
        any_of: r.schemas("anyOf", depth)?,
        not: match r.get("not") {
            None => None,
            Some(v) => Some(Box::new(schema(v, &format!("{path}.not"), depth)?)),
        },
        properties: r.map("properties", |v, path| schema(v, path, depth))?,
        additional_properties: r.schema_or_bool("additionalProperties", depth)?,
        pattern_properties: r.map("patternProperties", |v, path| schema(v, path, depth))?,
        dependencies: r.map("dependencies", |v, path| match v {
            Value::Array(items) => {
                names(items).map(SchemaOrNames::Names).ok_or_else(|| format!("{path} must be a list of strings"))
            }
            Value::Object(_) => Ok(SchemaOrNames::Schema(Box::new(schema(v, path, depth)?))),
            _ => Ok(SchemaOrNames::Names(Vec::new())),
        })?,
        additional_items: r.schema_or_bool("additionalItems", depth)?,
        definitions: r.map("definitions", |v, path| schema(v, path, depth))?,
        external_docs: match r.get("externalDocs") {
            None => None,
            Some(Value::Object(members)) => {
                let r = Reader { members, path };
                Some(ExternalDocumentation { description: r.text("description")?, url: r.text("url")? })
            }
            Some(_) => return Err(wrong(path, "externalDocs", "an object")),
        },
        example: r.get("example").cloned(),
        nullable: r.flag("nullable")?,
        x_preserve_unknown_fields: r.optional_flag("x-kubernetes-preserve-unknown-fields")?,
        x_embedded_resource: r.flag("x-kubernetes-embedded-resource")?,
        x_int_or_string: r.flag("x-kubernetes-int-or-string")?,
        x_list_map_keys: r.names("x-kubernetes-list-map-keys")?,
        x_list_type: r.optional_text("x-kubernetes-list-type")?,
        x_map_type: r.optional_text("x-kubernetes-map-type")?,
        x_validations: r.list("x-kubernetes-validations")?.iter().map(|v| rule(v, path)).collect::<Result<_, _>>()?,
        empty: empty(members),
    })
}

fn empty(members: &Map) -> Empty {
    const NAMES: [&str; 11] = [
        "enum",
        "required",
        "allOf",
        "oneOf",
        "anyOf",
        "properties",
        "patternProperties",
        "dependencies",
        "definitions",
        "x-kubernetes-list-map-keys",
        "x-kubernetes-validations",
    ];
    let is_empty = |v: &Value| match v {
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        _ => false,
    };
    let names = members.iter().filter(|(_, v)| is_empty(v));
    Empty(names.filter_map(|(key, _)| NAMES.into_iter().find(|name| name == key)).collect())
}

fn rule(v: &Value, path: &str) -> Result<ValidationRule, String> {
    let members = match v {
        Value::Object(members) => members,
        Value::Null => return Ok(ValidationRule::default()),
        _ => return Err(wrong(path, "x-kubernetes-validations", "a list of objects")),
    };
    let r = Reader { members, path };
    Ok(ValidationRule {
        rule: r.text("rule")?,
        message: r.text("message")?,
        message_expression: r.text("messageExpression")?,
        reason: r.optional_text("reason")?,
        field_path: r.text("fieldPath")?,
        optional_old_self: r.optional_flag("optionalOldSelf")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::object;

    #[test]
    fn nulls_and_empty_lists_vanish() {
        let v = object([("default", Value::Null), ("enum", Value::Array(vec![])), ("items", Value::Null)]);
        assert_eq!(Schema::from_value(&v), Ok(Schema::default()));
    }

    #[test]
    fn wrong_types_are_told_with_their_place() {
        let inner = object([("type", Value::Int(1))]);
        let v = object([("properties", object([("a", inner)]))]);
        assert_eq!(Schema::from_value(&v), Err(".properties[a].type must be a string".to_owned()));
    }

    #[test]
    fn depth_is_bounded() {
        let mut v = Value::Object(Map::new());
        for _ in 0..50 {
            v = object([("items", v)]);
        }
        assert!(schema(&v, "", 40).is_err());
        assert!(schema(&v, "", 60).is_ok());
    }
}
