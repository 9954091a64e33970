//! Text for people: whatever names, messages and file names contain, it neither controls the terminal nor a pipeline that
//! reads the output.
//!
//! Control characters (C0, DEL and C1), line separators, and characters that change the direction of text are shown as
//! `\u001b`. A line that would be a command of GitHub Actions, Azure Pipelines or `TeamCity` is shown with `\u003a` or `\u0023`
//! in place of its first character. In JSON, `\u001b` is the same string, so the documents of this program have it, too. XML
//! and HTML are escaped by [`super::markup`]; `get` prints kubectl's bytes, and YAML is what kubectl writes.

use crdx_text as text;
use crdx_text::printable::is_hidden;
use std::borrow::Cow;
use std::fmt::{self, Write as _};
use std::io::{self, Write};

/// Commands of pipelines wherever they are in a line, in any case. A line that begins with `::`, after white space, is one,
/// too.
const COMMANDS: [&str; 3] = ["##[", "##vso[", "##teamcity["];

/// Returns true if a pipeline would read a command at the start of `text`.
fn is_command(text: &str) -> bool {
    let begins_with =
        |command: &str| text.get(..command.len()).is_some_and(|start| start.eq_ignore_ascii_case(command));
    text.starts_with("##") && COMMANDS.into_iter().any(begins_with)
}

/// Returns true for a text that certainly has no hidden character.
fn is_plain(bytes: &[u8]) -> bool {
    bytes.iter().all(|b| matches!(b, b' '..=b'~' | b'\n' | b'\t'))
}

fn escape(c: char, out: &mut String) {
    // Writing to a String cannot fail.
    let _ = write!(out, "\\u{:04x}", u32::from(c));
}

/// A text of any number of lines, without hidden characters.
pub fn text(text: &str) -> Cow<'_, str> {
    escaped(text, is_hidden)
}

/// A text in one line, without hidden characters, line breaks and tabs: a name, or a cell of a table.
pub fn line(text: &str) -> Cow<'_, str> {
    escaped(text, |c| is_hidden(c) || c == '\n' || c == '\t')
}

fn escaped(text: &str, is_escaped: impl Fn(char) -> bool) -> Cow<'_, str> {
    let Some(first) = text.find(&is_escaped) else { return Cow::Borrowed(text) };
    let mut out = text.get(..first).unwrap_or_default().to_owned();
    for c in text.get(first..).unwrap_or_default().chars() {
        match c {
            '\n' if is_escaped(c) => out.push_str("\\n"),
            '\t' if is_escaped(c) => out.push_str("\\t"),
            c if is_escaped(c) => escape(c, &mut out),
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// The content of a [`Printable`] stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PrintableForm {
    /// Text for people, without colours.
    Plain,
    /// Text for people, in which the escape sequences of [`super::Paint`] and of excerpts are written as they are.
    Colored,
    /// JSON, whose strings stay the same.
    Json,
}

/// A stream on which only printable text arrives. Lines are written when they are complete or the stream is flushed.
pub struct Printable<W: Write> {
    out: W,
    form: PrintableForm,
    /// The incomplete last line.
    rest: Vec<u8>,
    /// True if nothing but white space of the current line was written.
    at_start: bool,
}

impl<W: Write> Printable<W> {
    /// Writes printable text to `out`, with colours if `color` is set.
    pub fn new(out: W, color: bool) -> Self {
        Self::of_form(out, if color { PrintableForm::Colored } else { PrintableForm::Plain })
    }

    /// Writes JSON to `out`.
    pub fn json(out: W) -> Self {
        Self::of_form(out, PrintableForm::Json)
    }

    fn of_form(out: W, form: PrintableForm) -> Self {
        Self { out, form, rest: Vec::new(), at_start: true }
    }

    /// Writes lines, the last of which may be incomplete.
    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        let may_command = text::contains(bytes, "::") || text::contains(bytes, "##") || !self.at_start;
        if is_plain(bytes) && !may_command {
            let last = bytes.rsplit(|b| *b == b'\n').next().unwrap_or_default();
            self.at_start = last.iter().all(|b| matches!(b, b' ' | b'\t'));
            return self.out.write_all(bytes);
        }
        let lines = String::from_utf8_lossy(bytes);
        let mut shown = String::with_capacity(lines.len());
        for line in lines.split_inclusive('\n') {
            self.line(line, &mut shown);
        }
        self.out.write_all(shown.as_bytes())
    }

    fn line(&mut self, line: &str, out: &mut String) {
        let mut rest = line;
        while let Some(c) = rest.chars().next() {
            let color = if self.form == PrintableForm::Colored { color_length(rest) } else { 0 };
            let (part, after) = rest.split_at_checked(color.max(c.len_utf8())).unwrap_or((rest, ""));
            let is_command =
                self.form != PrintableForm::Json && ((self.at_start && rest.starts_with("::")) || is_command(rest));
            if color == 0 && (is_hidden(c) || is_command) {
                escape(c, out);
            } else {
                out.push_str(part);
            }
            self.at_start = c == '\n' || (self.at_start && (color > 0 || c.is_whitespace()));
            rest = after;
        }
    }
}

/// The length of the escape sequence with which a text begins, if it changes only the colour, as this program writes it; else
/// 0.
fn color_length(text: &str) -> usize {
    const CODES: &[&str] =
        &["0", "1", "2", "4", "31", "32", "33", "36", "1;31", "33;1", "91", "92", "93", "94", "95", "96"];
    let code = text.strip_prefix("\x1b[").and_then(|rest| rest.split_once('m')).map(|(code, _)| code);
    code.filter(|code| CODES.contains(code)).map_or(0, |code| code.len() + 3)
}

