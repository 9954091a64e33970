//! `serve`: the simulated API over HTTP.

use super::Exit;
use super::args;

/// Runs the command.
pub fn run(_args: &args::Serve) -> Exit {
    eprintln!("error: serve is not built yet");
    Exit::CannotTell
}
