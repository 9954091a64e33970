//! The published schema of a kind (`controller/openapi/builder/builder.go`, `controller/openapi/v2/conversion.go`).

use super::{META, OpenApiVersion, common, model_name};
use crate::crd::validation::structural;
use crate::crd::{CustomResourceDefinition, Spec};
use crate::schema::{Items, Schema, SchemaOrBool};
use crdx_value::release::Release;
use crdx_value::{Map, Value, object};

const METADATA: &str = "Standard object's metadata. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata";
const LIST_METADATA: &str = "Standard list metadata. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds";
const EMBEDDED_VERSION: &str = "apiVersion defines the versioned schema of this representation of an object. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#resources";
const EMBEDDED_KIND: &str = "kind is a string value representing the type of this object. In CamelCase. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds";

/// Builds the schema of the kind.
pub fn object_schema(
    crd: &CustomResourceDefinition,
    version: &str,
    openapi_version: OpenApiVersion,
    release: Release,
) -> Value {
    let spec = &crd.spec;
    let published = spec.schema(version).filter(|s| is_published(s, release));
    let mut out = match published {
        Some(s)
            if openapi_version == OpenApiVersion::V3
                || !(s.preserves_unknown_fields() || spec.preserves_unknown_fields()) =>
        {
            let mut s = Schema::clone(s);
            unfold(&mut s, release);
            if openapi_version == OpenApiVersion::V2 {
                drop_unsupported(&mut s);
            }
            let mut out = write(&s);
            add_embedded(&mut out, &s, openapi_version);
            let properties = out.entry("properties".to_owned()).or_insert_with(|| Value::Object(Map::new()));
            if let Value::Object(properties) = properties {
                let metadata = openapi_version.described_reference(&format!("{META}ObjectMeta"), METADATA);
                properties.insert("metadata".to_owned(), metadata);
                add_type_meta(properties);
            }
            out
        }
        _ => Map::from([("type".to_owned(), Value::from("object"))]),
    };
    add_extensions(&mut out, spec, version, &spec.names.kind);
    Value::Object(out)
}

/// Builds the schema of the kind's list.
pub(crate) fn list_schema(crd: &CustomResourceDefinition, version: &str, openapi_version: OpenApiVersion) -> Value {
    let spec = &crd.spec;
    let names = &spec.names;
    let items = object([
        ("type", Value::from("array")),
        ("items", openapi_version.reference(&model_name(&spec.group, version, &names.kind))),
        (
            "description",
            Value::from(format!(
                "List of {}. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md",
                names.plural
            )),
        ),
    ]);
    let mut properties = Map::from([
        ("items".to_owned(), items),
        ("metadata".to_owned(), openapi_version.described_reference(&format!("{META}ListMeta"), LIST_METADATA)),
    ]);
    add_type_meta(&mut properties);
    let mut out = Map::from([
        ("type".to_owned(), Value::from("object")),
        ("description".to_owned(), Value::from(format!("{} is a list of {}", names.list_kind, names.kind))),
        ("required".to_owned(), Value::Array(vec![Value::from("items")])),
        ("properties".to_owned(), Value::Object(properties)),
    ]);
    add_extensions(&mut out, spec, version, &names.list_kind);
    Value::Object(out)
}

fn add_extensions(out: &mut Map, spec: &Spec, version: &str, kind: &str) {
    let kind = object([("group", spec.group.as_str()), ("kind", kind), ("version", version)]);
    out.insert("x-kubernetes-group-version-kind".to_owned(), Value::Array(vec![kind]));
    let fields = spec.selectable_fields(version);
    if !fields.is_empty() {
        let field = |path: &String| object([("fieldPath", path.strip_prefix('.').unwrap_or(path))]);
        let fields = Value::Array(fields.iter().map(field).collect());
        out.insert("x-kubernetes-selectable-fields".to_owned(), fields);
    }
}

/// Returns true if the schema is published, that is, structural.
fn is_published(s: &Schema, release: Release) -> bool {
    let types = crate::crd::validation::TYPES;
    !s.any(&mut |s| !s.type_.is_empty() && !types.contains(&s.type_.as_str())) && structural::is_structural(s, release)
}

