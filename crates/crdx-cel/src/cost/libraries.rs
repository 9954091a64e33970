//! Kubernetes' estimate of the cost of a call without its arguments, and of the size of its result
//! (`EstimateCallCost` in `k8s.io/apiserver/pkg/cel/library/cost.go`).

use super::{
    Interval,
    declared::{AstNode, Call, DeclaredSizes},
    interval::divide,
};
use crate::{
    ast::{ExprKind, Literal},
    library::{CallCost, Overload},
    types::Type,
};

/// The cost of traversing a string, per code point.
pub(super) const TEXT: f64 = 0.1;
/// The cost of a regular expression, per code point of the pattern.
pub(super) const PATTERN: f64 = 0.25;
/// The length of the longest pattern of a named format.
const MAX_FORMAT_PATTERN_LENGTH: f64 = 128.0;
/// The maximum length of a format name, for comparisons of formats.
const MAX_FORMAT_LENGTH: u64 = 64;

/// The cost of the call, and the size of the result if it is known. Functions that only cel-go prices cost 1.
pub(super) fn price<'a>(
    sizes: &mut DeclaredSizes<'a>,
    call: &Call<'_, 'a>,
    overload: &Overload,
) -> (Interval, Option<Interval>) {
    let one = Interval::fixed(1);
    let size = |index: usize| sizes.of_argument(call, index);
    let parsing = |parse: bool| if parse { size(1).scale(TEXT) } else { Interval::ZERO };
    match overload.price {
        CallCost::Scan(index) => (size(index.into()).scale(TEXT), None),
        CallCost::UrlPart { growth } => (one, Some(size(0).multiply(Interval::new(1, growth.into())))),
        CallCost::Transform => {
            let size = size(0);
            (size.scale(TEXT), Some(size))
        }
        CallCost::ScanTwice => (size(0).scale(2.0 * TEXT), None),
        CallCost::Replace => {
            let (text, old, new) = (size(0), size(1), size(2));
            (text.scale(2.0 * TEXT), Some(replaced_size(text, old, new)))
        }
        CallCost::Split => {
            let text = size(0);
            let most = match call.args.get(2).and_then(|node| node.expr).map(|expr| &expr.kind) {
                Some(ExprKind::Literal(Literal::Int(limit))) => *limit as u64,
                _ => text.max,
            };
            (text.scale(2.0 * TEXT), Some(Interval::new(0, most)))
        }
        CallCost::Join => {
            let total = joined_size(sizes, call);
            (total.scale(TEXT), Some(total))
        }
        CallCost::Find => {
            let text = size(0);
            let cost = text.add(one).scale(TEXT).multiply(size(1).scale(PATTERN));
            (cost, Some(Interval::new(0, text.max)))
        }
        CallCost::Walk => (walk(sizes, call, overload), None),
        CallCost::ContainsIp { parse } => (address().add(address()).scale(TEXT).add(parsing(parse)), None),
        CallCost::ContainsCidr { parse } => {
            let masking = address().scale(TEXT).add(one);
            (address().add(address()).scale(TEXT).add(masking).add(parsing(parse)), None)
        }
        CallCost::Validate => (size(1).scale(TEXT).scale(MAX_FORMAT_PATTERN_LENGTH * PATTERN), None),
        CallCost::Authorize => (Interval::fixed(350_000), None),
        CallCost::Selector => {
            let selector = size(1);
            let requirements = selector.scale(0.5).scale(50.0);
            (Interval::fixed(10).add(selector.scale(TEXT)).add(requirements), None)
        }
        _ => (one, None),
    }
}

/// The size of `list.join(separator)`.
fn joined_size<'a>(sizes: &mut DeclaredSizes<'a>, call: &Call<'_, 'a>) -> Interval {
    let count = sizes.of_argument(call, 0);
    let mut total = Interval::ZERO;
    if let Some(element) = call.args.first().and_then(|list| sizes.element(list)) {
        total = count.multiply(sizes.of_node(&element));
    }
    if call.args.len() > 1 {
        let gaps = Interval::new(count.min.saturating_sub(1), count.max.saturating_sub(1));
        total = total.add(sizes.of_argument(call, 1).multiply(gaps));
    }
    total
}

/// The cost of visiting every element of a list, and of traversing the elements if they are strings.
fn walk<'a>(sizes: &mut DeclaredSizes<'a>, call: &Call<'_, 'a>, overload: &Overload) -> Interval {
    let one = Interval::fixed(1);
    let Some(target) = call.args.first().filter(|_| call.member) else { return one };
    let size = sizes.of_node(target);
    match sizes.element(target) {
        Some(element) => {
            let each = if matches!(element.type_, Type::String | Type::Bytes) {
                one.add(sizes.of_node(&element).scale(TEXT))
            } else {
                one
            };
            size.multiply(each)
        }
        None if overload.function == "includes" => size.multiply(one),
        None => size.scale(TEXT),
    }
}

/// The size of an IP address in bytes.
const fn address() -> Interval {
    Interval::new(4, 16)
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

/// The cost of comparing values of Kubernetes types with `==`, since 1.32.
pub(super) fn compare(left: &AstNode, right: &AstNode) -> Option<Interval> {
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

/// The value of an integer literal argument, or `otherwise`.
pub(super) fn number(node: Option<&AstNode>, otherwise: u64) -> u64 {
    match node.and_then(|node| node.expr).map(|expr| &expr.kind) {
        Some(ExprKind::Literal(Literal::Int(value))) => u64::try_from(*value).unwrap_or(0),
        _ => otherwise,
    }
}
