//! JSON Schemas (draft-07) of custom resources, for editors and validators such as yaml-language-server and
//! kubeconform.
//!
//! A schema accepts the objects that the server accepts, except that [`Strictness::Strict`] rejects unknown fields, as
//! kubectl does and the server does not. The server sets defaults before it validates, so a required field with a
//! default may be missing. It removes nulls of fields that are not nullable, so these fields may be null. CEL rules,
//! list types and some patterns cannot be expressed; objects that violate them pass.

mod pattern;

use crdx_server::crd::{CustomResourceDefinition, openapi};
use crdx_server::schema::{Items, Schema, SchemaOrBool};
use crdx_value::release::Release;
use crdx_value::{Map, Value, object};
use pattern::is_portable;
use std::collections::BTreeSet;

/// The formats with the same meaning in JSON Schema and on the server. Some others have a different meaning
/// (`duration`, `uri`).
const FORMATS: &[&str] = &["date", "date-time", "ipv4", "ipv6"];

/// The treatment of fields that the schema does not define.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strictness {
    /// They are rejected if the server would prune them.
    Strict,
    /// They are accepted.
    Lenient,
}

/// Converts the schema of a version of a CRD.
pub fn json_schema(crd: &CustomResourceDefinition, version: &str, strictness: Strictness) -> Value {
    let none = Schema::default();
    let schema = crd.spec.schema(version).map_or(&none, |schema| schema);
    let mut root = Converter { strictness }.value(schema);
    let Some(members) = root.as_object_mut() else { return root };
    let only = |text: String| object([("type", Value::from("string")), ("enum", vec![Value::from(text)].into())]);
    let of_server = openapi::resolved(crd, version, Release::NEWEST);
    let described = |name: &str, mut property: Value| {
        let description = of_server.at(&["properties", name, "description"]).cloned();
        if let (Some(members), Some(description)) = (property.as_object_mut(), description) {
            members.insert("description".to_owned(), description);
        }
        property
    };
    let api_version = only(format!("{}/{version}", crd.spec.group));
    let mut properties = members.remove("properties").unwrap_or_else(|| Value::Object(Map::new()));
    if let Some(properties) = properties.as_object_mut() {
        properties.insert("apiVersion".to_owned(), described("apiVersion", api_version));
        properties.insert("kind".to_owned(), described("kind", only(crd.spec.names.kind.clone())));
        let own = properties.remove("metadata");
        properties.insert("metadata".to_owned(), metadata(&of_server, own, strictness));
    }
    members.insert("properties".to_owned(), properties);
    if strictness == Strictness::Strict && !schema.preserves_unknown_fields() && !crd.spec.preserves_unknown_fields() {
        members.insert("additionalProperties".to_owned(), false.into());
    }
    members.insert("$schema".to_owned(), "http://json-schema.org/draft-07/schema#".into());
    members.insert("title".to_owned(), crd.spec.names.kind.as_str().into());
    members.insert("type".to_owned(), "object".into());
    members.insert("required".to_owned(), required(schema, schema, &["apiVersion", "kind"]).into());
    root
}

/// Returns the schema of `metadata`: the server's schema, and the constraints of the CRD on the name.
fn metadata(of_server: &Value, own: Option<Value>, strictness: Strictness) -> Value {
    let mut metadata = of_server.at(&["properties", "metadata"]).cloned().unwrap_or_default();
    plain(&mut metadata, strictness);
    match own.and_then(|own| own.get("properties").cloned()) {
        Some(properties) => {
            let own = object([("properties", properties)]);
            let members = metadata.as_object_mut();
            if let Some(members) = members {
                members.insert("allOf".to_owned(), vec![own].into());
            }
            metadata
        }
        None => metadata,
    }
}

