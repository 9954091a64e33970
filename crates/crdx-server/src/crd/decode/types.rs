//! The Go types of a CRD, reduced to what JSON decoding needs: names of types and fields.

/// A Go type.
#[derive(Clone, Copy, Debug)]
pub enum Type {
    /// A string type with this name.
    String(&'static str),
    Bool,
    Int32,
    Int64,
    Float64,
    /// `[]uint8`
    Bytes,
    /// `uint8`
    Byte,
    /// `v1.Time`
    Time,
    /// Any JSON: `v1.JSON`, `v1.FieldsV1`.
    Any,
    /// A struct; a function, because struct types are recursive.
    Struct(fn() -> &'static Struct),
    /// A slice type with this name.
    List(&'static str, &'static Type),
    /// A map type with this name and string keys.
    Map(&'static str, &'static Type),
    /// `v1.JSONSchemaPropsOrArray`
    SchemaOrList,
    /// `v1.JSONSchemaPropsOrBool`
    SchemaOrBool,
    /// `v1.JSONSchemaPropsOrStringArray`
    SchemaOrNames,
}

/// A Go struct.
#[derive(Debug)]
pub struct Struct {
    /// The type name without package.
    pub name: &'static str,
    /// The type name with package.
    go_name: &'static str,
    fields: &'static [Field],
}

/// A field of a struct.
#[derive(Debug)]
pub struct Field {
    /// The name of the field in JSON.
    pub name: &'static str,
    /// The type of the field.
    pub type_: Type,
    /// The embedded struct that declares the field, if any.
    pub embedded: Option<&'static str>,
}

impl Type {
    /// The type as printed by Go.
    pub fn go_name(self) -> &'static str {
        match self {
            Self::String(name) | Self::List(name, _) | Self::Map(name, _) => name,
            Self::Bool => "bool",
            Self::Int32 => "int32",
            Self::Int64 => "int64",
            Self::Float64 => "float64",
            Self::Bytes => "[]uint8",
            Self::Byte => "uint8",
            Self::Time => "v1.Time",
            Self::Any => "v1.JSON",
            Self::Struct(s) => s().go_name,
            Self::SchemaOrList => "v1.JSONSchemaPropsOrArray",
            Self::SchemaOrBool => "v1.JSONSchemaPropsOrBool",
            Self::SchemaOrNames => "v1.JSONSchemaPropsOrStringArray",
        }
    }
}

impl Struct {
    /// The field with this name.
    pub fn field(&self, name: &str) -> Option<&'static Field> {
        self.fields.iter().find(|f| f.name == name)
    }

    /// The fields in the order of the Go source.
    pub fn fields(&self) -> &'static [Field] {
        self.fields
    }

    /// The names of the fields.
    pub fn names(&self) -> Vec<&'static str> {
        self.fields.iter().map(|field| field.name).collect()
    }
}

/// Declares a field.
const fn field(name: &'static str, type_: Type) -> Field {
    Field { name, type_, embedded: None }
}
/// Declares a field of the embedded `TypeMeta`.
const fn type_meta(name: &'static str) -> Field {
    Field { name, type_: STRING, embedded: Some("TypeMeta") }
}

const STRING: Type = Type::String("string");
static STRING_TYPE: Type = STRING;
pub const STRINGS: Type = Type::List("[]string", &STRING_TYPE);
const STRING_MAP: Type = Type::Map("map[string]string", &STRING_TYPE);

