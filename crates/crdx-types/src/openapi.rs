//! The schemas that an API server publishes for built-in kinds (`kube-openapi/pkg/generators`), from the table of types.
//! Descriptions are missing: the table does not have them.

mod resolve;

pub use resolve::{resolve, resolved};

use super::custom::Custom;
use super::resources::{ApiResource, resources};
use super::types::{Field, Struct, Type, TypeDefinition, TypeId, Types};
use crdx_value::sort::sort_by_key;
use crdx_value::{Map, Value, group_version, object};
use std::collections::BTreeMap;

/// The version of an OpenAPI document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenApiVersion {
    /// OpenAPI 2.0 (Swagger)
    V2,
    /// OpenAPI 3.0
    V3,
}

/// The path of the schemas of an `OpenAPI` v2 document.
pub const PREFIX_V2: &str = "#/definitions/";
/// The path of the schemas of an `OpenAPI` v3 document.
pub const PREFIX_V3: &str = "#/components/schemas/";

impl OpenApiVersion {
    /// A reference to a type.
    pub fn reference(self, model: &str) -> Value {
        let prefix = if self == Self::V2 { PREFIX_V2 } else { PREFIX_V3 };
        object([("$ref", format!("{prefix}{model}"))])
    }
    /// A reference to a type, with a description. OpenAPI v3 requires the reference in a separate schema (`allOf`).
    pub fn described_reference(self, model: &str, description: &str) -> Value {
        let reference = self.reference(model);
        let mut out = match self {
            Self::V2 => reference,
            Self::V3 => object([("allOf", vec![reference])]),
        };
        if let Value::Object(members) = &mut out {
            members.insert("description".to_owned(), Value::from(description));
        }
        out
    }
}

/// The schemas of a kind and of all types that it contains, by name, such as `io.k8s.api.apps.v1.Deployment`.
pub fn schemas(types: &'static Types, id: TypeId, version: OpenApiVersion) -> Map {
    let builder = SchemaBuilder { types, version };
    let kinds = kinds(types);
    let mut all = Map::new();
    let mut missing = vec![id];
    while let Some(id) = missing.pop() {
        let name = model_name(types, id);
        if all.contains_key(&name) {
            continue;
        }
        let mut schema = builder.model(id, &mut missing);
        if let Some(kind) = kinds.get(&id) {
            insert(&mut schema, "x-kubernetes-group-version-kind", vec![kind.clone()]);
        }
        all.insert(name, schema);
    }
    all
}

/// The group, version and kind of the types that are kinds or lists.
fn kinds(types: &Types) -> BTreeMap<TypeId, Value> {
    let kind = |resource: &ApiResource, kind: String| {
        let api_version = group_version::api_version(resource.group, resource.version);
        let members = [("group", resource.group), ("kind", &kind), ("version", resource.version)];
        Some((types.of_kind(&api_version, &kind)?, object(members)))
    };
    let both = |resource: ApiResource| ["", "List"].map(|suffix| kind(&resource, format!("{}{suffix}", resource.kind)));
    resources(types.release()).flat_map(both).flatten().collect()
}

/// The name of a type's schema.
pub fn model_name(types: &Types, id: TypeId) -> String {
    let name = types.name(id);
    match name.split_once('.') {
        Some(("meta/v1", kind)) => format!("io.k8s.apimachinery.pkg.apis.meta.v1.{kind}"),
        Some(("resource", kind)) => format!("io.k8s.apimachinery.pkg.api.resource.{kind}"),
        Some(("intstr", kind)) => format!("io.k8s.apimachinery.pkg.util.intstr.{kind}"),
        Some(("runtime", kind)) => format!("io.k8s.apimachinery.pkg.runtime.{kind}"),
        Some((package, kind)) if package.starts_with("apiregistration/") => {
            format!("io.k8s.kube-aggregator.pkg.apis.{}.{kind}", package.replace('/', "."))
        }
        Some((package, kind)) => format!("io.k8s.api.{}.{kind}", package.replace('/', ".")),
        None => name.to_owned(),
    }
}

struct SchemaBuilder {
    types: &'static Types,
    version: OpenApiVersion,
}

fn typed(type_: &str, format: &str) -> Value {
    object([("type", type_), ("format", format)].into_iter().filter(|(_, text)| !text.is_empty()))
}

fn insert(schema: &mut Value, key: &str, value: impl Into<Value>) {
    if let Some(members) = schema.as_object_mut() {
        members.insert(key.to_owned(), value.into());
    }
}

impl SchemaBuilder {
    /// The schema of a named type; adds the types to which it refers to `missing`.
    fn model(&self, id: TypeId, missing: &mut Vec<TypeId>) -> Value {
        match self.types.definition(id) {
            Some(TypeDefinition::Struct(of)) => self.fields(of, missing),
            Some(TypeDefinition::Custom(custom)) => self.custom(*custom),
            Some(TypeDefinition::Named { of, .. }) => self.value(of, missing),
            None => object([("type", "object")]),
        }
    }

