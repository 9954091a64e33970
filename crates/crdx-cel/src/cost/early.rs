//! The cost estimate of cel-go before 0.23 (Kubernetes 1.30 to 1.32): local variables and the elements of lists and
//! maps have no sizes, and declared sizes are looked up where they are used.

use super::{Estimator, Interval, SELECT, declared::AstNode, is_scalar, literal_size};
use crate::{
    ast::{Comprehension, Expr, ExprId, ExprKind},
    types::Type,
};
use crdx_value::release::V1_31;

impl<'a> Estimator<'a> {
    /// An identifier: each use of a loop variable creates a new path.
    pub(super) fn cost_ident_early(&mut self, id: ExprId, name: &'a str) -> Interval {
        let range = self.ranges.iter().rev().find(|(variable, _)| *variable == name).map(|(_, range)| *range);
        let path = match range {
            None => self.declared.paths.of_variable(name),
            Some(range) => {
                let part = match self.checked.type_of(range) {
                    Type::List(_) => "@items",
                    Type::Map(..) => "@keys",
                    _ => return SELECT,
                };
                let path = self.by_id.get(range);
                self.declared.paths.append(path, part)
            }
        };
        self.by_id.set(id, path);
        SELECT
    }

    /// A fold. Second loop variables and variables that are only bound have no size.
    pub(super) fn cost_fold_early(&mut self, id: ExprId, fold: &'a Comprehension) -> Interval {
        let before = self.cost(&fold.range).add(self.cost(&fold.accu_init));
        self.ranges.push((&fold.iter_var, fold.range.id));
        let condition = self.cost(&fold.condition);
        let step = self.cost(&fold.step);
        self.ranges.pop();
        let after = self.cost(&fold.result);
        let range = self.node(&fold.range);
        let rounds = self.operand_size_early(&range);
        self.set_size(id, Some(rounds));
        before.add(after).add(rounds.multiply(step.add(condition)))
    }

    /// The computed size, or the size of a literal. In 1.30, a message has the size 0.
    pub(super) fn size_early(&self, expr: &Expr) -> Option<Interval> {
        let computed = self.sizes.get(expr.id as usize).copied().flatten();
        let is_empty = self.server < V1_31 && matches!(expr.kind, ExprKind::Struct { .. });
        computed.or_else(|| if is_empty { Some(Interval::ZERO) } else { literal_size(expr) })
    }

    pub(super) fn operand_size_early(&self, node: &AstNode) -> Interval {
        let scalar = !matches!(node.type_, Type::Optional(_)) && is_scalar(node.type_);
        let size = node.size.or_else(|| self.declared.of_path(node.path));
        size.unwrap_or(if scalar { Interval::fixed(1) } else { Interval::UNKNOWN })
    }
}
