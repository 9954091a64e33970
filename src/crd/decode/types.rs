//! The Go types of a CRD, as far as reading and writing JSON needs them: names of types and fields, what is left out when empty.

/// A Go type.
#[derive(Clone, Copy, Debug)]
pub enum Type {
    /// A string type, by its name.
    String(&'static str),
    /// `bool`
    Bool,
    /// `int32`
    Int32,
    /// `int64`
    Int64,
    /// `float64`
    Float64,
    /// `[]uint8`
    Bytes,
    /// `v1.Time`
    Time,
    /// Anything at all: `v1.JSON`, `v1.FieldsV1`.
    Any,
    /// A struct (a function, as structs contain themselves).
    Struct(fn() -> &'static Struct),
    /// A slice, by its name.
    List(&'static str, &'static Type),
    /// A map from strings, by its name.
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
    /// The name without its package.
    pub name: &'static str,
    /// The name with its package.
    go_name: &'static str,
    fields: &'static [Field],
}

/// A field of a struct.
#[derive(Debug)]
pub struct Field {
    /// The name in JSON.
    pub name: &'static str,
    /// The type.
    pub type_: Type,
    /// Whether it is written when empty.
    pub always: bool,
    /// The embedded struct that has it.
    pub embedded: Option<&'static str>,
}

impl Type {
    /// How Go prints the type.
    pub fn go_name(self) -> &'static str {
        match self {
            Self::String(name) | Self::List(name, _) | Self::Map(name, _) => name,
            Self::Bool => "bool",
            Self::Int32 => "int32",
            Self::Int64 => "int64",
            Self::Float64 => "float64",
            Self::Bytes => "[]uint8",
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
    /// All fields.
    pub fn fields(&self) -> impl Iterator<Item = &'static Field> {
        self.fields.iter()
    }
    /// The field of that name.
    pub fn field(&self, name: &str) -> Option<&'static Field> {
        self.fields.iter().find(|f| f.name == name)
    }
}

/// A field that is left out when it is empty.
const fn optional(name: &'static str, type_: Type) -> Field {
    Field { name, type_, always: false, embedded: None }
}
/// A field that is always written.
const fn always(name: &'static str, type_: Type) -> Field {
    Field { name, type_, always: true, embedded: None }
}
/// A field of the embedded TypeMeta.
const fn type_meta(name: &'static str) -> Field {
    Field { name, type_: STRING, always: false, embedded: Some("TypeMeta") }
}

const STRING: Type = Type::String("string");
static STRING_TYPE: Type = STRING;
/// `[]string`
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

structs! {
    /// `apiextensions/v1.CustomResourceDefinition`
    pub CRD_V1 = "v1" "CustomResourceDefinition" {
        type_meta("kind"),
        type_meta("apiVersion"),
        optional("metadata", Type::Struct(|| &METADATA)),
        always("spec", Type::Struct(|| &SPEC)),
        always("status", Type::Struct(|| &STATUS)),
    }
    /// `apiextensions/v1beta1.CustomResourceDefinition`
    pub CRD_V1BETA1 = "v1beta1" "CustomResourceDefinition" {
        type_meta("kind"),
        type_meta("apiVersion"),
        optional("metadata", Type::Struct(|| &METADATA)),
        always("spec", Type::Struct(|| &SPEC_V1BETA1)),
        always("status", Type::Struct(|| &STATUS)),
    }
    /// `meta/v1.ObjectMeta`
    pub METADATA = "v1" "ObjectMeta" {
        optional("name", STRING),
        optional("generateName", STRING),
        optional("namespace", STRING),
        optional("selfLink", STRING),
        optional("uid", Type::String("types.UID")),
        optional("resourceVersion", STRING),
        optional("generation", Type::Int64),
        optional("creationTimestamp", Type::Time),
        optional("deletionTimestamp", Type::Time),
        optional("deletionGracePeriodSeconds", Type::Int64),
        optional("labels", STRING_MAP),
        optional("annotations", STRING_MAP),
        optional("ownerReferences", Type::List("[]v1.OwnerReference", &OWNER_TYPE)),
        optional("finalizers", STRINGS),
        optional("managedFields", Type::List("[]v1.ManagedFieldsEntry", &MANAGED_TYPE)),
    }
    OWNER = "v1" "OwnerReference" {
        always("apiVersion", STRING),
        always("kind", STRING),
        always("name", STRING),
        always("uid", Type::String("types.UID")),
        optional("controller", Type::Bool),
        optional("blockOwnerDeletion", Type::Bool),
    }
    MANAGED = "v1" "ManagedFieldsEntry" {
        optional("manager", STRING),
        optional("operation", Type::String("v1.ManagedFieldsOperationType")),
        optional("apiVersion", STRING),
        optional("time", Type::Time),
        optional("fieldsType", STRING),
        optional("fieldsV1", Type::Any),
        optional("subresource", STRING),
    }
    SPEC = "v1" "CustomResourceDefinitionSpec" {
        always("group", STRING),
        always("names", Type::Struct(|| &NAMES)),
        always("scope", Type::String("v1.ResourceScope")),
        always("versions", Type::List("[]v1.CustomResourceDefinitionVersion", &VERSION_TYPE)),
        optional("conversion", Type::Struct(|| &CONVERSION)),
        optional("preserveUnknownFields", Type::Bool),
    }
    SPEC_V1BETA1 = "v1beta1" "CustomResourceDefinitionSpec" {
        always("group", STRING),
        optional("version", STRING),
        always("names", Type::Struct(|| &NAMES)),
        always("scope", Type::String("v1beta1.ResourceScope")),
        optional("validation", Type::Struct(|| &VALIDATION)),
        optional("subresources", Type::Struct(|| &SUBRESOURCES)),
        optional("versions", Type::List("[]v1beta1.CustomResourceDefinitionVersion", &VERSION_V1BETA1_TYPE)),
        optional("additionalPrinterColumns", COLUMNS_V1BETA1),
        optional("selectableFields", SELECTABLE_FIELDS),
        optional("conversion", Type::Struct(|| &CONVERSION_V1BETA1)),
        optional("preserveUnknownFields", Type::Bool),
    }
    NAMES = "v1" "CustomResourceDefinitionNames" {
        always("plural", STRING),
        optional("singular", STRING),
        optional("shortNames", STRINGS),
        always("kind", STRING),
        optional("listKind", STRING),
        optional("categories", STRINGS),
    }
    VERSION = "v1" "CustomResourceDefinitionVersion" {
        always("name", STRING),
        always("served", Type::Bool),
        always("storage", Type::Bool),
        optional("deprecated", Type::Bool),
        optional("deprecationWarning", STRING),
        optional("schema", Type::Struct(|| &VALIDATION)),
        optional("subresources", Type::Struct(|| &SUBRESOURCES)),
        optional("additionalPrinterColumns", COLUMNS),
        optional("selectableFields", SELECTABLE_FIELDS),
    }
    VERSION_V1BETA1 = "v1beta1" "CustomResourceDefinitionVersion" {
        always("name", STRING),
        always("served", Type::Bool),
        always("storage", Type::Bool),
        optional("deprecated", Type::Bool),
        optional("deprecationWarning", STRING),
        optional("schema", Type::Struct(|| &VALIDATION)),
        optional("subresources", Type::Struct(|| &SUBRESOURCES)),
        optional("additionalPrinterColumns", COLUMNS_V1BETA1),
        optional("selectableFields", SELECTABLE_FIELDS),
    }
    VALIDATION = "v1" "CustomResourceValidation" {
        optional("openAPIV3Schema", Type::Struct(|| &SCHEMA)),
    }
    SUBRESOURCES = "v1" "CustomResourceSubresources" {
        optional("status", Type::Struct(|| &SUBRESOURCE_STATUS)),
        optional("scale", Type::Struct(|| &SUBRESOURCE_SCALE)),
    }
    SUBRESOURCE_STATUS = "v1" "CustomResourceSubresourceStatus" {}
    SUBRESOURCE_SCALE = "v1" "CustomResourceSubresourceScale" {
        always("specReplicasPath", STRING),
        always("statusReplicasPath", STRING),
        optional("labelSelectorPath", STRING),
    }
    COLUMN = "v1" "CustomResourceColumnDefinition" {
        always("name", STRING),
        always("type", STRING),
        optional("format", STRING),
        optional("description", STRING),
        optional("priority", Type::Int32),
        always("jsonPath", STRING),
    }
    COLUMN_V1BETA1 = "v1beta1" "CustomResourceColumnDefinition" {
        always("name", STRING),
        always("type", STRING),
        optional("format", STRING),
        optional("description", STRING),
        optional("priority", Type::Int32),
        always("JSONPath", STRING),
    }
    SELECTABLE_FIELD = "v1" "SelectableField" {
        always("jsonPath", STRING),
    }
    CONVERSION = "v1" "CustomResourceConversion" {
        always("strategy", Type::String("v1.ConversionStrategyType")),
        optional("webhook", Type::Struct(|| &WEBHOOK)),
    }
    CONVERSION_V1BETA1 = "v1beta1" "CustomResourceConversion" {
        always("strategy", Type::String("v1beta1.ConversionStrategyType")),
        optional("webhookClientConfig", Type::Struct(|| &CLIENT_CONFIG)),
        optional("conversionReviewVersions", STRINGS),
    }
    WEBHOOK = "v1" "WebhookConversion" {
        optional("clientConfig", Type::Struct(|| &CLIENT_CONFIG)),
        always("conversionReviewVersions", STRINGS),
    }
    CLIENT_CONFIG = "v1" "WebhookClientConfig" {
        optional("url", STRING),
        optional("service", Type::Struct(|| &SERVICE)),
        optional("caBundle", Type::Bytes),
    }
    SERVICE = "v1" "ServiceReference" {
        always("namespace", STRING),
        always("name", STRING),
        optional("path", STRING),
        optional("port", Type::Int32),
    }
    STATUS = "v1" "CustomResourceDefinitionStatus" {
        always("conditions", Type::List("[]v1.CustomResourceDefinitionCondition", &CONDITION_TYPE)),
        always("acceptedNames", Type::Struct(|| &NAMES)),
        always("storedVersions", STRINGS),
        optional("observedGeneration", Type::Int64),
    }
    CONDITION = "v1" "CustomResourceDefinitionCondition" {
        always("type", Type::String("v1.CustomResourceDefinitionConditionType")),
        always("status", Type::String("v1.ConditionStatus")),
        always("lastTransitionTime", Type::Time),
        optional("reason", STRING),
        optional("message", STRING),
        optional("observedGeneration", Type::Int64),
    }
    /// `JSONSchemaProps`
    pub SCHEMA = "v1" "JSONSchemaProps" {
        optional("id", STRING),
        optional("$schema", Type::String("v1.JSONSchemaURL")),
        optional("$ref", STRING),
        optional("description", STRING),
        optional("type", STRING),
        optional("format", STRING),
        optional("title", STRING),
        optional("default", Type::Any),
        optional("maximum", Type::Float64),
        optional("exclusiveMaximum", Type::Bool),
        optional("minimum", Type::Float64),
        optional("exclusiveMinimum", Type::Bool),
        optional("maxLength", Type::Int64),
        optional("minLength", Type::Int64),
        optional("pattern", STRING),
        optional("maxItems", Type::Int64),
        optional("minItems", Type::Int64),
        optional("uniqueItems", Type::Bool),
        optional("multipleOf", Type::Float64),
        optional("enum", Type::List("[]v1.JSON", &ANY_TYPE)),
        optional("maxProperties", Type::Int64),
        optional("minProperties", Type::Int64),
        optional("required", STRINGS),
        optional("items", Type::SchemaOrList),
        optional("allOf", SCHEMAS),
        optional("oneOf", SCHEMAS),
        optional("anyOf", SCHEMAS),
        optional("not", Type::Struct(|| &SCHEMA)),
        optional("properties", SCHEMA_MAP),
        optional("additionalProperties", Type::SchemaOrBool),
        optional("patternProperties", SCHEMA_MAP),
        optional("dependencies", Type::Map("v1.JSONSchemaDependencies", &SCHEMA_OR_NAMES_TYPE)),
        optional("additionalItems", Type::SchemaOrBool),
        optional("definitions", Type::Map("v1.JSONSchemaDefinitions", &SCHEMA_TYPE)),
        optional("externalDocs", Type::Struct(|| &EXTERNAL_DOCS)),
        optional("example", Type::Any),
        optional("nullable", Type::Bool),
        optional("x-kubernetes-preserve-unknown-fields", Type::Bool),
        optional("x-kubernetes-embedded-resource", Type::Bool),
        optional("x-kubernetes-int-or-string", Type::Bool),
        optional("x-kubernetes-list-map-keys", STRINGS),
        optional("x-kubernetes-list-type", STRING),
        optional("x-kubernetes-map-type", STRING),
        optional("x-kubernetes-validations", Type::List("v1.ValidationRules", &RULE_TYPE)),
    }
    EXTERNAL_DOCS = "v1" "ExternalDocumentation" {
        optional("description", STRING),
        optional("url", STRING),
    }
    RULE = "v1" "ValidationRule" {
        always("rule", STRING),
        optional("message", STRING),
        optional("messageExpression", STRING),
        optional("reason", Type::String("v1.FieldValueErrorReason")),
        optional("fieldPath", STRING),
        optional("optionalOldSelf", Type::Bool),
    }
}

const COLUMNS: Type = Type::List("[]v1.CustomResourceColumnDefinition", &COLUMN_TYPE);
const COLUMNS_V1BETA1: Type = Type::List("[]v1beta1.CustomResourceColumnDefinition", &COLUMN_V1BETA1_TYPE);
const SELECTABLE_FIELDS: Type = Type::List("[]v1.SelectableField", &SELECTABLE_FIELD_TYPE);
