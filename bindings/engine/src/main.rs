//! The API server as a program without sockets and threads: requests arrive on standard input, and replies leave on standard output,
//! both as [`frame`]s. The first frame has the settings of the server. Events of watches are written as soon as a request causes
//! them; nothing happens between two frames, so the host may forget the program until its next request.

mod frame;
mod session;

use frame::Frame;
use session::Session;
use std::io::{self, Write as _};
use std::process::ExitCode;

fn main() -> ExitCode {
    match serve() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // The host reads what the program says last.
            let _ = writeln!(io::stderr(), "error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Answers frames until standard input ends.
fn serve() -> io::Result<()> {
    let (mut input, mut output) = (io::stdin().lock(), io::stdout().lock());
    let Some(settings) = Frame::read(&mut input)? else { return Ok(()) };
    let mut session = Session::new(&settings.header).map_err(io::Error::other)?;
    while let Some(frame) = Frame::read(&mut input)? {
        for reply in session.answer(frame) {
            reply.write(&mut output)?;
        }
        output.flush()?;
    }
    Ok(())
}
