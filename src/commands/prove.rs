//! `prove`: searches for the smallest objects that a new CRD rejects, prunes, defaults or prints differently than the old one,
//! or says that none is possible.

pub mod args;
mod policies;
mod policy_report;
mod report;

use super::sink::{Ending, Sink, Streams};
use super::terminal;
use crate::commands::definitions::definitions_at;
use crate::commands::error::Error;
use crate::commands::exit::Exit;
use crate::commands::flags::{self, Color};
use crdx_engine::rehearsal::Releases;
use crdx_engine::report::{RunNote, SourceLocation};
use crdx_engine::search::upgrade::upgrade;
use crdx_engine::search::{Effort, Upgrade, UpgradeError};
use crdx_engine::simulation::identity::FieldLocator as _;
use crdx_input::InputOptions;
use crdx_value::Value;
use crdx_value::release::Release;
use report::ProveReport;
use std::collections::BTreeMap;

/// A CRD with its source.
struct Definition {
    value: Value,
    location: SourceLocation,
}

/// A CRD of both sides, and what was found out about its update.
pub struct Proved {
    /// The name of the CRD.
    pub name: String,
    /// The source of the CRD whose effect is in question.
    pub location: SourceLocation,
    /// The answers.
    pub result: Result<Upgrade, ProveError>,
}

/// The reason why there are no answers.
#[derive(Debug, thiserror::Error)]
pub enum ProveError {
    /// The CRDs cannot be compared.
    #[error(transparent)]
    Upgrade(#[from] UpgradeError),
    /// Only the old side has the CRD.
    #[error("it is not among the new CRDs; deleting a CRD deletes all of its objects")]
    Removed,
}

/// Runs the command.
///
/// # Errors
/// An input cannot be read, or output cannot be written.
pub fn run(args: &args::Prove, color: Color) -> Result<Exit, Error> {
    let options = args.reading.options();
    let with_commits = InputOptions { reads_commits: true, ..options.clone() };
    let release = args.kubernetes.kubernetes_version.unwrap_or(Release::NEWEST);
    let effort = Effort { objects: usize::try_from(args.tries.get()).unwrap_or(usize::MAX), seed: args.seed };
    let (Some(old), Some(new)) = (&args.old, &args.new) else { return policies::run(args, release, effort, color) };
    let (mut old, mut new) = (definitions(old, &with_commits)?, definitions(new, &options)?);
    if args.reverse {
        std::mem::swap(&mut old, &mut new);
    }
    let streams = Streams::new(args.output, color);
    let mut sink = Sink::new(ProveReport::new(streams.out.look(), effort), args.output, streams);
    sink.begin()?;
    let mut notes = Vec::new();
    for name in new.keys().filter(|name| !old.contains_key(*name)) {
        let message = format!("{name} is not among the old CRDs, so no object of it exists");
        notes.push(RunNote { kind: "newDefinition", message });
    }
    for (name, old) in old {
        let proved = match new.remove(&name) {
            Some(new) => Proved {
                name,
                result: upgrade(&old.value, &new.value, Releases::both(release), terminal::now(), effort)
                    .map_err(Into::into),
                location: new.location,
            },
            None => Proved { name, location: old.location, result: Err(ProveError::Removed) },
        };
        sink.add(&proved);
    }
    let report = sink.finish(&Ending { notes: &notes, releases: &release.into() })?;
    flags::report_notes(&options);
    Ok(report.exit)
}

/// Returns the CRDs at `path` by name.
fn definitions(path: &str, options: &InputOptions) -> Result<BTreeMap<String, Definition>, Error> {
    let mut found = BTreeMap::new();
    for object in definitions_at(path, options) {
        let mut object = object?;
        let location = object.finder().start();
        let value = object.take_value();
        let name = value.str_at(&["metadata", "name"]).unwrap_or_default().to_owned();
        if let Some(Definition { location: first, .. }) = found.get(&name) {
            let message = format!("there are two CRDs {name}, at {first} and at {location}");
            return Err(Error::input_at(message, location, Some("give one of them")));
        }
        found.insert(name, Definition { value, location });
    }
    if found.is_empty() {
        let message = format!("there is no CustomResourceDefinition in {path}");
        let help = "give the old CRD, and then the new one";
        return Err(Error::input_at(message, SourceLocation::source(&path.into()), Some(help)));
    }
    Ok(found)
}
