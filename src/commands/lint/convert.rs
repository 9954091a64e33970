//! `lint --convert`: prints v1beta1 CRDs as v1 to standard output, and the changes and remaining errors to standard
//! error.

use super::args;
use super::given_paths;
use crate::commands::error::Error;
use crate::commands::exit::Exit;
use crate::commands::flags;
use crate::commands::terminal;
use crdx_engine::documents::InputEntry;
use crdx_engine::lint::check;
use crdx_engine::lint::convert::convert;
use crdx_engine::report::Verdict;
use crdx_engine::simulation::object::{Object, lintable};
use crdx_input::Input;
use crdx_input::required::Required;
use crdx_output::printable::complain;
use crdx_server::crd;
use crdx_text::strict::StrictError;
use crdx_text::yaml;
use crdx_value::release::{Release, ReleaseSet};
use std::io::{self, Write};

/// Runs the command.
pub fn run(args: &args::Lint, out: &mut dyn Write) -> Result<Exit, Error> {
    let mut exit = Exit::Accepted;
    let mut has_output = false;
    let options = args.paths.reading.options();
    let releases = args.kubernetes.kubernetes_version.clone().unwrap_or_else(|| Release::NEWEST.into());
    for read in lintable(given_paths(args, &options, Required::Definition), &mut |_| {}) {
        let object = match read {
            Ok(object) => object,
            Err(item) => {
                complain!("error: {}: {}", item.location, item.reason);
                exit = Exit::CannotTell;
                continue;
            }
        };
        if !object.is_definition() {
            continue;
        }
        let name = object.value().str_at(&["metadata", "name"]).unwrap_or_default().to_owned();
        let decoded = match crd::decode(object.value()) {
            Ok(decoded) => decoded,
            Err(error) => {
                complain!("error: {name}: {error}");
                exit = Exit::CannotTell;
                continue;
            }
        };
        let converted = convert(&decoded.crd);
        for path in decoded.unknown {
            complain!("{name}: {} is left out", StrictError::UnknownField(path));
        }
        for change in &converted.changes {
            complain!("{name}: {change}");
        }
        if std::mem::replace(&mut has_output, true) {
            out.write_all(b"---\n")?;
        }
        let text = yaml::write::to_string(&converted.crd);
        out.write_all(text.as_bytes())?;
        exit = exit.max(still_wrong(&name, text, &releases));
    }
    flags::report_notes(&options);
    Ok(exit)
}

/// Prints the errors of the releases that reject the converted CRD.
fn still_wrong(name: &str, text: String, releases: &ReleaseSet) -> Exit {
    let input = Input::from_reader(
        "converted",
        Box::new(io::Cursor::new(text.into_bytes())),
        crdx_input::InputOptions::default(),
    );
    let mut exit = Exit::Accepted;
    for entry in input {
        let InputEntry::Document(document) = entry else { continue };
        let object = Object { document, warnings: Vec::new() };
        let linted = check::definition(&object, None, (releases, terminal::now()), None);
        if linted.item.verdict != Verdict::Accepted {
            exit = Exit::Rejected;
        }
        for error in &linted.item.errors {
            complain!("{name}: error: {}", error.message);
        }
    }
    exit
}
