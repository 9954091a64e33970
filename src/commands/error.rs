//! The errors of commands, with the messages of kubectl or the server if they have any.

use crate::commands::exit::Exit;
use crate::commands::terminal::OutputLimitError;
use crdx_cluster::Status;
use crdx_engine::report::SourceLocation;
use crdx_engine::simulation::object_store::TEMP_FILE_HELP;
use crdx_input::temp_file::TempFileError;
use crdx_output::excerpt::{self, MessageSeverity};
use crdx_value::Value;
use std::io;

/// The reason why a command has no result, or only a part of it.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The command does not support these arguments, or kubectl refuses them.
    #[error("{}", .0.message)]
    Usage(Problem),
    /// An input cannot be used.
    #[error("{}", .0.message)]
    Input(Problem),
    /// The cluster did not respond, or refused the request.
    #[error(transparent)]
    Cluster(#[from] crdx_cluster::Error),
    /// The output, or a temporary file, cannot be written.
    #[error("{}", output_message(.0))]
    Output(#[from] io::Error),
    /// The file with the settings of the project changed during `--watch`, so the command line has other defaults.
    #[error("{file} changed")]
    SettingsChanged { file: String },
    /// An error that has already been printed.
    #[error("the error has been printed")]
    Reported,
}

/// The error, its place, and the next step.
#[derive(Debug)]
pub struct Problem {
    message: String,
    location: Option<Box<SourceLocation>>,
    help: Option<String>,
}

impl Problem {
    fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), location: None, help: None }
    }

    fn text(&self, color: bool) -> String {
        let help = self.help.as_deref();
        if let Some(location) = &self.location {
            return excerpt::render(MessageSeverity::Error, &self.message, location, help, color);
        }
        let help = help.map_or_else(String::new, |help| format!("\nhelp: {help}"));
        lines(&format!("{}{help}", self.message))
    }
}

/// Formats a message, and the help in its last line, for people.
fn lines(text: &str) -> String {
    format!("error: {text}\n")
}

impl Error {
    /// Creates an error in the arguments.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::Usage(Problem::new(message))
    }

    /// Creates an error in the arguments, with a suggestion.
    pub fn usage_with_help(message: impl Into<String>, help: &str) -> Self {
        Self::Usage(Problem { help: Some(help.to_owned()), ..Problem::new(message) })
    }

    /// Creates an error in an input.
    pub fn input(message: impl Into<String>) -> Self {
        Self::Input(Problem::new(message))
    }

    /// Creates an error at a location of an input.
    pub fn input_at(message: impl Into<String>, location: SourceLocation, help: Option<&str>) -> Self {
        let location = Some(Box::new(location));
        Self::Input(Problem { location, help: help.map(str::to_owned), ..Problem::new(message) })
    }

    /// Creates an error from a `Status` of the server.
    pub fn refused(status: &Value) -> Self {
        let status = Some(Status::from_value(status).unwrap_or_default());
        Self::Cluster(crdx_cluster::Error { status, ..crdx_cluster::Error::default() })
    }

    /// Returns true if the error is "not found".
    pub fn is_not_found(&self) -> bool {
        matches!(self, Self::Cluster(error) if error.status.as_ref().is_some_and(|s| s.reason == "NotFound"))
    }

    /// The lines for people.
    pub fn text(&self, color: bool) -> String {
        match self {
            Self::Usage(problem) | Self::Input(problem) => problem.text(color),
            Self::Cluster(error) => lines(&error.text()),
            Self::Output(_) | Self::SettingsChanged { .. } | Self::Reported => lines(&self.to_string()),
        }
    }
}

impl From<OutputLimitError> for Error {
    fn from(error: OutputLimitError) -> Self {
        Self::Output(error.into())
    }
}

/// Describes an error of the output, or of a temporary file.
fn output_message(error: &io::Error) -> String {
    if error.get_ref().and_then(|inner| inner.downcast_ref::<TempFileError>()).is_some() {
        return format!("{error}\nhelp: {TEMP_FILE_HELP}");
    }
    // The disk of the output is full: errors of other files say which file it is.
    let is_full = [io::ErrorKind::StorageFull, io::ErrorKind::QuotaExceeded, io::ErrorKind::FileTooLarge];
    if is_full.contains(&error.kind()) { format!("the output cannot be written: {error}") } else { error.to_string() }
}

/// Returns an error if the output of a command could not be written.
///
/// # Errors
/// Returns the first write error.
pub fn output(errors: &[Error]) -> io::Result<()> {
    let kind = |error: &Error| if let Error::Output(error) = error { Some(error.kind()) } else { None };
    errors.iter().find_map(kind).map_or(Ok(()), |kind| Err(kind.into()))
}

/// Formats errors as kubectl does and returns the exit code. kubectl writes `error:` only if there is a single error.
pub fn summarize(errors: &[Error]) -> (String, Exit) {
    let is_shown = |error: &&Error| matches!(error, Error::Usage(_) | Error::Input(_) | Error::Cluster(_));
    let alone = errors.iter().filter(is_shown).count() == 1;
    let mut text = String::new();
    for error in errors.iter().filter(is_shown) {
        let (status, help) = match error {
            Error::Cluster(error) => (error.status.as_ref(), error.help.as_deref()),
            Error::Usage(problem) | Error::Input(problem) => (None, problem.help.as_deref()),
            Error::Output(_) | Error::SettingsChanged { .. } | Error::Reported => (None, None),
        };
        let line = match status {
            Some(status) if status.reason == "Unauthorized" => {
                format!("error: You must be logged in to the server ({})\n", status.message)
            }
            Some(status) if status.reason.is_empty() => format!("Error from server: {}\n", status.message),
            Some(status) => format!("Error from server ({}): {}\n", status.reason, status.message),
            None => format!("{}{error}\n", if alone { "error: " } else { "" }),
        };
        text.push_str(&line);
        if let Some(help) = help {
            text.extend(["help: ", help, "\n"]);
        }
    }
    let exit = match errors {
        [] => Exit::Accepted,
        all if all.iter().all(Error::is_not_found) => Exit::Rejected,
        _ => Exit::CannotTell,
    };
    (text, exit)
}
