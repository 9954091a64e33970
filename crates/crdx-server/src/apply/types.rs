//! The merge types of custom resources.
//!
//! Follows `kube-openapi/pkg/schemaconv` applied to the models of
//! `apiextensions-apiserver/pkg/controller/openapi/builder`, in which metadata is typed and embedded resources are
//! completed.

use crate::schema::{Items, Schema, SchemaOrBool};
use crdx_types::merge::{Field, ListRelation, ListType, MapType, Scalar, Type, TypeRef, fields, map, own, scalar};
use crdx_types::merge_type::merge_type_named;
use crdx_types::types::Types;
use crdx_value::release::{Release, V1_34};
use std::collections::BTreeMap;

/// The merge type of a Go type, by its name in the table of types.
fn of_go_type(name: &str, release: Release) -> &'static TypeRef {
    merge_type_named(Types::of_definitions(release), name)
}

/// The merge type of CRDs.
pub fn of_definition(release: Release) -> &'static TypeRef {
    of_go_type("apiextensions/v1.CustomResourceDefinition", release)
}

/// The merge type of `autoscaling/v1` Scale.
pub(crate) fn of_scale(release: Release) -> &'static TypeRef {
    of_go_type("autoscaling/v1.Scale", release)
}

/// The merge type of a served version. `preserve_unknown_fields` is `spec.preserveUnknownFields` of the CRD.
pub(crate) fn of_resource(schema: Option<&Schema>, preserve_unknown_fields: bool, release: Release) -> TypeRef {
    let Some(schema) = schema else {
        return map(MapType { other: Some(TypeRef::Deduced), ..MapType::default() });
    };
    own(convert_as(schema, preserve_unknown_fields, true, release))
}

fn type_meta(release: Release) -> BTreeMap<String, Field> {
    fields([
        ("apiVersion", scalar(Scalar::String), None),
        ("kind", scalar(Scalar::String), None),
        ("metadata", of_go_type("meta/v1.ObjectMeta", release).clone(), None),
    ])
}

fn convert(schema: &Schema, preserve: bool, release: Release) -> Type {
    convert_as(schema, preserve, schema.x_embedded_resource, release)
}

/// Converts a schema node. A `resource` has apiVersion, kind and typed metadata regardless of its schema.
fn convert_as(schema: &Schema, preserve: bool, resource: bool, release: Release) -> Type {
    let preserve = preserve || schema.preserves_unknown_fields();
    match schema.type_.as_str() {
        "object" => Type { map: Some(convert_map(schema, preserve, resource, release)), ..Type::default() },
        "array" => Type { list: Some(convert_list(schema, preserve, release)), ..Type::default() },
        "integer" | "number" => Type { scalar: Some(Scalar::Numeric), ..Type::default() },
        "boolean" => Type { scalar: Some(Scalar::Boolean), ..Type::default() },
        "string" if matches!(schema.format.as_str(), "" | "byte") => {
            Type { scalar: Some(Scalar::String), ..Type::default() }
        }
        "string" => Type { scalar: Some(Scalar::Untyped), ..Type::default() },
        _ => Type {
            scalar: Some(Scalar::Untyped),
            list: Some(convert_list(schema, preserve, release)),
            map: Some(convert_map(schema, preserve, resource, release)),
        },
    }
}

fn convert_map(schema: &Schema, preserve: bool, resource: bool, release: Release) -> MapType {
    let mut fields: BTreeMap<String, Field> = schema
        .properties
        .iter()
        .map(|(name, child)| {
            (name.clone(), Field { type_: own(convert(child, preserve, release)), default: child.default.clone() })
        })
        .collect();
    if resource {
        fields.extend(type_meta(release));
    }
    let other = match &schema.additional_properties {
        Some(SchemaOrBool::Schema(child)) => Some(own(convert(child, preserve, release))),
        Some(SchemaOrBool::Bool(true)) => Some(TypeRef::Deduced),
        None if preserve || fields.is_empty() => Some(TypeRef::Deduced),
        Some(SchemaOrBool::Bool(false)) | None => None,
    };
    MapType { atomic: schema.x_map_type.as_deref() == Some("atomic"), fields, other }
}

fn convert_list(schema: &Schema, preserve: bool, release: Release) -> ListType {
    let relation = match schema.x_list_type.as_deref() {
        Some("set") => ListRelation::Set,
        Some("map") => ListRelation::Keyed(schema.x_list_map_keys.clone()),
        _ => ListRelation::Atomic,
    };
    let items = match &schema.items {
        Some(Items::Schema(child)) => own(convert(child, preserve, release)),
        _ => TypeRef::Untyped,
    };
    ListType { relation, items, all_keys: !release.since(V1_34) }
}
