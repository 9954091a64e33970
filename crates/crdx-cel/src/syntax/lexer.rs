//! The lexer, which makes the same choices as cel-go's generated lexer: the longest token wins; if no token matches,
//! the text up to and including the first invalid character is reported and skipped.

use super::ParserVersion;
use super::token::{Token, TokenKind};

/// A range of text that is not a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadText {
    /// The byte offset of the start.
    pub start: usize,
    /// The byte offset of the end of the text to report.
    pub end: usize,
    /// The code point offset of the first character.
    pub offset: u32,
}

/// Splits a source into tokens.
#[derive(Clone, Debug)]
pub struct Lexer<'s> {
    source: &'s str,
    bytes: &'s [u8],
    at: usize,
    offset: u32,
    version: ParserVersion,
}

/// The result of scanning a string literal from its opening quote.
enum StringScan {
    /// The string ends before this byte.
    Ends(usize),
    /// The string is invalid at this byte (an invalid character, or the end of the source).
    Breaks(usize),
}

impl<'s> Lexer<'s> {
    /// Creates a lexer at the beginning of a source.
    pub fn new(source: &'s str, version: ParserVersion) -> Self {
        Self { source, bytes: source.as_bytes(), at: 0, offset: 0, version }
    }

    fn byte(&self, at: usize) -> u8 {
        self.bytes.get(at).copied().unwrap_or(0)
    }

    fn skip_while(&self, mut at: usize, keep: impl Fn(u8) -> bool) -> usize {
        while self.bytes.get(at).is_some_and(|&b| keep(b)) {
            at += 1;
        }
        at
    }

    /// Advances to `end` and returns the token that ends there.
    fn token(&mut self, kind: TokenKind, end: usize) -> Token {
        let token = Token { kind, start: self.at as u32, end: end as u32, offset: self.offset };
        self.move_to(end);
        token
    }

    fn move_to(&mut self, end: usize) {
        let passed = self.bytes.get(self.at..end).unwrap_or_default();
        self.offset += passed.iter().filter(|&&b| b & 0xC0 != 0x80).count() as u32;
        self.at = end;
    }

