//! `rehearse`: shows the effect of a new CRD on its stored objects ([`definition`]), of all CRDs of an [`operator`], or of new [`policies`]. The [`objects`]
//! are streamed from files or, page by page, from the cluster; they are not kept in memory.

pub mod args;
mod definition;
mod objects;
mod operator;
mod policies;
mod report;
mod steps;
mod stored;

use super::terminal;
use crate::commands::error::Error;
use crate::commands::exit::Exit;
use crate::commands::flags;
use std::io::Write as _;

/// Runs the command.
pub fn run(args: &args::Rehearse, color: flags::Color) -> Result<Exit, Error> {
    let done = match &args.definition {
        Some(path) => definition::run(args, path, color),
        None => policies::run(args, color),
    };
    match done {
        Err(error @ (Error::Usage(_) | Error::Input(_) | Error::Cluster(_))) => {
            let mut messages = terminal::Stream::stderr(color);
            messages.write.write_all(error.text(messages.color).as_bytes())?;
            messages.write.flush()?;
            Ok(Exit::CannotTell)
        }
        done => done,
    }
}
