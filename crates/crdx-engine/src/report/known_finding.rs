//! Findings that a project knows and accepts for now.

/// The reason why a finding is accepted, and the date.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownFinding {
    pub reason: String,
    /// The date, `YYYY-MM-DD`.
    pub date: String,
}

impl KnownFinding {
    /// Returns a sentence for reports.
    pub fn text(&self) -> String {
        format!("in the baseline since {}: {}", self.date, self.reason)
    }
}
