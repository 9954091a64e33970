//! The limit of the runtime cost of one evaluation, which ends with an error when it is exceeded.

use crate::value::Error;

/// The maximum cost of a single evaluation (`celconfig.PerCallLimit`).
pub const PER_CALL_LIMIT: u64 = 1_000_000;

/// The runtime cost of an evaluation so far, and its limit.
#[derive(Debug)]
pub(super) struct RuntimeCost {
    pub total: u64,
    limit: u64,
}

impl RuntimeCost {
    /// No cost yet.
    pub fn new(limit: u64) -> Self {
        Self { total: 0, limit }
    }

    /// Adds to the cost.
    ///
    /// # Errors
    /// Returns an error if the cost exceeds the limit.
    #[inline]
    pub fn charge(&mut self, cost: u64) -> Result<(), Error> {
        self.total = self.total.saturating_add(cost);
        if self.total > self.limit { Err(Error::CostLimitExceeded) } else { Ok(()) }
    }
}
