//! Encodes a [`Schema`] as the server does, with `omitempty`.

use super::{Items, Schema, SchemaOrBool, SchemaOrNames, ValidationRule};
use crdx_value::{Map, Value};
use std::collections::BTreeMap;

impl Schema {
    /// Encodes the schema as JSON.
    pub fn to_value(&self) -> Value {
        let mut w = Writer(Map::new());
        w.text("id", &self.id);
        w.text("$schema", &self.schema);
        w.optional_text("$ref", self.reference.as_deref());
        w.text("description", &self.description);
        w.text("type", &self.type_);
        w.text("format", &self.format);
        w.text("title", &self.title);
        w.value("default", self.default.as_ref().map(stored));
        w.value("maximum", self.maximum.map(float));
        w.flag("exclusiveMaximum", self.exclusive_maximum);
        w.value("minimum", self.minimum.map(float));
        w.flag("exclusiveMinimum", self.exclusive_minimum);
        w.value("maxLength", self.max_length.map(Value::Int));
        w.value("minLength", self.min_length.map(Value::Int));
        w.text("pattern", &self.pattern);
        w.value("maxItems", self.max_items.map(Value::Int));
        w.value("minItems", self.min_items.map(Value::Int));
        w.flag("uniqueItems", self.unique_items);
        w.value("multipleOf", self.multiple_of.map(float));
        w.list("enum", &self.enum_, stored);
        w.value("maxProperties", self.max_properties.map(Value::Int));
        w.value("minProperties", self.min_properties.map(Value::Int));
        w.list("required", &self.required, |s| Value::from(s.as_str()));
        w.value("items", self.items.as_ref().and_then(items));
        w.list("allOf", &self.all_of, Self::to_value);
        w.list("oneOf", &self.one_of, Self::to_value);
        w.list("anyOf", &self.any_of, Self::to_value);
        w.value("not", self.not.as_deref().map(Self::to_value));
        w.map("properties", &self.properties, |s| s.to_value());
        w.value("additionalProperties", self.additional_properties.as_ref().map(schema_or_bool));
        w.map("patternProperties", &self.pattern_properties, |s| s.to_value());
        w.map("dependencies", &self.dependencies, schema_or_names);
        w.value("additionalItems", self.additional_items.as_ref().map(schema_or_bool));
        w.map("definitions", &self.definitions, |s| s.to_value());
        w.value(
            "externalDocs",
            self.external_docs.as_ref().map(|docs| {
                let mut w = Writer(Map::new());
                w.text("description", &docs.description);
                w.text("url", &docs.url);
                Value::Object(w.0)
            }),
        );
        w.value("example", self.example.as_ref().map(stored));
        w.flag("nullable", self.nullable);
        w.value("x-kubernetes-preserve-unknown-fields", self.x_preserve_unknown_fields.map(Value::Bool));
        w.flag("x-kubernetes-embedded-resource", self.x_embedded_resource);
        w.flag("x-kubernetes-int-or-string", self.x_int_or_string);
        w.list("x-kubernetes-list-map-keys", &self.x_list_map_keys, |s| Value::from(s.as_str()));
        w.optional_text("x-kubernetes-list-type", self.x_list_type.as_deref());
        w.optional_text("x-kubernetes-map-type", self.x_map_type.as_deref());
        w.list("x-kubernetes-validations", &self.x_validations, ValidationRule::to_value);
        Value::Object(w.0)
    }
}

impl ValidationRule {
    /// Encodes the rule as JSON.
    pub fn to_value(&self) -> Value {
        let mut w = Writer(Map::new());
        w.value("rule", Some(Value::from(self.rule.as_str())));
        w.text("message", &self.message);
        w.text("messageExpression", &self.message_expression);
        w.optional_text("reason", self.reason.as_deref());
        w.text("fieldPath", &self.field_path);
        w.value("optionalOldSelf", self.optional_old_self.map(Value::Bool));
        Value::Object(w.0)
    }
}

struct Writer(Map);

