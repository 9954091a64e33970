//! `lint`: validates a CRD or an admission policy as the server does, estimates the cost of its expressions, and finds
//! breaking changes of a CRD.
//!
//! [`linting`] sends requests to the server, [`convert`] converts v1beta1 to v1, [`report`] prints the results.

pub mod args;
mod conventions;
mod convert;
mod report;

use super::sink::{Ending, Sink, Streams};
use super::terminal::{self, Content};
use super::watching;
use crate::commands::error::Error;
use crate::commands::exit::Exit;
use crate::commands::flags;
use crdx_cluster::Connection;
use crdx_engine::lint::breaking::evidence;
use crdx_engine::lint::check::{self, Linted, Old, policy};
use crdx_engine::lint::policies::references::Objects;
use crdx_engine::report::{SourceLocation, Verdict};
use crdx_engine::search::faults::FaultEffort;
use crdx_engine::simulation::identity::FieldLocator as _;
use crdx_engine::simulation::object::{self, Object};
use crdx_input::render::ChartValues;
use crdx_input::required::{Required, Sources};
use crdx_input::{InputOptions, files};
use crdx_output::printable::complain;
use crdx_server::server::Timestamp;
use crdx_value::Value;
use crdx_value::release::{Release, ReleaseSet};
use report::LintReport;
use std::collections::BTreeMap;
use std::io::{BufWriter, Write};

/// Runs the command.
pub fn run(args: &args::Lint, color: flags::Color) -> Result<Exit, Error> {
    if args.convert {
        let mut out = BufWriter::new(terminal::Stream::stdout(color, Content::Data).write);
        let exit = convert::run(args, &mut out)?;
        out.flush()?;
        return Ok(exit);
    }
    if args.watch {
        let paths: Vec<String> = [args.paths.all(), args.crds.clone(), args.old.clone()].concat();
        return watching::run_inputs(&paths, &args.paths, || once(args, color));
    }
    once(args, color)
}

