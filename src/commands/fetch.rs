//! `fetch`: downloads CRDs and writes their hashes to a lock, or saves the CRDs and policies of a cluster. No other command
//! downloads CRDs.

pub mod args;
mod entries;
mod from_cluster;
mod profile;
mod source_definitions;
mod urls;

use crate::commands::error::Error;
use crate::commands::exit::Exit;
use crate::commands::terminal::{Content, Stream};
use crdx_output::printable::complain;
use crdx_value::{Value, json, object};

/// A problem, with what to do.
#[derive(Debug)]
struct FetchProblem {
    message: String,
    help: String,
}

impl FetchProblem {
    fn new(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { message: message.into(), help: help.into() }
    }
}

/// The result of a run.
#[derive(Debug)]
struct FetchOutcome {
    /// The text for people.
    text: String,
    /// The members of the report.
    report: Vec<(&'static str, Value)>,
    problems: Vec<FetchProblem>,
}

/// Runs the command.
///
/// # Errors
/// Returns an error if output cannot be written.
pub fn run(args: &args::Fetch, color: super::flags::Color) -> Result<Exit, Error> {
    let mut out = Stream::stdout(color, Content::json_if(args.output.is_some()));
    let outcome = if args.cluster.offline {
        let problem = FetchProblem::new("fetch needs a connection, and --offline forbids it", "leave --offline out");
        FetchOutcome { text: String::new(), report: Vec::new(), problems: vec![problem] }
    } else if let (true, Some(folder)) = (args.from_cluster, args.cluster.profile.first()) {
        profile::save(args, folder)
    } else if args.from_cluster {
        from_cluster::save(args)
    } else {
        urls::fetch(args, out.look())
    };
    for FetchProblem { message, help } in &outcome.problems {
        complain!("error: {message}\nhelp: {help}");
    }
    let text = if args.output.is_some() { report(&outcome) } else { outcome.text };
    out.write.write_all(text.as_bytes())?;
    out.write.flush()?;
    Ok(if outcome.problems.is_empty() { Exit::Accepted } else { Exit::CannotTell })
}

fn report(outcome: &FetchOutcome) -> String {
    let problem = |problem: &FetchProblem| {
        object([("message", Value::from(problem.message.as_str())), ("help", problem.help.as_str().into())])
    };
    let problems: Vec<Value> = outcome.problems.iter().map(problem).collect();
    let head = [("apiVersion", "crdx/v1".into()), ("kind", "FetchReport".into()), ("problems", problems.into())];
    json::to_string(&object(head.into_iter().chain(outcome.report.iter().cloned()))) + "\n"
}
