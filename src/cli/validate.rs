//! `validate`: what the server would do with every object given, created or, with `--old`, updated.
//!
//! [`run`] is the way of the documents, [`shared`] what is known on it, [`olds`] the objects as they are now, [`turns`]
//! the order of those with one name, [`judge`] one question to the server and its answer, [`show`] what is printed.

mod definitions;
mod judge;
mod object;
mod olds;
mod ordered;
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
use crate::output::report::Summary;
use crate::output::report::text::Style;
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
    let reads_stdin = |paths: &[String]| paths.iter().any(|path| path == "-");
    if reads_stdin(&args.filenames) && reads_stdin(&args.updates.old) {
        return Err(io::Error::other("standard input can be read once: give it to -f or to --old"));
    }
    let target = args.cluster.target();
    let mut show = show::Show::new(args.output, style, out, messages);
    let updates = args.updates.is_asked_for().then(|| {
        let mut olds = Olds::new(None);
        olds.take_in(Input::open(&args.updates.old, args.recursive), &mut |item| show.item(&item));
        Updates { way: way(&args.updates), olds, keeps_books: false }
    });
    // Only server-side apply asks who owns what.
    let server = Server::new(0);
    let server = if args.updates.server_side { server } else { server.without_managed_fields() };
    let judge = Judge { settings: settings(args, &target), server, updates };
    let mut known = Known::default();
    if !args.crds.is_empty() {
        let input = Input::open(&args.crds, args.recursive);
        run::take_definitions(&judge, &mut known, input, &mut |item| show.item(&item));
    }
    let input = Input::open(&args.filenames, args.recursive);
    run::judge_all(&judge, &mut known, input, &mut |item| show.item(&item))?;
    if let Some(left) = judge.updates.as_ref().and_then(|updates| updates.olds.left()) {
        show.note(&left.words());
    }
    show.finish()
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

fn settings(args: &args::Validate, target: &cluster::Target) -> Settings {
    let namespace = args.cluster.namespace.clone().or_else(|| cluster::namespace(target));
    let table = args.output == Some(args::Format::Wide);
    Settings {
        namespace: namespace.unwrap_or_else(|| "default".to_owned()),
        manner: Manner { level: args.field_validation, dry_run: true, table, now: terminal::now() },
        jobs: args.jobs.or_else(|| thread::available_parallelism().ok()).unwrap_or(NonZeroUsize::MIN),
        ignore_missing: args.ignore_missing_crds,
        cluster: (!args.cluster.offline).then(|| target.clone()),
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
