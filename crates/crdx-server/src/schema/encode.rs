//! Encodes a [`Schema`] as the server does, with `omitempty`.

use super::keywords::{Keyword, KeywordVisitor};
use super::{ExternalDocumentation, Items, Schema, SchemaOrBool, SchemaOrNames, ValidationRule};
use crdx_value::{Map, Value};
use std::collections::BTreeMap;

impl Schema {
    /// Encodes the schema as JSON.
    pub fn to_value(&self) -> Value {
        let mut w = SchemaEncoder(Map::new());
        self.visit_keywords(&mut w);
        Value::Object(w.0)
    }
}

impl ValidationRule {
    /// Encodes the rule as JSON.
    pub fn to_value(&self) -> Value {
        let mut w = SchemaEncoder(Map::new());
        w.insert("rule", Some(Value::from(self.rule.as_str())));
        w.insert_text("message", &self.message);
        w.insert_text("messageExpression", &self.message_expression);
        w.insert("reason", self.reason.as_deref().map(Value::from));
        w.insert_text("fieldPath", &self.field_path);
        w.insert("optionalOldSelf", self.optional_old_self.map(Value::Bool));
        Value::Object(w.0)
    }
}

struct SchemaEncoder(Map);

impl SchemaEncoder {
    fn insert(&mut self, key: &str, v: Option<Value>) {
        if let Some(v) = v {
            self.0.insert(key.to_owned(), v);
        }
    }
    fn insert_text(&mut self, key: &str, text: &str) {
        self.insert(key, (!text.is_empty()).then(|| Value::from(text)));
    }
    fn insert_list<T>(&mut self, key: &str, items: &[T], write: impl Fn(&T) -> Value) {
        self.insert(key, (!items.is_empty()).then(|| Value::Array(items.iter().map(write).collect())));
    }
    fn insert_map<T>(&mut self, key: &str, members: &BTreeMap<String, T>, write: impl Fn(&T) -> Value) {
        let written = || Value::Object(members.iter().map(|(k, v)| (k.clone(), write(v))).collect());
        self.insert(key, (!members.is_empty()).then(written));
    }
}

impl KeywordVisitor for SchemaEncoder {
    fn text(&mut self, keyword: Keyword, text: &str) {
        self.insert_text(keyword.name, text);
    }
    fn optional_text(&mut self, keyword: Keyword, text: Option<&str>) {
        self.insert(keyword.name, text.map(Value::from));
    }
    fn flag(&mut self, keyword: Keyword, flag: bool) {
        self.insert(keyword.name, flag.then_some(Value::Bool(true)));
    }
    fn optional_flag(&mut self, keyword: Keyword, flag: Option<bool>) {
        self.insert(keyword.name, flag.map(Value::Bool));
    }
    fn number(&mut self, keyword: Keyword, number: Option<f64>) {
        self.insert(keyword.name, number.map(float));
    }
    fn integer(&mut self, keyword: Keyword, integer: Option<i64>) {
        self.insert(keyword.name, integer.map(Value::Int));
    }
    fn json(&mut self, keyword: Keyword, value: Option<&Value>) {
        self.insert(keyword.name, value.map(stored));
    }
    fn json_list(&mut self, keyword: Keyword, values: &[Value]) {
        self.insert_list(keyword.name, values, stored);
    }
    fn names(&mut self, keyword: Keyword, names: &[String]) {
        self.insert_list(keyword.name, names, |s| Value::from(s.as_str()));
    }
    fn items(&mut self, keyword: Keyword, given: Option<&Items>) {
        self.insert(keyword.name, given.and_then(items));
    }
    fn schemas(&mut self, keyword: Keyword, schemas: &[Schema]) {
        self.insert_list(keyword.name, schemas, Schema::to_value);
    }
    fn schema(&mut self, keyword: Keyword, schema: Option<&Schema>) {
        self.insert(keyword.name, schema.map(Schema::to_value));
    }
    fn schema_map(&mut self, keyword: Keyword, schemas: &BTreeMap<String, Box<Schema>>) {
        self.insert_map(keyword.name, schemas, |s| s.to_value());
    }
    fn definitions(&mut self, keyword: Keyword, schemas: &BTreeMap<String, Box<Schema>>) {
        self.schema_map(keyword, schemas);
    }
    fn schema_or_bool(&mut self, keyword: Keyword, value: Option<&SchemaOrBool>) {
        self.insert(keyword.name, value.map(schema_or_bool));
    }
    fn dependencies(&mut self, keyword: Keyword, dependencies: &BTreeMap<String, SchemaOrNames>) {
        self.insert_map(keyword.name, dependencies, schema_or_names);
    }
    fn external_docs(&mut self, keyword: Keyword, docs: Option<&ExternalDocumentation>) {
        self.insert(keyword.name, docs.map(external_documentation));
    }
    fn rules(&mut self, keyword: Keyword, rules: &[ValidationRule]) {
        self.insert_list(keyword.name, rules, ValidationRule::to_value);
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
    let mut w = SchemaEncoder(Map::new());
    w.insert_text("description", &docs.description);
    w.insert_text("url", &docs.url);
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
