//! The exit codes.

/// The result of a command, ordered from best to worst. The worst result of a run determines the exit code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exit {
    /// Everything would be accepted.
    #[default]
    Accepted,
    /// An object would change, if the command reports that.
    Differs,
    /// The server would reject an object.
    Rejected,
    /// An object could not be validated: bad input, a missing CRD, bad usage.
    CannotTell,
}

impl Exit {
    /// Returns the process's exit code.
    pub fn code(self) -> u8 {
        match self {
            Self::Accepted => 0,
            Self::Differs | Self::Rejected => 1,
            Self::CannotTell => 2,
        }
    }
}
