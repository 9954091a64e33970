//! `serve`: the simulated API over HTTP.

use super::Exit;
use super::args;

/// Runs the command.
pub fn run(args: &args::Serve) -> Exit {
    match crate::serve::run(args.port) {
        Ok(()) => Exit::Fine,
        Err(error) => {
            eprintln!("error: cannot serve: {error}");
            Exit::CannotTell
        }
    }
}
