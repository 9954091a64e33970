//! `validate`: what the server would do with a create of every object given.

mod definitions;
mod judge;
mod ordered;
mod request;

use super::Exit;
use super::args;

/// Runs the command.
pub fn run(_args: &args::Validate, _color: args::Color) -> Exit {
    eprintln!("error: validate is not built yet");
    Exit::CannotTell
}
