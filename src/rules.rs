//! `x-kubernetes-validations`: the one bridge between schemas and CEL (`apiextensions-apiserver/pkg/apiserver/schema/cel`).
//!
//! A schema's [`Rules`] are laid out once and shared; a node's rules are compiled when an object first has that node.

pub mod compile;
pub mod decl;
pub mod escape;
pub mod field_path;
mod tree;
mod walk;

use crate::schema::{
    Schema,
    correlate::{Correlation, Pair},
};
use crate::value::Value;
pub use tree::place;
use tree::{Node, tree};
pub use walk::{Findings, OBJECT_BUDGET};

/// The rules of a resource's schema.
#[derive(Debug)]
pub struct Rules {
    root: Node,
}

impl Rules {
    /// The rules of a schema; none if it has none.
    pub fn new(schema: &Schema) -> Option<Self> {
        tree(schema, true).map(|root| Self { root })
    }

    /// Holds an object to them. `old` is the object it replaces, with the pairs of both.
    pub fn evaluate<'a>(&self, new: &'a Value, old: Option<(&'a Value, &mut Correlation<'a>, Pair)>) -> Findings {
        walk::walk(&self.root, new, old)
    }
}
