//! Counts of verdicts.

use super::{ObjectReport, Verdict};

/// The number of objects by verdict, and the number of warnings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Accepted objects.
    pub accepted: usize,
    /// Rejected objects.
    pub rejected: usize,
    /// Objects of built-in kinds that were decoded.
    pub decode: usize,
    /// Skipped objects.
    pub skipped: usize,
    /// Objects for which the server's response is unknown.
    pub cannot_tell: usize,
    /// The warnings of all objects.
    pub warnings: usize,
    /// The rejected objects whose errors are all in the baseline.
    pub known: usize,
    /// Objects that have a finding of the severity `error` and are neither rejected nor without a verdict.
    pub failed: usize,
}

impl Summary {
    /// Counts an item.
    pub fn add(&mut self, item: &ObjectReport) {
        match item.verdict {
            Verdict::Accepted => self.accepted += 1,
            Verdict::Rejected => self.rejected += 1,
            Verdict::Decodes => self.decode += 1,
            Verdict::Skipped => self.skipped += 1,
            Verdict::CannotTell => self.cannot_tell += 1,
        }
        self.warnings += item.warnings.len();
        let has_verdict = !matches!(item.verdict, Verdict::Rejected | Verdict::CannotTell);
        self.known += usize::from(item.is_known());
        self.failed += usize::from(has_verdict && item.fails_by_severity());
    }
}
