//! `validate --watch`: validates again whenever a file changes, until Ctrl-C.

use super::args;
use crate::commands::exit::Exit;
use crate::commands::watching;
use crate::input::watch::Watched;
use std::io;

/// Calls `validate` repeatedly. Returns when the output is closed; on Ctrl-C, the process ends with the last exit code.
pub fn run(args: &args::Validate, validate: impl FnMut() -> io::Result<Exit>) -> io::Result<Exit> {
    let others = args.inputs.crds.iter().chain(&args.updates.old).cloned();
    let paths: Vec<String> = args.inputs.paths.all().into_iter().chain(others).collect();
    if !args.inputs.paths.kustomize.is_empty() {
        return Err(io::Error::other("what kustomize reads cannot be watched: give files or directories with --watch"));
    }
    if paths.iter().any(|path| path == "-") {
        return Err(io::Error::other("standard input cannot be watched: give files or directories with --watch"));
    }
    let watched = Watched { paths: &paths, options: args.inputs.paths.reading.options() };
    watching::run(&watched, validate)
}
