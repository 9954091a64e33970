//! A bound on the work of one evaluation that is not charged for.
//!
//! The cost of a comparison depends on the outer sizes only, and an expression can build a list that contains another list
//! twice at every level; the cost of `format` does not depend on its result. The server computes until the request is
//! cancelled; here the evaluation is interrupted ([`crdx_value::steps`]).

use super::{Error, Text, Value};
use crdx_value::release::{Minor, Release};
use crdx_value::steps::Steps;
use std::cell::Cell;

/// The most steps of one evaluation, which bound the memory of computed values. Comparing two documents takes far fewer.
const EVALUATION: u64 = if cfg!(test) { 1_000_000 } else { 10_000_000 };

/// The length of a text that shows a value, in bytes: enough for any document.
const TEXT: u64 = 4 << 20;

/// The number of bytes of text that are compared in one step.
const COMPARED: usize = 64;
/// The number of bytes of text that are computed in one step.
const COMPUTED: usize = 8;

/// The steps that are left, and the release of the server, on which equality depends.
#[derive(Debug)]
pub struct Fuel {
    left: Cell<u64>,
    server: Minor,
}

impl Default for Fuel {
    /// The fuel of one evaluation by the newest release.
    fn default() -> Self {
        Self::of_evaluation(Release::NEWEST.minor(), &Steps::new(EVALUATION))
    }
}

impl Fuel {
    /// The fuel of one evaluation, at most the steps that are left.
    pub(crate) fn of_evaluation(server: Minor, steps: &Steps) -> Self {
        Self { left: Cell::new(steps.left().min(EVALUATION)), server }
    }

    /// The fuel for writing one value as text.
    pub fn of_text() -> Self {
        Self { left: Cell::new(TEXT), server: Release::NEWEST.minor() }
    }

    /// The release of the server.
    pub fn server(&self) -> Minor {
        self.server
    }

    /// The number of steps that are left.
    pub fn left(&self) -> u64 {
        self.left.get()
    }

    /// Visits one more value.
    ///
    /// # Errors
    /// [`Error::Interrupted`] if no fuel is left.
    #[inline]
    pub fn visit(&self) -> Result<(), Error> {
        self.spend(1)
    }

    /// Takes steps.
    ///
    /// # Errors
    /// [`Error::Interrupted`] if no fuel is left.
    #[inline]
    pub(crate) fn spend(&self, steps: usize) -> Result<(), Error> {
        let left = self.left.get().saturating_sub(steps as u64);
        self.left.set(left);
        if left == 0 { Err(Error::Interrupted) } else { Ok(()) }
    }

    /// Compares or scans text of this length.
    ///
    /// # Errors
    /// [`Error::Interrupted`] if no fuel is left.
    #[inline]
    pub fn scan(&self, bytes: usize) -> Result<(), Error> {
        if bytes < COMPARED { Ok(()) } else { self.spend(bytes / COMPARED) }
    }

    /// Computes text of this length.
    ///
    /// # Errors
    /// [`Error::Interrupted`] if no fuel is left.
    pub fn write(&self, bytes: usize) -> Result<(), Error> {
        self.spend(bytes / COMPUTED)
    }

    /// Computes a string.
    ///
    /// # Errors
    /// [`Error::Interrupted`] if no fuel is left.
    pub fn string<'a>(&self, text: String) -> Result<Value<'a>, Error> {
        self.write(text.len())?;
        Ok(Value::String(Text::from(text)))
    }

    /// True if no fuel is left. Some functions ignore values that cannot be compared, and with them the interruption.
    pub fn is_empty(&self) -> bool {
        self.left.get() == 0
    }
}
