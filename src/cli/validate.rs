//! `validate`: what the server would do with every object given, created or, with `--old`, updated.
//!
//! [`run`] is the way of the documents, [`shared`] what is known on it, [`olds`] the objects as they are now, [`turns`]
//! the order of those with one name, [`judge`] one question to the server and its answer, [`show`] what is printed.

mod definitions;
pub mod judge;
pub mod object;
mod olds;
pub mod ordered;
mod run;
mod shared;
mod show;
mod turns;

use super::Exit;
use super::args;
use super::request::Manner;
use super::terminal;
use super::update::Way;
use crate::api::Server;
use crate::cluster;
use crate::input::Input;
use crate::input::shelf::Shelf;
use crate::output::report::text::Style;
use crate::output::report::{Item, Summary};
use judge::Updates;
use olds::Olds;
use shared::{Judge, Known, Settings};
use std::io::{self, BufWriter, Write};
use std::num::NonZeroUsize;
use std::thread;

/// Runs the command.
pub fn run(args: &args::Validate, color: args::Color) -> Exit {
    let out = terminal::Stream::stdout(color);
    let messages = terminal::Stream::stderr(color);
    let text_goes_to = if args.output.is_none() { &out } else { &messages };
    let style = Style { color: text_goes_to.color, quiet: args.quiet };
    let mut out = BufWriter::with_capacity(1 << 16, out.write);
    let mut messages = BufWriter::new(messages.write);
    match validate(args, style, &mut out, &mut messages) {
        Ok(summary) => verdict(&summary),
        // Who reads us (`| head`) has enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Exit::CannotTell,
        Err(error) => {
            let _ = out.flush();
            let _ = writeln!(messages, "error: {error}");
            Exit::CannotTell
        }
    }
}

fn validate(args: &args::Validate, style: Style, out: &mut dyn Write, messages: &mut dyn Write) -> io::Result<Summary> {
    let mut show = show::Show::new(args.output, style, out, messages);
    let run = Run {
        inputs: &args.inputs,
        table: args.output == Some(args::Format::Wide),
        updates: args.updates.is_asked_for().then_some(&args.updates),
        compares: None,
        cluster: &args.cluster,
    };
    if let Some(left) = items(&run, &mut |item| show.item(&item))? {
        show.note(&left);
    }
    show.finish()
}

/// What is to be judged, and how.
pub struct Run<'a> {
    /// Where objects and CRDs are, and how strict the server is told to be.
    pub inputs: &'a args::Inputs,
    /// Whether each object's Table is wanted.
    pub table: bool,
    /// What to do with objects that may be there already; `None` creates.
    pub updates: Option<&'a args::Updates>,
    /// Whether what is there and what was sent are wanted, to be compared.
    pub compares: Option<Compares>,
    /// The cluster that may be asked.
    pub cluster: &'a args::Cluster,
}

/// What is wanted for comparing.
#[derive(Clone, Copy, Debug)]
pub struct Compares {
    /// Whether with what the server notes in the metadata.
    pub books: bool,
}

/// Judges everything and shows the items in order; gives what is to be said of the old objects that are left.
pub fn items(run: &Run<'_>, show: &mut dyn FnMut(Item)) -> io::Result<Option<String>> {
    let reads_stdin = |paths: &[String]| paths.iter().any(|path| path == "-");
    if reads_stdin(&run.inputs.filenames) && run.updates.is_some_and(|updates| reads_stdin(&updates.old)) {
        return Err(io::Error::other("standard input can be read once: give it to -f or to --old"));
    }
    let target = run.cluster.target();
    let cluster = (!run.cluster.offline).then(|| target.clone());
    let updates = run.updates.map(|updates| {
        let mut olds = Olds::new(cluster.clone().filter(|_| run.compares.is_some()));
        olds.take_in(Input::open(&updates.old, run.inputs.recursive), show);
        Updates { way: way(updates), olds, compares: run.compares }
    });
    // Only server-side apply asks who owns what.
    let owners = run.updates.is_some_and(|u| u.server_side) || run.compares.is_some_and(|c| c.books);
    let server = if owners { Server::new(0) } else { Server::new(0).without_managed_fields() };
    let namespace = run.cluster.namespace.clone().or_else(|| cluster::namespace(&target));
    let settings = Settings {
        namespace: namespace.unwrap_or_else(|| "default".to_owned()),
        manner: Manner { level: run.inputs.field_validation, dry_run: true, table: run.table, now: terminal::now() },
        jobs: run.inputs.jobs.or_else(|| thread::available_parallelism().ok()).unwrap_or(NonZeroUsize::MIN),
        ignore_missing: run.inputs.ignore_missing_crds,
        cluster,
    };
    let judge = Judge { settings, server, updates, shelf: Shelf::default() };
    let mut known = Known::default();
    if !run.inputs.crds.is_empty() {
        let input = Input::open(&run.inputs.crds, run.inputs.recursive);
        run::take_definitions(&judge, &mut known, input, show);
    }
    let input = Input::open(&run.inputs.filenames, run.inputs.recursive);
    run::judge_all(&judge, &mut known, input, show)?;
    Ok(judge.updates.and_then(|updates| updates.olds.left()).map(|left| left.words()))
}

/// The request that is asked for.
fn way(args: &args::Updates) -> Way {
    Way {
        verb: args.verb(),
        subresource: args.subresource,
        force: args.force_conflicts,
        manager: args.field_manager.clone(),
    }
}

/// The exit code: what could not be told beats what is wrong, and that beats what is fine.
fn verdict(summary: &Summary) -> Exit {
    if summary.cannot_tell > 0 {
        Exit::CannotTell
    } else if summary.rejected > 0 {
        Exit::Rejected
    } else {
        Exit::Fine
    }
}
