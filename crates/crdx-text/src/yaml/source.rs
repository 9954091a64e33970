//! The text to scan, and the first character that Go's reader would reject.
//!
//! Go decodes 512 bytes at a time, on demand of the scanner. An invalid character is therefore an error before the
//! scanner reaches it, and whether this error or a scanner error is reported depends on the chunk boundaries. For texts
//! without such characters (nearly all) this is not relevant, and [`CheckedText::emulates_chunks`] is false.

use crate::{Error, ErrorKind, Position, contains};
use std::borrow::Cow;

const CHUNK: usize = 512;
/// The number of bytes in which rejected characters are searched for at once.
const PIECE: usize = 64;
const BOM: &str = "\u{feff}";

/// A text after the check for invalid characters.
pub struct CheckedText<'a> {
    /// The text up to the first character that Go's reader rejects.
    pub text: Cow<'a, str>,
    /// The offset of its start, after a byte order mark.
    pub start: usize,
    /// True if the scanner must emulate the chunks of Go's reader.
    pub emulates_chunks: bool,
    /// The rejected character after `text`, if there is one.
    invalid: Option<InvalidCharacter>,
    /// The length of the whole input in bytes.
    len: usize,
}

/// A character that is not allowed.
struct InvalidCharacter {
    message: &'static str,
    /// Its length in bytes.
    width: usize,
    kind: ErrorKind,
}

impl<'a> CheckedText<'a> {
    /// Decodes `bytes`: UTF-8, or UTF-16 with a byte order mark.
    pub fn new(bytes: &'a [u8]) -> Self {
        let text = match bytes {
            [0xff, 0xfe, rest @ ..] => return Self::utf16(rest, u16::from_le_bytes),
            [0xfe, 0xff, rest @ ..] => return Self::utf16(rest, u16::from_be_bytes),
            _ => std::str::from_utf8(bytes),
        };
        let (text, mut invalid) = match text {
            Ok(text) => (text, None),
            Err(e) => {
                let (good, bad) = bytes.split_at_checked(e.valid_up_to()).unwrap_or_default();
                (std::str::from_utf8(good).unwrap_or_default(), Some(InvalidCharacter::invalid(bad)))
            }
        };
        let mut text = text;
        if let Some(at) = refused(text)
            && let Some((good, bad)) = text.split_at_checked(at)
        {
            let width = bad.chars().next().map_or(1, char::len_utf8);
            text = good;
            invalid = Some(InvalidCharacter::new("control characters are not allowed", width));
        }
        let start = if text.starts_with(BOM) { BOM.len() } else { 0 };
        let emulates_chunks = invalid.is_some() || text.get(start..).is_some_and(|rest| contains(rest.as_bytes(), BOM));
        Self { text: Cow::Borrowed(text), start, emulates_chunks, invalid, len: bytes.len() }
    }

    fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Self {
        let mut text = String::with_capacity(bytes.len());
        let (pairs, rest) = bytes.as_chunks::<2>();
        let mut invalid = None;
        for c in char::decode_utf16(pairs.iter().map(|pair| unit(*pair))) {
            match c {
                Ok(c) => text.push(c),
                Err(e) => {
                    let low = (0xdc00..=0xdfff).contains(&e.unpaired_surrogate());
                    let message = if low { "unexpected low surrogate area" } else { "expected low surrogate area" };
                    invalid = Some(InvalidCharacter::new(message, 2));
                    break;
                }
            }
        }
        if invalid.is_none() && !rest.is_empty() {
            invalid = Some(InvalidCharacter::new("incomplete UTF-16 character", 1));
        }
        if let Some(at) = refused(&text) {
            text.truncate(at);
            invalid = Some(InvalidCharacter::new("control characters are not allowed", 1));
        }
        let len = text.len() + invalid.as_ref().map_or(0, |t| t.width);
        Self { emulates_chunks: invalid.is_some(), text: Cow::Owned(text), start: 0, invalid, len }
    }

    /// The error for the rejected character after the text.
    pub fn error(&self) -> Option<Error> {
        let invalid = self.invalid.as_ref()?;
        let position = Position::at_offset(self.text.as_bytes(), self.text.len());
        let error = Error::new(format!("yaml: {}", invalid.message), Some(position));
        Some(error.of_kind(invalid.kind))
    }

    /// The end of the chunk that begins at `from`.
    ///
    /// # Errors
    /// Returns the error for a rejected character in the chunk.
    pub fn chunk(&self, from: usize) -> Result<usize, Error> {
        let end = (from + CHUNK).min(self.len);
        if let Some(invalid) = &self.invalid {
            let at = self.text.len();
            if at + invalid.width <= end || (from >= at && end == self.len) {
                return self.error().map_or(Ok(at), Err);
            }
        }
        let end = self.text.floor_char_boundary(end);
        Ok(end.max(from))
    }

