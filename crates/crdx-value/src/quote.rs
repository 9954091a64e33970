//! Quotes strings like Go.

pub use super::unicode::is_print;
use std::fmt::Write as _;

/// `strconv.Quote`, which is also `%q`.
pub fn go_quote(s: &str) -> String {
    go_quote_bytes(s.as_bytes())
}

/// [`go_quote`] of a Go string that need not be UTF-8.
pub fn go_quote_bytes(s: &[u8]) -> String {
    let mut out = String::with_capacity(s.len() + 2);
    out.push('"');
    for chunk in s.utf8_chunks() {
        escape(chunk.valid(), &mut out);
        for byte in chunk.invalid() {
            let _ = write!(out, "\\x{byte:02x}");
        }
    }
    out.push('"');
    out
}

fn escape(s: &str, out: &mut String) {
    for c in s.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{7}' => out.push_str("\\a"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{b}' => out.push_str("\\v"),
            // Go treats U+FFFD as printable, too.
            c if is_print(c) => out.push(c),
            c => {
                let code = c as u32;
                let _ = match code {
                    0..=0x7f => write!(out, "\\x{code:02x}"),
                    0x80..=0xffff => write!(out, "\\u{code:04x}"),
                    _ => write!(out, "\\U{code:08x}"),
                };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_quoted_like_go() {
        assert_eq!(
            go_quote("a\"\\\n\u{0}é\u{200b}\u{301}😀\u{a0}\u{7f}"),
            "\"a\\\"\\\\\\n\\x00é\\u200b\u{301}😀\\u00a0\\x7f\""
        );
    }
}
