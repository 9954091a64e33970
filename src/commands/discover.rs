//! `discover`: prints what a repository has for Kubernetes, and the settings that would validate it.

pub mod args;
mod report;

use crate::commands::error::Error;
use crate::commands::exit::Exit;
use crate::commands::terminal::{Content, Stream};
use crdx_files::replace::replace;
use crdx_input::configuration::FILE_NAME;
use crdx_input::discovery::{self, Discovery};
use crdx_input::files;
use crdx_output::printable::complain;
use std::path::Path;

/// Runs the command.
///
/// # Errors
/// Returns an error if output cannot be written.
pub fn run(args: &args::Discover, color: super::flags::Color) -> Result<Exit, Error> {
    let name = args.directory.display().to_string();
    let found = match discovery::discover(&args.directory, args.no_ignore) {
        Ok(found) => found,
        Err(error) => {
            complain!("error: {}", files::unreadable(&name, &error).text());
            return Ok(Exit::CannotTell);
        }
    };
    for problem in &found.problems {
        complain!("error: {}", problem.text());
    }
    let written = if args.write { write(&found, &args.directory) } else { Ok(None) };
    let mut out = Stream::stdout(color, Content::json_if(args.output.is_some()));
    let file = written.as_ref().ok().and_then(Option::as_deref);
    let text = match args.output {
        Some(_) => report::json(&found, &name, file),
        None => report::text(&found, &name, file, out.look()),
    };
    out.write.write_all(text.as_bytes())?;
    out.write.flush()?;
    let is_complete = found.problems.is_empty() && written.is_ok();
    if let Err(NotWritten { message, help }) = written {
        complain!("error: {message}\nhelp: {help}");
    }
    Ok(if is_complete { Exit::Accepted } else { Exit::CannotTell })
}

/// The reason why the settings were not written.
struct NotWritten {
    message: String,
    help: &'static str,
}

/// Writes the settings. Returns the path of the file; none if there is nothing to validate.
fn write(found: &Discovery, directory: &Path) -> Result<Option<String>, NotWritten> {
    let Some(settings) = &found.settings else {
        let message = format!("{FILE_NAME} was not written: there is nothing to validate in {}", directory.display());
        return Err(NotWritten { message, help: "name the directory of a repository" });
    };
    let path = directory.join(FILE_NAME);
    let shown = path.strip_prefix(".").unwrap_or(&path).display().to_string();
    if path.symlink_metadata().is_ok() {
        let help = "compare it with the output of `kubectl crdx discover`, or delete it first";
        return Err(NotWritten { message: format!("{shown} exists and was not changed"), help });
    }
    match replace(&path, settings.as_bytes()) {
        Ok(()) => Ok(Some(shown)),
        Err(error) => {
            let message = format!("{shown} cannot be written: {error}");
            Err(NotWritten { message, help: "check the permissions of the directory" })
        }
    }
}
