//! `validate`: what the server would do with a create of every object given.
//!
//! [`run`] is the way of the documents, [`shared`] what is known on it, [`judge`] one question to the server and its
//! answer, [`show`] what is printed.

mod definitions;
mod judge;
mod object;
mod ordered;
mod run;
mod shared;
mod show;

use super::Exit;
use super::args;
use super::request::Manner;
use super::terminal;
use crate::api::Server;
use crate::cluster;
use crate::input::Input;
use crate::output::report::Summary;
use crate::output::report::text::Style;
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
    let target = args.cluster.target();
    let judge = Judge { settings: settings(args, &target), server: Server::new(0).without_managed_fields() };
    let mut known = Known::default();
    let mut show = show::Show::new(args.output, style, out, messages);
    if !args.crds.is_empty() {
        let input = Input::open(&args.crds, args.recursive);
        run::take_definitions(&judge, &mut known, input, &mut |item| show.item(&item));
    }
    let input = Input::open(&args.filenames, args.recursive);
    run::judge_all(&judge, &mut known, input, &mut |item| show.item(&item))?;
    show.finish()
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
