//! The syntax errors of `encoding/json` since Go 1.27, with which Kubernetes 1.38 is built. It accepts the same texts as before, but
//! names characters instead of bytes, and an incomplete token is the end of the input.
//!
//! Source: `jsontext/decode.go`, `internal/jsonwire` and `v2_scanner.go` of `encoding/json`.

use super::MAX_DEPTH;
use crdx_value::{GoError, quote};

const END: &str = "unexpected end of JSON input";

/// The first syntax error of a JSON text; `None` if it has none.
pub fn syntax_error(text: &[u8]) -> Option<GoError> {
    let mut scanner = Scanner { text, at: 0 };
    scanner.only_value().err()
}

/// Checks the grammar of a text. Containers are on an explicit stack, so that deep nesting cannot overflow the call stack.
struct Scanner<'a> {
    text: &'a [u8],
    at: usize,
}

#[derive(Clone, Copy, PartialEq)]
enum Container {
    Array,
    Object,
}

impl Container {
    /// The character that ends it, and the place of an unexpected character after one of its values.
    const fn end(self) -> (u8, &'static str) {
        match self {
            Self::Array => (b']', "after array element"),
            Self::Object => (b'}', "after object key:value pair"),
        }
    }
}

impl Scanner<'_> {
    fn only_value(&mut self) -> Result<(), GoError> {
        let mut open = Vec::new();
        loop {
            self.skip_space();
            let complete = match self.next_or_end()? {
                b'[' => self.enter(Container::Array, &mut open)?,
                b'{' => self.enter(Container::Object, &mut open)?,
                _ => {
                    self.scalar()?;
                    true
                }
            };
            if complete && self.after_value(&mut open)? {
                break;
            }
        }
        self.skip_space();
        if self.at < self.text.len() { Err(self.unexpected("after top-level value")) } else { Ok(()) }
    }

    /// Reads the start of a container, and the first key of an object; true if the container is empty, which completes it.
    fn enter(&mut self, container: Container, open: &mut Vec<Container>) -> Result<bool, GoError> {
        if open.len() == MAX_DEPTH {
            return Err("exceeded max depth".into());
        }
        self.at += 1;
        self.skip_space();
        if self.next_or_end()? == container.end().0 {
            self.at += 1;
            return Ok(true);
        }
        open.push(container);
        if container == Container::Object {
            self.key()?;
        }
        Ok(false)
    }

    /// Reads what follows a value, up to the next value; true at the end of the outermost value.
    fn after_value(&mut self, open: &mut Vec<Container>) -> Result<bool, GoError> {
        while let Some(container) = open.last() {
            let (end, place) = container.end();
            self.skip_space();
            match self.next_or_end()? {
                b',' => {
                    self.at += 1;
                    if *container == Container::Object {
                        self.skip_space();
                        self.key()?;
                    }
                    return Ok(false);
                }
                c if c == end => {
                    self.at += 1;
                    open.pop();
                }
                _ => return Err(self.unexpected(place)),
            }
        }
        Ok(true)
    }

    fn key(&mut self) -> Result<(), GoError> {
        if self.next_or_end()? != b'"' {
            return Err(self.unexpected("looking for beginning of object key string"));
        }
        self.string()?;
        self.skip_space();
        if self.next_or_end()? != b':' {
            return Err(self.unexpected("after object key"));
        }
        self.at += 1;
        Ok(())
    }

    fn scalar(&mut self) -> Result<(), GoError> {
        match self.next_or_end()? {
            b'n' => self.literal("null"),
            b'f' => self.literal("false"),
            b't' => self.literal("true"),
            b'"' => self.string(),
            b'-' | b'0'..=b'9' => self.number(),
            _ => Err(self.unexpected("looking for beginning of value")),
        }
    }

    fn literal(&mut self, word: &str) -> Result<(), GoError> {
        for expected in word.bytes() {
            if self.next_or_end()? != expected {
                return Err(self.unexpected(&format!("in literal {word} (expecting '{}')", char::from(expected))));
            }
            self.at += 1;
        }
        Ok(())
    }

    fn number(&mut self) -> Result<(), GoError> {
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        if self.next_or_end()? == b'0' {
            self.at += 1;
        } else {
            self.digits()?;
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.peek() {
            self.at += 1;
            if let Some(b'+' | b'-') = self.peek() {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(())
    }

    /// Reads at least one digit.
    fn digits(&mut self) -> Result<(), GoError> {
        if !self.next_or_end()?.is_ascii_digit() {
            return Err(self.unexpected("in numeric literal"));
        }
        while self.peek().is_some_and(|c| c.is_ascii_digit()) {
            self.at += 1;
        }
        Ok(())
    }

    fn string(&mut self) -> Result<(), GoError> {
        self.at += 1;
        loop {
            match self.next_or_end()? {
                b'"' => {
                    self.at += 1;
                    return Ok(());
                }
                b'\\' => self.escape_sequence()?,
                c if c < b' ' => return Err(self.unexpected("in string")),
                _ => self.at += 1,
            }
        }
    }

    fn escape_sequence(&mut self) -> Result<(), GoError> {
        let rest = self.rest();
        let length = match rest.get(1) {
            None => return Err(END.into()),
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => 2,
            Some(b'u') => {
                let digits = rest.get(2..).unwrap_or_default().iter().take(4);
                let valid = digits.clone().all(u8::is_ascii_hexdigit);
                match digits.count() {
                    4 if valid => 6,
                    0..4 if valid => return Err(END.into()),
                    count => return Err(invalid_escape_sequence(rest.get(..2 + count).unwrap_or(rest))),
                }
            }
            Some(_) => return Err(invalid_escape_sequence(rest.get(..2).unwrap_or(rest))),
        };
        self.at += length;
        Ok(())
    }

    fn rest(&self) -> &[u8] {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn next_or_end(&self) -> Result<u8, GoError> {
        self.peek().ok_or_else(|| END.into())
    }

    fn skip_space(&mut self) {
        while let Some(b' ' | b'\t' | b'\r' | b'\n') = self.peek() {
            self.at += 1;
        }
    }

    /// The error `invalid character 'x' …` at the current character.
    fn unexpected(&self, place: &str) -> GoError {
        format!("invalid character {} {place}", quoted_character(self.rest())).into()
    }
}

/// `strconv.QuoteRune` of the first character, or a byte that is not UTF-8 as `'\xff'`.
fn quoted_character(text: &[u8]) -> String {
    let valid = text.utf8_chunks().next().map_or("", |chunk| chunk.valid());
    match (valid.chars().next(), text.first()) {
        (Some('\''), _) => "'\\''".to_owned(),
        (Some('"'), _) => "'\"'".to_owned(),
        (Some(c), _) => format!("'{}'", quote::go_quote(c.encode_utf8(&mut [0; 4])).trim_matches('"')),
        (None, byte) => format!("'\\x{:x}'", byte.copied().unwrap_or_default()),
    }
}

/// `NewInvalidEscapeSequenceError`: the sequence in backquotes, or quoted if it has a character that cannot be read there.
fn invalid_escape_sequence(sequence: &[u8]) -> GoError {
    let plain = std::str::from_utf8(sequence).ok().filter(|text| {
        !text.chars().any(|c| c == '`' || c == char::REPLACEMENT_CHARACTER || c.is_whitespace() || !quote::is_print(c))
    });
    let shown = plain.map_or_else(|| quote::go_quote_bytes(sequence), |text| format!("`{text}`"));
    format!("invalid escape sequence {shown} in string").into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_those_of_go_1_27() {
        for (text, error) in [
            (&b"\xef\xbb\xbf{}"[..], "invalid character '\\ufeff' looking for beginning of value"),
            (b"\xff", "invalid character '\\xff' looking for beginning of value"),
            (b"{\"a\xf4\x90\x80\x80\"\xe2\x82\xac", "invalid character '\u{20ac}' after object key"),
            (b"{a", "invalid character 'a' looking for beginning of object key string"),
            (b"{\"a\":1 2", "invalid character '2' after object key:value pair"),
            (b"[1 2", "invalid character '2' after array element"),
            (b"[1,]", "invalid character ']' looking for beginning of value"),
            (b"{} 'x'", "invalid character '\\'' after top-level value"),
            (b"\"a\nb\"", "invalid character '\\n' in string"),
            (b"\"\\x\"", "invalid escape sequence `\\x` in string"),
            (b"\"\\\t\"", "invalid escape sequence \"\\\\\\t\" in string"),
            (b"\"\\u12x4\"", "invalid escape sequence `\\u12x4` in string"),
            (b"\"\\u1", END),
            (b"tru ", "invalid character ' ' in literal true (expecting 'e')"),
            (b"tru", END),
            (b"-x", "invalid character 'x' in numeric literal"),
            (b"1.\"", "invalid character '\"' in numeric literal"),
            (b"1e+ ", "invalid character ' ' in numeric literal"),
            (b"01", "invalid character '1' after top-level value"),
            (b"{\"a\":", END),
            (b"", END),
        ] {
            assert_eq!(
                syntax_error(text).as_ref().map(GoError::as_str),
                Some(error),
                "{}",
                String::from_utf8_lossy(text)
            );
        }
    }

    #[test]
    fn valid_texts_have_no_error() {
        for text in ["null", " [ ] ", r#"{"a":[1,-2.5e+3,{"b":"\u00e9\n"}],"a":true}"#, "\"\\ud800\""] {
            assert_eq!(syntax_error(text.as_bytes()), None, "{text}");
        }
        assert_eq!(syntax_error(b"\"\xff\""), None);
        let deep = |depth| "[".repeat(depth) + &"]".repeat(depth);
        assert_eq!(syntax_error(deep(MAX_DEPTH).as_bytes()), None);
        assert_eq!(
            syntax_error(deep(MAX_DEPTH + 1).as_bytes()).as_ref().map(GoError::as_str),
            Some("exceeded max depth")
        );
    }
}
