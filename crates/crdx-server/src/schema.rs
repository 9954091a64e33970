//! The schemas of CRDs: `JSONSchemaProps` of `apiextensions.k8s.io/v1`.
//!
//! The server has two representations of a schema, `JSONSchemaProps` and `Structural`, with the same information.
//! [`Schema`] stands for both: being structural is a property of a schema, not a different type.

pub mod correlate;
pub mod decode;
pub mod encode;
pub mod format;
pub mod keywords;
pub mod ratchet;
pub mod visit;

use crdx_value::Value;
use std::collections::BTreeMap;

/// A node of a schema. Absent strings and lists are empty; `default: null` is treated as absent, as on the server.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Schema {
    /// `id`
    pub id: String,
    /// `$schema`
    pub schema: String,
    /// `$ref`
    pub reference: Option<String>,
    /// `description`
    pub description: String,
    /// `type`
    pub type_: String,
    /// `format`
    pub format: String,
    /// `title`
    pub title: String,
    /// `default`
    pub default: Option<Value>,
    /// `maximum`
    pub maximum: Option<f64>,
    /// `exclusiveMaximum`
    pub exclusive_maximum: bool,
    /// `minimum`
    pub minimum: Option<f64>,
    /// `exclusiveMinimum`
    pub exclusive_minimum: bool,
    /// `maxLength`
    pub max_length: Option<i64>,
    /// `minLength`
    pub min_length: Option<i64>,
    /// `pattern`
    pub pattern: String,
    /// `maxItems`
    pub max_items: Option<i64>,
    /// `minItems`
    pub min_items: Option<i64>,
    /// `uniqueItems`
    pub unique_items: bool,
    /// `multipleOf`
    pub multiple_of: Option<f64>,
    /// `enum`
    pub enum_: Vec<Value>,
    /// `maxProperties`
    pub max_properties: Option<i64>,
    /// `minProperties`
    pub min_properties: Option<i64>,
    /// `required`
    pub required: Vec<String>,
    /// `items`
    pub items: Option<Items>,
    /// `allOf`
    pub all_of: Vec<Schema>,
    /// `oneOf`
    pub one_of: Vec<Schema>,
    /// `anyOf`
    pub any_of: Vec<Schema>,
    /// `not`
    pub not: Option<Box<Schema>>,
    /// `properties`
    pub properties: BTreeMap<String, Box<Schema>>,
    /// `additionalProperties`
    pub additional_properties: Option<SchemaOrBool>,
    /// `patternProperties`
    pub pattern_properties: BTreeMap<String, Box<Schema>>,
    /// `dependencies`
    pub dependencies: BTreeMap<String, SchemaOrNames>,
    /// `additionalItems`
    pub additional_items: Option<SchemaOrBool>,
    /// `definitions`
    pub definitions: BTreeMap<String, Box<Schema>>,
    /// `externalDocs`
    pub external_docs: Option<ExternalDocumentation>,
    /// `example`
    pub example: Option<Value>,
    /// `nullable`
    pub nullable: bool,
    /// `x-kubernetes-preserve-unknown-fields`
    pub x_preserve_unknown_fields: Option<bool>,
    /// `x-kubernetes-embedded-resource`
    pub x_embedded_resource: bool,
    /// `x-kubernetes-int-or-string`
    pub x_int_or_string: bool,
    /// `x-kubernetes-list-map-keys`
    pub x_list_map_keys: Vec<String>,
    /// `x-kubernetes-list-type`
    pub x_list_type: Option<String>,
    /// `x-kubernetes-map-type`
    pub x_map_type: Option<String>,
    /// `x-kubernetes-validations`
    pub x_validations: Vec<ValidationRule>,
    /// The names of fields that are present as empty lists or maps.
    pub empty: Empty,
}

/// The names of fields that are present as empty lists or maps. The server distinguishes them from absent fields in a
/// few cases, but treats schemas that differ only in this respect as equal.
#[derive(Clone, Debug, Default)]
pub struct Empty(pub Vec<String>);

impl PartialEq for Empty {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Empty {
    /// Returns true if the field is present as an empty list or map.
    pub fn has(&self, name: &str) -> bool {
        self.0.iter().any(|known| known == name)
    }
}

/// `items`: a schema, or a list of schemas (never structural).
#[derive(Clone, Debug, PartialEq)]
pub enum Items {
    /// A schema for every item.
    Schema(Box<Schema>),
    /// A schema for each position.
    Schemas(Vec<Schema>),
}

/// `additionalProperties` and `additionalItems`.
#[derive(Clone, Debug, PartialEq)]
pub enum SchemaOrBool {
    /// A schema.
    Schema(Box<Schema>),
    /// True allows any value, false none.
    Bool(bool),
}

/// A value of `dependencies`.
#[derive(Clone, Debug, PartialEq)]
pub enum SchemaOrNames {
    /// A schema.
    Schema(Box<Schema>),
    /// Names of required properties.
    Names(Vec<String>),
}

/// `externalDocs`
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExternalDocumentation {
    /// `description`
    pub description: String,
    /// `url`
    pub url: String,
}

/// An entry of `x-kubernetes-validations`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ValidationRule {
    /// `rule`
    pub rule: String,
    /// `message`
    pub message: String,
    /// `messageExpression`
    pub message_expression: String,
    /// `reason`
    pub reason: Option<String>,
    /// `fieldPath`
    pub field_path: String,
    /// `optionalOldSelf`
    pub optional_old_self: Option<bool>,
}

impl Schema {
    /// The schema of every item, if `items` is a single schema.
    pub fn items_schema(&self) -> Option<&Schema> {
        if let Some(Items::Schema(s)) = &self.items { Some(s) } else { None }
    }

    /// The keywords that limit a length or a number of items or properties, with their values.
    pub fn sizes(&self) -> [(&'static str, Option<i64>); 6] {
        [
            ("minLength", self.min_length),
            ("maxLength", self.max_length),
            ("minItems", self.min_items),
            ("maxItems", self.max_items),
            ("minProperties", self.min_properties),
            ("maxProperties", self.max_properties),
        ]
    }

    /// The schema of a property.
    pub fn property(&self, name: &str) -> Option<&Schema> {
        self.properties.get(name).map(Box::as_ref)
    }

    /// The schema of additional properties, if `additionalProperties` is a schema.
    pub fn additional_properties_schema(&self) -> Option<&Schema> {
        if let Some(SchemaOrBool::Schema(s)) = &self.additional_properties { Some(s) } else { None }
    }
    /// Returns true if `x-kubernetes-preserve-unknown-fields` is true.
    pub fn preserves_unknown_fields(&self) -> bool {
        self.x_preserve_unknown_fields == Some(true)
    }
}
