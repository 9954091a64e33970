//! What the process says when it ends.

/// An outcome; the worst of a run is its exit code. Ordered from best to worst.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exit {
    /// Everything would be accepted.
    #[default]
    Fine,
    /// Something would change, where that is the question.
    Differs,
    /// The server would reject something.
    Rejected,
    /// Something could not be judged: bad input, a missing CRD, bad usage.
    CannotTell,
}

impl Exit {
    /// The process's exit code.
    pub fn code(self) -> u8 {
        match self {
            Self::Fine => 0,
            Self::Differs | Self::Rejected => 1,
            Self::CannotTell => 2,
        }
    }
}
