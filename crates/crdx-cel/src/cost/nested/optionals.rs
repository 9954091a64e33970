//! Optional elements of list literals.

use crate::ast::{Expr, ExprKind};

/// The expression that an optional element adds to a list (`optionalLiteralValue`): nothing if it is `optional.none()`, the argument of `optional.of(x)`, or
/// the expression itself, whose value is not known.
pub(super) fn added(element: &Expr) -> Option<&Expr> {
    let ExprKind::Call { target: None, function, args } = &element.kind else { return Some(element) };
    match (function.as_str(), args.as_slice()) {
        ("optional.none", []) => None,
        ("optional.of" | "optional.ofNonZeroValue", [value]) => Some(value),
        _ => Some(element),
    }
}
