//! `lint`: what the server would say of a CRD, what its rules cost, and what it breaks.
//!
//! [`judge`] asks the server, [`convert`] makes v1 of v1beta1, [`show`] is what is printed.

mod convert;
mod judge;
mod show;

use super::Exit;
use super::args;
use super::terminal;
use super::validate::object::{self, Object};
use crate::input::{Entry, Input};
use crate::output::report::{Item, Verdict};
use judge::Linted;
use std::collections::BTreeMap;
use std::io::{self, BufWriter, Write};

/// Runs the command.
pub fn run(args: &args::Lint, color: args::Color) -> Exit {
    let out = terminal::Stream::stdout(color);
    let mut text = BufWriter::new(out.write);
    let done = if args.convert { convert::run(args, &mut text) } else { lint(args, out.color, &mut text) };
    match done.and_then(|exit| text.flush().map(|()| exit)) {
        Ok(exit) => exit,
        Err(error) => {
            if error.kind() != io::ErrorKind::BrokenPipe {
                eprintln!("error: {error}");
            }
            Exit::CannotTell
        }
    }
}

fn lint(args: &args::Lint, color: bool, out: &mut dyn Write) -> io::Result<Exit> {
    let mut show = show::Show::new(args.output.is_some(), color, out);
    let mut olds = BTreeMap::new();
    for read in read(&args.old, args.recursive) {
        match read {
            Ok(object) => {
                let name = object.value().str_at(&["metadata", "name"]).unwrap_or_default().to_owned();
                olds.insert(name, object);
            }
            Err(item) => show.add(&Linted::untold(*item))?,
        }
    }
    let now = terminal::now();
    for read in read(&args.filenames, args.recursive) {
        let linted = match read {
            Ok(object) => {
                let name = object.value().str_at(&["metadata", "name"]).unwrap_or_default();
                let old = olds.get(name);
                judge::judge(&object, old, now)
            }
            Err(item) => Linted::untold(*item),
        };
        show.add(&linted)?;
    }
    show.finish()
}

/// The CRDs of the input, and what could not be read of it. Other objects are passed over.
fn read(paths: &[String], recursive: bool) -> Vec<Result<Object, Box<Item>>> {
    let mut found = Vec::new();
    for entry in Input::open(paths, recursive) {
        match entry {
            Entry::Document(document) => {
                let object = Object { document, warnings: Vec::new() };
                if object.is_definition() {
                    found.push(Ok(object));
                } else if let Err(item) = object.kind() {
                    found.push(Err(item));
                }
            }
            Entry::Problem(note) => found.push(Err(Box::new(object::problem(note)))),
            Entry::Warning(note) => {
                if let Some(Ok(object)) = found.last_mut() {
                    let warning = object::warning(&note, &object.document, true);
                    object.warnings.push(warning);
                }
            }
        }
    }
    if found.is_empty()
        && let Some(path) = paths.first()
    {
        let spot = crate::output::excerpt::Spot::source(&path.as_str().into());
        found.push(Err(Box::new(Item::new(spot, Verdict::CannotTell, "there is no CustomResourceDefinition"))));
    }
    found
}
