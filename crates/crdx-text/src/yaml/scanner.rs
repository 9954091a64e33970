//! Scans text into tokens, including indentation and keys that are recognized by the `:` after them ("simple keys").
//!
//! Follows `scannerc.go`, with its peculiarities: tokens are scanned only on demand, which determines which of two
//! errors is reported; a simple key ends with its line and after 1,024 characters, and if a required one (at the
//! indentation of the mapping) is missing, the error is `could not find expected ':'`; tabs may not indent, but may
//! follow `key:`; errors on the first line have no line number.

mod directive;
mod scalar;

use super::source::CheckedText;
use super::token::{Mark, Token, TokenKind};
use crate::{Error, ErrorKind, Position};
use std::collections::VecDeque;

/// The maximum depth of flow collections and of indentation.
const MAX_DEPTH: usize = 10_000;
/// The maximum length of a simple key, in characters.
const MAX_KEY: usize = 1024;

/// The token after the end of the stream.
static END: Token<'static> =
    Token { kind: TokenKind::StreamEnd, start: Mark { at: 0, line: 0 }, end: Mark { at: 0, line: 0 } };

/// A position at which a simple key (without `?`) may start.
#[derive(Clone, Copy, Default)]
struct SimpleKey {
    possible: bool,
    required: bool,
    /// The number of its first token.
    token: usize,
    mark: Mark,
    index: usize,
    column: i32,
}

/// The scanner. [`Scanner::peek`] and [`Scanner::take`] return tokens one by one.
pub(crate) struct Scanner<'a> {
    source: &'a CheckedText<'a>,
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    /// The number of UTF-8 continuation bytes before `at`; `at - extra` is a number of characters.
    extra: usize,
    line: u32,
    /// The number of characters before this line.
    line_index: usize,
    /// The end of the text that Go's reader would have decoded, and the start of its buffer; maintained only for
    /// [`CheckedText::careful`].
    decoded: usize,
    buffer: usize,

    tokens: VecDeque<Token<'a>>,
    /// The number of tokens taken.
    taken: usize,
    ready: bool,
    started: bool,

    flow_level: usize,
    indent: i32,
    indents: Vec<i32>,
    key_allowed: bool,
    /// The possible simple keys, one per flow level, innermost last.
    keys: Vec<SimpleKey>,
    /// Maps token numbers to indexes in `keys`, ordered by token number.
    keys_by_token: VecDeque<(usize, usize)>,
}

impl<'a> Scanner<'a> {
    /// Creates a scanner at the start of `source`.
    pub fn new(source: &'a CheckedText<'a>) -> Self {
        Self {
            source,
            text: &source.text,
            bytes: source.text.as_bytes(),
            at: source.start,
            extra: source.start,
            line: 0,
            line_index: 0,
            decoded: 0,
            buffer: source.start,
            tokens: VecDeque::new(),
            taken: 0,
            ready: false,
            started: false,
            flow_level: 0,
            indent: -1,
            indents: Vec::new(),
            key_allowed: true,
            keys: vec![SimpleKey::default()],
            keys_by_token: VecDeque::new(),
        }
    }