    /// Returns true if there is a byte order mark at `at`.
    pub(crate) fn has_bom(&self, at: usize) -> bool {
        self.text.get(at..).is_some_and(|rest| rest.starts_with(BOM))
    }
}

impl InvalidCharacter {
    fn new(message: &'static str, width: usize) -> Self {
        Self { message, width, kind: ErrorKind::Other }
    }

    /// A character that is not valid UTF-8.
    fn encoding(message: &'static str, width: usize) -> Self {
        Self { message, width, kind: ErrorKind::Encoding }
    }

    /// The message of Go's reader for invalid UTF-8 at the start of `bad`.
    fn invalid(bad: &[u8]) -> Self {
        let lead = bad.first().copied().unwrap_or(0);
        let (width, mut value) = match lead {
            0xc0..=0xdf => (2, u32::from(lead & 0x1f)),
            0xe0..=0xef => (3, u32::from(lead & 0x0f)),
            0xf0..=0xf7 => (4, u32::from(lead & 0x07)),
            _ => return Self::encoding("invalid leading UTF-8 octet", 1),
        };
        let Some(tail) = bad.get(1..width) else {
            return Self::encoding("incomplete UTF-8 octet sequence", width);
        };
        for octet in tail {
            if octet & 0xc0 != 0x80 {
                return Self::encoding("invalid trailing UTF-8 octet", width);
            }
            value = (value << 6) | u32::from(octet & 0x3f);
        }
        let too_long = value < [0x80, 0x800, 0x1_0000].get(width - 2).copied().unwrap_or(0);
        if too_long {
            Self::encoding("invalid length of a UTF-8 sequence", width)
        } else {
            Self::new("invalid Unicode character", width)
        }
    }
}

/// The offset of the first character that YAML does not allow.
fn refused(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut from = 0;
    loop {
        // Most pieces have no such byte: these loops are compiled to vector instructions.
        while let Some(piece) = bytes.get(from..from + PIECE)
            && (!piece.iter().fold(false, |found, c| found | is_unusual(*c))
                || !piece.iter().fold(false, |found, c| found | is_suspect(*c)))
        {
            from += PIECE;
        }
        let at = from + bytes.get(from..)?.iter().position(|c| is_suspect(*c))?;
        match bytes.get(at..)? {
            [0xc2, 0x80..=0x84 | 0x86..=0x9f, ..] | [0xef, 0xbf, 0xbe | 0xbf, ..] => return Some(at),
            [0xc2 | 0xef, ..] => from = at + 1,
            _ => return Some(at),
        }
    }
}

/// True for a byte that is neither a line feed nor a visible ASCII character or a space.
#[allow(clippy::needless_bitwise_bool)] // as in `is_suspect`
fn is_unusual(c: u8) -> bool {
    (c.wrapping_sub(b' ') > b'~' - b' ') & (c != b'\n')
}

/// True for a byte that is, or may start, a character that is not allowed.
#[allow(clippy::needless_bitwise_bool)] // without branches, loops over it become vector instructions
fn is_suspect(c: u8) -> bool {
    (c < 0x20) & (c != b'\t') & (c != b'\n') & (c != b'\r') | (c == 0x7f) | (c == 0xc2) | (c == 0xef)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(bytes: &[u8]) -> String {
        CheckedText::new(bytes).error().map_or(String::new(), |e| format!("{} {}", e.position.unwrap(), e.message))
    }

    #[test]
    fn the_value_that_go_rejects_is_named() {
        for (bytes, want) in [
            (&b"a\n b\x01"[..], "2:3 yaml: control characters are not allowed"),
            ("é\u{7f}".as_bytes(), "1:2 yaml: control characters are not allowed"),
            ("\u{80}".as_bytes(), "1:1 yaml: control characters are not allowed"),
            ("\u{85}\u{a0}\u{ffff}".as_bytes(), "1:3 yaml: control characters are not allowed"),
            (b"\xff", "1:1 yaml: invalid leading UTF-8 octet"),
            (b"ab\xe2\x82", "1:3 yaml: incomplete UTF-8 octet sequence"),
            (b"\xe2\x28\xa1", "1:1 yaml: invalid trailing UTF-8 octet"),
            (b"\xc0\x80", "1:1 yaml: invalid length of a UTF-8 sequence"),
            (b"\xed\xa0\x80", "1:1 yaml: invalid Unicode character"),
            (b"\xff\xfea\0b", "1:2 yaml: incomplete UTF-16 character"),
            ("\t\r\n\u{85}\u{feff}\u{fffd}\u{10ffff}".as_bytes(), ""),
        ] {
            assert_eq!(message(bytes), want, "{bytes:?}");
        }
    }

    #[test]
    fn utf16_is_read() {
        assert_eq!(CheckedText::new(b"\xff\xfea\0:\0").text, "a:");
        assert_eq!(CheckedText::new(b"\xfe\xff\0a\0:").text, "a:");
    }
}
