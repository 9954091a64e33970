//! cel-go's estimate of the cost of a call without its arguments, and of the size of its result, before 0.33 (Kubernetes 1.30 to 1.37).

use super::{
    Estimator, Interval,
    declared::Call,
    libraries::{self, PATTERN, TEXT, number},
};
use crate::library::{CallCost, Overload};
use crdx_value::release::V1_32;

impl<'a> Estimator<'a> {
    /// The cost of the call without its arguments, and the size of the result if it is known.
    pub(super) fn price(&mut self, call: &Call<'_, 'a>, overload: &Overload) -> (Interval, Option<Interval>) {
        let one = Interval::fixed(1);
        let size = |estimator: &Self, index: usize| estimator.declared.of_argument(call, index);
        match overload.price {
            // Concatenating lists has a fixed cost, but the size of the result is known.
            CallCost::One if overload.id == "add_list" => (one, Some(self.joined(call))),
            // Since 1.38, the parts of a URL have sizes.
            CallCost::One | CallCost::Free | CallCost::UrlPart { .. } => (one, None),
            CallCost::Scan(index) => {
                let size = size(self, index.into());
                (size.scale(TEXT), converted_size(overload.id, size))
            }
            CallCost::Affix => (size(self, 1).scale(TEXT), None),
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
            _ => libraries::price(&mut self.declared, call, overload),
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
            && let Some(cost) = libraries::compare(left, right)
        {
            return cost;
        }
        let smaller = self.operand_size(left).max.min(self.operand_size(right).max);
        Interval::new(u64::from(smaller > 0), smaller).scale(TEXT)
    }
}

/// The cost of creating a list of this size, at `factor` per element.
pub(super) fn new_list(factor: f64, size: Interval) -> (Interval, Option<Interval>) {
    (size.scale(factor).add(Interval::fixed(11)), Some(size))
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
