//! Ratcheting: an update may keep errors that the old object already has (`CRDValidationRatcheting`).
//!
//! An error is tolerated if the value that has it is correlated with an old value and equal to it. The caller decides what
//! to do with such an error: those of the schema are dropped (`pipeline/validate`), those of rules become warnings, except
//! for transition rules, which compare both values and are never exempt (`rules/walk`).

use super::correlate::{Correlation, Pair};

/// Returns true if errors in the new value of `pair` are tolerated; false without correlation, as in a create.
#[inline]
pub fn tolerates(correlation: &mut Option<&mut Correlation<'_>>, pair: Option<Pair>) -> bool {
    match (correlation, pair) {
        (Some(correlation), Some(pair)) => correlation.is_equal(pair),
        _ => false,
    }
}
