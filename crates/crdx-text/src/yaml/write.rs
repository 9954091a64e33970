//! Writes YAML like `kubectl -o yaml` (`sigs.k8s.io/yaml` Marshal: JSON, parsed as YAML and written by yaml.v2).
//!
//! yaml.v2 has some peculiarities: lines are folded after 80 characters; keys are sorted so that `a2` precedes `a10`;
//! sequences in mappings are not indented; characters beyond U+FFFF are escaped, and so is every character of a string
//! that begins with a byte order mark; a key longer than 128 bytes is written with `?`; the string `<<` is not quoted.
//! Strings that kubectl fails to print (U+007F) or changes (U+0085) are written so that they can be read back.

mod order;
mod style;

use super::resolve::{self, Scalar};
use crate::TooLong;
use crdx_value::{Value, number};
use std::borrow::Cow;
use std::fmt::Write as _;
use style::{Analysis, is_break};

/// The column after which a space may become a line break.
const WIDTH: usize = 80;
/// The number of columns per level.
const INDENT: i32 = 2;
/// The maximum length in bytes of a key that is written without `?`.
const MAX_SIMPLE_KEY: usize = 128;

/// Formats `v` as YAML, with a final line break.
pub fn to_string(v: &Value) -> String {
    written(v, usize::MAX)
}

/// As [`to_string`], for a text of at most `limit` bytes. The indentation of deeply nested values is much longer than they are.
///
/// # Errors
/// The text would be longer.
pub fn to_string_within(v: &Value, limit: usize) -> Result<String, TooLong> {
    let text = written(v, limit);
    if text.len() > limit { Err(TooLong(limit)) } else { Ok(text) }
}

/// Writes a value. It may stop when the text is longer than `limit`.
fn written(v: &Value, limit: usize) -> String {
    let mut writer = Emitter { out: String::new(), limit, column: 0, indent: -1, whitespace: true, indention: true };
    writer.node(v, EmitterContext::Root);
    writer.new_line();
    writer.out
}

/// The context of a node.
#[derive(Clone, Copy, PartialEq, Eq)]
enum EmitterContext {
    Root,
    Sequence,
    Mapping,
    /// A key before its `:`.
    SimpleKey,
}

impl EmitterContext {
    /// A simple key must be on one line.
    fn allows_folding(self) -> bool {
        self != Self::SimpleKey
    }
}

/// The place of an indicator on its line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Placement {
    /// Directly after the previous character.
    Attached,
    /// After white space.
    Spaced,
    /// After white space, and what follows on the line is indented by the indicator.
    Indenting,
}

struct Emitter {
    out: String,
    /// The length after which nothing else needs to be written.
    limit: usize,
    column: usize,
    indent: i32,
    /// True if the last character written was white space.
    whitespace: bool,
    /// True if the line contains only indentation and indicators so far.
    indention: bool,
}

impl Emitter {
    fn put(&mut self, c: char) {
        self.out.push(c);
        self.column += 1;
    }

    fn line_break(&mut self) {
        self.out.push('\n');
        self.column = 0;
    }

    /// Copies a line break of a string.
    fn copy_break(&mut self, c: char) {
        self.out.push(c);
        self.column = 0;
    }

    /// Writes the indentation, on a new line unless this one is still empty.
    fn new_line(&mut self) {
        let indent = usize::try_from(self.indent).unwrap_or(0);
        if self.out.len() > self.limit {
            return;
        }
        if !self.indention || self.column > indent || (self.column == indent && !self.whitespace) {
            self.line_break();
        }
        while self.column < indent {
            self.put(' ');
        }
        self.whitespace = true;
        self.indention = true;
    }

    fn indicator(&mut self, text: &str, placement: Placement) {
        if placement != Placement::Attached && !self.whitespace {
            self.put(' ');
        }
        text.chars().for_each(|c| self.put(c));
        self.whitespace = false;
        self.indention &= placement == Placement::Indenting;
    }

