//! `validate --watch`: judges again whenever a file changes, until Ctrl-C.

use crate::cli::{Exit, args};
use crate::input::watch::Watched;
use std::io;
use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

/// Judges again and again with `judge`; ends when nobody reads any more, or with the last exit code at Ctrl-C.
pub fn run(args: &args::Validate, mut judge: impl FnMut() -> io::Result<Exit>) -> io::Result<Exit> {
    let others = args.inputs.crds.iter().chain(&args.updates.old).cloned();
    let paths: Vec<String> = args.inputs.paths.all().into_iter().chain(others).collect();
    if !args.inputs.paths.kustomize.is_empty() {
        return Err(io::Error::other("what kustomize reads cannot be watched: give files or directories with --watch"));
    }
    if paths.iter().any(|path| path == "-") {
        return Err(io::Error::other("standard input cannot be watched: give files or directories with --watch"));
    }
    let last = Arc::new(AtomicU8::new(Exit::CannotTell.code()));
    let told = Arc::clone(&last);
    ctrlc::set_handler(move || process::exit(i32::from(told.load(Ordering::SeqCst)))).map_err(io::Error::other)?;
    let watched = Watched { paths: &paths, options: args.inputs.paths.reading.options() };
    loop {
        let before = watched.look();
        let exit = judge()?;
        last.store(exit.code(), Ordering::SeqCst);
        let n = before.files();
        eprintln!("watching {n} file{}; Ctrl-C ends\n", if n == 1 { "" } else { "s" });
        watched.wait(&before);
    }
}
