//! The cost of a call without its arguments, and the size of its result, from the price in the library table.

use super::{AstNode, Call, Estimator, Interval, interval::divide};
use crate::{
    ast::{ExprKind, Literal},
    library::{CallCost, Overload},
    types::Type,
};
use crdx_value::release::{V1_32, V1_38};

/// The cost of traversing a string, per code point.
const TEXT: f64 = 0.1;
/// The cost of a regular expression, per code point of the pattern.
const PATTERN: f64 = 0.25;
/// The length of the longest pattern of a named format.
const MAX_FORMAT_PATTERN_LENGTH: f64 = 128.0;
/// The maximum length of a format name, for comparisons of formats.
const MAX_FORMAT_LENGTH: u64 = 64;

impl<'a> Estimator<'a> {
    /// The cost of the call without its arguments, and the size of the result if it is known.
    pub(super) fn price(&mut self, call: &Call<'_, 'a>, overload: &Overload) -> (Interval, Option<Interval>) {
        let one = Interval::fixed(1);
        let size = |estimator: &Self, index: usize| {
            call.args.get(index).map_or(Interval::UNKNOWN, |node| estimator.node_size(node))
        };
        match overload.price {
            // Concatenating lists has a fixed cost, but the size of the result is known.
            CallCost::One if overload.id == "add_list" => (one, Some(self.joined(call))),
            CallCost::One | CallCost::Free => (one, None),
            CallCost::Scan(index) => {
                let size = size(self, index.into());
                (size.scale(TEXT), converted_size(overload.id, size))
            }
            CallCost::Affix => (size(self, 1).scale(TEXT), None),
            CallCost::UrlPart { growth } => {
                let result = size(self, 0).multiply(Interval::new(1, growth.into()));
                (one, Some(result).filter(|_| self.server >= V1_38))
            }
            CallCost::Transform => {
                let size = size(self, 0);
                (size.scale(TEXT), Some(size))
            }
            CallCost::ScanTwice => (size(self, 0).scale(2.0 * TEXT), None),
            CallCost::Replace => {
                let (text, old, new) = (size(self, 0), size(self, 1), size(self, 2));
                (text.scale(2.0 * TEXT), Some(replaced_size(text, old, new)))
            }
            CallCost::Split => {
                let text = size(self, 0);
                let most = match call.args.get(2).and_then(|node| node.expr).map(|expr| &expr.kind) {
                    Some(ExprKind::Literal(Literal::Int(limit))) => *limit as u64,
                    _ => text.max,
                };
                (text.scale(2.0 * TEXT), Some(Interval::new(0, most)))
            }
            CallCost::Join => {
                let count = size(self, 0);
                let mut total = Interval::ZERO;
                if let Some(element) = call.args.first().and_then(|list| self.element(list)) {
                    total = count.multiply(self.node_size(&element));
                }
                if call.args.len() > 1 {
                    let gaps = Interval::new(count.min.saturating_sub(1), count.max.saturating_sub(1));
                    total = total.add(size(self, 1).multiply(gaps));
                }
                (total.scale(TEXT), Some(total))
            }
            CallCost::Search => (size(self, 1).scale(1.0), None),
            CallCost::Compare => (self.compare(call, overload), None),
            CallCost::Concatenate => {
                let total = self.joined(call);
                (total.scale(TEXT), Some(total))
            }
            CallCost::Contains => (size(self, 0).scale(TEXT).multiply(size(self, 1).scale(TEXT)), None),
            CallCost::Match => {
                let text = size(self, 0).add(one).scale(TEXT);
                (text.multiply(size(self, 1).scale(PATTERN)), None)
            }
            CallCost::Find => {
                let text = size(self, 0);
                let cost = text.add(one).scale(TEXT).multiply(size(self, 1).scale(PATTERN));
                (cost, Some(Interval::new(0, text.max)))
            }
            CallCost::Walk => (self.walk(call, overload), None),
            CallCost::ContainsIp { parse } => {
                let parsing = if parse { size(self, 1).scale(TEXT) } else { Interval::ZERO };
                (address().add(address()).scale(TEXT).add(parsing), None)
            }
            CallCost::ContainsCidr { parse } => {
                let parsing = if parse { size(self, 1).scale(TEXT) } else { Interval::ZERO };
                let masking = address().scale(TEXT).add(one);
                (address().add(address()).scale(TEXT).add(masking).add(parsing), None)
            }
            CallCost::Validate => (size(self, 1).scale(TEXT).scale(MAX_FORMAT_PATTERN_LENGTH * PATTERN), None),
            CallCost::Sets(factor) => (size(self, 0).multiply(size(self, 1)).scale(f64::from(factor)).add(one), None),
            CallCost::Slice => {
                let list = size(self, 0);
                let (from, to) = (number(call.args.get(1), 0), number(call.args.get(2), list.max));
                new_list(1.0, Interval::fixed(to.wrapping_sub(from)))
            }
            CallCost::Range => new_list(1.0, Interval::fixed(number(call.args.first(), u64::MAX))),
            CallCost::Reverse => new_list(1.0, size(self, 0)),
            CallCost::Flatten => {
                let depth = if call.args.len() > 1 { number(call.args.get(1), u64::MAX) } else { 1 };
                new_list(depth as f64, size(self, 0))
            }
            CallCost::Distinct => {
                let list = size(self, 0);
                new_list(2.0, list.multiply(list))
            }
            CallCost::Sort(by) => {
                let keys = size(self, by.into());
                let is_text = ["string", "bytes"]
                    .iter()
                    .any(|type_| overload.id.strip_prefix("list_").is_some_and(|rest| rest.starts_with(type_)));
                new_list(if is_text { 2.0 + TEXT } else { 2.0 }, keys.multiply(keys))
            }
            CallCost::Authorize => (Interval::fixed(350_000), None),
            CallCost::Selector => {
                let selector = size(self, 1);
                let requirements = selector.scale(0.5).scale(50.0);
                (Interval::fixed(10).add(selector.scale(TEXT)).add(requirements), None)
            }
        }
    }