impl Writer {
    fn value(&mut self, key: &str, v: Option<Value>) {
        if let Some(v) = v {
            self.0.insert(key.to_owned(), v);
        }
    }
    fn text(&mut self, key: &str, text: &str) {
        self.value(key, (!text.is_empty()).then(|| Value::from(text)));
    }
    fn optional_text(&mut self, key: &str, text: Option<&str>) {
        self.value(key, text.map(Value::from));
    }
    fn flag(&mut self, key: &str, flag: bool) {
        self.value(key, flag.then_some(Value::Bool(true)));
    }
    fn list<T>(&mut self, key: &str, items: &[T], write: impl Fn(&T) -> Value) {
        self.value(key, (!items.is_empty()).then(|| Value::Array(items.iter().map(write).collect())));
    }
    fn map<T>(&mut self, key: &str, members: &BTreeMap<String, T>, write: impl Fn(&T) -> Value) {
        let written = || Value::Object(members.iter().map(|(k, v)| (k.clone(), write(v))).collect());
        self.value(key, (!members.is_empty()).then(written));
    }
}

/// A float field of the schema. Negative zero stays a float.
fn float(x: f64) -> Value {
    if x == 0.0 && x.is_sign_negative() { Value::Float(x) } else { number(x) }
}

/// Converts a float to an integer if its JSON text is that of an integer.
fn number(x: f64) -> Value {
    // The text of a larger float may not fit in 64 bits, or has an exponent.
    if x.fract() == 0.0 && x.abs() < 9.2e18 { Value::Int(x as i64) } else { Value::Float(x) }
}

/// A value after a round trip through storage, which writes 1.0 as 1.
fn stored(v: &Value) -> Value {
    match v {
        Value::Float(x) => number(*x),
        Value::Array(items) => Value::Array(items.iter().map(stored).collect()),
        Value::Object(members) => Value::Object(members.iter().map(|(k, v)| (k.clone(), stored(v))).collect()),
        v => v.clone(),
    }
}

/// The server omits an empty list of schemas.
fn items(items: &Items) -> Option<Value> {
    match items {
        Items::Schema(schema) => Some(schema.to_value()),
        Items::Schemas(schemas) if schemas.is_empty() => None,
        Items::Schemas(schemas) => Some(Value::Array(schemas.iter().map(Schema::to_value).collect())),
    }
}

fn schema_or_bool(v: &SchemaOrBool) -> Value {
    match v {
        SchemaOrBool::Schema(schema) => schema.to_value(),
        SchemaOrBool::Bool(b) => Value::Bool(*b),
    }
}

fn schema_or_names(v: &SchemaOrNames) -> Value {
    match v {
        SchemaOrNames::Schema(schema) => schema.to_value(),
        SchemaOrNames::Names(names) if names.is_empty() => Value::Null,
        SchemaOrNames::Names(names) => Value::Array(names.iter().map(|s| Value::from(s.as_str())).collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_encoded_like_after_storage() {
        let default = Value::Array(vec![Value::Float(1.0), Value::Float(-0.0), Value::Float(1e19), Value::Float(0.5)]);
        let schema = Schema { default: Some(default), minimum: Some(-0.0), maximum: Some(3.0), ..Schema::default() };
        let written = schema.to_value();
        let read = vec![Value::Int(1), Value::Int(0), Value::Float(1e19), Value::Float(0.5)];
        assert_eq!(written.get("default"), Some(&Value::Array(read)));
        assert_eq!(written.get("maximum"), Some(&Value::Int(3)));
        assert_eq!(
            crdx_value::json::to_string(&written),
            r#"{"default":[1,0,10000000000000000000,0.5],"maximum":3,"minimum":-0}"#
        );
    }

    #[test]
    fn an_empty_list_of_schemas_is_omitted() {
        let schema = Schema { items: Some(Items::Schemas(Vec::new())), ..Schema::default() };
        assert_eq!(schema.to_value(), Value::Object(Map::new()));
    }
}
