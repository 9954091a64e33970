//! Scans plain, quoted and block scalars. A single-line scalar without escape sequences is a slice of the text.

use super::Scanner;
use crate::Error;
use crate::yaml::source::CheckedText;
use crate::yaml::token::{Mark, Style, Token, TokenKind};
use std::borrow::Cow;
use std::ops::Range;

/// Line breaks between the lines of a scalar that have not been folded yet.
#[derive(Default)]
struct Breaks {
    /// The first line break.
    first: Option<char>,
    /// The following line breaks.
    more: String,
}

impl Breaks {
    fn clear(&mut self) {
        self.first = None;
        self.more.clear();
    }

    /// Folds the line breaks: one `\n` becomes a space, several become one fewer; line and paragraph separators are
    /// kept.
    fn fold(&mut self, out: &mut String) {
        match self.first {
            Some('\n') if self.more.is_empty() => out.push(' '),
            Some('\n') | None => {}
            Some(separator) => out.push(separator),
        }
        out.push_str(&self.more);
        self.clear();
    }
}

impl<'a> Scanner<'a> {
    /// Scans the scalar at the offset `at` in a block collection at the column `indent`. Returns its text, its style, its
    /// range, and the offset of the next character that is neither part of it nor white space after it; `None` if it has
    /// an error.
    pub fn scalar(
        source: &'a CheckedText<'a>,
        at: usize,
        indent: i32,
    ) -> Option<(Cow<'a, str>, Style, Range<usize>, usize)> {
        let mut scanner = Self::new(source);
        (scanner.at, scanner.extra, scanner.indent) = (at, 0, indent);
        match scanner.byte(0) {
            quote @ (b'\'' | b'"') => scanner.scan_quoted(quote),
            c @ (b'|' | b'>') => scanner.scan_block(c == b'|'),
            _ => scanner.scan_plain(),
        }
        .ok()?;
        let token = scanner.tokens.pop_front()?;
        match token.kind {
            TokenKind::Scalar(text, style) => Some((text, style, at..token.end.at as usize, scanner.at)),
            _ => None,
        }
    }