    /// The next token, without taking it.
    pub fn peek(&mut self) -> Result<&Token<'a>, Error> {
        if !self.ready {
            self.fetch_more()?;
            self.ready = true;
        }
        // The queue is not empty here.
        Ok(self.tokens.front().unwrap_or(&END))
    }

    /// Takes the token returned by [`Scanner::peek`].
    pub fn take(&mut self) -> Option<Token<'a>> {
        self.ready = false;
        self.taken += 1;
        self.tokens.pop_front()
    }

    // Characters

    #[inline]
    fn byte(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn index(&self) -> usize {
        self.at - self.extra
    }

    fn column(&self) -> i32 {
        (self.index() - self.line_index) as i32
    }

    fn mark(&self) -> Mark {
        Mark { at: self.at as u32, line: self.line }
    }

    /// The length in bytes of the line break at `ahead`, 0 if there is none. `\r\n` counts as one.
    #[inline]
    fn line_break(&self, ahead: usize) -> usize {
        match self.byte(ahead) {
            b'\n' => 1,
            b'\r' => 1 + usize::from(self.byte(ahead + 1) == b'\n'),
            0xc2 if self.byte(ahead + 1) == 0x85 => 2,
            0xe2 if self.byte(ahead + 1) == 0x80 && matches!(self.byte(ahead + 2), 0xa8 | 0xa9) => 3,
            _ => 0,
        }
    }

    fn is_blank(&self, ahead: usize) -> bool {
        matches!(self.byte(ahead), b' ' | b'\t')
    }

    /// Returns true for a blank, a line break or the end.
    fn is_blankz(&self, ahead: usize) -> bool {
        matches!(self.byte(ahead), b' ' | b'\t' | b'\n' | b'\r' | 0) || self.line_break(ahead) > 0
    }

    /// Returns true for `---` or `...` alone at the start of a line.
    fn at_document_indicator(&self) -> bool {
        matches!(self.byte(0), b'-' | b'.')
            && self.column() == 0
            && self.byte(1) == self.byte(0)
            && self.byte(2) == self.byte(0)
            && self.is_blankz(3)
    }

    /// Advances by one character, which must not be a line break.
    fn skip(&mut self) {
        let width = match self.byte(0) {
            0..=0xbf => 1,
            0xc0..=0xdf => 2,
            0xe0..=0xef => 3,
            _ => 4,
        };
        self.at += width;
        self.extra += width - 1;
    }

    /// Skips a line break of `width` bytes and returns its character in a scalar.
    fn skip_break(&mut self, width: usize) -> char {
        let lead = self.byte(0);
        let line_break = match (lead, self.byte(2)) {
            (0xe2, 0xa8) => '\u{2028}',
            (0xe2, _) => '\u{2029}',
            _ => '\n',
        };
        self.at += width;
        // `\r\n` counts as two characters, other line breaks as one.
        if lead >= 0x80 {
            self.extra += width - 1;
        }
        self.line += 1;
        self.line_index = self.index();
        line_break
    }

    /// Requests `count` characters from the reader, like Go's scanner.
    ///
    /// # Errors
    /// Returns an error if they contain an invalid character.
    #[inline]
    fn demand(&mut self, count: usize) -> Result<(), Error> {
        if self.source.emulates_chunks { self.demand_in_chunks(count) } else { Ok(()) }
    }

    #[cold]
    fn demand_in_chunks(&mut self, count: usize) -> Result<(), Error> {
        loop {
            let ahead = self.text.get(self.at..self.decoded).unwrap_or_default();
            if self.decoded >= self.at && ahead.chars().take(count).count() == count {
                return Ok(());
            }
            self.buffer = self.at;
            let end = self.source.chunk(self.decoded)?;
            if end == self.decoded {
                return Ok(());
            }
            self.decoded = end;
        }
    }

    /// Creates a scanner error at the current position.
    #[cold]
    fn error(&self, problem: &str) -> Error {
        let location = if self.line > 0 { format!("line {}: ", self.line + 1) } else { String::new() };
        Error::new(format!("yaml: {location}{problem}"), Some(Position::at_offset(self.bytes, self.at)))
    }

    // The token queue

    fn push(&mut self, kind: TokenKind<'a>, start: Mark) {
        let end = self.mark();
        self.tokens.push_back(Token { kind, start, end });
    }

    /// Inserts a token without text before token `number`, or at the end if that token was already taken.
    fn insert(&mut self, kind: TokenKind<'a>, number: usize, mark: Mark) {
        let token = Token { kind, start: mark, end: mark };
        match number.checked_sub(self.taken) {
            Some(i) if i <= self.tokens.len() => self.tokens.insert(i, token),
            _ => self.tokens.push_back(token),
        }
    }

    fn fetch_more(&mut self) -> Result<(), Error> {
        loop {
            if !self.tokens.is_empty() {
                // If a simple key may start at the first token, the scanner must find out whether a `:` follows.
                while self.keys_by_token.front().is_some_and(|(token, _)| *token < self.taken) {
                    self.keys_by_token.pop_front();
                }
                match self.keys_by_token.front() {
                    Some((token, level)) if *token == self.taken => {
                        let level = *level;
                        if !self.key_is_valid(level)? {
                            return Ok(());
                        }
                    }
                    _ => return Ok(()),
                }
            }
            self.fetch()?;
        }
    }

    fn fetch(&mut self) -> Result<(), Error> {
        self.demand(1)?;
        if !self.started {
            self.started = true;
            self.push(TokenKind::StreamStart, self.mark());
            return Ok(());
        }
        self.skip_to_token()?;
        self.unroll_indent(self.column());
        self.demand(4)?;
        let c = self.byte(0);
        if self.at >= self.bytes.len() {
            return self.fetch_stream_end();
        }
        if c == b'%' && self.column() == 0 {
            self.unroll_indent(-1);
            self.remove_key()?;
            self.key_allowed = false;
            return self.scan_directive();
        }
        if self.at_document_indicator() {
            self.unroll_indent(-1);
            self.remove_key()?;
            self.key_allowed = false;
            let start = self.mark();
            self.at += 3;
            self.push(if c == b'-' { TokenKind::DocumentStart } else { TokenKind::DocumentEnd }, start);
            return Ok(());
        }
        let in_flow = self.flow_level > 0;
        match c {
            b'[' => self.fetch_flow_start(TokenKind::FlowSequenceStart),
            b'{' => self.fetch_flow_start(TokenKind::FlowMappingStart),
            b']' => self.fetch_flow_end(TokenKind::FlowSequenceEnd),
            b'}' => self.fetch_flow_end(TokenKind::FlowMappingEnd),
            b',' => {
                self.remove_key()?;
                self.key_allowed = true;
                self.push_indicator(TokenKind::FlowEntry);
                Ok(())
            }
            b'-' if self.is_blankz(1) => self.fetch_block_entry(),
            b'?' if in_flow || self.is_blankz(1) => self.fetch_key(),
            b':' if in_flow || self.is_blankz(1) => self.fetch_value(),
            b'*' | b'&' => {
                self.save_key()?;
                self.key_allowed = false;
                self.scan_anchor(if c == b'*' { TokenKind::Alias } else { TokenKind::Anchor })
            }
            b'!' => {
                self.save_key()?;
                self.key_allowed = false;
                self.scan_tag()
            }
            b'|' | b'>' if !in_flow => {
                self.remove_key()?;
                self.key_allowed = true;
                self.scan_block(c == b'|')
            }
            b'\'' | b'"' => {
                self.save_key()?;
                self.key_allowed = false;
                self.scan_quoted(c)
            }
            b' ' | b'\t' | b'\n' | b'\r' | b'#' | b'|' | b'>' | b'%' | b'@' | b'`' => {
                Err(self.error("found character that cannot start any token").of_kind(ErrorKind::TokenStart))
            }
            0xc2 | 0xe2 if self.line_break(0) > 0 => {
                Err(self.error("found character that cannot start any token").of_kind(ErrorKind::TokenStart))
            }
            _ => {
                self.save_key()?;
                self.key_allowed = false;
                self.scan_plain()
            }
        }
    }

    /// Skips white space, comments and line breaks.
    fn skip_to_token(&mut self) -> Result<(), Error> {
        loop {
            self.demand(1)?;
            if self.source.emulates_chunks && self.column() == 0 && self.source.has_bom(self.buffer) {
                // Go checks the start of its buffer instead of the current character.
                if self.at < self.bytes.len() {
                    self.skip();
                }
                self.demand(1)?;
            }
            let tabs = self.flow_level > 0 || !self.key_allowed;
            while self.byte(0) == b' ' || (tabs && self.byte(0) == b'\t') {
                self.at += 1;
                self.demand(1)?;
            }
            if self.byte(0) == b'#' {
                self.skip_line()?;
            }
            let width = self.line_break(0);
            if width == 0 {
                return Ok(());
            }
            self.demand(2)?;
            self.skip_break(width);
            if self.flow_level == 0 {
                self.key_allowed = true;
            }
        }
    }

    /// Skips the rest of the line.
    fn skip_line(&mut self) -> Result<(), Error> {
        loop {
            match self.byte(0) {
                b'\n' | b'\r' => break,
                0 if self.at >= self.bytes.len() => break,
                0xc2 | 0xe2 if self.line_break(0) > 0 => break,
                0..=0x7f => self.at += 1,
                _ => self.skip(),
            }
        }
        self.demand(1)
    }

    // Simple keys

    fn key_is_valid(&mut self, level: usize) -> Result<bool, Error> {
        let (line, index) = (self.line, self.index());
        let Some(key) = self.keys.get_mut(level) else { return Ok(false) };
        if !key.possible {
            return Ok(false);
        }
        if key.mark.line < line || key.index + MAX_KEY < index {
            if key.required {
                return Err(self.error("could not find expected ':'"));
            }
            key.possible = false;
            return Ok(false);
        }
        Ok(true)
    }

    /// Records that a simple key may start here, if one is allowed.
    fn save_key(&mut self) -> Result<(), Error> {
        if !self.key_allowed {
            return Ok(());
        }
        let column = self.column();
        let required = self.flow_level == 0 && self.indent == column;
        let token = self.taken + self.tokens.len();
        let key = SimpleKey { possible: true, required, token, mark: self.mark(), index: self.index(), column };
        self.remove_key()?;
        if let Some(last) = self.keys.last_mut() {
            *last = key;
        }
        self.keys_by_token.push_back((token, self.keys.len() - 1));
        Ok(())
    }

    /// Discards the possible simple key of this flow level.
    fn remove_key(&mut self) -> Result<(), Error> {
        let Some(key) = self.keys.last_mut() else { return Ok(()) };
        if key.possible {
            if key.required {
                return Err(self.error("could not find expected ':'"));
            }
            key.possible = false;
            let token = key.token;
            self.forget_key(token);
        }
        Ok(())
    }

    fn forget_key(&mut self, token: usize) {
        if let Some(i) = self.keys_by_token.iter().rposition(|(t, _)| *t <= token)
            && self.keys_by_token.get(i).is_some_and(|(t, _)| *t == token)
        {
            self.keys_by_token.remove(i);
        }
    }

    // Indentation

    /// Increases the indentation to `column` if that is deeper, and inserts `kind` before token `number`.
    fn roll_indent(&mut self, column: i32, number: usize, kind: TokenKind<'a>, mark: Mark) -> Result<(), Error> {
        if self.flow_level > 0 || self.indent >= column {
            return Ok(());
        }
        self.indents.push(self.indent);
        self.indent = column;
        if self.indents.len() > MAX_DEPTH {
            return Err(self.error("exceeded max depth of 10000"));
        }
        self.insert(kind, number, mark);
        Ok(())
    }

    fn unroll_indent(&mut self, column: i32) {
        if self.flow_level > 0 {
            return;
        }
        while self.indent > column {
            self.push(TokenKind::BlockEnd, self.mark());
            self.indent = self.indents.pop().unwrap_or(-1);
        }
    }

    // Tokens of one character

    fn push_indicator(&mut self, kind: TokenKind<'a>) {
        let start = self.mark();
        self.at += 1;
        self.push(kind, start);
    }

    fn last_number(&self) -> usize {
        self.taken + self.tokens.len()
    }

    fn fetch_stream_end(&mut self) -> Result<(), Error> {
        if self.column() != 0 {
            self.line += 1;
            self.line_index = self.index();
        }
        self.unroll_indent(-1);
        self.remove_key()?;
        self.key_allowed = false;
        self.push(TokenKind::StreamEnd, self.mark());
        Ok(())
    }

    fn fetch_flow_start(&mut self, kind: TokenKind<'a>) -> Result<(), Error> {
        self.save_key()?;
        // The key of the new level has the number of this token, so that leaving the level discards the key that the
        // collection itself may be. This follows Go; `[]: x` depends on it.
        let token = self.last_number();
        self.keys.push(SimpleKey { token, ..SimpleKey::default() });
        self.flow_level += 1;
        if self.flow_level > MAX_DEPTH {
            return Err(self.error("exceeded max depth of 10000"));
        }
        self.key_allowed = true;
        self.push_indicator(kind);
        Ok(())
    }

    fn fetch_flow_end(&mut self, kind: TokenKind<'a>) -> Result<(), Error> {
        self.remove_key()?;
        if self.flow_level > 0 {
            self.flow_level -= 1;
            if let Some(key) = self.keys.pop() {
                self.forget_key(key.token);
            }
        }
        self.key_allowed = false;
        self.push_indicator(kind);
        Ok(())
    }

    fn fetch_block_entry(&mut self) -> Result<(), Error> {
        if self.flow_level == 0 {
            if !self.key_allowed {
                return Err(self.error("block sequence entries are not allowed in this context"));
            }
            self.roll_indent(self.column(), self.last_number(), TokenKind::BlockSequenceStart, self.mark())?;
        }
        self.remove_key()?;
        self.key_allowed = true;
        self.push_indicator(TokenKind::BlockEntry);
        Ok(())
    }

    fn fetch_key(&mut self) -> Result<(), Error> {
        if self.flow_level == 0 {
            if !self.key_allowed {
                return Err(self.error("mapping keys are not allowed in this context"));
            }
            self.roll_indent(self.column(), self.last_number(), TokenKind::BlockMappingStart, self.mark())?;
        }
        self.remove_key()?;
        self.key_allowed = self.flow_level == 0;
        self.push_indicator(TokenKind::Key);
        Ok(())
    }

    fn fetch_value(&mut self) -> Result<(), Error> {
        let level = self.keys.len() - 1;
        if self.key_is_valid(level)? {
            let key = self.keys.last().copied().unwrap_or_default();
            self.insert(TokenKind::Key, key.token, key.mark);
            self.roll_indent(key.column, key.token, TokenKind::BlockMappingStart, key.mark)?;
            if let Some(key) = self.keys.last_mut() {
                key.possible = false;
            }
            self.forget_key(key.token);
            self.key_allowed = false;
        } else {
            if self.flow_level == 0 {
                if !self.key_allowed {
                    return Err(self.error("mapping values are not allowed in this context"));
                }
                self.roll_indent(self.column(), self.last_number(), TokenKind::BlockMappingStart, self.mark())?;
            }
            self.key_allowed = self.flow_level == 0;
        }
        self.push_indicator(TokenKind::Value);
        Ok(())
    }
}
