//! The arguments of a call, and the sizes that declared types allow.

use super::{AstPath, Interval, path::Paths};
use crate::{ast::Expr, types::Type};

/// An argument of a call.
#[derive(Clone, Copy, Debug)]
pub(super) struct AstNode<'a> {
    pub path: AstPath,
    pub type_: &'a Type,
    /// `None` for the element of a list, which has a size but no expression.
    pub expr: Option<&'a Expr>,
    pub size: Option<Interval>,
}

/// A call with its analyzed arguments.
pub(super) struct Call<'c, 'a> {
    pub expr: &'a Expr,
    pub member: bool,
    /// The arguments, receiver first.
    pub args: &'c [AstNode<'a>],
    /// The costs of the arguments, without the receiver.
    pub costs: &'c [Interval],
}

impl Call<'_, '_> {
    pub fn args_cost(&self) -> Interval {
        self.costs.iter().fold(Interval::ZERO, |sum, cost| sum.add(*cost))
    }

    /// The cost of an argument, without the receiver.
    pub fn cost(&self, index: usize) -> Interval {
        self.costs.get(index).copied().unwrap_or(Interval::ZERO)
    }
}

/// The paths of values, with the sizes that the declared types at these paths allow.
pub(super) struct DeclaredSizes<'a> {
    pub paths: Paths<'a>,
    /// The maximum size of the value at a path.
    size_at: &'a dyn Fn(&[&str]) -> Option<u64>,
}

impl<'a> DeclaredSizes<'a> {
    pub fn new(size_at: &'a dyn Fn(&[&str]) -> Option<u64>) -> Self {
        Self { paths: Paths::default(), size_at }
    }

    pub fn at(&self, parts: &[&str]) -> Option<Interval> {
        (self.size_at)(parts).map(|most| Interval::new(0, most))
    }

    /// The size that the declared type at a path allows.
    pub fn of_path(&self, path: AstPath) -> Option<Interval> {
        self.at(self.paths.parts(path))
    }

    /// The size of an argument: the computed size or, if there is none, the declared size.
    pub fn of_node(&self, node: &AstNode) -> Interval {
        node.size.or_else(|| self.of_path(node.path)).unwrap_or(Interval::UNKNOWN)
    }

    /// The size of the argument with this index, receiver first.
    pub fn of_argument(&self, call: &Call, index: usize) -> Interval {
        call.args.get(index).map_or(Interval::UNKNOWN, |node| self.of_node(node))
    }

    /// The element of a list as a call argument.
    pub fn element(&mut self, list: &AstNode<'a>) -> Option<AstNode<'a>> {
        let [Some(type_), _] = list.type_.parameters() else { return None };
        let path = match list.path {
            AstPath::NONE => AstPath::NONE,
            path => self.paths.copy_and_append(path, "@items"),
        };
        Some(AstNode { path, type_, expr: None, size: None })
    }
}
