//! A bound on the values that one evaluation visits without being charged for them.
//!
//! The cost of a comparison depends on the outer sizes only, and an expression can build a list that contains another list
//! twice at every level. The server computes until the request is cancelled; here the evaluation is interrupted.

use super::Error;
use crate::release::{Minor, Release};
use std::cell::Cell;

/// Enough for several seconds of visits; comparing two documents takes far fewer.
const EVALUATION: u64 = if cfg!(test) { 1_000_000 } else { 200_000_000 };

/// Enough for the text of any document.
const TEXT: u64 = 1_000_000;

/// The number of values that may still be visited, and the release of the server, on which equality depends.
#[derive(Debug)]
pub struct Fuel {
    left: Cell<u64>,
    server: Minor,
}

impl Default for Fuel {
    /// The fuel of one evaluation by the newest release.
    fn default() -> Self {
        Self::of_evaluation(Release::NEWEST.minor())
    }
}

impl Fuel {
    /// The fuel of one evaluation.
    pub fn of_evaluation(server: Minor) -> Self {
        Self { left: Cell::new(EVALUATION), server }
    }

    /// The fuel for writing one value as text.
    pub fn of_text() -> Self {
        Self { left: Cell::new(TEXT), server: Release::NEWEST.minor() }
    }

    /// The release of the server.
    pub fn server(&self) -> Minor {
        self.server
    }

    /// Visits one more value.
    ///
    /// # Errors
    /// [`Error::Interrupted`] if no fuel is left.
    pub fn visit(&self) -> Result<(), Error> {
        let left = self.left.get().checked_sub(1).ok_or(Error::Interrupted)?;
        self.left.set(left);
        Ok(())
    }

    /// True if no fuel is left. Some functions ignore values that cannot be compared, and with them the interruption.
    pub fn is_empty(&self) -> bool {
        self.left.get() == 0
    }
}
