//! The API server as a program without sockets and threads, for a host that runs it as WebAssembly.
//!
//! `main` reads one [`frame`] with the settings of the server from standard input, and writes one whose `answer` is the index of a
//! function in the program's table. The host calls this function for each frame that it has for the program (a request, the outcome of
//! a webhook's call …): the function reads the frame from standard input and writes the frames that it causes to standard output. It
//! returns 0, or 1 after a message on standard error. Nothing happens between two calls, so a host may copy the memory of the program
//! between them, and continue with the copy in another instance.

mod frame;
mod message;
mod outgoing;
mod session;
mod webhook_calls;

use crdx_value::object;
use frame::Frame;
use session::Session;
use std::cell::RefCell;
use std::io::{self, Write as _};
use std::process::ExitCode;

thread_local! {
    static SESSION: RefCell<Option<Session>> = const { RefCell::new(None) };
}

fn main() -> ExitCode {
    match start() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            report(&error);
            ExitCode::FAILURE
        }
    }
}

/// Starts the server.
fn start() -> io::Result<()> {
    let settings = Frame::read(&mut io::stdin().lock())?.ok_or(io::ErrorKind::UnexpectedEof)?;
    let session = Session::new(&settings.header).map_err(io::Error::other)?;
    SESSION.with_borrow_mut(|current| *current = Some(session));
    let index = answer as extern "C" fn() -> i32 as usize;
    let header = object([("answer", i64::try_from(index).map_err(io::Error::other)?)]);
    write(&[Frame { header, body: Vec::new() }])
}

/// Answers the next frame.
extern "C" fn answer() -> i32 {
    let answered = SESSION.with_borrow_mut(|session| -> io::Result<()> {
        let frame = Frame::read(&mut io::stdin().lock())?.ok_or(io::ErrorKind::UnexpectedEof)?;
        let session = session.as_mut().ok_or(io::ErrorKind::NotConnected)?;
        write(&session.answer(frame))
    });
    answered.map_or_else(
        |error| {
            report(&error);
            1
        },
        |()| 0,
    )
}

/// Writes frames at once: standard output has no buffer after `main`.
fn write(frames: &[Frame]) -> io::Result<()> {
    let mut bytes = Vec::new();
    for frame in frames {
        frame.write(&mut bytes)?;
    }
    let mut output = io::stdout().lock();
    output.write_all(&bytes)?;
    output.flush()
}

/// Writes the reason of a failure to standard error, for the message of the host.
fn report(error: &io::Error) {
    let _ = writeln!(io::stderr(), "error: {error}");
}