    /// The text up to and including the invalid character at `end`.
    fn bad(&mut self, end: usize) -> BadText {
        let width = self.source.get(end..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
        let bad = BadText { start: self.at, end: end + width, offset: self.offset };
        self.move_to(end + width);
        bad
    }

    /// The next token, including white space and comments; [`TokenKind::Eof`] at the end and on every later call.
    pub(crate) fn next_token(&mut self) -> Result<Token, BadText> {
        let at = self.at;
        let Some(&first) = self.bytes.get(at) else { return Ok(self.token(TokenKind::Eof, at)) };
        let next = self.byte(at + 1);
        let (kind, length) = match first {
            b'\t' | b' ' | b'\r' | b'\n' | 0x0C => {
                let end = self.skip_while(at, |b| matches!(b, b'\t' | b' ' | b'\r' | b'\n' | 0x0C));
                return Ok(self.token(TokenKind::Whitespace, end));
            }
            b'/' if next == b'/' => {
                let end = self.skip_while(at, |b| b != b'\n');
                return Ok(self.token(TokenKind::Comment, end));
            }
            b'=' if next == b'=' => (TokenKind::Equals, 2),
            b'!' if next == b'=' => (TokenKind::NotEquals, 2),
            b'<' if next == b'=' => (TokenKind::LessEquals, 2),
            b'>' if next == b'=' => (TokenKind::GreaterEquals, 2),
            b'&' if next == b'&' => (TokenKind::And, 2),
            b'|' if next == b'|' => (TokenKind::Or, 2),
            b'=' | b'&' | b'|' => return Err(self.bad(at + 1)),
            b'<' => (TokenKind::Less, 1),
            b'>' => (TokenKind::Greater, 1),
            b'[' => (TokenKind::LeftBracket, 1),
            b']' => (TokenKind::RightBracket, 1),
            b'{' => (TokenKind::LeftBrace, 1),
            b'}' => (TokenKind::RightBrace, 1),
            b'(' => (TokenKind::LeftParen, 1),
            b')' => (TokenKind::RightParen, 1),
            b',' => (TokenKind::Comma, 1),
            b'-' => (TokenKind::Minus, 1),
            b'!' => (TokenKind::Exclamation, 1),
            b'?' => (TokenKind::QuestionMark, 1),
            b':' => (TokenKind::Colon, 1),
            b'+' => (TokenKind::Plus, 1),
            b'*' => (TokenKind::Star, 1),
            b'/' => (TokenKind::Slash, 1),
            b'%' => (TokenKind::Percent, 1),
            b'.' if next.is_ascii_digit() => {
                let end = self.exponent(self.skip_while(at + 1, |b| b.is_ascii_digit()));
                return Ok(self.token(TokenKind::Float, end));
            }
            b'.' => (TokenKind::Dot, 1),
            b'0'..=b'9' => {
                let (kind, end) = self.number();
                return Ok(self.token(kind, end));
            }
            b'"' | b'\'' => {
                return match self.string(at, false) {
                    StringScan::Ends(end) => Ok(self.token(TokenKind::String, end)),
                    StringScan::Breaks(end) => Err(self.bad(end)),
                };
            }
            b'`' if self.version.has_backquotes() => {
                let fits = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-' | b'/' | b' ');
                let end = self.skip_while(at + 1, fits);
                if end > at + 1 && self.byte(end) == b'`' {
                    return Ok(self.token(TokenKind::EscapedIdentifier, end + 1));
                }
                return Err(self.bad(end));
            }
            b'A'..=b'Z' | b'a'..=b'z' | b'_' => return Ok(self.word()),
            _ => return Err(self.bad(at)),
        };
        Ok(self.token(kind, at + length))
    }

    /// Scans an identifier, a keyword, or a string with a prefix.
    fn word(&mut self) -> Token {
        let at = self.at;
        let end = self.skip_while(at, |b| b.is_ascii_alphanumeric() || b == b'_');
        let word = self.bytes.get(at..end).unwrap_or_default();
        if word.len() <= 2 && matches!(self.byte(end), b'"' | b'\'') {
            let (bytes, raw) = match word {
                [b'b' | b'B'] => (true, false),
                [b'r' | b'R'] => (false, true),
                [b'b' | b'B', b'r' | b'R'] => (true, true),
                _ => (false, false),
            };
            if (bytes || raw)
                && let StringScan::Ends(end) = self.string(end, raw)
            {
                return self.token(if bytes { TokenKind::Bytes } else { TokenKind::String }, end);
            }
        }
        let kind = match word {
            b"in" => TokenKind::In,
            b"true" => TokenKind::True,
            b"false" => TokenKind::False,
            b"null" => TokenKind::Null,
            _ => TokenKind::Identifier,
        };
        self.token(kind, end)
    }

    fn number(&self) -> (TokenKind, usize) {
        let is_unsigned = |at| matches!(self.byte(at), b'u' | b'U');
        if self.byte(self.at) == b'0' && self.byte(self.at + 1) == b'x' {
            let end = self.skip_while(self.at + 2, |b| b.is_ascii_hexdigit());
            if end > self.at + 2 {
                return if is_unsigned(end) { (TokenKind::Uint, end + 1) } else { (TokenKind::Int, end) };
            }
        }
        let end = self.skip_while(self.at, |b| b.is_ascii_digit());
        if is_unsigned(end) {
            return (TokenKind::Uint, end + 1);
        }
        if self.byte(end) == b'.' && self.byte(end + 1).is_ascii_digit() {
            return (TokenKind::Float, self.exponent(self.skip_while(end + 1, |b| b.is_ascii_digit())));
        }
        let after = self.exponent(end);
        if after > end { (TokenKind::Float, after) } else { (TokenKind::Int, end) }
    }

    /// The end of an exponent that starts at `at`; `at` if there is none.
    fn exponent(&self, at: usize) -> usize {
        if !matches!(self.byte(at), b'e' | b'E') {
            return at;
        }
        let digits = if matches!(self.byte(at + 1), b'+' | b'-') { at + 2 } else { at + 1 };
        let end = self.skip_while(digits, |b| b.is_ascii_digit());
        if end > digits { end } else { at }
    }

    /// Scans a string literal whose opening quote is at `open`.
    fn string(&self, open: usize, raw: bool) -> StringScan {
        let quote = self.byte(open);
        if self.byte(open + 1) == quote {
            // Two quotes are followed by a third, or are an empty string.
            if self.byte(open + 2) == quote
                && let StringScan::Ends(end) = self.triple_quoted(open + 3, quote, raw)
            {
                return StringScan::Ends(end);
            }
            return StringScan::Ends(open + 2);
        }
        let mut at = open + 1;
        loop {
            match self.bytes.get(at) {
                None | Some(b'\n' | b'\r') => return StringScan::Breaks(at),
                Some(&b) if b == quote => return StringScan::Ends(at + 1),
                Some(b'\\') if !raw => match self.escape(at) {
                    Ok(end) => at = end,
                    Err(breaks) => return StringScan::Breaks(breaks),
                },
                Some(_) => at += 1,
            }
        }
    }

    fn triple_quoted(&self, mut at: usize, quote: u8, raw: bool) -> StringScan {
        loop {
            match self.bytes.get(at) {
                None => return StringScan::Breaks(at),
                Some(&b) if b == quote && self.byte(at + 1) == quote && self.byte(at + 2) == quote => {
                    return StringScan::Ends(at + 3);
                }
                Some(b'\\') if !raw => match self.escape(at) {
                    Ok(end) => at = end,
                    Err(breaks) => return StringScan::Breaks(breaks),
                },
                Some(_) => at += 1,
            }
        }
    }

    /// The end of the escape sequence at `at`.
    ///
    /// # Errors
    /// Returns the byte offset at which the sequence is invalid.
    fn escape(&self, at: usize) -> Result<usize, usize> {
        let digits = |count: usize, fits: fn(u8) -> bool| {
            let from = at + 2;
            let end = self.skip_while(from, fits).min(from + count);
            if end == from + count { Ok(end) } else { Err(end) }
        };
        match self.byte(at + 1) {
            b'a' | b'b' | b'f' | b'n' | b'r' | b't' | b'v' | b'"' | b'\'' | b'\\' | b'?' | b'`' => Ok(at + 2),
            b'x' | b'X' => digits(2, |b| b.is_ascii_hexdigit()),
            b'u' => digits(4, |b| b.is_ascii_hexdigit()),
            b'U' => digits(8, |b| b.is_ascii_hexdigit()),
            b'0'..=b'3' => digits(2, |b| matches!(b, b'0'..=b'7')),
            _ => Err(at + 1),
        }
    }
}
