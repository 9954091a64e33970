//! Why an evaluation has no value.

use std::{borrow::Cow, fmt};

/// An error value: `&&`, `||`, `all` and `exists` may absorb it, unless it ends the whole evaluation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// An ordinary CEL error.
    Failed(Cow<'static, str>),
    /// The call's cost limit is exceeded.
    CostLimitExceeded,
    /// It took too long; the server's request would have timed out.
    Interrupted,
    /// An error that makes the server's evaluator panic; it recovers and reports `internal error: …`.
    Internal(Cow<'static, str>),
}

impl Error {
    /// An ordinary error with this text.
    pub fn new(text: impl Into<Cow<'static, str>>) -> Self {
        Self::Failed(text.into())
    }
    /// `no such overload`
    pub fn no_such_overload() -> Self {
        Self::Failed(Cow::Borrowed("no such overload"))
    }
    /// Whether the error cannot be absorbed by `&&`, `||` or `?:`.
    pub fn is_fatal(&self) -> bool {
        !matches!(self, Self::Failed(_))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed(text) => f.write_str(text),
            Self::CostLimitExceeded => f.write_str("operation cancelled: actual cost limit exceeded"),
            Self::Interrupted => f.write_str("operation interrupted"),
            Self::Internal(text) => write!(f, "internal error: {text}"),
        }
    }
}
