//! The keywords of a schema: the one list that decoding, encoding and messages in Go syntax share.

use super::{ExternalDocumentation, Items, Schema, SchemaOrBool, SchemaOrNames, ValidationRule};
use crdx_value::Value;
use std::collections::BTreeMap;

/// A keyword of a schema with its value.
#[derive(Clone, Copy, Debug)]
pub struct Keyword<'a> {
    /// The name in JSON.
    pub name: &'static str,
    /// The name of the field of the Go type `JSONSchemaProps`.
    pub go_field: &'static str,
    /// The value.
    pub value: KeywordValue<'a>,
}

/// Defines the types of keywords, each with what reads and what sets its value.
macro_rules! types {
    ($($(#[$doc:meta])* $kind:ident: $read:ty, $set:ty;)*) => {
        /// The value of a keyword, by type. Absent strings and lists are empty.
        #[derive(Clone, Copy, Debug)]
        pub enum KeywordValue<'a> {
            $($(#[$doc])* $kind(&'a $read),)*
        }

        /// The field of a keyword, to set its value.
        #[derive(Debug)]
        pub(super) enum KeywordField<'a> {
            $($kind(&'a mut $set),)*
        }
    };
}

types! {
    /// A string.
    Text: str, String;
    /// A string that may be absent.
    OptionalText: Option<String>, Option<String>;
    /// A boolean that is false by default.
    Flag: bool, bool;
    /// A boolean that may be absent.
    OptionalFlag: Option<bool>, Option<bool>;
    /// A float.
    Number: Option<f64>, Option<f64>;
    /// An integer.
    Integer: Option<i64>, Option<i64>;
    /// Any value.
    Json: Option<Value>, Option<Value>;
    /// A list of any values.
    JsonList: [Value], Vec<Value>;
    /// A list of names.
    Names: [String], Vec<String>;
    /// A schema, or a list of schemas.
    Items: Option<Items>, Option<Items>;
    /// A list of schemas.
    Schemas: [Schema], Vec<Schema>;
    /// A schema.
    Schema: Option<Box<Schema>>, Option<Box<Schema>>;
    /// Schemas by name.
    SchemaMap: BTreeMap<String, Box<Schema>>, BTreeMap<String, Box<Schema>>;
    /// Schemas by name, of the Go type `JSONSchemaDefinitions`.
    Definitions: BTreeMap<String, Box<Schema>>, BTreeMap<String, Box<Schema>>;
    /// A schema, or a boolean.
    SchemaOrBool: Option<SchemaOrBool>, Option<SchemaOrBool>;
    /// Schemas or required properties, by name.
    Dependencies: BTreeMap<String, SchemaOrNames>, BTreeMap<String, SchemaOrNames>;
    /// A link to documentation.
    ExternalDocs: Option<ExternalDocumentation>, Option<ExternalDocumentation>;
    /// Validation rules.
    Rules: [ValidationRule], Vec<ValidationRule>;
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

/// Defines the keywords, in the order of the Go fields.
macro_rules! keywords {
    ($($name:literal $go_field:ident $field:ident $kind:ident;)*) => {
        impl Schema {
            /// Returns all keywords with their values, in the order of the Go fields.
            pub fn keywords(&self) -> impl Iterator<Item = Keyword<'_>> {
                [$(Keyword {
                    name: $name,
                    go_field: stringify!($go_field),
                    value: KeywordValue::$kind(&self.$field),
                },)*].into_iter()
            }

            /// Returns the field of a keyword; `None` for an unknown name.
            pub(super) fn field(&mut self, name: &str) -> Option<KeywordField<'_>> {
                match name {
                    $($name => Some(KeywordField::$kind(&mut self.$field)),)*
                    _ => None,
                }
            }
        }
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
        let names: Vec<&str> = schema.clone().keywords().map(|keyword| keyword.name).collect();
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), 44);
        assert!(names.iter().all(|name| schema.field(name).is_some()));
        assert!(schema.field("ID").is_none());
    }
}
