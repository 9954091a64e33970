//! `--watch`: repeats an action whenever a file changes, until Ctrl-C.

use crate::commands::exit::Exit;
use crate::input::watch::Watched;
use crate::output::printable::complain;
use std::io;
use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

/// Calls `once` repeatedly. On Ctrl-C, the process ends with the last exit code.
///
/// # Errors
/// Returns the errors of `once`, and an error if Ctrl-C cannot be handled.
pub fn run(watched: &Watched<'_>, mut once: impl FnMut() -> io::Result<Exit>) -> io::Result<Exit> {
    let last = Arc::new(AtomicU8::new(Exit::CannotTell.code()));
    let exit = Arc::clone(&last);
    ctrlc::set_handler(move || process::exit(i32::from(exit.load(Ordering::SeqCst)))).map_err(io::Error::other)?;
    loop {
        let before = watched.look();
        last.store(once()?.code(), Ordering::SeqCst);
        let n = before.files();
        complain!("watching {n} file{}; Ctrl-C ends\n", if n == 1 { "" } else { "s" });
        watched.wait(&before);
    }
}