    fn slice(&self, from: usize, to: usize) -> &'a str {
        self.text.get(from..to).unwrap_or_default()
    }

    fn push_scalar(&mut self, value: Cow<'a, str>, style: Style, start: Mark, end: Mark) {
        self.tokens.push_back(Token { kind: TokenKind::Scalar(value, style), start, end });
    }

    pub(super) fn scan_plain(&mut self) -> Result<(), Error> {
        let start = self.mark();
        let mut end = start;
        let indent = self.indent + 1;
        // The copy of a multi-line scalar.
        let mut copy: Option<String> = None;
        let mut breaks = Breaks::default();
        loop {
            self.demand(4)?;
            if self.byte(0) == b'#' || self.at_document_indicator() {
                break;
            }
            let word = self.at;
            self.skip_plain_run();
            if self.at > word {
                self.demand(2)?;
                if breaks.first.is_some() {
                    let copy = copy.get_or_insert_with(|| self.slice(start.at as usize, end.at as usize).to_owned());
                    breaks.fold(copy);
                    copy.push_str(self.slice(word, self.at));
                } else if let Some(copy) = &mut copy {
                    copy.push_str(self.slice(end.at as usize, self.at));
                }
                end = self.mark();
            }
            if !self.is_blank(0) && self.line_break(0) == 0 {
                break;
            }
            self.demand(1)?;
            loop {
                if self.is_blank(0) {
                    if self.byte(0) == b'\t' && breaks.first.is_some() && self.column() < indent {
                        return Err(self.error("found a tab character that violates indentation"));
                    }
                    self.at += 1;
                } else {
                    let width = self.line_break(0);
                    if width == 0 {
                        break;
                    }
                    self.demand(2)?;
                    let line_break = self.skip_break(width);
                    if breaks.first.is_none() {
                        breaks.first = Some(line_break);
                    } else {
                        breaks.more.push(line_break);
                    }
                }
                self.demand(1)?;
            }
            if self.flow_level == 0 && self.column() < indent {
                break;
            }
        }
        if breaks.first.is_some() {
            self.key_allowed = true;
        }
        let value = copy.map_or_else(|| Cow::Borrowed(self.slice(start.at as usize, end.at as usize)), Cow::Owned);
        self.push_scalar(value, Style::Plain, start, end);
        Ok(())
    }

    /// Skips the characters of a plain scalar up to a blank, line break or indicator.
    fn skip_plain_run(&mut self) {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let mut length = 0;
        let mut extra = 0;
        while let Some(c) = rest.get(length) {
            if SPECIAL.get(usize::from(*c)).copied().unwrap_or_default() {
                match c {
                    b':' if !self.is_blankz(length + 1) => {}
                    b',' | b'?' | b'[' | b']' | b'{' | b'}' if self.flow_level == 0 => {}
                    0xc2 | 0xe2 if self.line_break(length) == 0 => {}
                    0x80..=0xbf => extra += 1,
                    _ => break,
                }
            }
            length += 1;
        }
        self.at += length;
        self.extra += extra;
    }

    pub(super) fn scan_quoted(&mut self, quote: u8) -> Result<(), Error> {
        let start = self.mark();
        self.at += 1;
        if !self.source.emulates_chunks
            && let Some((length, extra)) = self.simple_quoted(quote)
        {
            let value = self.slice(self.at, self.at + length);
            self.at += length + 1;
            self.extra += extra;
            let end = self.mark();
            self.push_scalar(Cow::Borrowed(value), Style::Quoted, start, end);
            return Ok(());
        }
        let mut value = String::new();
        let mut breaks = Breaks::default();
        loop {
            self.demand(4)?;
            if self.at_document_indicator() {
                return Err(self.error("found unexpected document indicator"));
            }
            if self.at >= self.bytes.len() {
                return Err(self.error("found unexpected end of stream"));
            }
            let mut continued = false;
            while !self.is_blankz(0) {
                let c = self.byte(0);
                if c == quote {
                    if quote == b'"' || self.byte(1) != quote {
                        break;
                    }
                    value.push('\'');
                    self.at += 2;
                } else if c == b'\\' && quote == b'"' {
                    let width = self.line_break(1);
                    if width > 0 {
                        self.demand(3)?;
                        self.at += 1;
                        self.skip_break(width);
                        continued = true;
                        break;
                    }
                    self.scan_escape(&mut value)?;
                } else {
                    let from = self.at;
                    self.skip();
                    value.push_str(self.slice(from, self.at));
                }
                self.demand(2)?;
            }
            self.demand(1)?;
            if self.byte(0) == quote {
                break;
            }
            let blanks = self.at;
            let mut broken = continued;
            loop {
                if self.is_blank(0) {
                    self.at += 1;
                } else {
                    let width = self.line_break(0);
                    if width == 0 {
                        break;
                    }
                    self.demand(2)?;
                    let line_break = self.skip_break(width);
                    if broken {
                        breaks.more.push(line_break);
                    } else {
                        breaks.first = Some(line_break);
                        broken = true;
                    }
                }
                self.demand(1)?;
            }
            if broken {
                breaks.fold(&mut value);
            } else {
                value.push_str(self.slice(blanks, self.at));
            }
        }
        self.at += 1;
        let end = self.mark();
        self.push_scalar(Cow::Owned(value), Style::Quoted, start, end);
        Ok(())
    }

    /// The length of a quoted scalar on one line without escape sequences, and the number of its continuation bytes.
    fn simple_quoted(&self, quote: u8) -> Option<(usize, usize)> {
        let rest = self.bytes.get(self.at..)?;
        let mut extra = 0;
        for (i, c) in rest.iter().enumerate() {
            match c {
                b'\n' | b'\r' => return None,
                b'\\' if quote == b'"' => return None,
                0xc2 | 0xe2 if self.line_break(i) > 0 => return None,
                0x80..=0xbf => extra += 1,
                c if *c == quote => {
                    let doubled = quote == b'\'' && rest.get(i + 1) == Some(&quote);
                    return (!doubled).then_some((i, extra));
                }
                _ => {}
            }
        }
        None
    }

    fn scan_escape(&mut self, value: &mut String) -> Result<(), Error> {
        let digits = match self.byte(1) {
            b'x' => 2,
            b'u' => 4,
            b'U' => 8,
            c => {
                value.push(match c {
                    b'0' => '\0',
                    b'a' => '\u{7}',
                    b'b' => '\u{8}',
                    b't' | b'\t' => '\t',
                    b'n' => '\n',
                    b'v' => '\u{b}',
                    b'f' => '\u{c}',
                    b'r' => '\r',
                    b'e' => '\u{1b}',
                    b' ' | b'"' | b'\'' | b'\\' => char::from(c),
                    b'N' => '\u{85}',
                    b'_' => '\u{a0}',
                    b'L' => '\u{2028}',
                    b'P' => '\u{2029}',
                    _ => return Err(self.error("found unknown escape character")),
                });
                self.at += 2;
                return Ok(());
            }
        };
        self.at += 2;
        self.demand(digits)?;
        let mut code: u64 = 0;
        for i in 0..digits {
            let Some(digit) = char::from(self.byte(i)).to_digit(16) else {
                return Err(self.error("did not find expected hexdecimal number"));
            };
            code = (code << 4) | u64::from(digit);
        }
        match u32::try_from(code).ok().and_then(char::from_u32) {
            Some(c) => value.push(c),
            None => return Err(self.error("found invalid Unicode character escape code")),
        }
        self.at += digits;
        Ok(())
    }

    pub(super) fn scan_block(&mut self, literal: bool) -> Result<(), Error> {
        let start = self.mark();
        self.at += 1;
        self.demand(1)?;
        let (chomp, increment) = self.block_header()?;
        self.rest_of_line()?;

        let mut end = self.mark();
        let mut indent = if increment > 0 { self.indent.max(0) + increment } else { 0 };
        let mut value = String::new();
        let mut first: Option<char> = None;
        let mut more = String::new();
        self.block_breaks(&mut indent, &mut more, &mut end)?;
        self.demand(1)?;
        let mut after_blank = false;
        while self.column() == indent && self.at < self.bytes.len() {
            let blank = self.is_blank(0);
            // A folded line break becomes a space between two lines that do not begin with a blank.
            if !literal && !after_blank && !blank && first == Some('\n') {
                if more.is_empty() {
                    value.push(' ');
                }
            } else {
                value.extend(first);
            }
            value.push_str(&more);
            more.clear();
            after_blank = blank;

            let line = self.at;
            self.skip_line()?;
            value.push_str(self.slice(line, self.at));
            self.demand(2)?;
            let width = self.line_break(0);
            first = (width > 0).then(|| self.skip_break(width));
            self.block_breaks(&mut indent, &mut more, &mut end)?;
        }
        if chomp != Chomp::Strip {
            value.extend(first);
        }
        if chomp == Chomp::Keep {
            value.push_str(&more);
        }
        self.push_scalar(Cow::Owned(value), Style::Quoted, start, end);
        Ok(())
    }

    /// Scans the header after `|` or `>`: `+` or `-` and a digit, in either order.
    fn block_header(&mut self) -> Result<(Chomp, i32), Error> {
        let mut chomp = Chomp::Clip;
        let mut increment = 0;
        let mut seen_chomp = false;
        let mut seen_digit = false;
        loop {
            match self.byte(0) {
                c @ (b'+' | b'-') if !seen_chomp => {
                    chomp = if c == b'+' { Chomp::Keep } else { Chomp::Strip };
                    seen_chomp = true;
                }
                b'0' if !seen_digit => return Err(self.error("found an indentation indicator equal to 0")),
                c @ b'1'..=b'9' if !seen_digit => {
                    increment = i32::from(c - b'0');
                    seen_digit = true;
                }
                _ => return Ok((chomp, increment)),
            }
            self.at += 1;
            self.demand(1)?;
        }
    }

    /// Skips empty lines and indentation; if the indentation is not known (0), determines it.
    fn block_breaks(&mut self, indent: &mut i32, breaks: &mut String, end: &mut Mark) -> Result<(), Error> {
        *end = self.mark();
        let mut deepest = 0;
        loop {
            self.demand(1)?;
            let mut column = self.column();
            while (*indent == 0 || column < *indent) && self.byte(0) == b' ' {
                self.at += 1;
                column += 1;
                self.demand(1)?;
            }
            deepest = deepest.max(column);
            if (*indent == 0 || column < *indent) && self.byte(0) == b'\t' {
                return Err(self.error("found a tab character where an indentation space is expected"));
            }
            let width = self.line_break(0);
            if width == 0 {
                break;
            }
            self.demand(2)?;
            breaks.push(self.skip_break(width));
            *end = self.mark();
        }
        if *indent == 0 {
            *indent = deepest.max(self.indent + 1).max(1);
        }
        Ok(())
    }
}

/// The bytes at which a plain scalar may end, and those that affect columns.
static SPECIAL: [bool; 256] = {
    let mut table = [false; 256];
    let mut c = 0;
    while c < 0xc0 {
        #[allow(clippy::indexing_slicing)] // a constant index below 0xc0
        {
            table[c] = c >= 0x80
                || matches!(c as u8, b' ' | b'\t' | b'\n' | b'\r' | b':' | b',' | b'?' | b'[' | b']' | b'{' | b'}');
        }
        c += 1;
    }
    table[0xc2] = true;
    table[0xe2] = true;
    table
};

/// The handling of line breaks at the end of a block scalar.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Chomp {
    /// `-`: all are removed.
    Strip,
    /// One is kept.
    Clip,
    /// `+`: all are kept.
    Keep,
}
