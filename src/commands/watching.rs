//! `--watch`: repeats an action whenever a file changes, until Ctrl-C.

use super::terminal;
use crate::commands::error::Error;
use crate::commands::exit::Exit;
use crate::commands::flags::Paths;
use crdx_input::InputOptions;
use crdx_input::files::commits::is_as_of_commit;
use crdx_input::render::ChartValues;
use crdx_input::watch::{FileStates, Watched};
use crdx_output::printable::{self, complain};
use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::process;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, Ordering};

/// The number of changed files that are named.
const MAX_NAMES: usize = 5;

/// The exit code of the last run, for Ctrl-C.
static LAST: AtomicU8 = AtomicU8::new(2);
static HANDLER: OnceLock<()> = OnceLock::new();

/// Calls `once` repeatedly for files of the command line. On Ctrl-C, the process ends with the last exit code.
///
/// # Errors
/// Returns the errors of `once`, [`Error::SettingsChanged`], and an error if an input cannot be watched.
pub fn run_inputs(paths: &[String], given: &Paths, once: impl FnMut() -> Result<Exit, Error>) -> Result<Exit, Error> {
    if !given.kustomize.is_empty() {
        return Err(Error::usage("what kustomize reads cannot be watched: give files or directories with --watch"));
    }
    if paths.iter().any(|path| path == "-") {
        return Err(Error::usage("standard input cannot be watched: give files or directories with --watch"));
    }
    // The files of a commit do not change.
    let paths: Vec<String> = paths.iter().filter(|path| !is_as_of_commit(path)).cloned().collect();
    run(
        &Watched { paths: &paths, options: given.options(None, None, &ChartValues::default()) },
        given.reading.settings_file.as_deref(),
        once,
    )
}

/// Calls `once` repeatedly. On Ctrl-C, the process ends with the last exit code.
///
/// # Errors
/// Returns the errors of `once`, [`Error::SettingsChanged`], and an error if Ctrl-C cannot be handled.
pub fn run(
    watched: &Watched<'_>,
    settings: Option<&str>,
    mut once: impl FnMut() -> Result<Exit, Error>,
) -> Result<Exit, Error> {
    if HANDLER.set(()).is_ok() {
        ctrlc::set_handler(|| process::exit(i32::from(LAST.load(Ordering::SeqCst)))).map_err(io::Error::other)?;
    }
    let mut paths = watched.paths.to_vec();
    paths.extend(settings.map(str::to_owned));
    let watched = Watched { paths: &paths, options: watched.options.clone() };
    loop {
        let before = watched.look();
        LAST.store(once()?.code(), Ordering::SeqCst);
        let changed = next_change(&watched, &before);
        if let Some(file) = settings.filter(|file| changed.iter().any(|path| path.as_os_str() == *file)) {
            return Err(Error::SettingsChanged { file: file.to_owned() });
        }
    }
}

/// A file with settings, as it was before it was read.
pub struct ReadSettings {
    file: String,
    before: FileStates,
}

impl ReadSettings {
    /// Looks at a file that is about to be read.
    pub fn look_at(file: String) -> Self {
        let before = Self::watched(std::slice::from_ref(&file)).look();
        Self { file, before }
    }

    /// Waits until the file, which cannot be used, is changed.
    pub fn wait(&self) {
        LAST.store(Exit::CannotTell.code(), Ordering::SeqCst);
        next_change(&Self::watched(std::slice::from_ref(&self.file)), &self.before);
    }

    fn watched(paths: &[String]) -> Watched<'_> {
        Watched { paths, options: InputOptions::default() }
    }
}

/// Waits for a change and prints it. Returns the changed files.
fn next_change(watched: &Watched<'_>, before: &FileStates) -> Vec<PathBuf> {
    let n = before.files();
    complain!("watching {n} file{}; Ctrl-C ends\n", if n == 1 { "" } else { "s" });
    watched.wait(before);
    let changed = watched.look().changed(before);
    clear();
    complain!("{} changed: {}\n", terminal::clock(), names(&changed));
    changed
}

/// Clears the screen, if standard output is one.
fn clear() {
    let mut out = io::stdout();
    if out.is_terminal() && !terminal::is_dumb(std::env::var_os("TERM")) {
        // The next run reports an output that is closed.
        let _ = out.write_all(b"\x1b[2J\x1b[3J\x1b[H").and_then(|()| out.flush());
    }
}

fn names(changed: &[PathBuf]) -> String {
    let named = changed.iter().take(MAX_NAMES).map(|path| printable::line(&path.display().to_string()).into_owned());
    let names = named.collect::<Vec<_>>().join(", ");
    match changed.len().saturating_sub(MAX_NAMES) {
        0 => names,
        more => format!("{names} and {more} more"),
    }
}