/// Removes the keywords that JSON Schema does not define from a published schema of the server.
fn plain(schema: &mut Value, strictness: Strictness) {
    let Some(members) = schema.as_object_mut() else { return };
    members.retain(|key, _| !key.starts_with("x-kubernetes-"));
    members.remove("default");
    if members.get("format").and_then(Value::as_str).is_some_and(|format| !FORMATS.contains(&format)) {
        members.remove("format");
    }
    // True for maps and unstructured objects.
    let is_open = members.contains_key("additionalProperties") || !members.contains_key("properties");
    for key in ["additionalProperties", "items"] {
        if let Some(below) = members.get_mut(key) {
            plain(below, strictness);
        }
    }
    for property in members.get_mut("properties").and_then(Value::as_object_mut).into_iter().flat_map(Map::values_mut) {
        plain(property, strictness);
        // Go decodes null as an absent field.
        property.as_object_mut().into_iter().for_each(allow_null);
    }
    if strictness == Strictness::Strict && !is_open {
        members.insert("additionalProperties".to_owned(), false.into());
    }
}

struct Converter {
    strictness: Strictness,
}

impl Converter {
    /// Converts the schema of a field.
    fn value(&self, schema: &Schema) -> Value {
        let mut out = self.constraints(schema, schema);
        if schema.x_embedded_resource {
            embed(&mut out, schema);
        }
        let prunes = schema.additional_properties.is_none() && !schema.preserves_unknown_fields();
        if self.strictness == Strictness::Strict && prunes && schema.type_ == "object" && !schema.x_embedded_resource {
            out.insert("additionalProperties".to_owned(), false.into());
        }
        if schema.nullable {
            add_null_type(&mut out);
        }
        Value::Object(out)
    }

    /// Converts the schema of an object's member. A null is removed or replaced by the default before validation.
    fn member(&self, schema: &Schema, is_required: bool) -> Value {
        let mut out = self.value(schema);
        let has_unions = !schema.any_of.is_empty() || !schema.one_of.is_empty() || !schema.all_of.is_empty();
        let has_unions = (has_unions && !schema.x_int_or_string) || schema.not.is_some();
        let may_be_null = !schema.nullable && !has_unions && (!is_required || schema.default.is_some());
        if let Some(members) = out.as_object_mut().filter(|_| may_be_null) {
            allow_null(members);
        }
        out
    }