    fn node(&mut self, v: &Value, context: EmitterContext) {
        match v {
            _ if self.out.len() > self.limit => {}
            Value::Null => self.scalar("null", RequestedStyle::Plain, context),
            Value::Bool(b) => self.scalar(if *b { "true" } else { "false" }, RequestedStyle::Plain, context),
            Value::Int(i) => self.scalar(&i.to_string(), RequestedStyle::Plain, context),
            Value::Float(x) => self.scalar(&float_text(*x), RequestedStyle::Plain, context),
            Value::String(text) => self.text(text, context),
            Value::Array(items) if items.is_empty() => self.indicator("[]", Placement::Spaced),
            Value::Object(members) if members.is_empty() => self.indicator("{}", Placement::Spaced),
            Value::Array(items) => {
                let outer = self.indent;
                let indentless = context == EmitterContext::Mapping && !self.indention;
                if outer < 0 {
                    self.indent = 0;
                } else if !indentless {
                    self.indent += INDENT;
                }
                for item in items {
                    self.new_line();
                    self.indicator("-", Placement::Indenting);
                    self.node(item, EmitterContext::Sequence);
                }
                self.indent = outer;
            }
            Value::Object(members) => {
                let outer = self.indent;
                self.indent = if outer < 0 { 0 } else { outer + INDENT };
                for (key, value) in order::sorted(members) {
                    self.new_line();
                    if key.len() <= MAX_SIMPLE_KEY && !key.chars().any(is_break) {
                        self.text(key, EmitterContext::SimpleKey);
                        self.indicator(":", Placement::Attached);
                    } else {
                        self.indicator("?", Placement::Indenting);
                        self.text(key, EmitterContext::Mapping);
                        self.new_line();
                        self.indicator(":", Placement::Indenting);
                    }
                    self.node(value, EmitterContext::Mapping);
                }
                self.indent = outer;
            }
        }
    }

    fn text(&mut self, text: &str, context: EmitterContext) {
        let is_text = matches!(resolve::plain(text), Scalar::Text(_)) && !resolve::timestamp(text) && !is_base60(text);
        let style = if text.contains('\n') {
            RequestedStyle::Literal
        } else if is_text {
            RequestedStyle::Plain
        } else {
            RequestedStyle::Double
        };
        self.scalar(text, style, context);
    }

    fn scalar(&mut self, text: &str, style: RequestedStyle, context: EmitterContext) {
        let style = style.allowed(Analysis::new(text), text, context);
        let outer = self.indent;
        self.indent = if outer < 0 { INDENT } else { outer + INDENT };
        match style {
            RequestedStyle::Plain => self.plain(text, context),
            RequestedStyle::Single => self.single(text, context),
            RequestedStyle::Double => self.double(text, context),
            RequestedStyle::Literal => self.literal(text),
        }
        self.indent = outer;
    }

    fn plain(&mut self, text: &str, context: EmitterContext) {
        if !self.whitespace {
            self.put(' ');
        }
        self.folded(text, context, RequestedStyle::Plain);
        self.whitespace = false;
        self.indention = false;
    }

    fn single(&mut self, text: &str, context: EmitterContext) {
        self.indicator("'", Placement::Spaced);
        self.folded(text, context, RequestedStyle::Single);
        self.indicator("'", Placement::Attached);
        self.whitespace = false;
        self.indention = false;
    }

    /// Writes a plain or single-quoted scalar with folding.
    fn folded(&mut self, text: &str, context: EmitterContext, style: RequestedStyle) {
        let (fold, quoted) = (context.allows_folding(), style == RequestedStyle::Single);
        let mut after_space = false;
        let mut after_break = false;
        let mut chars = text.chars().peekable();
        let mut first = true;
        while let Some(c) = chars.next() {
            if c == ' ' {
                let inside = !quoted || (!first && chars.peek().is_some());
                if fold && !after_space && self.column > WIDTH && inside && chars.peek() != Some(&' ') {
                    self.new_line();
                } else {
                    self.put(c);
                }
                after_space = true;
            } else if is_break(c) {
                self.copy_break(c);
                self.indention = true;
                after_break = true;
            } else {
                if after_break {
                    self.new_line();
                }
                if quoted && c == '\'' {
                    self.put(c);
                }
                self.put(c);
                self.indention = false;
                after_space = false;
                after_break = false;
            }
            first = false;
        }
    }

    fn double(&mut self, text: &str, context: EmitterContext) {
        let fold = context.allows_folding();
        self.indicator("\"", Placement::Spaced);
        let escape_all = text.starts_with('\u{feff}');
        let mut after_space = false;
        let mut first = true;
        let mut chars = text.chars().peekable();
        while let Some(c) = chars.next() {
            if escape_all || !style::is_printable(c) || is_break(c) || c == '"' || c == '\\' {
                self.escape(c);
                after_space = false;
            } else if c == ' ' {
                if fold && !after_space && self.column > WIDTH && !first && chars.peek().is_some() {
                    self.new_line();
                    if chars.peek() == Some(&' ') {
                        self.put('\\');
                    }
                } else {
                    self.put(c);
                }
                after_space = true;
            } else {
                self.put(c);
                after_space = false;
            }
            first = false;
        }
        self.indicator("\"", Placement::Attached);
        self.whitespace = false;
        self.indention = false;
    }