impl<W: Write> Write for Printable<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let end = bytes.iter().rposition(|b| *b == b'\n').map_or(0, |at| at + 1);
        let (lines, rest) = bytes.split_at_checked(end).unwrap_or((bytes, &[]));
        if !lines.is_empty() {
            if self.rest.is_empty() {
                self.put(lines)?;
            } else {
                let mut all = std::mem::take(&mut self.rest);
                all.extend_from_slice(lines);
                self.put(&all)?;
            }
        }
        self.rest.extend_from_slice(rest);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        // The end of the text may be in the middle of a character.
        let rest = std::mem::take(&mut self.rest);
        self.put(&rest)?;
        self.out.flush()
    }
}

impl<W: Write> Drop for Printable<W> {
    fn drop(&mut self) {
        // Whoever needs to know of an error calls `flush`.
        let _ = self.flush();
    }
}

/// Standard error, to which writing never fails: a message that cannot be written must not change the result of a command.
#[derive(Debug)]
pub struct Stderr;

impl Write for Stderr {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let _ = io::stderr().write_all(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let _ = io::stderr().flush();
        Ok(())
    }
}

/// Prints a line to standard error, as `eprintln!` does.
#[macro_export]
macro_rules! complain {
    ($($message:tt)*) => { $crate::printable::complain_line(format_args!($($message)*)) };
}
pub use complain;

/// Prints a line to standard error.
pub fn complain_line(message: fmt::Arguments<'_>) {
    complain_all(&format!("{message}\n"));
}

/// Prints lines to standard error, each with its line break.
pub fn complain_all(lines: &str) {
    // One write, so that lines of several threads are not mixed.
    let mut shown = Vec::new();
    let _ = Printable::new(&mut shown, false).write_all(lines.as_bytes());
    let _ = Stderr.write_all(&shown);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, color: bool, chunk: usize) -> String {
        let mut out = Vec::new();
        let mut printable = Printable::new(&mut out, color);
        for part in text.as_bytes().chunks(chunk) {
            printable.write_all(part).unwrap();
        }
        drop(printable);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn nothing_controls_the_terminal() {
        let text = "a\x1b[2Jb\x07\r\x7f\u{9b}c\u{202e}d\u{2066}\u{200f}\u{61c}\u{2028}\n\té 🙂\n";
        let want = "a\\u001b[2Jb\\u0007\\u000d\\u007f\\u009bc\\u202ed\\u2066\\u200f\\u061c\\u2028\n\té 🙂\n";
        for chunk in [1, 2, 7, 1000] {
            assert_eq!(shown(text, false, chunk), want);
            // Colours are this program's; nothing else is.
            assert_eq!(shown(text, true, chunk), want);
        }
        assert_eq!(shown("\x1b[1;31mred\x1b[0m\x1b[8mhidden\n", true, 3), "\x1b[1;31mred\x1b[0m\\u001b[8mhidden\n");
        assert_eq!(shown("\x1b[1;31mred", false, 100), "\\u001b[1;31mred");
        assert_eq!(shown(" \x1b[2m::x\n", true, 100), " \x1b[2m\\u003a:x\n");
        assert_eq!((&*super::text("a\nb\t\x1b"), &*line("a\nb\t\x1b")), ("a\nb\t\\u001b", "a\\nb\\t\\u001b"));
    }

    #[test]
    fn no_line_is_a_command_of_a_pipeline() {
        let text = "::error::x\n \t::add-mask::y\nx ::error::\nA##vso[task]##[group]\n##[x\n### a\n::";
        let want = "\\u003a:error::x\n \t\\u003a:add-mask::y\nx ::error::\nA\\u0023#vso[task]\\u0023#[group]\n\\u0023#[x\n### a\n\\u003a:";
        for chunk in [1, 3, 1000] {
            assert_eq!(shown(text, false, chunk), want);
        }
    }

    #[test]
    fn commands_of_teamcity_and_in_other_cases_are_escaped() {
        let text = "a ##teamcity[x]\n##VSO[y]\n##Teamcity[z]\n##vs[\n##";
        let want = "a \\u0023#teamcity[x]\n\\u0023#VSO[y]\n\\u0023#Teamcity[z]\n##vs[\n##";
        assert_eq!(shown(text, true, 1000), want);
    }

    #[test]
    fn json_stays_the_same_document() {
        let text = "{\"::a\": [\"##[b\",\n\t\"\u{9b}31m\u{202e}\u{feff}\u{ffff} é\"]}\n";
        let mut out = Vec::new();
        let mut printable = Printable::json(&mut out);
        text.as_bytes().chunks(5).for_each(|part| printable.write_all(part).unwrap());
        drop(printable);
        let shown = String::from_utf8(out).unwrap();
        assert_eq!(shown, "{\"::a\": [\"##[b\",\n\t\"\\u009b31m\\u202e\\ufeff\\uffff é\"]}\n");
        let read = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
        assert_eq!(read(&shown), read(&text.replace('\t', "")));
    }

    #[test]
    fn a_line_may_be_flushed_in_parts() {
        let mut out = Vec::new();
        let mut printable = Printable::new(&mut out, false);
        for part in ["  ", "::a", "::b\n", "c", "::d\n"] {
            printable.write_all(part.as_bytes()).unwrap();
            printable.flush().unwrap();
        }
        drop(printable);
        assert_eq!(String::from_utf8(out).unwrap(), "  \\u003a:a::b\nc::d\n");
    }
}
