//! Errors of commands that print objects, with the messages of kubectl or the server if they have any.

use crate::cluster::{Error, Status};
use crate::commands::exit::Exit;
use crdx_value::Value;
use std::io;

/// An error of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The cluster did not respond, or the request is invalid.
    Error(Error),
    /// The output cannot be written.
    Output(io::ErrorKind),
    /// An error that has already been printed.
    Reported,
}

impl Failure {
    /// Creates an error without details.
    pub fn message(message: impl Into<String>) -> Self {
        Self::Error(Error { message: message.into(), ..Error::default() })
    }

    /// Creates an error from a `Status` of the server.
    pub fn refused(status: &Value) -> Self {
        Self::Error(Error { status: Some(Status::from_value(status).unwrap_or_default()), ..Error::default() })
    }

    /// Returns true if the error is "not found".
    pub fn is_not_found(&self) -> bool {
        matches!(self, Self::Error(error) if error.status.as_ref().is_some_and(|s| s.reason == "NotFound"))
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

/// Returns an error if the output of a command could not be written.
///
/// # Errors
/// Returns the first write error.
pub fn output(failures: &[Failure]) -> io::Result<()> {
    let error = |failure: &Failure| if let Failure::Output(kind) = failure { Some(*kind) } else { None };
    failures.iter().find_map(error).map_or(Ok(()), |kind| Err(kind.into()))
}

/// Formats errors and returns the exit code. kubectl writes `error:` only if there is a single error.
pub fn summarize(failures: &[Failure]) -> (String, Exit) {
    let alone = failures.iter().filter(|f| matches!(f, Failure::Error(_))).count() == 1;
    let mut text = String::new();
    for failure in failures {
        let Failure::Error(error) = failure else { continue };
        let line = match &error.status {
            Some(status) if status.reason == "Unauthorized" => {
                format!("error: You must be logged in to the server ({})\n", status.message)
            }
            Some(status) if status.reason.is_empty() => format!("Error from server: {}\n", status.message),
            Some(status) => format!("Error from server ({}): {}\n", status.reason, status.message),
            None => format!("{}{}\n", if alone { "error: " } else { "" }, error.message),
        };
        text.push_str(&line);
        if let Some(help) = &error.help {
            text.extend(["help: ", help.as_str(), "\n"]);
        }
    }
    let exit = match failures {
        [] => Exit::Accepted,
        all if all.iter().all(Failure::is_not_found) => Exit::Rejected,
        _ => Exit::CannotTell,
    };
    (text, exit)
}
