//! The cost of a call and the size of its result (`standard.go`, and the estimates of the extension libraries in `ext`).

use super::{Estimator, Interval, Size, sizing::unwrapped};
use crate::{
    ast::{Expr, ExprKind, Literal},
    cost::{
        declared::{AstNode, Call},
        interval::scale_exactly,
        libraries::{self, TEXT},
        price::new_list,
    },
    library::{CallCost, Overload},
    types::Type,
};

/// The cost of traversing a string, per code point: 1/10.
const TENTH: (u64, u64) = (1, 10);
/// The cost of a regular expression, per code point of the pattern: 1/4.
const QUARTER: (u64, u64) = (1, 4);

/// An argument with its estimated size.
#[derive(Clone, Copy)]
struct Argument<'a> {
    type_: &'a Type,
    size: Size,
}

impl<'a> Estimator<'a> {
    pub(super) fn cost_call(
        &mut self,
        expr: &'a Expr,
        target: Option<&'a Expr>,
        function: &str,
        args: &'a [Expr],
    ) -> Interval {
        if function == "dyn"
            && let Some(arg) = args.first()
        {
            // `dyn()` has no effect at run time; its argument keeps its size.
            let sum = self.cost(arg).add(Interval::fixed(1));
            self.copy_size(expr.id, arg);
            return sum;
        }
        let costs: Vec<Interval> = args.iter().map(|arg| self.cost(arg)).collect();
        let overloads = self.checked.overloads(expr.id);
        if overloads.is_empty() {
            return costs.iter().fold(Interval::fixed(1), |sum, cost| sum.add(*cost));
        }
        let sum = target.map_or(Interval::ZERO, |target| self.cost(target));
        let (nodes, sizes): (Vec<AstNode>, Vec<Option<Size>>) =
            target.into_iter().chain(args).map(|arg| self.node(arg)).unzip();
        let call = Call { expr, member: target.is_some(), args: &nodes, costs: &costs };
        let mut cost = Interval::NOTHING;
        let mut result: Option<Size> = None;
        for overload in overloads {
            let (own, mut size) = self.price(&call, &sizes, overload);
            cost = cost.union(own.add(args_cost(&call, overload)));
            let part = match overload.id {
                "index_list" => Some("@items"),
                "index_map" => Some("@values"),
                _ => None,
            };
            if let (Some(part), Some(container)) = (part, args.first())
                && !self.append_path(expr.id, container, part)
                && let Some(element) = self.size(container).and_then(|container| container.element)
            {
                size = Some(self.sizes.get(element));
            }
            if size.is_none() {
                size = self.size(expr);
            }
            result = match (result, size) {
                (Some(result), Some(size)) => Some(self.sizes.union(result, size)),
                (result, size) => result.or(size),
            };
        }
        self.set_size(expr.id, result);
        sum.add(cost)
    }

