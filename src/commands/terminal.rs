//! Standard output, standard error and the clock.

use crate::commands::flags::color::Color;
use crdx_files::input_size;
use crdx_output::TableStyle;
use crdx_output::printable::{self, Printable, Stderr};
use crdx_server::server::Timestamp;
use crdx_text::TooLong;
use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::time::{SystemTime, UNIX_EPOCH};

/// An output stream that any thread may write to.
pub type Writer = dyn Write + Send;

/// What is written to standard output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// Text for people.
    Text,
    /// JSON documents of this program.
    Json,
    /// Other data for programs, or the bytes that kubectl prints.
    Data,
}

impl Content {
    /// Text, or JSON if a condition is true.
    pub fn json_if(is_json: bool) -> Self {
        if is_json { Self::Json } else { Self::Text }
    }
}

/// An output stream and its properties.
pub struct Stream {
    pub write: Box<Writer>,
    /// True if colours may be written.
    pub color: bool,
    /// The width of the terminal in columns; `None` if the stream is not a terminal.
    pub width: Option<u16>,
}

impl Stream {
    /// Returns standard output.
    pub fn stdout(color: Color, content: Content) -> Self {
        let width = terminal_size::terminal_size_of(io::stdout()).map(|(width, _)| width.0);
        let color = colored(color, io::stdout().is_terminal());
        let write: Box<Writer> = match content {
            Content::Text => Box::new(Limited::new(Printable::new(io::stdout(), color))),
            Content::Json => Box::new(Limited::new(Printable::json(io::stdout()))),
            Content::Data => Box::new(Limited::new(io::stdout())),
        };
        Self { write, color, width }
    }

    /// Returns standard error. Writing to it never fails.
    pub fn stderr(color: Color) -> Self {
        let width = terminal_size::terminal_size_of(io::stderr()).map(|(width, _)| width.0);
        let color = colored(color, io::stderr().is_terminal());
        Self { color, width, write: Box::new(Printable::new(Stderr, color)) }
    }
}

/// The output of this length is allowed for each byte of input,
const PER_BYTE: usize = 20;
/// and this length more.
const FREE: usize = 10_000_000;

/// The output would be longer than the limit, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the output would be longer than {0} bytes: 20 times the input that was read so far and 10 MB\nhelp: read fewer files at a time, or leave some out with --skip or --ignore"
)]
pub struct OutputLimitError(pub usize);

impl From<OutputLimitError> for io::Error {
    fn from(error: OutputLimitError) -> Self {
        Self::other(error)
    }
}

impl From<TooLong> for OutputLimitError {
    fn from(error: TooLong) -> Self {
        Self(error.0)
    }
}

/// Returns the limit of the output for the input that was read so far, in bytes.
pub fn output_limit() -> usize {
    input_size::total().saturating_mul(PER_BYTE).saturating_add(FREE)
}

/// A stream that ends with an [`OutputLimitError`] at the limit.
struct Limited<W> {
    out: W,
    written: usize,
    limit: fn() -> usize,
}

impl<W: Write> Limited<W> {
    fn new(out: W) -> Self {
        Self { out, written: 0, limit: output_limit }
    }
}

impl<W: Write> Write for Limited<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let limit = (self.limit)();
        // After an error, nothing else is written.
        self.written = self.written.saturating_add(bytes.len());
        if self.written > limit {
            self.written = usize::MAX;
            return Err(OutputLimitError(limit).into());
        }
        self.out.write_all(bytes)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl Stream {
    /// Returns the options for tables on this stream.
    pub fn look(&self) -> TableStyle {
        TableStyle { color: self.color, width: self.width }
    }
}

/// Decides if output is coloured.
fn colored(color: Color, terminal: bool) -> bool {
    colored_in(color, terminal, |name| std::env::var_os(name))
}

/// Decides if output is coloured: `NO_COLOR` disables colours unless it is empty (no-color.org); otherwise `FORCE_COLOR`
/// and `CLICOLOR_FORCE` enable them, also where there is no terminal, unless they are empty or 0.
fn colored_in(color: Color, terminal: bool, variable: impl Fn(&str) -> Option<OsString>) -> bool {
    let is_set = |name| variable(name).is_some_and(|value| !value.is_empty());
    let is_on = |name| is_set(name) && variable(name).is_none_or(|value| value != "0" && value != "false");
    match color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto if is_set("NO_COLOR") => false,
        Color::Auto if is_on("FORCE_COLOR") || is_on("CLICOLOR_FORCE") => true,
        Color::Auto => terminal && !is_dumb(variable("TERM")),
    }
}

/// Returns true if the terminal cannot move its cursor or show colours.
pub fn is_dumb(term: Option<OsString>) -> bool {
    term.is_some_and(|term| term == "dumb")
}

/// Prints a warning of the server as kubectl does.
pub fn warn(text: &str) {
    let color = colored(Color::Auto, io::stderr().is_terminal());
    let label = if color { "\x1b[33;1mWarning:\x1b[0m" } else { "Warning:" };
    let mut out = Printable::new(Stderr, color);
    // It never fails.
    let _ = writeln!(out, "{label} {}", printable::text(text));
}

/// Returns the current time.
pub fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp { seconds: since.as_secs() as i64, nanos: since.subsec_nanos() }
}

/// Returns the time of day, in UTC.
pub fn clock() -> String {
    let seconds = now().seconds.rem_euclid(24 * 60 * 60);
    format!("{:02}:{:02}:{:02} UTC", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_ends_at_its_limit() {
        let mut limited = Limited { out: Vec::new(), written: 0, limit: || 10 };
        limited.write_all(b"0123456789").unwrap();
        let error = limited.write_all(b"x").unwrap_err().to_string();
        assert!(error.starts_with(
            "the output would be longer than 10 bytes: 20 times the input that was read so far and 10 MB\nhelp: "
        ));
        assert!(limited.write_all(b"y").is_err() && limited.out == b"0123456789");
    }

    #[test]
    fn variables_decide_where_colours_are_automatic() {
        let decide = |terminal: bool, variables: &[(&str, &str)]| {
            let find = |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, v)| OsString::from(v));
            colored_in(Color::Auto, terminal, find)
        };
        assert!(decide(true, &[]) && !decide(false, &[]));
        assert!(decide(true, &[("TERM", "xterm"), ("NO_COLOR", "")]) && !decide(true, &[("TERM", "dumb")]));
        for variable in ["FORCE_COLOR", "CLICOLOR_FORCE"] {
            assert!(decide(false, &[(variable, "1")]) && decide(true, &[(variable, "1"), ("TERM", "dumb")]));
            assert!(!decide(false, &[(variable, "0")]) && !decide(false, &[(variable, "")]));
            assert!(!decide(true, &[(variable, "1"), ("NO_COLOR", "1")]));
        }
        let all = |_: &str| Some(OsString::from("1"));
        assert!(colored_in(Color::Always, false, all) && !colored_in(Color::Never, true, all));
    }
}
