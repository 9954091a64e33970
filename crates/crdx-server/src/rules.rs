//! Validation rules (`x-kubernetes-validations`), the bridge between schemas and CEL
//! (`apiextensions-apiserver/pkg/apiserver/schema/cel`).
//!
//! The [`Rules`] of a schema are built once and shared. The rules of a node are compiled when they are first evaluated.

pub mod compile;
mod cost_budget;
pub mod decl;
pub mod escape;
pub mod field_path;
pub mod node;
mod tree;
mod walk;

use crate::schema::{
    Schema,
    correlate::{Correlation, Pair},
};
pub use cost_budget::OBJECT_BUDGET;
use crdx_value::Value;
use crdx_value::field::{ErrorList, FieldPath};
use crdx_value::release::Release;
use crdx_value::steps::Steps;
pub use tree::cel_type;
use tree::{RuleTreeNode, tree};
pub use walk::{Evaluated, Findings};

/// The rules of a resource's schema.
#[derive(Debug)]
pub struct Rules {
    root: RuleTreeNode,
    release: Release,
}

impl Rules {
    /// Collects the rules of a resource's schema; `None` if it has none.
    pub fn new(schema: &Schema, release: Release) -> Option<Self> {
        Self::of_node(schema, true, release)
    }

    /// Collects the rules of a schema node, which may be a resource; `None` if it has none.
    pub(crate) fn of_node(schema: &Schema, resource: bool, release: Release) -> Option<Self> {
        tree(schema, resource, release).map(|root| Self { root, release })
    }

    /// Evaluates the rules for a default at `path`: first as an update of itself, then as a new value
    /// (`schema/defaulting/validation.go`). Also returns the remaining budget, which is negative if the budget was
    /// exceeded.
    pub(crate) fn evaluate_default(
        &self,
        value: &Value,
        path: &FieldPath<'_>,
        budget: i64,
        steps: &Steps,
    ) -> (ErrorList, i64) {
        let (errors, left) = walk::walk_alone((&self.root, self.release), path, value, Some(value), budget, steps);
        if !errors.is_empty() {
            return (errors, left);
        }
        let (errors, left_as_new) = walk::walk_alone((&self.root, self.release), path, value, None, budget, steps);
        (errors, left.min(left_as_new))
    }

    /// The evaluations of all rules for an object, with their results.
    pub fn evaluations(&self, new: &Value, old: Option<&Value>) -> Vec<Evaluated> {
        walk::evaluations((&self.root, self.release), new, old)
    }

    /// Evaluates the rules for an object. `old` is the object it replaces, with the correlation of both.
    pub fn evaluate<'a>(
        &self,
        new: &'a Value,
        old: Option<(&'a Value, Option<(&mut Correlation<'a>, Pair)>)>,
    ) -> Findings {
        walk::walk((&self.root, self.release), new, old)
    }
}
