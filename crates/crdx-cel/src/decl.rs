//! Declared types: CEL types with their fields and the maximum sizes of their values.
//!
//! Follows `k8s.io/apiserver/pkg/cel/types.go` (`DeclType`). `crdx_server::rules` builds them from CRD schemas. The checker
//! reads fields from them, the cost estimator reads sizes, and the evaluator uses them to convert JSON values to CEL
//! values.

use super::types::Type;
use std::{collections::BTreeMap, sync::Arc};

/// The maximum size of a request in bytes, which limits values without a limit of their own.
pub const MAX_REQUEST: i64 = 3 * 1024 * 1024;

/// A CEL type with the bounds of its values.
///
/// ```
/// use crdx_cel::{DeclField, DeclType};
///
/// let port = DeclType::object("Port", [
///     DeclField::required("name", DeclType::string().with_max(15)),
///     DeclField::optional("number", DeclType::int().nullable()),
/// ]);
/// let ports = DeclType::list(port).with_max(100);
/// assert_eq!(ports.cel_type.to_string(), "list(Port)");
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct DeclType {
    /// The CEL type.
    pub cel_type: Type,
    /// The structure of the type.
    pub shape: Shape,
    /// The maximum number of elements of a list or map, code points of a string, or bytes of a bytes value; 0 for other
    /// types.
    pub max_elements: u64,
    /// The minimum size of a value serialized as JSON, in bytes.
    pub min_serialized_size: u64,
    /// True if null is allowed.
    pub nullable: bool,
}

impl DeclType {
    /// A type without elements and fields. `max_elements` and `min_serialized_size` are those of the fields.
    pub const fn scalar(cel_type: Type, max_elements: u64, min_serialized_size: u64) -> Self {
        Self { cel_type, shape: Shape::Scalar, max_elements, min_serialized_size, nullable: false }
    }

    /// `bool`
    pub const fn bool() -> Self {
        Self::scalar(Type::Bool, 0, 4)
    }

    /// `int`
    pub const fn int() -> Self {
        Self::scalar(Type::Int, 0, 1)
    }

    /// `double`
    pub const fn double() -> Self {
        Self::scalar(Type::Double, 0, 1)
    }

    /// `string`
    pub const fn string() -> Self {
        Self::scalar(Type::String, MAX_REQUEST as u64 - 2, 2)
    }

    /// `bytes`, in base64.
    pub const fn bytes() -> Self {
        Self::scalar(Type::Bytes, MAX_REQUEST as u64 - 2, 2)
    }

    /// `google.protobuf.Timestamp`: a string with the format `date-time`.
    pub const fn timestamp() -> Self {
        Self::scalar(Type::Timestamp, 32, 21)
    }

    /// `google.protobuf.Duration`: a string with the format `duration`.
    pub const fn duration() -> Self {
        Self::scalar(Type::Duration, 32, 3)
    }

    /// An integer or a string (`x-kubernetes-int-or-string`), which is `dyn` in expressions.
    pub const fn int_or_string() -> Self {
        Self::scalar(Type::Dyn, MAX_REQUEST as u64 - 2, 1)
    }

    /// A list whose items are compared in order. For other lists, set the kind of its shape.
    pub fn list(items: impl Into<Arc<Self>>) -> Self {
        let items = items.into();
        Self {
            cel_type: Type::list(items.cel_type.clone()),
            max_elements: items.most(1),
            shape: Shape::List { items, kind: ListKind::Atomic },
            min_serialized_size: 2,
            nullable: false,
        }
    }

    /// A map with string keys.
    pub fn map(values: impl Into<Arc<Self>>) -> Self {
        let values = values.into();
        Self {
            cel_type: Type::map(Type::String, values.cel_type.clone()),
            max_elements: values.most(6),
            shape: Shape::Map(values),
            min_serialized_size: 2,
            nullable: false,
        }
    }

    /// An object. Its name is shown in errors; in one environment, two object types of the same name must be equal.
    pub fn object(name: &str, fields: impl IntoIterator<Item = DeclField>) -> Self {
        let fields: BTreeMap<_, _> = fields.into_iter().map(|field| (field.json_name.clone(), field)).collect();
        let required = fields.values().filter(|field| field.required);
        let sizes = required.map(|field| field.json_name.len() as u64 + 4 + field.type_.min_serialized_size);
        Self {
            cel_type: Type::Object(name.into()),
            max_elements: 0,
            min_serialized_size: 2 + sizes.sum::<u64>(),
            shape: Shape::Object(fields),
            nullable: false,
        }
    }

    /// The number of values of this type in the largest request, if each needs `more` bytes than its own.
    fn most(&self, more: i64) -> u64 {
        ((MAX_REQUEST - 2) / (self.min_serialized_size as i64).saturating_add(more).max(1)) as u64
    }

    /// Limits the values: `maxItems`, `maxProperties` or `maxLength`. A character of a string has up to four bytes.
    #[must_use]
    pub fn with_max(self, max: u64) -> Self {
        let factor = if matches!(self.cel_type, Type::String | Type::Dyn) { 4 } else { 1 };
        Self { max_elements: max.saturating_mul(factor), ..self }
    }

    /// Allows null, which expressions see as a missing field.
    #[must_use]
    pub fn nullable(self) -> Self {
        Self { nullable: true, ..self }
    }
}

/// The structure of a declared type.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// A type without elements or fields.
    Scalar,
    /// A list.
    List {
        /// The type of the items.
        items: Arc<DeclType>,
        /// The list type, which decides how lists are compared and concatenated.
        kind: ListKind,
    },
    /// A map with string keys.
    Map(Arc<DeclType>),
    /// An object, with its fields by CEL name (already escaped, as in `a__dot__b`).
    Object(BTreeMap<String, DeclField>),
}

/// `x-kubernetes-list-type`
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListKind {
    /// Compared in order; `+` concatenates.
    Atomic,
    /// Compared regardless of order; `+` is the union.
    Set,
    /// Items are identified by these keys (JSON names); `+` merges.
    Map(Vec<String>),
}

/// A field of an object.
#[derive(Clone, Debug, PartialEq)]
pub struct DeclField {
    /// The name in JSON (`a.b`).
    pub json_name: String,
    /// True if the field is required.
    pub required: bool,
    /// The declared type of the field.
    pub type_: Arc<DeclType>,
}

impl DeclField {
    /// A field that objects may lack.
    pub fn optional(name: &str, type_: impl Into<Arc<DeclType>>) -> Self {
        Self { json_name: name.to_owned(), required: false, type_: type_.into() }
    }

    /// A field that all objects have, which only matters for their sizes.
    pub fn required(name: &str, type_: impl Into<Arc<DeclType>>) -> Self {
        Self { required: true, ..Self::optional(name, type_) }
    }
}