/// Lints everything once.
fn once(args: &args::Lint, color: flags::Color) -> Result<Exit, Error> {
    let streams = Streams::new(args.output, color);
    let mut sink = Sink::new(LintReport::new(streams.out.look(), args.quiet), args.output, streams);
    let is_live = args.live || !args.cluster.profile.is_empty();
    let newest = (!is_live).then(|| Release::NEWEST.into());
    let rendered = args.kubernetes.kubernetes_version.clone().or(newest);
    let options = args.paths.options(rendered.as_ref(), None, &ChartValues::default());
    files::prepare_rendering(&[args.paths.all(), args.old.clone()].concat(), &options);
    let mut baseline = args.baseline.open()?;
    let mut add = |mut linted: Linted| {
        options.render.iter().for_each(|renderer| renderer.map_linted(&mut linted));
        if let Some(baseline) = &mut baseline {
            baseline.accept(&mut linted.item);
            baseline.accept_changes(&linted.item, &mut linted.breaking);
        }
        sink.add(&linted);
    };
    let mut given = BTreeMap::new();
    let sources = |paths, required, flag| Sources::open(paths, options.collecting(), required, flag);
    for read in object::lintable(sources(&args.old, Required::Lintable, "--old"), &mut |_| {}) {
        match read {
            Ok(mut object) => {
                let location = object.finder().start();
                let value = object.take_value();
                given.insert(key(&value), Old { value, location });
            }
            Err(item) => add(Linted::new(*item)),
        }
    }
    let mut live =
        is_live.then(|| Live { connection: Connection::open(&args.cluster.target(), terminal::warn), old: None });
    let releases = match (&args.kubernetes.kubernetes_version, &live) {
        (Some(releases), _) => args.server.configured(releases)?,
        (None, None) => args.server.release(Release::NEWEST)?.into(),
        (None, Some(live)) => {
            let crdx_cluster::Simulated { release, note } = live.simulated();
            if let Some(note) = note {
                complain!("note: {note}");
            }
            args.server.release_of_cluster(release, live.connection.as_ref().map_err(Clone::clone))?.into()
        }
    };
    let effort = if args.thorough { FaultEffort::THOROUGH } else { FaultEffort::DEFAULT };
    let (now, severities) = (terminal::now(), args.severities.map());
    let mut objects = Objects::default();
    let mut note = |object: &Value| objects.add(object, releases.newest());
    let found = object::lintable(given_paths(args, &options, Required::Lintable), &mut note);
    let crds = object::lintable(sources(&args.crds, Required::Definition, "--crds"), &mut note);
    let has_policies = found.iter().flatten().any(Object::is_policy);
    let types = if has_policies { policy::types_of(found.iter().chain(&crds).flatten()) } else { Vec::new() };
    let context = policy::Context { types, objects };
    for item in crds.into_iter().filter_map(Result::err) {
        add(Linted::new(*item));
    }
    for read in found {
        let object = match read {
            Ok(object) => object,
            Err(item) => {
                add(Linted::new(*item));
                continue;
            }
        };
        if object.is_policy() {
            let old = given.get(&key(object.value()));
            let mut linted = policy::check(&object, old.map(|old| &old.value), &context, &releases, now);
            severities.apply(&mut linted.item);
            add(linted);
            continue;
        }
        let name = object.value().str_at(&["metadata", "name"]).unwrap_or_default();
        let old = match &mut live {
            None => Ok(given.get(&key(object.value()))),
            Some(live) => live.find(name),
        };
        let mut linted = match old {
            Ok(old) => {
                let linted = check::definition(&object, old, (&releases, now), Some(effort));
                with_evidence(linted, old, object.value(), (&releases, now))
            }
            Err(error) => {
                let mut linted = check::definition(&object, None, (&releases, now), None);
                linted.item.verdict = Verdict::CannotTell;
                linted.item.reason = format!("the CRD of the cluster cannot be read: {}", error.message);
                linted.item.help = Some("give the old CRD with --old, or leave out --live".to_owned());
                linted
            }
        };
        if args.conventions {
            conventions::add(&mut linted, object.value(), &object.finder());
        }
        severities.apply(&mut linted.item);
        add(linted);
    }
    let notes = flags::finish_baseline(baseline)?;
    let report = sink.finish(&Ending { notes: &notes, releases: &releases })?;
    flags::report_notes(&options);
    Ok(report.exit)
}

/// Adds an object to each breaking change.
fn with_evidence(
    mut linted: Linted,
    old: Option<&Old>,
    new: &Value,
    (releases, now): (&ReleaseSet, Timestamp),
) -> Linted {
    if let Some(old) = old.filter(|_| !linted.breaking.is_empty()) {
        let newest = (releases.newest(), now);
        evidence::search((&old.value, new), &mut linted.breaking, newest, evidence::EFFORT);
    }
    linted
}

/// Returns the key of an object of `--old`.
fn key(object: &Value) -> (String, String) {
    let text = |path: &[&str]| object.str_at(path).unwrap_or_default().to_owned();
    (text(&["kind"]), text(&["metadata", "name"]))
}

/// Opens the paths with the objects to check.
fn given_paths(args: &args::Lint, options: &InputOptions, required: Required) -> Sources {
    let sources = Sources::open(&args.paths.all(), options.clone(), required, "");
    sources.and_kustomizations(&args.paths.kustomize)
}

/// The CRDs of the cluster.
struct Live {
    connection: Result<Connection, crdx_cluster::Error>,
    /// The CRD that was returned last.
    old: Option<Old>,
}

impl Live {
    /// Returns the release to simulate.
    fn simulated(&self) -> crdx_cluster::Simulated {
        crdx_cluster::simulated(self.connection.as_ref().map_err(Clone::clone))
    }

    /// Returns the CRD `name`, if it exists in the cluster.
    fn find(&mut self, name: &str) -> Result<Option<&Old>, crdx_cluster::Error> {
        let connection = self.connection.as_ref().map_err(Clone::clone)?;
        let location = SourceLocation::source(&"the cluster".into());
        self.old = connection.definition(name)?.map(|value| Old { value, location });
        Ok(self.old.as_ref())
    }
}
