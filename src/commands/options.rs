//! `options`: the flags of the connection to a cluster, which the help of other commands leaves out, as kubectl does.

pub mod args;

use super::terminal::{Content, Stream};
use crate::commands::error::Error;
use crate::commands::exit::Exit;
use crate::commands::flags::{ClusterArgs, Color};
use clap::{Args, Command};
use std::io::Write;

/// Runs the command.
///
/// # Errors
/// Returns an error if output cannot be written.
pub fn run(color: Color) -> Result<Exit, Error> {
    let mut out = Stream::stdout(color, Content::Text);
    writeln!(out.write, "Every command that reads a cluster has these flags; the cluster is never written to.\n")?;
    let command = ClusterArgs::augment_args(Command::new("options").max_term_width(120)).disable_help_flag(true);
    let mut command = command.mut_args(|arg| arg.hide(false)).help_template("{options}");
    writeln!(out.write, "{}", command.render_long_help())?;
    out.write.flush()?;
    Ok(Exit::Accepted)
}
