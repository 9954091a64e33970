//! A limit for the values that one run visits without being charged.
//!
//! The cost of a comparison depends on the outer sizes only, and an expression can build values that contain themselves twice at every level.
//! The server computes until the request is cancelled; here a run that visits too many values is interrupted.

use super::Error;
use std::cell::Cell;

/// Some seconds' worth; no comparison of documents comes near.
const PATIENCE: u64 = if cfg!(test) { 1_000_000 } else { 200_000_000 };

thread_local! {
    /// The rest of the limit for the run on this thread. Functions of the library have no access to the run, so it cannot be a parameter.
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

/// Whether the run has exceeded the limit.
pub fn is_lost() -> bool {
    LEFT.get() == 0
}
