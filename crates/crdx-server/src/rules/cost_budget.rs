//! The cost budget of the rules of one object (`RuntimeCELCostBudget` in `pkg/apis/cel/config.go`). One evaluation has a
//! limit of its own ([`crdx_cel::eval::PER_CALL_LIMIT`]).

/// The runtime cost budget of one object.
pub const OBJECT_BUDGET: i64 = 10_000_000;

/// The message of the rule that exhausts the budget, and of rules after it.
pub(super) const OUT_OF_BUDGET: &str =
    "validation failed due to running out of cost budget, no further validation rules will be run";

/// An evaluation cost more than what is left.
#[derive(Debug)]
pub(super) struct OutOfBudget;

/// Takes the cost of an evaluation from the budget, or leaves the budget unchanged if it is not enough.
pub(super) fn charge(budget: &mut i64, cost: u64) -> Result<(), OutOfBudget> {
    let cost = i64::try_from(cost).ok().filter(|cost| *cost <= *budget).ok_or(OutOfBudget)?;
    *budget -= cost;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_pays_evaluations_until_one_costs_more_than_is_left() {
        let mut budget = 10;
        assert!(charge(&mut budget, 4).is_ok() && charge(&mut budget, 6).is_ok());
        assert!(charge(&mut budget, 1).is_err() && charge(&mut budget, u64::MAX).is_err());
        assert_eq!(budget, 0);
    }
}