    /// Converts the keywords of a schema, which is `of` itself or a branch of a union in `of`.
    fn constraints(&self, schema: &Schema, of: &Schema) -> Map {
        let mut out = Map::new();
        let mut insert = |key: &str, value: Value| out.insert(key.to_owned(), value);
        for (key, text) in [("title", &schema.title), ("description", &schema.description), ("type", &schema.type_)] {
            if !text.is_empty() {
                insert(key, text.as_str().into());
            }
        }
        if schema.x_int_or_string {
            insert("type", vec![Value::from("integer"), "string".into()].into());
        }
        if FORMATS.contains(&schema.format.as_str()) {
            insert("format", schema.format.as_str().into());
        }
        if is_portable(&schema.pattern) {
            insert("pattern", schema.pattern.as_str().into());
        }
        if let Some(default) = &schema.default {
            insert("default", default.clone());
        }
        if let Some(example) = &schema.example {
            insert("examples", vec![example.clone()].into());
        }
        let limits = [
            (schema.minimum, schema.exclusive_minimum, "minimum", "exclusiveMinimum"),
            (schema.maximum, schema.exclusive_maximum, "maximum", "exclusiveMaximum"),
        ];
        for (limit, is_exclusive, inclusive, exclusive) in limits {
            if let Some(limit) = limit {
                insert(if is_exclusive { exclusive } else { inclusive }, number(limit));
            }
        }
        if let Some(of) = schema.multiple_of {
            insert("multipleOf", number(of));
        }
        for (key, size) in schema.sizes() {
            let is_filled = key == "minProperties" && of.properties.values().any(|below| below.default.is_some());
            if let Some(size) = size.filter(|_| !is_filled) {
                insert(key, size.max(0).into());
            }
        }
        if schema.unique_items {
            insert("uniqueItems", true.into());
        }
        if !schema.enum_.is_empty() {
            insert("enum", unique(&schema.enum_).into());
        }
        let required = required(schema, of, &[]);
        if !required.is_empty() {
            insert("required", required.into());
        }
        let is_branch = !std::ptr::eq(schema, of);
        if !schema.properties.is_empty() {
            let property = |name: &String, below: &Schema| {
                if is_branch {
                    Value::Object(self.constraints(below, of.property(name).unwrap_or(below)))
                } else {
                    self.member(below, schema.required.contains(name))
                }
            };
            let properties = schema.properties.iter().map(|(name, below)| (name.clone(), property(name, below)));
            insert("properties", properties.collect::<Map>().into());
        }
        match &schema.additional_properties {
            Some(SchemaOrBool::Schema(values)) => {
                insert("additionalProperties", self.member(values, false));
            }
            // With `false`, the server prunes fields as it prunes unknown ones.
            Some(SchemaOrBool::Bool(allowed)) if *allowed || self.strictness == Strictness::Strict => {
                insert("additionalProperties", (*allowed).into());
            }
            _ => {}
        }
        if let Some(Items::Schema(item)) = &schema.items {
            insert("items", self.value(item));
        }
        // Branches add constraints only; they do not declare fields.
        for (key, branches) in [("allOf", &schema.all_of), ("anyOf", &schema.any_of), ("oneOf", &schema.one_of)] {
            // The anyOf or allOf of an int-or-string declares its type.
            let is_type = schema.x_int_or_string && key != "oneOf";
            if !branches.is_empty() && !is_type {
                insert(key, branches.iter().map(|branch| Self::branch(branch, of)).collect::<Vec<_>>().into());
            }
        }
        if let Some(not) = schema.not.as_deref().filter(|not| expresses_all(not)) {
            insert("not", Self::branch(not, of));
        }
        out
    }

    fn branch(schema: &Schema, of: &Schema) -> Value {
        Value::Object(Self { strictness: Strictness::Lenient }.constraints(schema, of))
    }
}

/// Returns the required names of a schema, except names with a default, and the names in `more`. The schema is `of`
/// itself or a branch of a union in `of`.
fn required(schema: &Schema, of: &Schema, more: &[&str]) -> Vec<Value> {
    let has_default = |name: &&str| of.property(name).is_some_and(|property| property.default.is_some());
    let names = schema.required.iter().map(String::as_str).filter(|name| !has_default(name));
    names.chain(more.iter().copied()).collect::<BTreeSet<&str>>().into_iter().map(Value::from).collect()
}

/// Returns true if every keyword of a schema can be converted. Otherwise its negation would reject too much.
fn expresses_all(schema: &Schema) -> bool {
    !schema.any(&mut |one| {
        (!one.pattern.is_empty() && !is_portable(&one.pattern))
            || (!one.format.is_empty() && !FORMATS.contains(&one.format.as_str()))
    })
}

/// Adds apiVersion, kind and metadata of an embedded resource.
fn embed(out: &mut Map, schema: &Schema) {
    let text = || object([("type", "string")]);
    let properties = out.entry("properties".to_owned()).or_insert_with(|| Value::Object(Map::new()));
    if let Some(properties) = properties.as_object_mut() {
        for (name, value) in [("apiVersion", text()), ("kind", text()), ("metadata", object([("type", "object")]))] {
            properties.insert(name.to_owned(), value);
        }
    }
    out.insert("required".to_owned(), required(schema, schema, &["apiVersion", "kind"]).into());
}

/// Adds null to the types. The enum does not change: the server also validates null against it.
fn add_null_type(out: &mut Map) {
    match out.get_mut("type") {
        Some(Value::Array(types)) => types.push("null".into()),
        Some(type_) => *type_ = vec![type_.clone(), "null".into()].into(),
        None => {}
    }
}

