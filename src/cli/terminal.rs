//! Standard output, standard error and the clock.

use super::args::Color;
use crate::output::TableStyle;
use crate::server::Timestamp;
use std::io::{self, IsTerminal, Write};
use std::time::{SystemTime, UNIX_EPOCH};

/// An output stream that any thread may write to.
pub type Writer = dyn Write + Send;

/// An output stream and its properties.
pub struct Stream {
    /// The stream.
    pub write: Box<Writer>,
    /// True if colours may be written.
    pub color: bool,
    /// The width of the terminal in columns; `None` if the stream is not a terminal.
    pub width: Option<u16>,
}

impl Stream {
    /// Returns standard output.
    pub fn stdout(color: Color) -> Self {
        let width = terminal_size::terminal_size_of(io::stdout()).map(|(width, _)| width.0);
        Self { color: colored(color, io::stdout().is_terminal()), width, write: Box::new(io::stdout()) }
    }

    /// Returns standard error.
    pub fn stderr(color: Color) -> Self {
        let width = terminal_size::terminal_size_of(io::stderr()).map(|(width, _)| width.0);
        Self { color: colored(color, io::stderr().is_terminal()), width, write: Box::new(io::stderr()) }
    }
}

impl Stream {
    /// Returns the options for tables on this stream.
    pub fn look(&self) -> TableStyle {
        TableStyle { color: self.color, width: self.width }
    }
}

/// Decides if output is coloured. `NO_COLOR` disables colours unless it is empty (no-color.org).
fn colored(color: Color, terminal: bool) -> bool {
    match color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => terminal && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty()),
    }
}

/// Prints a warning of the server as kubectl does.
pub fn warn(text: &str) {
    if colored(Color::Auto, io::stderr().is_terminal()) {
        eprintln!("\x1b[33;1mWarning:\x1b[0m {text}");
    } else {
        eprintln!("Warning: {text}");
    }
}

/// Returns the current time.
pub fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp { seconds: since.as_secs() as i64, nanos: since.subsec_nanos() }
}
