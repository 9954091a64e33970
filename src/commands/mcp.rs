//! `mcp`: the commands as tools of the Model Context Protocol, for agents. [`protocol`] has the messages, [`tools`] the tools, which
//! [`call`] runs as commands of this program in processes of their own.

pub mod args;
mod call;
mod protocol;
mod tools;

use crate::commands::error::Error;
use crate::commands::exit::Exit;
use crdx_value::json;
use std::io::{self, BufRead as _, Read as _, Write as _};

/// The longest message.
const LONGEST: u64 = 8 << 20;

/// Answers messages until standard input ends.
///
/// # Errors
/// Returns an error if standard input or output fails.
pub fn run(_: &args::Mcp) -> Result<Exit, Error> {
    let mut input = io::stdin().lock();
    let mut line = Vec::new();
    loop {
        line.clear();
        if (&mut input).take(LONGEST).read_until(b'\n', &mut line)? == 0 {
            return Ok(Exit::Accepted);
        }
        if let Some(answer) = protocol::answer(&line, &call::run) {
            let mut out = io::stdout().lock();
            writeln!(out, "{}", json::to_string(&answer))?;
            out.flush()?;
        }
    }
}