    /// The cost of the call without its arguments, and the size of the result if it is known.
    fn price(&mut self, call: &Call<'_, 'a>, sizes: &[Option<Size>], overload: &Overload) -> (Interval, Option<Size>) {
        let one = Interval::fixed(1);
        let argument = |index: usize| Argument {
            type_: call.args.get(index).map_or(&Type::Dyn, |node| node.type_),
            size: sizes.get(index).copied().flatten().unwrap_or(Size::UNKNOWN),
        };
        let size = |index: usize| argument(index).size;
        let bounds = |index: usize| size(index).bounds;
        match (overload.price, overload.id) {
            (CallCost::One, "index_list" | "index_map") => {
                (one, Some(size(0).element.map_or(Size::UNKNOWN, |element| self.sizes.get(element))))
            }
            (CallCost::One, "add_list") => (one, Some(self.sum(argument(0), argument(1)))),
            (CallCost::Concatenate, _) => {
                let sum = self.sum(argument(0), argument(1));
                (exactly(sum.bounds, TENTH), Some(sum))
            }
            (CallCost::Scan(index), "starts_with_string" | "ends_with_string" | "string_format") => {
                (exactly(bounds(index.into()), TENTH), None)
            }
            (CallCost::Scan(_), "string_to_bytes" | "bytes_to_string" | "strings_quote") => {
                let of = argument(0);
                let size = self.contained(converted_size(overload.id, of.size.bounds), &[of]);
                (exactly(of.size.bounds, TENTH), Some(size))
            }
            (CallCost::Free, "conditional") => {
                let (yes, no) = (argument(1), argument(2));
                let size = self.contained(yes.size.bounds.union(no.size.bounds), &[yes, no]);
                (Interval::ZERO, Some(size))
            }
            (CallCost::Free, "logical_and" | "logical_or") => (Interval::ZERO, None),
            (CallCost::Search, _) => (bounds(1), None),
            (CallCost::Compare, _) => (compare(call, overload, bounds(0), bounds(1)), None),
            (CallCost::Contains, _) => (exactly(bounds(0), TENTH).multiply(exactly(bounds(1), TENTH)), None),
            (CallCost::Match, _) => (exactly(bounds(0).add(one), TENTH).multiply(exactly(bounds(1), QUARTER)), None),
            (CallCost::Sets(factor), _) => (bounds(0).multiply(bounds(1)).scale(f64::from(factor)).add(one), None),
            (CallCost::Slice, _) => {
                let (from, to) = (number(call.args.get(1), 0), number(call.args.get(2), bounds(0).max));
                let (cost, length) = new_list(1.0, Interval::fixed(to.wrapping_sub(from)));
                (cost, length.map(|bounds| Size { bounds, key: None, element: size(0).element }))
            }
            (CallCost::Range, _) => {
                let length = Interval::fixed(number(call.args.first(), u64::MAX));
                let element = Some(self.sizes.intern(Size::fixed(1)));
                (length.add(Interval::fixed(11)), Some(Size { bounds: length, key: None, element }))
            }
            (CallCost::Reverse, _) => (bounds(0).add(Interval::fixed(11)), Some(size(0))),
            (CallCost::Flatten, _) => {
                let depth = if call.args.len() > 1 { depth(call.args.get(1)) } else { 1 };
                (new_list(depth as f64, bounds(0)).0, Some(size(0)))
            }
            (CallCost::Distinct, _) => {
                let of_text = matches!(argument(0).type_, Type::List(item) if is_text(item));
                compare_all(size(0), size(0), of_text)
            }
            (CallCost::Sort(by), _) => {
                let id = overload.id;
                let of_text = id.starts_with("list_string") || id.starts_with("list_bytes");
                compare_all(size(by.into()), size(0), of_text)
            }
            _ => {
                let (cost, result) = libraries::price(&mut self.declared, call, overload);
                let with_parts_of = |index: usize, bounds: Interval| Size { bounds, ..size(index) };
                let result = result.map(|result| match overload.price {
                    CallCost::Transform | CallCost::UrlPart { .. } => with_parts_of(0, result),
                    CallCost::Replace => with_parts_of(2, result),
                    CallCost::Join if call.args.len() > 1 => {
                        let list = if size_of_items_is_used(call) { size(0) } else { Size::UNKNOWN };
                        self.sizes.combine(result, list, size(1))
                    }
                    CallCost::Join if size_of_items_is_used(call) => with_parts_of(0, result),
                    _ => Size::plain(result),
                });
                (cost, result)
            }
        }
    }

    /// The size of two concatenated lists or strings.
    fn sum(&mut self, left: Argument<'_>, right: Argument<'_>) -> Size {
        self.contained(left.size.bounds.add(right.size.bounds), &[left, right])
    }

