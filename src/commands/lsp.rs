//! `lsp`: a language server over standard input and output.

pub mod args;

use crate::commands::error::Error;
use crate::commands::exit::Exit;
use crate::commands::terminal;
use crdx_editor::Settings;
use crdx_input::configuration::Lookup;
use crdx_input::git::reference;
use crdx_value::STACK_SIZE;
use std::env;
use std::io;
use std::thread;

/// Runs the command.
pub fn run(args: &args::Lsp, lookup: Lookup) -> Result<Exit, Error> {
    // The paths of flags are relative to the working directory, which need not be the folder that the editor opens.
    let file = lookup.file.map(|file| match reference(&file) {
        Some(_) => file,
        None => env::current_dir().unwrap_or_default().join(file).display().to_string(),
    });
    let lookup = Lookup { file, ..lookup };
    let settings = Settings {
        crds: args.crds.clone(),
        policies: args.policies.clone(),
        releases: args.kubernetes.kubernetes_version.clone(),
        severities: args.severities.map(),
        skips_workspace: false,
        compares: false,
        live: args.live,
        lookup,
    };
    let session = move || crdx_editor::serve_stdio(settings, terminal::now);
    let session = thread::Builder::new().stack_size(STACK_SIZE).spawn(session)?;
    let ended =
        session.join().map_err(|_| io::Error::other("the language server failed; this is a bug, please report it"))?;
    ended.map_err(io::Error::other)?;
    Ok(Exit::Accepted)
}
