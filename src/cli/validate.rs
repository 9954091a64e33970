//! `validate`: what the server would do with every object given, created or, with `--old`, updated.
//!
//! [`run`] is the way of the documents, [`shared`] what is known on it, [`live`] the cluster, [`olds`] the objects as they
//! are now, [`turns`] the order of those with one name, [`judge`] one question to the server and its answer, [`met`] what
//! is to be said of the run as a whole, [`show`] what is printed.

mod definitions;
pub mod judge;
pub mod live;
mod met;
pub mod object;
mod olds;
pub mod ordered;
mod run;
mod shared;
mod show;
mod turns;
mod watch;

use super::Exit;
use super::args;
use super::request::Manner;
use super::terminal::{self, Writer};
use super::update::Way;
use crate::api::Server;
use crate::cluster;
use crate::input::Input;
use crate::input::shelf::Shelf;
use crate::output::report::text::Style;
use crate::output::report::{Item, Note, Summary};
use judge::Updates;
use live::Live;
use met::Met;
use olds::Olds;
use shared::{Judge, Known, Settings};
use std::io::{self, BufWriter};
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};
use std::thread;

/// Runs the command.
pub fn run(args: &args::Validate, color: args::Color) -> Exit {
    let done = if args.watch { watch::run(args, || once(args, color)) } else { once(args, color) };
    match done {
        Ok(exit) => exit,
        // Who reads us (`| head`) has enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Exit::CannotTell,
        Err(error) => {
            eprintln!("error: {error}");
            Exit::CannotTell
        }
    }
}

/// Judges everything once.
fn once(args: &args::Validate, color: args::Color) -> io::Result<Exit> {
    let out = terminal::Stream::stdout(color);
    let messages = terminal::Stream::stderr(color);
    let text_goes_to = if args.output.is_none() { &out } else { &messages };
    let style = Style { color: text_goes_to.color, quiet: args.quiet };
    let mut out = BufWriter::with_capacity(1 << 16, out.write);
    let mut messages = BufWriter::new(messages.write);
    let summary = validate(args, style, &mut out, &mut messages)?;
    Ok(verdict(&summary))
}

fn validate(args: &args::Validate, style: Style, out: &mut Writer, messages: &mut Writer) -> io::Result<Summary> {
    let mut show = show::Show::new(args.output, style, out, messages);
    // The page shows what would change, if there is something to change.
    let live = !args.cluster.offline && cluster::is_configured(&args.cluster.target());
    let knows_olds = live || !args.updates.old.is_empty();
    let run = Run {
        inputs: &args.inputs,
        table: args.output == Some(args::ValidateFormat::Wide),
        updates: &args.updates,
        compares: (args.output == Some(args::ValidateFormat::Html) && knows_olds).then_some(Compares { books: false }),
        cluster: &args.cluster,
    };
    for note in items(&run, &mut |item| show.item(&item))? {
        show.note(note);
    }
    show.finish()
}

/// What is to be judged, and how.
pub struct Run<'a> {
    /// Where objects and CRDs are, and how strict the server is told to be.
    pub inputs: &'a args::Inputs,
    /// Whether each object's Table is wanted.
    pub table: bool,
    /// What to do with objects that are there already, and where they are.
    pub updates: &'a args::Updates,
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

/// Judges everything and shows the items in order; gives what is to be said of the run as a whole.
pub fn items(run: &Run<'_>, show: &mut (dyn FnMut(Item) + Send)) -> io::Result<Vec<Note>> {
    let reads_stdin = |paths: &[String]| paths.iter().any(|path| path == "-");
    if reads_stdin(&run.inputs.filenames) && reads_stdin(&run.updates.old) {
        return Err(io::Error::other("standard input can be read once: give it to -f or to --old"));
    }
    let mut notes = Vec::new();
    let mut met = Met::default();
    let mut show = |item: Item| {
        met.add(&item, run.updates.subresource);
        show(item);
    };
    let target = run.cluster.target();
    let cluster = (!run.cluster.offline).then(|| Arc::new(Live::new(target.clone())));
    let olds = match &cluster {
        _ if !run.updates.old.is_empty() => {
            Some(Olds::given(Input::open(&run.updates.old, run.inputs.recursive), &mut show))
        }
        // Who asks for a difference wants to know between what.
        Some(live) if run.compares.is_some() || cluster::is_configured(&target) => Some(Olds::Live(Arc::clone(live))),
        None if run.compares.is_some() || run.updates.is_asked_for() => Some(Olds::Given(Mutex::default())),
        Some(_) => {
            let message = "no cluster is configured, so every object is taken to be new".to_owned();
            notes.push(Note { kind: "noCluster", message });
            run.updates.is_asked_for().then(|| Olds::Given(Mutex::default()))
        }
        None => None,
    };
    let updates = olds.map(|olds| Updates { way: way(run.updates), olds, compares: run.compares });
    // Only server-side apply asks who owns what.
    let owners = run.updates.server_side || run.compares.is_some_and(|c| c.books);
    let server = if owners { Server::new(0) } else { Server::new(0).without_managed_fields() };
    let namespace = run.cluster.namespace.clone().or_else(|| cluster::namespace(&target));
    let settings = Settings {
        namespace: namespace.unwrap_or_else(|| "default".to_owned()),
        manner: Manner { level: run.inputs.field_validation, dry_run: true, table: run.table, now: terminal::now() },
        jobs: run.inputs.jobs.or_else(|| thread::available_parallelism().ok()).unwrap_or(NonZeroUsize::MIN),
        ignore_missing: run.inputs.ignore_missing_crds,
        cluster: cluster.clone(),
    };
    let judge = Judge { settings, server, updates, shelf: Shelf::default() };
    let mut known = Known::default();
    if !run.inputs.crds.is_empty() {
        let input = Input::open(&run.inputs.crds, run.inputs.recursive);
        run::take_definitions(&judge, &mut known, input, &mut show);
    }
    let input = Input::open(&run.inputs.filenames, run.inputs.recursive);
    run::judge_all(&judge, &mut known, input, &mut show)?;
    if let Some(left) = judge.updates.and_then(|updates| updates.olds.left()) {
        notes.push(Note { kind: "oldObjects", message: left.words() });
    }
    notes.extend(met.notes(known.definitions(), cluster.as_deref()));
    Ok(notes)
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
