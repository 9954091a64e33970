//! Merge types: the form of a CRD schema used for merging and ownership.
//!
//! Follows `kube-openapi/pkg/schemaconv` applied to the models of
//! `apiextensions-apiserver/pkg/controller/openapi/builder`, in which metadata is typed and embedded resources are
//! completed.

use crate::release::{Release, V1_34};
use crate::schema::{Items, Schema, SchemaOrBool};
use crate::value::Value;
use std::{
    collections::BTreeMap,
    sync::{Arc, LazyLock},
};

/// The kinds of values that a type allows; more than one if the schema does not specify the type.
#[derive(Debug, Default)]
pub struct Type {
    /// The scalar, if scalars are allowed.
    pub scalar: Option<Scalar>,
    /// The list, if lists are allowed.
    pub list: Option<ListType>,
    /// The map, if maps are allowed.
    pub map: Option<MapType>,
}

/// The scalars that a type allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scalar {
    /// Integers and floats.
    Numeric,
    /// Strings.
    String,
    /// Booleans.
    Boolean,
    /// Any scalar.
    Untyped,
}

/// A list type.
#[derive(Debug)]
pub struct ListType {
    /// The list type.
    pub relation: ListRelation,
    /// The type of the items.
    pub items: TypeRef,
    /// True if an item must have every key, as before 1.34 (structured-merge-diff before v6, `typed/helpers.go`);
    /// otherwise a single key is sufficient.
    pub all_keys: bool,
}

/// `x-kubernetes-list-type`
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListRelation {
    /// The list is a single value.
    Atomic,
    /// Items are identified by their values.
    Set,
    /// Items are identified by the values of these keys.
    Keyed(Vec<String>),
}

/// A map type.
#[derive(Debug, Default)]
pub struct MapType {
    /// True if the map is a single value.
    pub atomic: bool,
    /// The declared fields.
    pub fields: BTreeMap<String, Field>,
    /// The type of undeclared fields; `None` if they are not allowed.
    pub other: Option<TypeRef>,
}

/// A declared field of a map type.
#[derive(Debug)]
pub struct Field {
    /// The type of the field.
    pub type_: TypeRef,
    /// The default, which applies if a list key is missing.
    pub default: Option<Value>,
}

/// A reference to a type.
#[derive(Clone, Debug)]
pub enum TypeRef {
    /// A type.
    Type(Arc<Type>),
    /// A type deduced from the value: maps are merged by field, lists are atomic.
    Deduced,
    /// Any value, as an atomic value.
    Untyped,
    /// A recursive type.
    Recursive(fn() -> &'static Type),
}

static DEDUCED: LazyLock<Type> = LazyLock::new(|| Type {
    scalar: Some(Scalar::Untyped),
    list: Some(ListType { relation: ListRelation::Atomic, items: TypeRef::Untyped, all_keys: false }),
    map: Some(MapType { other: Some(TypeRef::Deduced), ..MapType::default() }),
});

static UNTYPED: LazyLock<Type> = LazyLock::new(|| Type {
    scalar: Some(Scalar::Untyped),
    list: Some(ListType { relation: ListRelation::Atomic, items: TypeRef::Untyped, all_keys: false }),
    map: Some(MapType { atomic: true, other: Some(TypeRef::Untyped), ..MapType::default() }),
});

impl TypeRef {
    /// The type that the reference refers to.
    pub fn resolve(&self) -> &Type {
        match self {
            Self::Type(t) => t,
            Self::Deduced => &DEDUCED,
            Self::Untyped => &UNTYPED,
            Self::Recursive(type_) => type_(),
        }
    }
    /// Returns true if the type is deduced from the value.
    pub fn is_deduced(&self) -> bool {
        matches!(self, Self::Deduced) || matches!(self, Self::Type(t) if t.scalar == Some(Scalar::Untyped))
    }
}

impl MapType {
    /// The type of a field, declared or not.
    pub fn type_of(&self, name: &str) -> Option<&Type> {
        self.fields.get(name).map(|f| &f.type_).or(self.other.as_ref()).map(TypeRef::resolve)
    }
    /// Returns true if no field is declared and every field is allowed.
    pub fn is_deduced(&self) -> bool {
        self.fields.is_empty() && self.other.as_ref().is_some_and(TypeRef::is_deduced)
    }
}

/// The kinds of a type that apply to a value (`deduceAtom`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kinds {
    map: bool,
    scalar: bool,
    list: bool,
}

/// The kind of a type that is chosen for a value (`handleAtom`).
#[derive(Clone, Copy, Debug)]
pub enum Choice<'a> {
    /// A map.
    Map(&'a MapType),
    /// A scalar.
    Scalar(Scalar),
    /// A list.
    List(&'a ListType),
}

impl Type {
    /// The kinds that match the value; all of them if the value is null, missing or matches none.
    pub fn kinds(&self, value: Option<&Value>) -> Kinds {
        let (map, scalar, list) = (self.map.is_some(), self.scalar.is_some(), self.list.is_some());
        match value {
            Some(Value::Object(_)) if map => Kinds { map, scalar: false, list: false },
            Some(Value::Array(_)) if list => Kinds { map: false, scalar: false, list },
            Some(Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::String(_)) if scalar => {
                Kinds { map: false, scalar, list: false }
            }
            _ => Kinds { map, scalar, list },
        }
    }

    /// Chooses a kind: map before scalar before list.
    pub fn choose(&self, kinds: Kinds) -> Option<Choice<'_>> {
        let map = self.map.as_ref().filter(|_| kinds.map).map(Choice::Map);
        let scalar = || self.scalar.filter(|_| kinds.scalar).map(Choice::Scalar);
        let list = || self.list.as_ref().filter(|_| kinds.list).map(Choice::List);
        map.or_else(scalar).or_else(list)
    }

    /// Chooses a kind for a value.
    pub fn choice_for(&self, value: &Value) -> Option<Choice<'_>> {
        self.choose(self.kinds(Some(value)))
    }
}

pub(super) fn own(t: Type) -> TypeRef {
    TypeRef::Type(Arc::new(t))
}

pub(super) fn scalar(s: Scalar) -> TypeRef {
    own(Type { scalar: Some(s), ..Type::default() })
}

pub(super) fn list(relation: ListRelation, items: TypeRef) -> TypeRef {
    own(Type { list: Some(ListType { relation, items, all_keys: false }), ..Type::default() })
}

pub(super) fn map(m: MapType) -> TypeRef {
    own(Type { map: Some(m), ..Type::default() })
}

fn fields<'a>(of: impl IntoIterator<Item = (&'a str, TypeRef, Option<Value>)>) -> BTreeMap<String, Field> {
    of.into_iter().map(|(name, type_, default)| (name.to_owned(), Field { type_, default })).collect()
}

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
