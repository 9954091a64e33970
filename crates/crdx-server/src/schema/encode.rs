//! Encodes a [`Schema`] as the server does, with `omitempty`.

use super::keywords::{Keyword, KeywordValue};
use super::{ExternalDocumentation, Items, Schema, SchemaOrBool, SchemaOrNames, ValidationRule};
use crdx_value::{Map, Value};
use std::collections::BTreeMap;

impl Schema {
    /// Encodes the schema as JSON.
    pub fn to_value(&self) -> Value {
        let mut w = Writer(Map::new());
        for Keyword { name, value, .. } in self.keywords() {
            match value {
                KeywordValue::Text(text) => w.text(name, text),
                KeywordValue::OptionalText(text) => w.optional_text(name, text.as_deref()),
                KeywordValue::Flag(flag) => w.flag(name, *flag),
                KeywordValue::OptionalFlag(flag) => w.value(name, flag.map(Value::Bool)),
                KeywordValue::Number(x) => w.value(name, x.map(float)),
                KeywordValue::Integer(i) => w.value(name, i.map(Value::Int)),
                KeywordValue::Json(value) => w.value(name, value.as_ref().map(stored)),
                KeywordValue::JsonList(values) => w.list(name, values, stored),
                KeywordValue::Names(names) => w.list(name, names, |s| Value::from(s.as_str())),
                KeywordValue::Items(given) => w.value(name, given.as_ref().and_then(items)),
                KeywordValue::Schemas(schemas) => w.list(name, schemas, Self::to_value),
                KeywordValue::Schema(schema) => w.value(name, schema.as_deref().map(Self::to_value)),
                KeywordValue::SchemaMap(schemas) | KeywordValue::Definitions(schemas) => {
                    w.map(name, schemas, |s| s.to_value());
                }
                KeywordValue::SchemaOrBool(given) => w.value(name, given.as_ref().map(schema_or_bool)),
                KeywordValue::Dependencies(all) => w.map(name, all, schema_or_names),
                KeywordValue::ExternalDocs(docs) => w.value(name, docs.as_ref().map(external_documentation)),
                KeywordValue::Rules(rules) => w.list(name, rules, ValidationRule::to_value),
            }
        }
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

fn external_documentation(docs: &ExternalDocumentation) -> Value {
    let mut w = Writer(Map::new());
    w.text("description", &docs.description);
    w.text("url", &docs.url);
    Value::Object(w.0)
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
