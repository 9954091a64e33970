//! Evaluation errors.

use std::{borrow::Cow, fmt};

const NO_SUCH_OVERLOAD: &str = "no such overload";

/// An evaluation error. `&&`, `||`, `all` and `exists` may absorb it, unless it is fatal.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// An ordinary CEL error with its message.
    Failed(Cow<'static, str>),
    /// The value depends on part of an object that is not known ([`super::Gaps`]): its path.
    Unknown(Cow<'static, str>),
    /// The cost limit of the call is exceeded.
    CostLimitExceeded,
    /// The evaluation needs too many steps ([`crdx_value::steps`]); on a server, the request might time out.
    Interrupted,
    /// A panic of the server's evaluator, which the server recovers and reports as `internal error: …`.
    Internal(Cow<'static, str>),
}

impl Error {
    /// Creates an ordinary error with this message.
    pub fn new(text: impl Into<Cow<'static, str>>) -> Self {
        Self::Failed(text.into())
    }
    /// `no such overload`
    pub(crate) fn no_such_overload() -> Self {
        Self::Failed(Cow::Borrowed(NO_SUCH_OVERLOAD))
    }
    /// Returns true for the errors of calls whose arguments no overload accepts. The server compares the text as well
    /// (`strings.HasPrefix(err.Error(), "no such overload")` in `schema/cel/validation.go`), so an error of any origin
    /// with this text counts.
    pub fn is_no_such_overload(&self) -> bool {
        matches!(self, Self::Failed(text) if text.starts_with(NO_SUCH_OVERLOAD))
    }
    /// Returns true if `&&`, `||` and `?:` cannot absorb the error.
    pub(crate) fn is_fatal(&self) -> bool {
        !matches!(self, Self::Failed(_) | Self::Unknown(_))
    }

    /// The length of the text of an ordinary error.
    pub fn text_length(&self) -> usize {
        if let Self::Failed(text) = self { text.len() } else { 0 }
    }

    /// The error of an operator that absorbs errors: one of a value that is not known hides others, because the value
    /// might decide.
    pub(crate) fn or_unknown(self, other: Self) -> Self {
        if matches!(self, Self::Unknown(_)) {
            self
        } else if matches!(other, Self::Unknown(_)) {
            other
        } else {
            self
        }
    }
}

impl std::error::Error for Error {}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed(text) => f.write_str(text),
            Self::Unknown(path) => write!(f, "{path} is not known"),
            Self::CostLimitExceeded => f.write_str("operation cancelled: actual cost limit exceeded"),
            Self::Interrupted => f.write_str("operation interrupted"),
            Self::Internal(text) => write!(f, "internal error: {text}"),
        }
    }
}
