//! The merge types of custom resources.
//!
//! Follows `kube-openapi/pkg/schemaconv` applied to the models of
//! `apiextensions-apiserver/pkg/controller/openapi/builder`, in which metadata is typed and embedded resources are
//! completed.

use crate::schema::{Items, Schema, SchemaOrBool};
use crdx_types::merge::{
    Field, ListRelation, ListType, MapType, Scalar, Type, TypeRef, fields, list, map, own, scalar,
};
use crdx_value::Value;
use crdx_value::release::{Release, V1_34};
use std::{collections::BTreeMap, sync::LazyLock};

/// `metav1.ObjectMeta`, as described by the generated OpenAPI document.
static OBJECT_META: LazyLock<TypeRef> = LazyLock::new(|| {
    let text = || scalar(Scalar::String);
    let number = || scalar(Scalar::Numeric);
    let time = || scalar(Scalar::Untyped);
    let empty = || Some(Value::from(""));
    let texts = || map(MapType { other: Some(scalar(Scalar::String)), ..MapType::default() });
    let owner = map(MapType {
        atomic: true,
        fields: fields([
            ("apiVersion", text(), empty()),
            ("blockOwnerDeletion", scalar(Scalar::Boolean), None),
            ("controller", scalar(Scalar::Boolean), None),
            ("kind", text(), empty()),
            ("name", text(), empty()),
            ("uid", text(), empty()),
        ]),
        other: None,
    });
    let manager = map(MapType {
        fields: fields([
            ("apiVersion", text(), None),
            ("fieldsType", text(), None),
            ("fieldsV1", map(MapType { other: Some(TypeRef::Deduced), ..MapType::default() }), None),
            ("manager", text(), None),
            ("operation", text(), None),
            ("subresource", text(), None),
            ("time", time(), None),
        ]),
        ..MapType::default()
    });
    map(MapType {
        fields: fields([
            ("annotations", texts(), None),
            ("creationTimestamp", time(), None),
            ("deletionGracePeriodSeconds", number(), None),
            ("deletionTimestamp", time(), None),
            ("finalizers", list(ListRelation::Set, text()), None),
            ("generateName", text(), None),
            ("generation", number(), None),
            ("labels", texts(), None),
            ("managedFields", list(ListRelation::Atomic, manager), None),
            ("name", text(), None),
            ("namespace", text(), None),
            ("ownerReferences", list(ListRelation::Keyed(vec!["uid".to_owned()]), owner), None),
            ("resourceVersion", text(), None),
            ("selfLink", text(), None),
            ("uid", text(), None),
        ]),
        ..MapType::default()
    })
});

/// The merge type of a served version. `preserve_unknown_fields` is `spec.preserveUnknownFields` of the CRD.
pub fn of_resource(schema: Option<&Schema>, preserve_unknown_fields: bool, release: Release) -> TypeRef {
    let Some(schema) = schema else {
        return map(MapType { other: Some(TypeRef::Deduced), ..MapType::default() });
    };
    own(convert_as(schema, preserve_unknown_fields, true, release))
}

static SCALE: LazyLock<TypeRef> = LazyLock::new(|| {
    let part = |of: Vec<(&str, TypeRef, Option<Value>)>| map(MapType { fields: fields(of), ..MapType::default() });
    let replicas = || ("replicas", scalar(Scalar::Numeric), Some(Value::Int(0)));
    let mut of_scale = type_meta();
    of_scale.extend(fields([
        ("spec", part(vec![("replicas", scalar(Scalar::Numeric), None)]), None),
        ("status", part(vec![replicas(), ("selector", scalar(Scalar::String), None)]), None),
    ]));
    map(MapType { fields: of_scale, ..MapType::default() })
});

/// The merge type of `autoscaling/v1` Scale, as a reference.
pub fn scale_type() -> TypeRef {
    SCALE.clone()
}

/// The merge type of `autoscaling/v1` Scale.
pub fn of_scale() -> &'static Type {
    SCALE.resolve()
}

pub(super) fn type_meta() -> BTreeMap<String, Field> {
    fields([
        ("apiVersion", scalar(Scalar::String), None),
        ("kind", scalar(Scalar::String), None),
        ("metadata", OBJECT_META.clone(), None),
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
        fields.extend(type_meta());
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
