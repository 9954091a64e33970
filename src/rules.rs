//! `x-kubernetes-validations`: the one bridge between schemas and CEL (`apiextensions-apiserver/pkg/apiserver/schema/cel`).
//!
//! A schema's [`Rules`] are laid out once and shared; a node's rules are compiled when an object first has that node.

pub mod compile;
pub mod decl;
pub mod escape;
pub mod field_path;
pub mod node;
mod tree;
mod walk;

use crate::field::{ErrorList, FieldPath};
use crate::release::Release;
use crate::schema::{
    Schema,
    correlate::{Correlation, Pair},
};
use crate::value::Value;
pub use tree::place;
use tree::{Node, tree};
pub use walk::{Evaluated, Findings, OBJECT_BUDGET};

/// The rules of a resource's schema.
#[derive(Debug)]
pub struct Rules {
    root: Node,
    release: Release,
}

impl Rules {
    /// The rules of a schema; none if it has none.
    pub fn new(schema: &Schema, release: Release) -> Option<Self> {
        Self::of_node(schema, true, release)
    }

    /// The rules of a node of a schema, which may be a resource; none if it has none.
    pub fn of_node(schema: &Schema, resource: bool, release: Release) -> Option<Self> {
        tree(schema, resource, release).map(|root| Self { root, release })
    }

    /// Holds a default at `path` to them: as replacing itself, then as a new value (`schema/defaulting/validation.go`).
    /// Also returns what is left of `budget`: less than nothing if that was not enough.
    pub fn evaluate_default(&self, value: &Value, path: &FieldPath<'_>, budget: i64) -> (ErrorList, i64) {
        let (errors, left) = walk::walk_alone((&self.root, self.release), path, value, Some(value), budget);
        if !errors.is_empty() {
            return (errors, left);
        }
        let (errors, left_as_new) = walk::walk_alone((&self.root, self.release), path, value, None, budget);
        (errors, left.min(left_as_new))
    }

    /// The rules that are evaluated for an object, and whether they hold.
    pub fn evaluations(&self, new: &Value, old: Option<&Value>) -> Vec<Evaluated> {
        walk::evaluations((&self.root, self.release), new, old)
    }

    /// Holds an object to them. `old` is the object it replaces, with the pairs of both.
    pub fn evaluate<'a>(
        &self,
        new: &'a Value,
        old: Option<(&'a Value, Option<(&mut Correlation<'a>, Pair)>)>,
    ) -> Findings {
        walk::walk((&self.root, self.release), new, old)
    }
}
