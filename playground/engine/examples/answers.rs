//! Answers requests without a browser: one JSON text per line of standard input, one answer per line of standard output. The
//! tests of the page compare its answers with these.

use std::io::{self, BufRead, Write};

fn main() -> io::Result<()> {
    let mut engine = crdx_playground::Engine::default();
    let mut out = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        writeln!(out, "{}", engine.answer(&line?))?;
        out.flush()?;
    }
    Ok(())
}
