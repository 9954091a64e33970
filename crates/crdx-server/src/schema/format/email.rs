//! Email addresses as parsed by `net/mail.ParseAddress`: `a@b`, `Name <a@b>`, `"quoted"@[1.2.3.4] (comment)`, and a
//! group with one address.

use std::net::IpAddr;

/// Returns true if the text is a single address.
pub(crate) fn is_address(text: &str) -> bool {
    let mut reader = AddressReader { rest: text.as_bytes() };
    reader.address(true) == Some(1) && reader.skip_comments().is_some() && reader.rest.is_empty()
}

/// Parses bytes; only ASCII characters are significant, and all others are treated like letters.
#[derive(Clone, Copy)]
struct AddressReader<'a> {
    rest: &'a [u8],
}

impl<'a> AddressReader<'a> {
    fn peek(&self) -> Option<u8> {
        self.rest.first().copied()
    }

    fn skip(&mut self) {
        self.rest = self.rest.get(1..).unwrap_or(&[]);
    }

    fn consume(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        if found {
            self.skip();
        }
        found
    }

    fn skip_space(&mut self) {
        while let Some(b' ' | b'\t') = self.peek() {
            self.skip();
        }
    }

    fn skip_comments(&mut self) -> Option<()> {
        self.skip_space();
        while self.consume(b'(') {
            self.comment()?;
            self.skip_space();
        }
        Some(())
    }

    /// Reads a comment up to its closing parenthesis.
    fn comment(&mut self) -> Option<Vec<u8>> {
        let mut depth = 1;
        let mut text = Vec::new();
        while depth > 0 {
            match self.peek()? {
                b'\\' if self.rest.len() > 1 => self.skip(),
                b'(' => depth += 1,
                b')' => depth -= 1,
                _ => {}
            }
            if depth > 0 {
                text.extend(self.peek());
            }
            self.skip();
        }
        Some(text)
    }

    /// Parses an address or, if allowed, a group; returns the number of addresses.
    fn address(&mut self, group_allowed: bool) -> Option<usize> {
        self.skip_space();
        self.peek()?;
        let start = *self;
        if self.spec().is_some() {
            self.skip_space();
            if self.consume(b'(') {
                let comment = self.comment()?;
                for word in comment.split(|b| matches!(b, b' ' | b'\t')) {
                    if let Word::UnknownCharset = decode(word) {
                        return None;
                    }
                }
            }
            return Some(1);
        }
        *self = start;
        if self.peek() != Some(b'<') {
            self.phrase()?;
        }
        self.skip_space();
        if group_allowed && self.consume(b':') {
            return self.group();
        }
        (self.consume(b'<') && self.spec().is_some() && self.consume(b'>')).then_some(1)
    }

    fn group(&mut self) -> Option<usize> {
        let mut count = 0;
        self.skip_space();
        if !self.consume(b';') {
            loop {
                self.skip_space();
                count += self.address(false)?;
                self.skip_comments()?;
                if self.consume(b';') {
                    break;
                }
                if !self.consume(b',') {
                    return None;
                }
            }
        }
        self.skip_comments()?;
        Some(count)
    }

    /// Parses `local@domain`.
    fn spec(&mut self) -> Option<()> {
        self.skip_space();
        if self.peek()? == b'"' {
            if self.quoted()? == 0 {
                return None;
            }
        } else {
            dot_atom(self.atom()?)?;
        }
        if !self.consume(b'@') {
            return None;
        }
        self.skip_space();
        if self.consume(b'[') {
            let end = self.rest.iter().position(|b| *b == b']')?;
            let (literal, rest) = self.rest.split_at_checked(end)?;
            self.rest = rest.get(1..).unwrap_or(&[]);
            return std::str::from_utf8(literal).ok()?.parse::<IpAddr>().is_ok().then_some(());
        }
        dot_atom(self.atom()?)
    }

