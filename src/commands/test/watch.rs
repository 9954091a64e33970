//! `test --watch`: runs suites again whenever a file changes, until Ctrl-C.

use super::args;
use crate::commands::error::Error;
use crate::commands::exit::Exit;
use crate::commands::watching;
use crdx_input::InputOptions;
use crdx_input::watch::Watched;

/// Runs suites repeatedly. On Ctrl-C, the process ends with the last exit code.
pub fn run(args: &args::Test, once: impl FnMut() -> Result<Exit, Error>) -> Result<Exit, Error> {
    let mut paths = args.paths.clone();
    if paths.is_empty() {
        paths.push(".".to_owned());
    }
    paths.extend(args.crds.iter().cloned());
    let options = InputOptions { recursive: true, ..InputOptions::default() };
    watching::run(&Watched { paths: &paths, options }, args.settings_file.as_deref(), once)
}