fn add_type_meta(properties: &mut Map) {
    let of = common("definitions").get(&format!("{META}DeleteOptions")).and_then(|d| d.get("properties"));
    for key in ["apiVersion", "kind"] {
        if let Some(property) = of.and_then(|p| p.get(key)) {
            properties.insert(key.to_owned(), property.clone());
        }
    }
}

/// Visits all nodes outside logical junctors (`allOf`, `anyOf`, `oneOf`, `not`), parents before children.
fn visit(s: &mut Schema, change: &mut impl FnMut(&mut Schema)) {
    change(s);
    if let Some(Items::Schema(items)) = &mut s.items {
        visit(items, change);
    }
    for property in s.properties.values_mut() {
        visit(property, change);
    }
    if let Some(SchemaOrBool::Schema(additional)) = &mut s.additional_properties {
        visit(additional, change);
    }
}

/// Adds the `anyOf` with integer and string to every int-or-string (`Unfold`).
fn unfold(s: &mut Schema, release: Release) {
    visit(s, &mut |s| {
        let has_any_of = |s: &Schema| structural::is_int_or_string_any_of(s, release);
        if !s.x_int_or_string || has_any_of(s) || s.all_of.first().is_some_and(has_any_of) {
            return;
        }
        let only = |type_: &str| Schema { type_: type_.to_owned(), ..Schema::default() };
        let any_of = vec![only("integer"), only("string")];
        if s.any_of.is_empty() {
            s.any_of = any_of;
        } else {
            s.all_of.insert(0, Schema { any_of, ..Schema::default() });
        }
    });
}

/// Drops keywords that OpenAPI v2 does not have or that kubectl does not support there.
fn drop_unsupported(s: &mut Schema) {
    visit(s, &mut |s| {
        s.all_of.clear();
        s.one_of.clear();
        s.any_of.clear();
        s.not = None;
        if s.nullable {
            s.type_.clear();
            s.nullable = false;
        } else if !s.preserves_unknown_fields() {
            if s.items_schema().is_none() && s.type_ == "array" {
                s.type_.clear();
            }
            s.required.retain(|name| !s.properties.get(name).is_some_and(|p| p.nullable));
            if s.additional_properties_schema().is_some_and(|a| a.nullable) {
                s.required.clear();
            }
            return;
        }
        s.items = None;
        s.properties.clear();
        if s.type_ == "array" || s.type_ == "object" && s.preserves_unknown_fields() {
            s.type_.clear();
        }
        if s.additional_properties_schema().is_some_and(|a| a.nullable) {
            s.required.clear();
        }
    });
}

fn write(s: &Schema) -> Map {
    match s.to_value() {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}

/// Adds apiVersion, kind and metadata to embedded resources.
fn add_embedded(out: &mut Map, s: &Schema, openapi_version: OpenApiVersion) {
    if let Some(Value::Object(properties)) = out.get_mut("properties") {
        for (name, property) in properties {
            if let (Value::Object(out), Some(s)) = (property, s.properties.get(name)) {
                add_embedded(out, s, openapi_version);
            }
        }
    }
    if let (Some(Value::Object(items)), Some(s)) = (out.get_mut("items"), s.items_schema()) {
        add_embedded(items, s, openapi_version);
    }
    if let (Some(Value::Object(additional)), Some(s)) =
        (out.get_mut("additionalProperties"), s.additional_properties_schema())
    {
        add_embedded(additional, s, openapi_version);
    }
    if !s.x_embedded_resource || s.preserves_unknown_fields() && openapi_version == OpenApiVersion::V2 {
        return;
    }
    let properties = out.entry("properties".to_owned()).or_insert_with(|| Value::Object(Map::new()));
    if let Value::Object(properties) = properties {
        add_type_meta(properties);
        for (key, description) in [("apiVersion", EMBEDDED_VERSION), ("kind", EMBEDDED_KIND)] {
            if let Some(Value::Object(property)) = properties.get_mut(key) {
                property.insert("description".to_owned(), Value::from(description));
            }
        }
        let metadata = openapi_version.described_reference(&format!("{META}ObjectMeta"), METADATA);
        properties.insert("metadata".to_owned(), metadata);
    }
    let required = out.entry("required".to_owned()).or_insert_with(|| Value::Array(Vec::new()));
    if let Value::Array(required) = required {
        for key in ["kind", "apiVersion"] {
            let key = Value::from(key);
            if !required.contains(&key) {
                required.push(key);
            }
        }
    }
}
