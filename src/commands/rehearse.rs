//! `rehearse`: shows the effect of a new CRD on its stored objects ([`definition`]), or of new [`policies`]. The [`objects`]
//! are streamed from files or, page by page, from the cluster; they are not kept in memory.

pub mod args;
mod definition;
mod objects;
mod policies;
mod report;
mod stored;

use super::terminal;
use crate::cluster;
use crate::commands::exit::Exit;
use crate::commands::flags;
use std::io::{self, Write};

/// Runs the command.
pub fn run(args: &args::Rehearse, color: flags::Color) -> io::Result<Exit> {
    let done = match &args.definition {
        Some(path) => definition::run(args, path, color),
        None => policies::run(args, color),
    };
    match done {
        Ok(exit) => Ok(exit),
        Err(Failure::Output(error)) => Err(error),
        Err(Failure::Reported(text)) => {
            let mut messages = terminal::Stream::stderr(color).write;
            messages.write_all(text.as_bytes())?;
            messages.flush()?;
            Ok(Exit::CannotTell)
        }
    }
}

/// The reason why there is no result.
enum Failure {
    Output(io::Error),
    /// The error message.
    Reported(String),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

impl From<cluster::Error> for Failure {
    fn from(error: cluster::Error) -> Self {
        Self::Reported(error.text())
    }
}