    fn escape(&mut self, c: char) {
        let short = match c {
            '\0' => '0',
            '\u{7}' => 'a',
            '\u{8}' => 'b',
            '\t' => 't',
            '\n' => 'n',
            '\u{b}' => 'v',
            '\u{c}' => 'f',
            '\r' => 'r',
            '\u{1b}' => 'e',
            '"' | '\\' => c,
            '\u{85}' => 'N',
            '\u{a0}' => '_',
            '\u{2028}' => 'L',
            '\u{2029}' => 'P',
            _ => {
                let before = self.out.len();
                let code = u32::from(c);
                let _ = match code {
                    0..=0xff => write!(self.out, "\\x{code:02X}"),
                    0x100..=0xffff => write!(self.out, "\\u{code:04X}"),
                    _ => write!(self.out, "\\U{code:08X}"),
                };
                self.column += self.out.len() - before;
                return;
            }
        };
        self.put('\\');
        self.put(short);
    }

    fn literal(&mut self, text: &str) {
        self.indicator("|", Placement::Spaced);
        if text.starts_with(|c| c == ' ' || is_break(c)) {
            self.indicator("2", Placement::Attached);
        }
        let mut end = text.chars().rev();
        match (end.next().is_some_and(is_break), end.next()) {
            (false, _) => self.indicator("-", Placement::Attached),
            (true, before) if before.is_none_or(is_break) => self.indicator("+", Placement::Attached),
            (true, _) => {}
        }
        self.line_break();
        self.indention = true;
        self.whitespace = true;
        let mut after_break = true;
        for c in text.chars() {
            if is_break(c) {
                self.copy_break(c);
                self.indention = true;
                after_break = true;
            } else {
                if after_break {
                    self.new_line();
                }
                self.put(c);
                self.indention = false;
                after_break = false;
            }
        }
    }
}

/// The style of a scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RequestedStyle {
    Plain,
    Single,
    Double,
    Literal,
}

impl RequestedStyle {
    /// The closest style in which the string can be written.
    fn allowed(self, can: Analysis, text: &str, context: EmitterContext) -> Self {
        let key = context == EmitterContext::SimpleKey;
        let mut style = if key && can.multiline { Self::Double } else { self };
        if style == Self::Plain && (!can.plain || (text.is_empty() && key)) {
            style = Self::Single;
        }
        if style == Self::Single && !can.single || style == Self::Literal && (!can.block || key) {
            style = Self::Double;
        }
        style
    }
}

/// Formats a float after a round trip through JSON text.
fn float_text(x: f64) -> Cow<'static, str> {
    let json = number::format_json(x);
    match resolve::plain(&json) {
        Scalar::Float(x) => number::format_g(x).into(),
        Scalar::Int(i) => i.to_string().into(),
        Scalar::Uint(u) => u.to_string().into(),
        _ => json.into(),
    }
}

/// Returns true for texts such as `190:20:30` and `1:30.5`, which other parsers read as sexagesimal numbers, so they
/// are quoted.
fn is_base60(text: &str) -> bool {
    let text = text.strip_prefix(['+', '-']).unwrap_or(text);
    let underscored = |part: &str| part.bytes().all(|c| c.is_ascii_digit() || c == b'_');
    let Some((whole, rest)) = text.split_once(':') else { return false };
    // Only the last part may have a fraction.
    let (rest, fraction) = match rest.rsplit_once(':') {
        Some((_, last)) => last.split_once('.'),
        None => rest.split_once('.'),
    }
    .map_or((rest, ""), |(_, fraction)| (rest.get(..rest.len() - fraction.len() - 1).unwrap_or_default(), fraction));
    let is_part = |part: &str| matches!(part.as_bytes(), [b'0'..=b'9'] | [b'0'..=b'5', b'0'..=b'9']);
    whole.starts_with(|c: char| c.is_ascii_digit())
        && underscored(whole)
        && underscored(fraction)
        && rest.split(':').all(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_may_be_limited_while_it_is_written() {
        let lines = Value::from("a\n".repeat(1000));
        let v = (0..300).fold(lines, |inner, _| Value::Object([("a".to_owned(), inner)].into()));
        let whole = to_string(&v);
        assert!(whole.len() > 600_000);
        assert_eq!(to_string_within(&v, whole.len()).as_deref(), Ok(whole.as_str()));
        assert_eq!(to_string_within(&v, whole.len() - 1), Err(TooLong(whole.len() - 1)));
        let text = written(&v, 100_000);
        assert!(text.len() > 100_000 && text.len() < 110_000, "{}", text.len());
    }
}
