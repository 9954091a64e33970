//! Declared types: CEL types with their fields and the maximum sizes of their values.
//!
//! Follows `k8s.io/apiserver/pkg/cel/types.go` (`DeclType`). `crdx_server::rules` builds them from CRD schemas. The checker
//! reads fields from them, the cost estimator reads sizes, and the evaluator uses them to convert JSON values to CEL
//! values.

use super::types::Type;
use std::{collections::BTreeMap, sync::Arc};

/// A CEL type with the bounds of its values.
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
