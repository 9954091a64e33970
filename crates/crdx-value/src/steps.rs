//! A bound on work that the server itself does not bound.
//!
//! The server computes until a request times out, which depends on its speed. Here the steps are counted, so the result
//! is the same everywhere: work that needs more steps has no result, and the caller reports that it cannot tell what
//! the server would answer.

use super::Value;
use std::cell::Cell;

/// The steps of the rules or policies of one request: about half a second of work. Comparing all values of an object of
/// 1.5 MiB, the most that etcd stores, takes fewer than 500,000, and the server's cost limit of one request is 10,000,000.
const REQUEST: u64 = if cfg!(test) { 4_000_000 } else { 50_000_000 };

/// The error when no steps are left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the work needs more steps than kubectl-crdx executes for one request")]
pub struct Spent;

/// The steps that are left. A step is a visited value, a unit of the cost of expressions, 64 bytes of compared text, or
/// 8 bytes of computed text.
#[derive(Clone, Debug)]
pub struct Steps(Cell<u64>);

impl Steps {
    /// The steps for the rules or policies of one request.
    pub fn of_request() -> Self {
        Self::new(REQUEST)
    }

    /// This number of steps.
    pub fn new(steps: u64) -> Self {
        Self(Cell::new(steps))
    }

    /// The number of steps that are left.
    pub fn left(&self) -> u64 {
        self.0.get()
    }

    /// True if no steps are left.
    pub fn are_spent(&self) -> bool {
        self.left() == 0
    }

    /// Takes steps.
    ///
    /// # Errors
    /// Returns an error if fewer are left; then none is left afterwards.
    pub fn take(&self, steps: u64) -> Result<(), Spent> {
        let left = self.left().saturating_sub(steps);
        self.0.set(left);
        if left == 0 { Err(Spent) } else { Ok(()) }
    }

    /// Takes all steps.
    pub fn take_all(&self) {
        self.0.set(0);
    }
}

/// The approximate memory of one value without its text, in bytes.
const NODE: usize = 64;

/// The approximate memory of a value in bytes.
pub fn memory(value: &Value) -> usize {
    NODE + match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(memory).sum(),
        Value::Object(members) => members.iter().map(|(key, value)| key.len() + memory(value)).sum(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn after_the_last_step_none_is_left() {
        let steps = Steps::new(10);
        assert_eq!((steps.take(4), steps.left()), (Ok(()), 6));
        assert_eq!((steps.take(7), steps.are_spent()), (Err(Spent), true));
        assert_eq!(steps.take(0), Err(Spent));
    }
}
