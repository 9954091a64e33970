//! The syntax errors of `encoding/json` since Go 1.27, with which Kubernetes 1.38 is built. It accepts the same texts as before, but
//! names characters instead of bytes, and an incomplete token is the end of the input.
//!
//! Source: `jsontext/decode.go`, `internal/jsonwire` and `v2_scanner.go` of `encoding/json`.

use super::JsonReader;
use crdx_value::{GoError, quote};

/// The first syntax error of a JSON text; `None` if it has none.
pub fn syntax_error(text: &[u8]) -> Option<GoError> {
    let mut reader = JsonReader { syntax_only: true, is_go_1_27: true, ..JsonReader::new(text, 0) };
    reader.only_value().err().map(|error| error.message.into())
}

/// The error for the first character of `rest`; `context` is the place in the words of earlier versions.
pub(super) fn unexpected(rest: &[u8], context: &str) -> String {
    let context = match context {
        "after decimal point in numeric literal" | "in exponent of numeric literal" => "in numeric literal",
        "in string literal" => "in string",
        other => other,
    };
    format!("invalid character {} {context}", quoted_character(rest))
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

/// `NewInvalidEscapeSequenceError` for the escape sequence at the start of `rest`, which is not valid: the sequence in backquotes, or
/// quoted if it has a character that cannot be read there. `None` if more text could complete it.
pub(super) fn invalid_escape_sequence(rest: &[u8]) -> Option<String> {
    let length = match rest.get(1)? {
        b'u' => {
            let digits = rest.get(2..).unwrap_or_default().iter().take(4);
            let may_continue = digits.len() < 4 && digits.clone().all(u8::is_ascii_hexdigit);
            (!may_continue).then_some(2 + digits.len())?
        }
        _ => 2,
    };
    let sequence = rest.get(..length).unwrap_or(rest);
    let plain = std::str::from_utf8(sequence).ok().filter(|text| {
        !text.chars().any(|c| c == '`' || c == char::REPLACEMENT_CHARACTER || c.is_whitespace() || !quote::is_print(c))
    });
    let shown = plain.map_or_else(|| quote::go_quote_bytes(sequence), |text| format!("`{text}`"));
    Some(format!("invalid escape sequence {shown} in string"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::MAX_DEPTH;

    const END: &str = "unexpected end of JSON input";

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