    fn custom(&self, custom: Custom) -> Value {
        let one_of = |other: &str| Value::Array(vec![object([("type", other)]), object([("type", "string")])]);
        match (custom, self.version) {
            (Custom::Time | Custom::MicroTime, _) => typed("string", "date-time"),
            (Custom::Quantity, OpenApiVersion::V2) | (Custom::Duration, _) => typed("string", ""),
            (Custom::Quantity, OpenApiVersion::V3) => {
                let string_first = Value::Array(vec![object([("type", "string")]), object([("type", "number")])]);
                object([("oneOf", string_first)])
            }
            (Custom::IntOrString, OpenApiVersion::V2) => typed("string", "int-or-string"),
            (Custom::IntOrString, OpenApiVersion::V3) => {
                object([("format", Value::from("int-or-string")), ("oneOf", one_of("integer"))])
            }
            (Custom::FieldsV1 | Custom::RawExtension, _) => typed("object", ""),
            // Values of any type.
            (Custom::Json | Custom::SchemaOrList | Custom::SchemaOrBool | Custom::SchemaOrNames, _) => typed("", ""),
        }
    }

    fn fields(&self, of: &Struct, missing: &mut Vec<TypeId>) -> Value {
        let properties: Map =
            of.fields.iter().map(|field| (field.name.to_owned(), self.field(field, missing))).collect();
        let mut schema = object([("type", "object")]);
        let mut required: Vec<&Field> = of.fields.iter().filter(|field| field.required).collect();
        sort_by_key(&mut required, |field| field.order);
        if !required.is_empty() {
            insert(&mut schema, "required", required.iter().map(|field| Value::from(field.name)).collect::<Vec<_>>());
        }
        if !properties.is_empty() {
            insert(&mut schema, "properties", Value::Object(properties));
        }
        if of.atomic {
            insert(&mut schema, "x-kubernetes-map-type", "atomic");
        }
        schema
    }

    fn field(&self, field: &Field, missing: &mut Vec<TypeId>) -> Value {
        let mut schema = self.value(&field.type_, missing);
        // Fields have a description, and in OpenAPI v3 a reference has no siblings.
        if self.version == OpenApiVersion::V3
            && let Some(reference) = schema.as_object_mut().and_then(|members| members.remove("$ref"))
        {
            insert(&mut schema, "allOf", vec![object([("$ref", reference)])]);
        }
        let merging = field.merging;
        let zero = || self.zero(&field.type_).filter(|zero| zero.as_object().is_some() || !field.omits_zero());
        if let Some(default) = field.default.clone().or_else(zero) {
            insert(&mut schema, "default", default);
        }
        for (key, text) in [
            ("x-kubernetes-patch-strategy", merging.patch_strategy),
            ("x-kubernetes-patch-merge-key", merging.patch_merge_key),
            ("x-kubernetes-list-type", merging.list_type.unwrap_or_default()),
        ] {
            if !text.is_empty() {
                insert(&mut schema, key, text);
            }
        }
        if !merging.list_map_keys.is_empty() {
            let keys: Vec<Value> = merging.list_map_keys.split(',').map(Value::from).collect();
            insert(&mut schema, "x-kubernetes-list-map-keys", keys);
        }
        if let Some(atomic) = merging.atomic {
            insert(&mut schema, "x-kubernetes-map-type", if atomic { "atomic" } else { "granular" });
        }
        schema
    }

    /// The default that the generator gives to values without a marker: those of Go, except for pointers, lists and maps.
    fn zero(&self, type_: &Type) -> Option<Value> {
        Some(match type_ {
            Type::Bool => Value::Bool(false),
            Type::String => "".into(),
            Type::Int(_) | Type::Uint(_) | Type::Float(_) => Value::Int(0),
            Type::Pointer(_) | Type::List(_) | Type::Map(..) => return None,
            Type::Named(id) => match self.types.definition(*id)? {
                TypeDefinition::Struct(_) => Value::Object(Map::new()),
                TypeDefinition::Custom(_) => return None,
                TypeDefinition::Named { of, .. } => return self.zero(of),
            },
        })
    }

    fn value(&self, type_: &Type, missing: &mut Vec<TypeId>) -> Value {
        match type_ {
            Type::Pointer(target) => self.value(target, missing),
            Type::Bool => typed("boolean", ""),
            Type::String => typed("string", ""),
            Type::Int(64) | Type::Uint(64) => typed("integer", "int64"),
            Type::Int(_) | Type::Uint(_) => typed("integer", "int32"),
            Type::Float(32) => typed("number", "float"),
            Type::Float(_) => typed("number", "double"),
            Type::List(item) if **item == Type::Uint(8) => typed("string", "byte"),
            Type::List(item) => object([("type", Value::from("array")), ("items", self.value(item, missing))]),
            Type::Map(_, of) => {
                object([("type", Value::from("object")), ("additionalProperties", self.value(of, missing))])
            }
            Type::Named(id) => {
                if let Some(TypeDefinition::Named { of, constants }) = self.types.definition(*id) {
                    let mut schema = self.value(of, missing);
                    if !constants.is_empty() {
                        insert(&mut schema, "enum", constants.iter().map(|one| Value::from(*one)).collect::<Vec<_>>());
                    }
                    return schema;
                }
                missing.push(*id);
                let prefix =
                    if self.version == OpenApiVersion::V2 { "#/definitions/" } else { "#/components/schemas/" };
                object([("$ref", format!("{prefix}{}", model_name(self.types, *id)))])
            }
        }
    }
}