    /// A size with these bounds and the keys and elements of all operands (`combineMeta`).
    fn contained(&mut self, bounds: Interval, operands: &[Argument<'_>]) -> Size {
        let mut all = Size::plain(bounds);
        let has_keys = operands.iter().any(|operand| operand.size.key.is_some());
        let has_elements = operands.iter().any(|operand| operand.size.element.is_some());
        if !has_keys && !has_elements {
            return all;
        }
        let unknown = Some(self.sizes.intern(Size::UNKNOWN));
        for Argument { size, type_ } in operands {
            // An operand that may contain anything.
            let is_nonempty = size.bounds.max > 0;
            let is_any = is_nonempty && size.key.is_none() && size.element.is_none() && may_contain(type_);
            if has_elements {
                let is_unknown = is_any || size.key.is_some() && is_nonempty;
                let element = size.element.or(unknown.filter(|_| is_unknown));
                all.element = self.sizes.merge(all.element, element);
            }
            if has_keys {
                let key = size.key.or(unknown.filter(|_| is_any));
                all.key = self.sizes.merge(all.key, key);
            }
        }
        all
    }
}

/// The costs of the arguments that are evaluated (`calculateArgCost`).
fn args_cost(call: &Call<'_, '_>, overload: &Overload) -> Interval {
    match overload.id {
        "logical_and" | "logical_or" => Interval::new(call.cost(0).min, call.cost(0).add(call.cost(1)).max),
        "conditional" => call.cost(0).add(call.cost(1).union(call.cost(2))),
        _ => call.args_cost(),
    }
}

/// The cost of comparing two values: traversing the smaller one (`estimateComparisonV0`).
fn compare(call: &Call<'_, '_>, overload: &Overload, left: Interval, right: Interval) -> Interval {
    if let [left, right] = call.args
        && overload.function == "_==_"
        && let Some(cost) = libraries::compare(left, right)
    {
        return cost;
    }
    let smaller = left.max.min(right.max);
    Interval::new(u64::from(smaller > 0), smaller).scale(TEXT)
}

/// The cost of comparing all elements of a list with each other, and the size of the resulting list (`estimateSelfCompareCost`).
fn compare_all(keys: Size, list: Size, of_text: bool) -> (Interval, Option<Size>) {
    let pairs = keys.bounds.multiply(keys.bounds);
    let (cost, size) = new_list(if of_text { 2.0 + TEXT } else { 2.0 }, pairs);
    (cost, size.map(|bounds| Size { bounds, key: keys.key, element: list.element }))
}

fn exactly(size: Interval, (numerator, denominator): (u64, u64)) -> Interval {
    Interval::new(scale_exactly(size.min, numerator, denominator), scale_exactly(size.max, numerator, denominator))
}

/// The size of the result of a conversion that traverses its argument.
fn converted_size(overload: &str, from: Interval) -> Interval {
    let (least, most) = match overload {
        "string_to_bytes" => (from, exactly(from, (4, 1))),
        "bytes_to_string" => (exactly(from, QUARTER), from),
        // Quoted: at most, every character is escaped.
        _ => (from.add(Interval::fixed(2)), exactly(from, (2, 1)).add(Interval::fixed(2))),
    };
    Interval::new(least.min.min(most.max), most.max)
}

/// The value of an integer literal, or `otherwise` (`NodeAsUintValue`).
fn number(node: Option<&AstNode<'_>>, otherwise: u64) -> u64 {
    match literal(node) {
        Some(Literal::Int(value)) => u64::try_from(*value).unwrap_or(0),
        Some(Literal::Uint(value)) => *value,
        _ => otherwise,
    }
}

/// The depth of `flatten`: any, if it is not a literal or negative.
fn depth(node: Option<&AstNode<'_>>) -> u64 {
    match literal(node) {
        Some(Literal::Int(value)) => u64::try_from(*value).unwrap_or(u64::MAX),
        Some(Literal::Uint(value)) => *value,
        _ => u64::MAX,
    }
}

fn literal<'a>(node: Option<&AstNode<'a>>) -> Option<&'a Literal> {
    match &node?.expr?.kind {
        ExprKind::Literal(literal) => Some(literal),
        _ => None,
    }
}

/// Returns true if `join` has a list whose items have a type.
fn size_of_items_is_used(call: &Call<'_, '_>) -> bool {
    call.args.first().is_some_and(|list| list.type_.parameters()[0].is_some())
}

fn is_text(type_: &Type) -> bool {
    matches!(unwrapped(type_), Type::String | Type::Bytes)
}

/// Returns true if a value of the type may have elements or keys (`mayBeContainerType`).
fn may_contain(type_: &Type) -> bool {
    !matches!(
        unwrapped(type_),
        Type::Bool
            | Type::Double
            | Type::Duration
            | Type::Int
            | Type::Null
            | Type::Timestamp
            | Type::Uint
            | Type::String
            | Type::Bytes
    )
}