/// Adds null to the types and to the enum.
fn allow_null(out: &mut Map) {
    add_null_type(out);
    if let Some(Value::Array(values)) = out.get_mut("enum")
        && !values.contains(&Value::Null)
    {
        values.push(Value::Null);
    }
}

fn number(x: f64) -> Value {
    #[expect(clippy::cast_possible_truncation, reason = "whole and small")]
    if x.fract() == 0.0 && x.abs() < 9e15 { Value::Int(x as i64) } else { Value::Float(x) }
}

fn unique(values: &[Value]) -> Vec<Value> {
    let mut out: Vec<Value> = Vec::new();
    for value in values {
        if !out.contains(value) {
            out.push(value.clone());
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_server::crd::decode;
    use crdx_text::yaml;
    use crdx_value::json;

    fn spec(schema: &str, strictness: Strictness) -> String {
        let crd = format!(
            "{{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {{name: kites.example.com}}, spec: {{group: example.com, scope: Namespaced, names: {{plural: kites, kind: Kite}}, versions: [{{name: v1, served: true, storage: true, schema: {{openAPIV3Schema: {{type: object, required: [spec], properties: {{spec: {schema}}}}}}}}}]}}}}"
        );
        let crd = decode(&yaml::read(crd.as_bytes()).unwrap()).unwrap().crd;
        let schema = json_schema(&crd, "v1", strictness);
        json::to_string(schema.at(&["properties", "spec"]).unwrap())
    }

    #[test]
    fn the_types_of_kubernetes_become_those_of_json_schema() {
        for (schema, want) in [
            ("{x-kubernetes-int-or-string: true}", r#"{"type":["integer","string"]}"#),
            ("{type: string, nullable: true, enum: [a]}", r#"{"enum":["a"],"type":["string","null"]}"#),
            (
                "{type: integer, minimum: 1, exclusiveMinimum: true, maximum: 2}",
                r#"{"exclusiveMinimum":1,"maximum":2,"type":"integer"}"#,
            ),
            ("{type: string, format: duration, pattern: '^[[:alpha:]]+$'}", r#"{"type":"string"}"#),
            (
                "{type: string, format: date-time, pattern: '^a+$'}",
                r#"{"format":"date-time","pattern":"^a+$","type":"string"}"#,
            ),
            ("{type: object, x-kubernetes-preserve-unknown-fields: true}", r#"{"type":"object"}"#),
            (
                "{type: object, properties: {a: {type: string, default: x}}}",
                r#"{"additionalProperties":false,"properties":{"a":{"default":"x","type":["string","null"]}},"type":"object"}"#,
            ),
            (
                "{type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}",
                r#"{"properties":{"apiVersion":{"type":"string"},"kind":{"type":"string"},"metadata":{"type":"object"}},"required":["apiVersion","kind"],"type":"object"}"#,
            ),
            (
                "{type: object, additionalProperties: {type: boolean}, anyOf: [{required: [a]}]}",
                r#"{"additionalProperties":{"type":["boolean","null"]},"anyOf":[{"required":["a"]}],"type":"object"}"#,
            ),
        ] {
            assert_eq!(spec(schema, Strictness::Strict), want, "{schema}");
        }
        let lenient = spec("{type: object, properties: {a: {type: string}}}", Strictness::Lenient);
        assert_eq!(lenient, r#"{"properties":{"a":{"type":["string","null"]}},"type":"object"}"#);
        // Defaults are set before validation.
        let schema = "{type: object, minProperties: 1, required: [a, b], properties: {a: {type: integer, default: 1}, b: {type: string}}}";
        let want = r#"{"properties":{"a":{"default":1,"type":["integer","null"]},"b":{"type":"string"}},"required":["b"],"type":"object"}"#;
        assert_eq!(spec(schema, Strictness::Lenient), want);
    }
}
