//! A cursor over the members and items of a JSON text in document order, including duplicates, without building values.
//!
//! The text must have passed [`check`](super::check). On invalid text, iteration ends early; it never panics.

use super::unescape;
use crate::lossy;
use std::borrow::Cow;

/// The type of a JSON value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JsonType {
    /// `{…}`
    Object,
    /// `[…]`
    Array,
    /// `"…"`
    String,
    /// A number.
    Number,
    /// `true`, `false`
    Bool,
    /// `null`, or the end of the text.
    Null,
}

impl JsonType {
    /// The name of the type in error messages of `encoding/json`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Object => "object",
            Self::Array => "array",
            Self::String => "string",
            Self::Number => "number",
            Self::Bool => "bool",
            Self::Null => "null",
        }
    }
}

/// A position in a JSON text.
#[derive(Clone, Debug)]
pub struct Cursor<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    /// Creates a cursor at the value in `text`.
    pub fn new(text: &'a [u8]) -> Self {
        Self { text, at: 0 }
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn skip(&mut self, plain: impl Fn(u8) -> bool) {
        while self.peek().is_some_and(&plain) {
            self.at += 1;
        }
    }

    fn skip_space(&mut self) {
        self.skip(|b| matches!(b, b' ' | b'\t' | b'\r' | b'\n'));
    }

    /// The type of the value at the cursor.
    pub fn kind(&mut self) -> JsonType {
        self.skip_space();
        match self.peek() {
            Some(b'{') => JsonType::Object,
            Some(b'[') => JsonType::Array,
            Some(b'"') => JsonType::String,
            Some(b't' | b'f') => JsonType::Bool,
            None | Some(b'n') => JsonType::Null,
            Some(_) => JsonType::Number,
        }
    }

    /// Enters the object or array at the cursor.
    pub fn enter(&mut self) {
        self.at += 1;
    }

    /// Moves to the value of the next member of an object and returns its key; at the end, moves past the object.
    pub fn next_member(&mut self) -> Option<Cow<'a, str>> {
        if !self.next_item() {
            return None;
        }
        let key = self.string();
        self.skip_space();
        self.at += 1;
        Some(key)
    }

    /// Moves to the next item of an array; at the end, moves past the array and returns false.
    pub fn next_item(&mut self) -> bool {
        self.skip(|b| matches!(b, b' ' | b'\t' | b'\r' | b'\n' | b','));
        if matches!(self.peek(), None | Some(b']' | b'}')) {
            self.at += 1;
            return false;
        }
        true
    }

    /// Moves past the value at the cursor and returns its text.
    pub fn literal(&mut self) -> &'a [u8] {
        self.skip_space();
        let start = self.at;
        let mut depth = 0_usize;
        loop {
            match self.peek() {
                Some(b'{' | b'[') => {
                    depth += 1;
                    self.at += 1;
                }
                Some(b'}' | b']') => {
                    depth = depth.saturating_sub(1);
                    self.at += 1;
                }
                Some(b'"') => {
                    self.string_body();
                }
                Some(_) if depth > 0 => self.at += 1,
                Some(_) => {
                    self.skip(|b| !matches!(b, b' ' | b'\t' | b'\r' | b'\n' | b',' | b']' | b'}'));
                    break;
                }
                None => break,
            }
            if depth == 0 {
                break;
            }
        }
        self.text.get(start..self.at).unwrap_or_default()
    }

    /// Moves past the string at the cursor and returns it; invalid UTF-8 becomes U+FFFD, as in Go.
    pub fn string(&mut self) -> Cow<'a, str> {
        self.skip_space();
        let (body, escaped) = self.string_body();
        match (escaped, std::str::from_utf8(body)) {
            (false, Ok(text)) => Cow::Borrowed(text),
            (false, Err(_)) => Cow::Owned(lossy(body)),
            (true, _) => Cow::Owned(unescape(body)),
        }
    }

    /// The text between the quotes; the flag is true if it contains escape sequences.
    fn string_body(&mut self) -> (&'a [u8], bool) {
        self.at += 1;
        let start = self.at;
        let mut escaped = false;
        while let Some(b) = self.peek().filter(|b| *b != b'"') {
            let escape = b == b'\\';
            escaped |= escape;
            self.at += if escape { 2 } else { 1 };
        }
        let body = self.text.get(start..self.at.min(self.text.len())).unwrap_or_default();
        self.at += 1;
        (body, escaped)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_come_in_the_order_of_the_text_duplicates_included() {
        let mut cursor = Cursor::new(br#" { "a" : [1, "x\n]" ,{}] , "b":"\"}", "a":null}"#);
        assert_eq!(cursor.kind(), JsonType::Object);
        cursor.enter();
        let mut members = Vec::new();
        while let Some(key) = cursor.next_member() {
            members.push((key.into_owned(), cursor.kind(), String::from_utf8_lossy(cursor.literal()).into_owned()));
        }
        let member = |key: &str, kind, text: &str| (key.to_owned(), kind, text.to_owned());
        assert_eq!(
            members,
            [
                member("a", JsonType::Array, r#"[1, "x\n]" ,{}]"#),
                member("b", JsonType::String, r#""\"}""#),
                member("a", JsonType::Null, "null")
            ]
        );
        assert!(!cursor.next_item());
    }

    #[test]
    fn strings_are_repaired() {
        assert_eq!(Cursor::new(b"\"a\xff\\u00e9\"").string(), "a\u{fffd}\u{e9}");
        assert_eq!(Cursor::new(b"\"plain\"").string(), "plain");
    }
}
