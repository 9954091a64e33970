//! The keywords of a schema: the one list that decoding, encoding and messages in Go syntax share.

use super::{ExternalDocumentation, Items, Schema, SchemaOrBool, SchemaOrNames, ValidationRule};
use crdx_value::Value;
use std::collections::BTreeMap;

/// The names of a keyword.
#[derive(Clone, Copy, Debug)]
pub struct Keyword {
    /// The name in JSON.
    pub name: &'static str,
    /// The name of the field of the Go type `JSONSchemaProps`.
    pub go_field: &'static str,
}

/// Visits the keywords of a schema with their values. Absent strings, lists and maps are empty.
pub trait KeywordVisitor {
    /// A string.
    fn text(&mut self, keyword: Keyword, text: &str);
    /// A string that may be absent.
    fn optional_text(&mut self, keyword: Keyword, text: Option<&str>);
    /// A boolean that is false by default.
    fn flag(&mut self, keyword: Keyword, flag: bool);
    /// A boolean that may be absent.
    fn optional_flag(&mut self, keyword: Keyword, flag: Option<bool>);
    /// A float.
    fn number(&mut self, keyword: Keyword, number: Option<f64>);
    /// An integer.
    fn integer(&mut self, keyword: Keyword, integer: Option<i64>);
    /// Any value.
    fn json(&mut self, keyword: Keyword, value: Option<&Value>);
    /// A list of any values.
    fn json_list(&mut self, keyword: Keyword, values: &[Value]);
    /// A list of names.
    fn names(&mut self, keyword: Keyword, names: &[String]);
    /// A schema, or a list of schemas.
    fn items(&mut self, keyword: Keyword, items: Option<&Items>);
    /// A list of schemas.
    fn schemas(&mut self, keyword: Keyword, schemas: &[Schema]);
    /// A schema.
    fn schema(&mut self, keyword: Keyword, schema: Option<&Schema>);
    /// Schemas by name.
    fn schema_map(&mut self, keyword: Keyword, schemas: &BTreeMap<String, Box<Schema>>);
    /// Schemas by name, of the Go type `JSONSchemaDefinitions`.
    fn definitions(&mut self, keyword: Keyword, schemas: &BTreeMap<String, Box<Schema>>);
    /// A schema, or a boolean.
    fn schema_or_bool(&mut self, keyword: Keyword, value: Option<&SchemaOrBool>);
    /// Schemas or required properties, by name.
    fn dependencies(&mut self, keyword: Keyword, dependencies: &BTreeMap<String, SchemaOrNames>);
    /// A link to documentation.
    fn external_docs(&mut self, keyword: Keyword, docs: Option<&ExternalDocumentation>);
    /// Validation rules.
    fn rules(&mut self, keyword: Keyword, rules: &[ValidationRule]);
}