    /// The size of two concatenated lists or strings.
    fn joined(&mut self, call: &Call<'_, 'a>) -> Interval {
        let [left, right, ..] = call.args else { return Interval::UNKNOWN };
        if let (Some(a), Some(b)) = (left.expr, right.expr)
            && let (Some(a), Some(b)) = (self.entries_of(a), self.entries_of(b))
        {
            self.set_entries(call.expr.id, a.union(b));
        }
        self.operand_size(left).add(self.operand_size(right))
    }

    /// The cost of comparing two values: traversing the smaller one.
    fn compare(&self, call: &Call<'_, '_>, overload: &Overload) -> Interval {
        let [left, right, ..] = call.args else { return Interval::fixed(1) };
        if overload.function == "_==_"
            && self.server >= V1_32
            && let Some(cost) = compare_kubernetes(left, right)
        {
            return cost;
        }
        let smaller = self.operand_size(left).max.min(self.operand_size(right).max);
        Interval::new(u64::from(smaller > 0), smaller).scale(TEXT)
    }

    /// The cost of visiting every element of a list, and of traversing the elements if they are strings.
    fn walk(&mut self, call: &Call<'_, 'a>, overload: &Overload) -> Interval {
        let one = Interval::fixed(1);
        let Some(target) = call.args.first().filter(|_| call.member) else { return one };
        let size = self.node_size(target);
        match self.element(target) {
            Some(element) => {
                let each = if matches!(element.type_, Type::String | Type::Bytes) {
                    one.add(self.node_size(&element).scale(TEXT))
                } else {
                    one
                };
                size.multiply(each)
            }
            None if overload.function == "includes" => size.multiply(one),
            None => size.scale(TEXT),
        }
    }

    /// The element of a list as a call argument.
    fn element(&mut self, list: &AstNode<'a>) -> Option<AstNode<'a>> {
        let [Some(type_), _] = list.type_.parameters() else { return None };
        let path = match list.path {
            super::AstPath::NONE => super::AstPath::NONE,
            path => self.paths.copy_and_append(path, "@items"),
        };
        Some(AstNode { path, type_, expr: None, size: None })
    }
}

/// The size of an IP address in bytes.
const fn address() -> Interval {
    Interval::new(4, 16)
}

/// The cost of creating a list of this size, at `factor` per element.
fn new_list(factor: f64, size: Interval) -> (Interval, Option<Interval>) {
    (size.scale(factor).add(Interval::fixed(11)), Some(size))
}

/// The value of an integer literal argument, or `otherwise`.
fn number(node: Option<&AstNode>, otherwise: u64) -> u64 {
    match node.and_then(|node| node.expr).map(|expr| &expr.kind) {
        Some(ExprKind::Literal(Literal::Int(value))) => u64::try_from(*value).unwrap_or(0),
        _ => otherwise,
    }
}

/// The size of the result of a conversion that traverses its argument.
fn converted_size(overload: &str, from: Interval) -> Option<Interval> {
    match overload {
        "string_to_bytes" => Some(Interval::new(from.min, from.max.wrapping_mul(4))),
        "bytes_to_string" => Some(Interval::new(from.min / 4, from.max)),
        "strings_quote" => Some(Interval::new(from.min.wrapping_add(2), from.max.wrapping_mul(2).wrapping_add(2))),
        _ => None,
    }
}

/// The size of `text.replace(old, new)`.
fn replaced_size(text: Interval, old: Interval, new: Interval) -> Interval {
    let (mut count, mut kept) = (Interval::ZERO, Interval::ZERO);
    if old.min == 0 {
        // Inserted between all characters, without removing any.
        count.max = text.max.saturating_add(1);
        kept.max = text.max;
    } else if new.max <= old.min {
        kept.max = text.max;
    } else {
        count.max = divide(text.max, old.min);
    }
    if old.max == 0 {
        count.min = text.min.saturating_add(1);
        kept.min = text.min;
    } else if old.max <= new.min {
        kept.min = text.min;
    } else {
        count.min = divide(text.min, old.max);
    }
    count.multiply(new).add(kept)
}

/// The cost of comparing values of Kubernetes types, since 1.32 (`EstimateCallCost` in
/// `k8s.io/apiserver/pkg/cel/library/cost.go`).
fn compare_kubernetes(left: &AstNode, right: &AstNode) -> Option<Interval> {
    if left.type_ != right.type_ {
        return None;
    }
    let (Type::Opaque(name) | Type::Object(name)) = left.type_ else { return None };
    match &**name {
        "kubernetes.NamedFormat" => Some(Interval::new(1, MAX_FORMAT_LENGTH).scale(TEXT)),
        "kubernetes.URL" => {
            let longest = right.size.map_or(1, |size| size.max);
            Some(Interval::new(1, longest).scale(TEXT))
        }
        "net.IP" | "net.CIDR" | "kubernetes.Quantity" | "kubernetes.Semver" => Some(Interval::fixed(1)),
        name if name.starts_with("kubernetes.authorization.") => Some(Interval::fixed(1)),
        _ => None,
    }
}
