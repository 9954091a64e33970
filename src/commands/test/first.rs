//! `test --init`: prints a first suite.

use super::args;
use crate::commands::error::Error;
use crate::commands::exit::Exit;
use crate::commands::flags;
use crdx_engine::documents::InputEntry;
use crdx_engine::suites::first::first_suite;
use crdx_input::InputOptions;
use crdx_input::required::{Required, Sources};
use crdx_output::printable::complain;
use crdx_value::Value;
use crdx_value::release::{Release, ReleaseSet};
use std::io::{self, Write};
use std::path::Path;

/// Prints the first suite for the CRD of a file.
///
/// # Errors
/// Returns an error if output cannot be written.
pub fn print(args: &args::Test, path: &str) -> Result<Exit, Error> {
    let failed = |message: &str| {
        complain!("error: {message}");
        Ok(Exit::CannotTell)
    };
    let mut definitions: Vec<Value> = Vec::new();
    let options = InputOptions::default();
    for entry in Sources::open(&[path.to_owned()], options.clone(), Required::Definition, "--init") {
        match entry {
            InputEntry::Document(document) if document.is_definition() => definitions.push(document.value),
            InputEntry::Document(_) | InputEntry::Warning(_) => {}
            InputEntry::Problem(note) => return failed(&note.text()),
        }
    }
    flags::report_notes(&options);
    let [definition] = definitions.as_slice() else {
        return failed(&format!("{path} has {} CRDs; a suite tests one", definitions.len()));
    };
    let releases = &args.kubernetes.kubernetes_version;
    let Some(release) = releases.as_ref().map_or(Some(Release::NEWEST), ReleaseSet::single) else {
        return failed("a first suite is written for one version; give one with --kubernetes-version");
    };
    let file = Path::new(path).file_name().map_or_else(|| path.into(), |name| name.to_string_lossy());
    match first_suite(definition, &file, release) {
        Ok(suite) => {
            io::stdout().write_all(suite.text.as_bytes())?;
            let all = suite.covered + suite.uncovered.len();
            complain!("note: {} of {all} constraints have a case that fails because of them alone", suite.covered);
            Ok(Exit::Accepted)
        }
        Err(error) => failed(&format!("{path}: {error}")),
    }
}
