//! `completion`: prints the completion script of a shell.

use super::args;
use super::{Exit, terminal};
use std::io;

/// Runs the command.
pub fn run(args: &args::Completion) -> io::Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut args::definition(), "kubectl-crdx", &mut script);
    let mut out = terminal::Stream::stdout(args::Color::Never);
    out.write.write_all(&script)?;
    out.write.flush()?;
    Ok(Exit::Fine)
}