macro_rules! structs {
    ($($(#[$doc:meta])* $visibility:vis $id:ident = $go:literal $name:literal { $($field:expr),* $(,)? })*) => {
        $($(#[$doc])* $visibility static $id: Struct =
            Struct { name: $name, go_name: concat!($go, ".", $name), fields: &[$($field),*] };)*
    };
}

static SCHEMA_TYPE: Type = Type::Struct(|| &SCHEMA);
static ANY_TYPE: Type = Type::Any;
static RULE_TYPE: Type = Type::Struct(|| &RULE);
static SCHEMA_OR_NAMES_TYPE: Type = Type::SchemaOrNames;
static VERSION_TYPE: Type = Type::Struct(|| &VERSION);
static VERSION_V1BETA1_TYPE: Type = Type::Struct(|| &VERSION_V1BETA1);
static COLUMN_TYPE: Type = Type::Struct(|| &COLUMN);
static COLUMN_V1BETA1_TYPE: Type = Type::Struct(|| &COLUMN_V1BETA1);
static SELECTABLE_FIELD_TYPE: Type = Type::Struct(|| &SELECTABLE_FIELD);
static CONDITION_TYPE: Type = Type::Struct(|| &CONDITION);
static OWNER_TYPE: Type = Type::Struct(|| &OWNER);
static MANAGED_TYPE: Type = Type::Struct(|| &MANAGED);

/// `[]v1.JSONSchemaProps`
pub const SCHEMAS: Type = Type::List("[]v1.JSONSchemaProps", &SCHEMA_TYPE);
const SCHEMA_MAP: Type = Type::Map("map[string]v1.JSONSchemaProps", &SCHEMA_TYPE);

/// Declares types shared by v1 and v1beta1.
macro_rules! both {
    ($($(#[$doc:meta])* $visibility:vis $id:ident = $go:literal $name:literal $fields:expr;)*) => {
        $($(#[$doc])* $visibility static $id: Struct =
            Struct { name: $name, go_name: concat!($go, ".", $name), fields: &$fields };)*
    };
}

both! {
    /// `apiextensions/v1.CustomResourceDefinition`
    pub CRD_V1 = "v1" "CustomResourceDefinition" definition(Type::Struct(|| &SPEC));
    /// `apiextensions/v1beta1.CustomResourceDefinition`
    pub CRD_V1BETA1 = "v1beta1" "CustomResourceDefinition" definition(Type::Struct(|| &SPEC_V1BETA1));
    VERSION = "v1" "CustomResourceDefinitionVersion" version(COLUMNS);
    VERSION_V1BETA1 = "v1beta1" "CustomResourceDefinitionVersion" version(COLUMNS_V1BETA1);
    COLUMN = "v1" "CustomResourceColumnDefinition" column("jsonPath");
    COLUMN_V1BETA1 = "v1beta1" "CustomResourceColumnDefinition" column("JSONPath");
}

const fn definition(spec: Type) -> [Field; 5] {
    [
        type_meta("kind"),
        type_meta("apiVersion"),
        field("metadata", Type::Struct(|| &METADATA)),
        field("spec", spec),
        field("status", Type::Struct(|| &STATUS)),
    ]
}

const fn version(columns: Type) -> [Field; 9] {
    [
        field("name", STRING),
        field("served", Type::Bool),
        field("storage", Type::Bool),
        field("deprecated", Type::Bool),
        field("deprecationWarning", STRING),
        field("schema", Type::Struct(|| &VALIDATION)),
        field("subresources", Type::Struct(|| &SUBRESOURCES)),
        field("additionalPrinterColumns", columns),
        field("selectableFields", SELECTABLE_FIELDS),
    ]
}

const fn column(path: &'static str) -> [Field; 6] {
    [
        field("name", STRING),
        field("type", STRING),
        field("format", STRING),
        field("description", STRING),
        field("priority", Type::Int32),
        field(path, STRING),
    ]
}

structs! {
    /// `meta/v1.ObjectMeta`
    pub METADATA = "v1" "ObjectMeta" {
        field("name", STRING),
        field("generateName", STRING),
        field("namespace", STRING),
        field("selfLink", STRING),
        field("uid", Type::String("types.UID")),
        field("resourceVersion", STRING),
        field("generation", Type::Int64),
        field("creationTimestamp", Type::Time),
        field("deletionTimestamp", Type::Time),
        field("deletionGracePeriodSeconds", Type::Int64),
        field("labels", STRING_MAP),
        field("annotations", STRING_MAP),
        field("ownerReferences", Type::List("[]v1.OwnerReference", &OWNER_TYPE)),
        field("finalizers", STRINGS),
        field("managedFields", Type::List("[]v1.ManagedFieldsEntry", &MANAGED_TYPE)),
    }
    OWNER = "v1" "OwnerReference" {
        field("apiVersion", STRING),
        field("kind", STRING),
        field("name", STRING),
        field("uid", Type::String("types.UID")),
        field("controller", Type::Bool),
        field("blockOwnerDeletion", Type::Bool),
    }
    MANAGED = "v1" "ManagedFieldsEntry" {
        field("manager", STRING),
        field("operation", Type::String("v1.ManagedFieldsOperationType")),
        field("apiVersion", STRING),
        field("time", Type::Time),
        field("fieldsType", STRING),
        field("fieldsV1", Type::Any),
        field("subresource", STRING),
    }
    SPEC = "v1" "CustomResourceDefinitionSpec" {
        field("group", STRING),
        field("names", Type::Struct(|| &NAMES)),
        field("scope", Type::String("v1.ResourceScope")),
        field("versions", Type::List("[]v1.CustomResourceDefinitionVersion", &VERSION_TYPE)),
        field("conversion", Type::Struct(|| &CONVERSION)),
        field("preserveUnknownFields", Type::Bool),
    }
    SPEC_V1BETA1 = "v1beta1" "CustomResourceDefinitionSpec" {
        field("group", STRING),
        field("version", STRING),
        field("names", Type::Struct(|| &NAMES)),
        field("scope", Type::String("v1beta1.ResourceScope")),
        field("validation", Type::Struct(|| &VALIDATION)),
        field("subresources", Type::Struct(|| &SUBRESOURCES)),
        field("versions", Type::List("[]v1beta1.CustomResourceDefinitionVersion", &VERSION_V1BETA1_TYPE)),
        field("additionalPrinterColumns", COLUMNS_V1BETA1),
        field("selectableFields", SELECTABLE_FIELDS),
        field("conversion", Type::Struct(|| &CONVERSION_V1BETA1)),
        field("preserveUnknownFields", Type::Bool),
    }
    NAMES = "v1" "CustomResourceDefinitionNames" {
        field("plural", STRING),
        field("singular", STRING),
        field("shortNames", STRINGS),
        field("kind", STRING),
        field("listKind", STRING),
        field("categories", STRINGS),
    }
    VALIDATION = "v1" "CustomResourceValidation" {
        field("openAPIV3Schema", Type::Struct(|| &SCHEMA)),
    }
    SUBRESOURCES = "v1" "CustomResourceSubresources" {
        field("status", Type::Struct(|| &SUBRESOURCE_STATUS)),
        field("scale", Type::Struct(|| &SUBRESOURCE_SCALE)),
    }
    SUBRESOURCE_STATUS = "v1" "CustomResourceSubresourceStatus" {}
    SUBRESOURCE_SCALE = "v1" "CustomResourceSubresourceScale" {
        field("specReplicasPath", STRING),
        field("statusReplicasPath", STRING),
        field("labelSelectorPath", STRING),
    }
    SELECTABLE_FIELD = "v1" "SelectableField" {
        field("jsonPath", STRING),
    }
    CONVERSION = "v1" "CustomResourceConversion" {
        field("strategy", Type::String("v1.ConversionStrategyType")),
        field("webhook", Type::Struct(|| &WEBHOOK)),
    }
    CONVERSION_V1BETA1 = "v1beta1" "CustomResourceConversion" {
        field("strategy", Type::String("v1beta1.ConversionStrategyType")),
        field("webhookClientConfig", Type::Struct(|| &CLIENT_CONFIG)),
        field("conversionReviewVersions", STRINGS),
    }
    WEBHOOK = "v1" "WebhookConversion" {
        field("clientConfig", Type::Struct(|| &CLIENT_CONFIG)),
        field("conversionReviewVersions", STRINGS),
    }
    CLIENT_CONFIG = "v1" "WebhookClientConfig" {
        field("url", STRING),
        field("service", Type::Struct(|| &SERVICE)),
        field("caBundle", Type::Bytes),
    }
    SERVICE = "v1" "ServiceReference" {
        field("namespace", STRING),
        field("name", STRING),
        field("path", STRING),
        field("port", Type::Int32),
    }
    STATUS = "v1" "CustomResourceDefinitionStatus" {
        field("conditions", Type::List("[]v1.CustomResourceDefinitionCondition", &CONDITION_TYPE)),
        field("acceptedNames", Type::Struct(|| &NAMES)),
        field("storedVersions", STRINGS),
        field("observedGeneration", Type::Int64),
    }
    CONDITION = "v1" "CustomResourceDefinitionCondition" {
        field("type", Type::String("v1.CustomResourceDefinitionConditionType")),
        field("status", Type::String("v1.ConditionStatus")),
        field("lastTransitionTime", Type::Time),
        field("reason", STRING),
        field("message", STRING),
        field("observedGeneration", Type::Int64),
    }
    /// `JSONSchemaProps`
    pub SCHEMA = "v1" "JSONSchemaProps" {
        field("id", STRING),
        field("$schema", Type::String("v1.JSONSchemaURL")),
        field("$ref", STRING),
        field("description", STRING),
        field("type", STRING),
        field("format", STRING),
        field("title", STRING),
        field("default", Type::Any),
        field("maximum", Type::Float64),
        field("exclusiveMaximum", Type::Bool),
        field("minimum", Type::Float64),
        field("exclusiveMinimum", Type::Bool),
        field("maxLength", Type::Int64),
        field("minLength", Type::Int64),
        field("pattern", STRING),
        field("maxItems", Type::Int64),
        field("minItems", Type::Int64),
        field("uniqueItems", Type::Bool),
        field("multipleOf", Type::Float64),
        field("enum", Type::List("[]v1.JSON", &ANY_TYPE)),
        field("maxProperties", Type::Int64),
        field("minProperties", Type::Int64),
        field("required", STRINGS),
        field("items", Type::SchemaOrList),
        field("allOf", SCHEMAS),
        field("oneOf", SCHEMAS),
        field("anyOf", SCHEMAS),
        field("not", Type::Struct(|| &SCHEMA)),
        field("properties", SCHEMA_MAP),
        field("additionalProperties", Type::SchemaOrBool),
        field("patternProperties", SCHEMA_MAP),
        field("dependencies", Type::Map("v1.JSONSchemaDependencies", &SCHEMA_OR_NAMES_TYPE)),
        field("additionalItems", Type::SchemaOrBool),
        field("definitions", Type::Map("v1.JSONSchemaDefinitions", &SCHEMA_TYPE)),
        field("externalDocs", Type::Struct(|| &EXTERNAL_DOCS)),
        field("example", Type::Any),
        field("nullable", Type::Bool),
        field("x-kubernetes-preserve-unknown-fields", Type::Bool),
        field("x-kubernetes-embedded-resource", Type::Bool),
        field("x-kubernetes-int-or-string", Type::Bool),
        field("x-kubernetes-list-map-keys", STRINGS),
        field("x-kubernetes-list-type", STRING),
        field("x-kubernetes-map-type", STRING),
        field("x-kubernetes-validations", Type::List("v1.ValidationRules", &RULE_TYPE)),
    }
    EXTERNAL_DOCS = "v1" "ExternalDocumentation" {
        field("description", STRING),
        field("url", STRING),
    }
    RULE = "v1" "ValidationRule" {
        field("rule", STRING),
        field("message", STRING),
        field("messageExpression", STRING),
        field("reason", Type::String("v1.FieldValueErrorReason")),
        field("fieldPath", STRING),
        field("optionalOldSelf", Type::Bool),
    }
}

const COLUMNS: Type = Type::List("[]v1.CustomResourceColumnDefinition", &COLUMN_TYPE);
const COLUMNS_V1BETA1: Type = Type::List("[]v1beta1.CustomResourceColumnDefinition", &COLUMN_V1BETA1_TYPE);
const SELECTABLE_FIELDS: Type = Type::List("[]v1.SelectableField", &SELECTABLE_FIELD_TYPE);
