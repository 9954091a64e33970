//! Minor versions.

use std::fmt;

/// A Kubernetes minor version, 1.N.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Minor(pub u16);

impl Minor {
    /// Before every release, for behaviour that all releases have.
    pub const ALWAYS: Self = Self(0);
    /// After every release, for behaviour that is still present.
    pub const NEVER: Self = Self(u16::MAX);

    /// The number N of 1.N.
    pub const fn number(self) -> u16 {
        self.0
    }

    /// The preceding minor version.
    #[must_use]
    pub const fn previous(self) -> Self {
        Self(self.0.saturating_sub(1))
    }
}

impl fmt::Display for Minor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "1.{}", self.0)
    }
}
