//! Strings that are not UTF-8. Go keeps their bytes, and its messages show them in different ways.

use crate as text;
use crdx_value::{json, quote};
use std::collections::BTreeMap;

/// The malformed strings of an object in Protobuf. The object has them with U+FFFD in place of each byte that is not
/// UTF-8, which is also how the server stores and returns them.
///
/// Strings that differ only in malformed bytes are not distinguished.
#[derive(Clone, Debug, Default)]
pub struct MalformedStrings(BTreeMap<String, Vec<u8>>);

impl PartialEq for MalformedStrings {
    /// Objects with the same stored form are equal.
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl MalformedStrings {
    /// Decodes a string, and records it if it is malformed.
    pub fn decode(&mut self, bytes: &[u8]) -> String {
        let decoded = text::lossy(bytes);
        if std::str::from_utf8(bytes).is_err() {
            self.0.insert(decoded.clone(), bytes.to_vec());
        }
        decoded
    }

    /// Adds the strings of another part of the same body.
    pub fn append(&mut self, mut other: Self) {
        self.0.append(&mut other.0);
    }

    /// Returns true if no string is malformed.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The bytes of a malformed string.
    pub fn get(&self, decoded: &str) -> Option<&[u8]> {
        self.0.get(decoded).map(Vec::as_slice)
    }

    /// The bytes of a string.
    pub fn bytes<'s>(&'s self, decoded: &'s str) -> &'s [u8] {
        self.get(decoded).unwrap_or(decoded.as_bytes())
    }

    /// Quotes a string like Go's `%q`.
    pub fn quote(&self, decoded: &str) -> String {
        quote::go_quote_bytes(self.bytes(decoded))
    }

    /// Escapes U+FFFD in the malformed strings of a JSON text: Go's encoder writes `\ufffd` for a byte that is not UTF-8.
    pub fn escape_json(&self, text: &str) -> String {
        self.0.keys().fold(text.to_owned(), |text, decoded| {
            let plain = json::to_string(&decoded.as_str().into());
            text.replace(&plain, &plain.replace(char::REPLACEMENT_CHARACTER, "\\ufffd"))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_shown_like_in_go() {
        let mut malformed = MalformedStrings::default();
        assert_eq!(malformed.decode("a\u{fffd}".as_bytes()), "a\u{fffd}");
        assert!(malformed.is_empty());
        let decoded = malformed.decode(b"\"\xe2\x82<");
        assert_eq!(decoded, "\"\u{fffd}\u{fffd}<");
        assert_eq!(malformed.quote(&decoded), "\"\\\"\\xe2\\x82<\"");
        assert_eq!(malformed.quote("a\u{fffd}"), "\"a\u{fffd}\"");
        let shown = format!("[{},\"a\u{fffd}\"]", json::to_string(&decoded.into()));
        assert_eq!(malformed.escape_json(&shown), "[\"\\\"\\ufffd\\ufffd\\u003c\",\"a\u{fffd}\"]");
    }
}
