//! The Kubernetes version whose answers are given. Whatever differs between versions is looked up from one [`Version`].

use std::fmt;

/// A Kubernetes minor version, 1.N.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version(pub u16);

impl Version {
    /// The version this program mirrors first.
    pub const CURRENT: Self = Self(37);
    /// Always available.
    pub const ALWAYS: Self = Self(0);

    /// The compatibility version: what new expressions and new formats may use (one minor behind).
    pub fn compatibility(self) -> Self {
        Self(self.0.saturating_sub(1))
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "1.{}", self.0)
    }
}
