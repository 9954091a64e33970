//! How much may be looked at in one run without being charged.
//!
//! Comparing two values costs by their outer size only, and an expression can build values that hold themselves twice at every level.
//! The server burns its time on them until the request is cancelled; here a run that looks at too many values is interrupted.

use super::Error;
use std::cell::Cell;

/// Some seconds' worth; no comparison of documents comes near.
const PATIENCE: u64 = if cfg!(test) { 1_000_000 } else { 200_000_000 };

thread_local! {
    /// What is left to the run of this thread. Functions of the library see nothing of the run, so it cannot be handed to them.
    static LEFT: Cell<u64> = const { Cell::new(PATIENCE) };
}

/// Begins a run.
pub fn renew() {
    LEFT.set(PATIENCE);
}

/// Looks at one more value.
pub fn look() -> Result<(), Error> {
    let left = LEFT.get().checked_sub(1).ok_or(Error::Interrupted)?;
    LEFT.set(left);
    Ok(())
}

/// Whether the run has used it all up.
pub fn is_lost() -> bool {
    LEFT.get() == 0
}
