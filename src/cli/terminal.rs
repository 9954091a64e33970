//! Standard output and error, and the clock: where the program meets the world.

use super::args::Color;
use crate::output::TableStyle;
use crate::server::Timestamp;
use std::io::{self, IsTerminal, Write};
use std::time::{SystemTime, UNIX_EPOCH};

/// Something to write to, from whichever thread has something to say.
pub type Writer = dyn Write + Send;

/// A stream and whether it shows colours.
pub struct Stream {
    /// The stream.
    pub write: Box<Writer>,
    /// Whether colours may be written.
    pub color: bool,
    /// The width of the terminal in columns; `None` if this is no terminal.
    pub width: Option<u16>,
}

impl Stream {
    /// Standard output.
    pub fn stdout(color: Color) -> Self {
        let width = terminal_size::terminal_size_of(io::stdout()).map(|(width, _)| width.0);
        Self { color: colored(color, io::stdout().is_terminal()), width, write: Box::new(io::stdout()) }
    }

    /// Standard error.
    pub fn stderr(color: Color) -> Self {
        let width = terminal_size::terminal_size_of(io::stderr()).map(|(width, _)| width.0);
        Self { color: colored(color, io::stderr().is_terminal()), width, write: Box::new(io::stderr()) }
    }
}

impl Stream {
    /// The options for tables on it.
    pub fn look(&self) -> TableStyle {
        TableStyle { color: self.color, width: self.width }
    }
}

/// `NO_COLOR` counts when it is not empty (no-color.org).
fn colored(color: Color, terminal: bool) -> bool {
    match color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => terminal && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty()),
    }
}

/// Says what the server warns of, as kubectl says it.
pub fn warn(text: &str) {
    if colored(Color::Auto, io::stderr().is_terminal()) {
        eprintln!("\x1b[33;1mWarning:\x1b[0m {text}");
    } else {
        eprintln!("Warning: {text}");
    }
}

/// The time.
pub fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp { seconds: since.as_secs() as i64, nanos: since.subsec_nanos() }
}
