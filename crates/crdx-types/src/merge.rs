//! Merge types: the form of a schema or a Go type used for merging and ownership (`structured-merge-diff/schema`).

use crdx_value::Value;
use std::{
    collections::BTreeMap,
    sync::{Arc, LazyLock, OnceLock},
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

#[derive(Debug)]
pub struct ListType {
    /// The list type.
    pub relation: ListRelation,
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
    Type(Arc<Type>),
    /// A type deduced from the value: maps are merged by field, lists are atomic.
    Deduced,
    /// Any value, as an atomic value.
    Untyped,
    /// A type that contains itself. It is there as soon as the whole type has been built.
    Recursive(&'static OnceLock<TypeRef>),
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
            Self::Recursive(type_) => type_.get().map_or(&DEDUCED, Self::resolve),
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
    Map(&'a MapType),
    Scalar(Scalar),
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

/// A reference to a new type.
pub fn own(t: Type) -> TypeRef {
    TypeRef::Type(Arc::new(t))
}

/// A reference to a scalar type.
pub fn scalar(s: Scalar) -> TypeRef {
    own(Type { scalar: Some(s), ..Type::default() })
}

/// A reference to a list type in which an item needs a single key.
pub fn list(relation: ListRelation, items: TypeRef) -> TypeRef {
    own(Type { list: Some(ListType { relation, items, all_keys: false }), ..Type::default() })
}

/// A reference to a map type.
pub fn map(m: MapType) -> TypeRef {
    own(Type { map: Some(m), ..Type::default() })
}

/// Fields from their names, types and defaults.
pub fn fields<'a>(of: impl IntoIterator<Item = (&'a str, TypeRef, Option<Value>)>) -> BTreeMap<String, Field> {
    of.into_iter().map(|(name, type_, default)| (name.to_owned(), Field { type_, default })).collect()
}
