//! `get`: live objects with their printer columns.

use super::Exit;
use super::args;

/// Runs the command.
pub fn run(_args: &args::Get) -> Exit {
    eprintln!("error: get is not built yet");
    Exit::CannotTell
}
