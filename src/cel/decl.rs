//! Declared types: CEL types that know their fields and how large their values can get.
//!
//! Follows `k8s.io/apiserver/pkg/cel/types.go` (`DeclType`). The bridge to CRD schemas builds them; the checker reads
//! fields from them, the cost estimator sizes, the evaluator how to read a JSON value as the type.

use super::types::Type;
use std::{collections::BTreeMap, sync::Arc};

/// A type with bounds.
#[derive(Clone, Debug, PartialEq)]
pub struct DeclType {
    /// The CEL type.
    pub cel_type: Type,
    /// The structure below it.
    pub shape: Shape,
    /// The largest number of elements (of a list or map), code points (of a string) or bytes (of bytes); 0 where it means nothing.
    pub max_elements: u64,
    /// The fewest bytes a value takes as JSON.
    pub min_serialized_size: u64,
    /// Whether null is allowed.
    pub nullable: bool,
}

/// The structure of a declared type.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// No parts.
    Scalar,
    /// A list.
    List {
        /// Its items.
        items: Arc<DeclType>,
        /// The list type, which decides how lists are compared and concatenated.
        kind: ListKind,
    },
    /// A map with string keys.
    Map(Arc<DeclType>),
    /// An object, by CEL field name (already escaped: `a__dot__b`).
    Object(BTreeMap<String, DeclField>),
}

/// `x-kubernetes-list-type`
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListKind {
    /// Compared in order.
    Atomic,
    /// Order does not count; `+` is union.
    Set,
    /// Items are found by these keys (JSON names); `+` merges.
    Map(Vec<String>),
}

/// A field of an object.
#[derive(Clone, Debug, PartialEq)]
pub struct DeclField {
    /// The name in JSON (`a.b`).
    pub json_name: String,
    /// Always there.
    pub required: bool,
    /// Its type.
    pub type_: Arc<DeclType>,
}
