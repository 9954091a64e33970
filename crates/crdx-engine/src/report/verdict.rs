//! The verdict on an object.

/// The verdict on an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// The server would store it.
    Accepted,
    /// The server would reject it.
    Rejected,
    /// A built-in kind that can be decoded; its validation is not simulated.
    Decodes,
    /// Not a custom resource, or skipped on request.
    Skipped,
    /// The server's response is unknown.
    CannotTell,
}

impl Verdict {
    /// Returns the verdict in text.
    pub fn text(self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::Rejected => "rejected",
            Self::Decodes => "decodes",
            Self::Skipped => "skipped",
            Self::CannotTell => "cannot tell",
        }
    }
    /// Returns the verdict in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::CannotTell => "cannotTell",
            _ => self.text(),
        }
    }
}
