//! Messages of Go's libraries.

use std::borrow::Cow;
use std::fmt;

/// An error that consists of the message of a Go library, of kubectl or of the server, word for word. The text is data
/// for the answer; no decision depends on it.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GoError(String);

impl GoError {
    /// The message.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for GoError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl std::error::Error for GoError {}

impl From<String> for GoError {
    fn from(message: String) -> Self {
        Self(message)
    }
}

impl From<&str> for GoError {
    fn from(message: &str) -> Self {
        Self(message.to_owned())
    }
}

impl From<GoError> for Cow<'static, str> {
    fn from(error: GoError) -> Self {
        Self::Owned(error.0)
    }
}

impl From<GoError> for String {
    fn from(error: GoError) -> Self {
        error.0
    }
}