    /// Parses a quoted string; returns its approximate length.
    fn quoted(&mut self) -> Option<usize> {
        self.skip();
        let mut length = 0;
        let mut escaped = false;
        loop {
            let byte = self.peek()?;
            self.skip();
            match byte {
                _ if !is_visible(byte) && !matches!(byte, b' ' | b'\t') => return None,
                b'"' if !escaped => return Some(length),
                b'\\' if !escaped => escaped = true,
                _ => {
                    length += 1;
                    escaped = false;
                }
            }
        }
    }

    fn atom(&mut self) -> Option<&'a [u8]> {
        let end = self.rest.iter().position(|b| !is_atom(*b)).unwrap_or(self.rest.len());
        let (atom, rest) = self.rest.split_at_checked(end).filter(|(atom, _)| !atom.is_empty())?;
        self.rest = rest;
        Some(atom)
    }

    /// Parses a phrase of at least one word.
    fn phrase(&mut self) -> Option<()> {
        let mut words = 0;
        // Adjacent encoded words count as one word, and as none while they are empty.
        let mut encoded = false;
        loop {
            if words > 0 {
                self.skip_comments()?;
            }
            self.skip_space();
            if self.rest.is_empty() {
                return Some(());
            }
            let start = *self;
            let word =
                if self.peek() == Some(b'"') { self.quoted().map(|_| Word::Plain) } else { self.atom().map(decode) };
            match word {
                Some(Word::Plain) => words += 1,
                Some(Word::Decoded { empty }) => encoded |= !empty,
                Some(Word::UnknownCharset) => break,
                None => {
                    *self = start;
                    break;
                }
            }
        }
        (words > 0 || encoded).then_some(())
    }
}

fn is_visible(byte: u8) -> bool {
    (b'!'..=b'~').contains(&byte) || byte >= 0x80
}

fn is_atom(byte: u8) -> bool {
    is_visible(byte) && !b"()<>[]:;@\\,\"".contains(&byte)
}

/// Returns `None` if a dot is at either end or follows another dot.
fn dot_atom(atom: &[u8]) -> Option<()> {
    atom.split(|b| *b == b'.').all(|part| !part.is_empty()).then_some(())
}

/// The result of decoding an encoded word (`=?utf-8?q?a?=`).
enum Word {
    /// Not an encoded word, or a malformed one, which is taken literally.
    Plain,
    /// A decoded word.
    Decoded { empty: bool },
    /// A well-formed word in a character set that Go does not support.
    UnknownCharset,
}

fn decode(word: &[u8]) -> Word {
    let parts: Vec<&[u8]> = word.split(|b| *b == b'?').collect();
    let [b"=", charset, encoding, text, b"="] = parts.as_slice() else { return Word::Plain };
    if word.len() < 8 || charset.is_empty() {
        return Word::Plain;
    }
    let right = match *encoding {
        b"q" | b"Q" => is_quoted_printable(text),
        b"b" | b"B" => is_base64(text),
        _ => false,
    };
    if !right {
        return Word::Plain;
    }
    let known = ["utf-8", "iso-8859-1", "us-ascii"].iter().any(|name| name.as_bytes().eq_ignore_ascii_case(charset));
    if known { Word::Decoded { empty: text.is_empty() } } else { Word::UnknownCharset }
}

fn is_quoted_printable(mut text: &[u8]) -> bool {
    while let Some((first, rest)) = text.split_first() {
        text = match (first, rest) {
            (b'=', [high, low, rest @ ..]) if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => rest,
            (b'=', _) => return false,
            (b' '..=b'~' | b'\t' | b'\r' | b'\n', rest) => rest,
            _ => return false,
        };
    }
    true
}

fn is_base64(text: &[u8]) -> bool {
    let text: Vec<u8> = text.iter().copied().filter(|b| !matches!(b, b'\r' | b'\n')).collect();
    let body = text.strip_suffix(b"==").or_else(|| text.strip_suffix(b"=")).unwrap_or(&text);
    text.len().is_multiple_of(4)
        && (body.len() == text.len() || body.len() % 4 > 1)
        && body.iter().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/'))
}
