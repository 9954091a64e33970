//! The errors of a cluster.

use crdx_value::Value;

/// An error of a cluster or of its configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    /// The message.
    pub message: String,
    /// Help text: what the user can do.
    pub help: Option<String>,
    /// The HTTP status code, if there was an answer.
    pub code: Option<u16>,
    /// The server's `Status`, if it sent one.
    pub status: Option<Status>,
    /// True if all further requests would fail as well.
    pub unreachable: bool,
    /// True if the answer is longer than any that is read.
    pub too_long: bool,
}

/// Reason and message of a `Status`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// The reason, such as `Forbidden`; may be empty.
    pub reason: String,
    /// The message.
    pub message: String,
}

impl Status {
    /// Reads a `Status`; `None` for anything else.
    pub fn from_value(value: &Value) -> Option<Self> {
        let text = |key: &str| value.str_at(&[key]).unwrap_or_default().to_owned();
        (value.str_at(&["kind"]) == Some("Status")).then(|| Self { reason: text("reason"), message: text("message") })
    }
}

impl Error {
    /// Creates an error that affects one request.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), ..Self::default() }
    }

    /// Creates an error after which all further requests would fail as well.
    pub fn unreachable(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { message: message.into(), help: Some(help.into()), unreachable: true, ..Self::default() }
    }

    /// True if the user may not send the request.
    pub fn is_refused(&self) -> bool {
        self.code == Some(403)
    }

    /// The message and the help. `error: ` is added where it is printed.
    pub fn text(&self) -> String {
        let help = self.help.as_ref().map_or_else(String::new, |help| format!("\nhelp: {help}"));
        format!("{}{help}", self.message)
    }
}
