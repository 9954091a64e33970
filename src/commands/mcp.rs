//! `mcp`: the commands as tools of the Model Context Protocol, for agents. [`protocol`] has the messages, [`tools`] the tools, which
//! [`call`] runs as commands of this program in processes of their own.

pub mod args;
mod call;
mod protocol;
mod tools;

use crate::commands::error::Error;
use crate::commands::exit::Exit;
use crate::commands::lines;
use crdx_value::json;
use std::io::{self, Write as _};

/// The longest message.
const LONGEST: u64 = 8 << 20;

/// Answers messages until standard input ends.
///
/// # Errors
/// Returns an error if standard input or output fails.
pub fn run(_: &args::Mcp) -> Result<Exit, Error> {
    let mut input = io::stdin().lock();
    let mut line = Vec::new();
    while lines::read(&mut input, &mut line, LONGEST)? {
        let answer = if line.len() as u64 > LONGEST {
            Some(protocol::too_long(LONGEST))
        } else {
            protocol::answer(&line, &call::run)
        };
        if let Some(answer) = answer {
            let mut out = io::stdout().lock();
            writeln!(out, "{}", json::to_string(&answer))?;
            out.flush()?;
        }
    }
    Ok(Exit::Accepted)
}
