//! `rehearse`: shows the effect of a new CRD on its stored objects ([`definition`]), of all CRDs and policies of an [`operator`], of new
//! [`policies`], or of an upgrade of [`kubernetes`]. The [`objects`]
//! are streamed from files or, page by page, from the cluster; they are not kept in memory.

mod admission;
pub mod args;
mod definition;
mod known;
mod kubernetes;
mod matrix;
mod objects;
mod operator;
mod planned;
mod policies;
mod possible_objects;
mod report;
mod side;
mod steps;
mod stored;
mod update;

use super::terminal;
use crate::commands::error::Error;
use crate::commands::exit::Exit;
use crate::commands::flags;
use crdx_input::InputOptions;
use side::OperatorSide;
use std::io::Write as _;

/// Runs the command.
pub fn run(args: &args::Rehearse, color: flags::Color) -> Result<Exit, Error> {
    let done = match (&args.definition, &args.kubernetes.kubernetes_version) {
        (Some(path), _) => upgrade(args, path, color),
        (None, Some(releases)) if !args.policies.are_given() => kubernetes::run(args, releases, color),
        (None, _) => policies::run(args, color),
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

/// Rehearses the new CRDs at `path`.
fn upgrade(args: &args::Rehearse, path: &str, color: flags::Color) -> Result<Exit, Error> {
    if args.policies.are_given() {
        let help = "give --policies, and the CRDs with --crds";
        return Err(Error::usage_with_help("policies are rehearsed without a new CRD", help));
    }
    if args.cluster.is_offline() && !definition::has_files(args) {
        return Err(Error::usage_with_help("--offline needs the stored objects in files", "give them with -f or -k"));
    }
    let options = args.reading.options();
    let mut new = OperatorSide::read(path, &options)?;
    let mut old = match &args.old {
        Some(path) => OperatorSide::read(path, &InputOptions { reads_commits: true, ..options.clone() })?,
        None => OperatorSide::default(),
    };
    let has_admission = new.has_admission() || old.has_admission();
    if new.definitions.len() == 1
        && old.definitions.len() <= 1
        && !has_admission
        && let Some(new) = new.definitions.pop()
    {
        return definition::run(args, (new, old.definitions.pop()), &options, color);
    }
    operator::run(args, (new, old), &options, color)
}