/// The field of a keyword, to set its value.
#[derive(Debug)]
pub(super) enum KeywordField<'a> {
    Text(&'a mut String),
    OptionalText(&'a mut Option<String>),
    Flag(&'a mut bool),
    OptionalFlag(&'a mut Option<bool>),
    Number(&'a mut Option<f64>),
    Integer(&'a mut Option<i64>),
    Json(&'a mut Option<Value>),
    JsonList(&'a mut Vec<Value>),
    Names(&'a mut Vec<String>),
    Items(&'a mut Option<Items>),
    Schemas(&'a mut Vec<Schema>),
    Schema(&'a mut Option<Box<Schema>>),
    SchemaMap(&'a mut BTreeMap<String, Box<Schema>>),
    Definitions(&'a mut BTreeMap<String, Box<Schema>>),
    SchemaOrBool(&'a mut Option<SchemaOrBool>),
    Dependencies(&'a mut BTreeMap<String, SchemaOrNames>),
    ExternalDocs(&'a mut Option<ExternalDocumentation>),
    Rules(&'a mut Vec<ValidationRule>),
}

impl KeywordField<'_> {
    /// Returns true for lists and maps, which the server may distinguish from absent ones if they are empty.
    pub(super) fn is_collection(&self) -> bool {
        match self {
            Self::JsonList(_)
            | Self::Names(_)
            | Self::Schemas(_)
            | Self::SchemaMap(_)
            | Self::Definitions(_)
            | Self::Dependencies(_)
            | Self::Rules(_) => true,
            Self::Text(_)
            | Self::OptionalText(_)
            | Self::Flag(_)
            | Self::OptionalFlag(_)
            | Self::Number(_)
            | Self::Integer(_)
            | Self::Json(_)
            | Self::Items(_)
            | Self::Schema(_)
            | Self::SchemaOrBool(_)
            | Self::ExternalDocs(_) => false,
        }
    }
}

/// Visits a keyword by the type of its value.
macro_rules! visit {
    ($visitor:ident, $keyword:ident, Text, $field:expr) => {
        $visitor.text($keyword, &$field)
    };
    ($visitor:ident, $keyword:ident, OptionalText, $field:expr) => {
        $visitor.optional_text($keyword, $field.as_deref())
    };
    ($visitor:ident, $keyword:ident, Flag, $field:expr) => {
        $visitor.flag($keyword, $field)
    };
    ($visitor:ident, $keyword:ident, OptionalFlag, $field:expr) => {
        $visitor.optional_flag($keyword, $field)
    };
    ($visitor:ident, $keyword:ident, Number, $field:expr) => {
        $visitor.number($keyword, $field)
    };
    ($visitor:ident, $keyword:ident, Integer, $field:expr) => {
        $visitor.integer($keyword, $field)
    };
    ($visitor:ident, $keyword:ident, Json, $field:expr) => {
        $visitor.json($keyword, $field.as_ref())
    };
    ($visitor:ident, $keyword:ident, JsonList, $field:expr) => {
        $visitor.json_list($keyword, &$field)
    };
    ($visitor:ident, $keyword:ident, Names, $field:expr) => {
        $visitor.names($keyword, &$field)
    };
    ($visitor:ident, $keyword:ident, Items, $field:expr) => {
        $visitor.items($keyword, $field.as_ref())
    };
    ($visitor:ident, $keyword:ident, Schemas, $field:expr) => {
        $visitor.schemas($keyword, &$field)
    };
    ($visitor:ident, $keyword:ident, Schema, $field:expr) => {
        $visitor.schema($keyword, $field.as_deref())
    };
    ($visitor:ident, $keyword:ident, SchemaMap, $field:expr) => {
        $visitor.schema_map($keyword, &$field)
    };
    ($visitor:ident, $keyword:ident, Definitions, $field:expr) => {
        $visitor.definitions($keyword, &$field)
    };
    ($visitor:ident, $keyword:ident, SchemaOrBool, $field:expr) => {
        $visitor.schema_or_bool($keyword, $field.as_ref())
    };
    ($visitor:ident, $keyword:ident, Dependencies, $field:expr) => {
        $visitor.dependencies($keyword, &$field)
    };
    ($visitor:ident, $keyword:ident, ExternalDocs, $field:expr) => {
        $visitor.external_docs($keyword, $field.as_ref())
    };
    ($visitor:ident, $keyword:ident, Rules, $field:expr) => {
        $visitor.rules($keyword, &$field)
    };
}

/// Defines the keywords, in the order of the Go fields.
macro_rules! keywords {
    ($($name:literal $go_field:ident $field:ident $kind:ident;)*) => {
        impl Schema {
            /// Visits all keywords, in the order of the Go fields.
            pub fn visit_keywords(&self, visitor: &mut impl KeywordVisitor) {
                $(
                    let keyword = Keyword { name: $name, go_field: stringify!($go_field) };
                    visit!(visitor, keyword, $kind, self.$field);
                )*
            }

            /// Returns the field of a keyword; `None` for an unknown name.
            pub(super) fn field(&mut self, name: &str) -> Option<KeywordField<'_>> {
                match name {
                    $($name => Some(KeywordField::$kind(&mut self.$field)),)*
                    _ => None,
                }
            }
        }

        #[cfg(test)]
        const NAMES: &[&str] = &[$($name),*];
    };
}

keywords! {
    "id" ID id Text;
    "$schema" Schema schema Text;
    "$ref" Ref reference OptionalText;
    "description" Description description Text;
    "type" Type type_ Text;
    "nullable" Nullable nullable Flag;
    "format" Format format Text;
    "title" Title title Text;
    "default" Default default Json;
    "maximum" Maximum maximum Number;
    "exclusiveMaximum" ExclusiveMaximum exclusive_maximum Flag;
    "minimum" Minimum minimum Number;
    "exclusiveMinimum" ExclusiveMinimum exclusive_minimum Flag;
    "maxLength" MaxLength max_length Integer;
    "minLength" MinLength min_length Integer;
    "pattern" Pattern pattern Text;
    "maxItems" MaxItems max_items Integer;
    "minItems" MinItems min_items Integer;
    "uniqueItems" UniqueItems unique_items Flag;
    "multipleOf" MultipleOf multiple_of Number;
    "enum" Enum enum_ JsonList;
    "maxProperties" MaxProperties max_properties Integer;
    "minProperties" MinProperties min_properties Integer;
    "required" Required required Names;
    "items" Items items Items;
    "allOf" AllOf all_of Schemas;
    "oneOf" OneOf one_of Schemas;
    "anyOf" AnyOf any_of Schemas;
    "not" Not not Schema;
    "properties" Properties properties SchemaMap;
    "additionalProperties" AdditionalProperties additional_properties SchemaOrBool;
    "patternProperties" PatternProperties pattern_properties SchemaMap;
    "dependencies" Dependencies dependencies Dependencies;
    "additionalItems" AdditionalItems additional_items SchemaOrBool;
    "definitions" Definitions definitions Definitions;
    "externalDocs" ExternalDocs external_docs ExternalDocs;
    "example" Example example Json;
    "x-kubernetes-preserve-unknown-fields" XPreserveUnknownFields x_preserve_unknown_fields OptionalFlag;
    "x-kubernetes-embedded-resource" XEmbeddedResource x_embedded_resource Flag;
    "x-kubernetes-int-or-string" XIntOrString x_int_or_string Flag;
    "x-kubernetes-list-map-keys" XListMapKeys x_list_map_keys Names;
    "x-kubernetes-list-type" XListType x_list_type OptionalText;
    "x-kubernetes-map-type" XMapType x_map_type OptionalText;
    "x-kubernetes-validations" XValidations x_validations Rules;
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_keyword_has_a_field() {
        let mut schema = Schema::default();
        assert_eq!(NAMES.iter().collect::<BTreeSet<_>>().len(), 44);
        assert!(NAMES.iter().all(|name| schema.field(name).is_some()));
        assert!(schema.field("ID").is_none());
    }
}
