//! Unescapes quoted literals.

use super::ParserVersion;

/// The type of a quoted literal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuotedLiteral {
    /// `\x` and octal escapes are code points.
    String,
    /// `\x` and octal escapes are bytes.
    Bytes,
}

/// Removes the quotes and resolves escape sequences.
pub fn unescape(literal: &str, kind: QuotedLiteral, version: ParserVersion) -> Result<Vec<u8>, &'static str> {
    const FAILED: &str = "unable to unescape string";
    let normalized;
    let mut text = literal;
    if text.contains('\r') {
        normalized = text.replace("\r\n", "\n").replace('\r', "\n");
        text = &normalized;
    }
    let raw = text.strip_prefix(['r', 'R']);
    let text = raw.unwrap_or(text);
    let inner = ["\"\"\"", "'''", "\"", "'"]
        .iter()
        .find_map(|quote| text.strip_prefix(quote)?.strip_suffix(quote))
        .ok_or(FAILED)?;
    if raw.is_some() || !inner.contains('\\') {
        return Ok(inner.as_bytes().to_vec());
    }
    let mut out = Vec::with_capacity(inner.len());
    let mut rest = inner;
    while let Some(slash) = rest.find('\\') {
        let (before, after) = rest.split_at_checked(slash).ok_or(FAILED)?;
        out.extend_from_slice(before.as_bytes());
        let mut chars = after.chars();
        chars.next();
        let escape = chars.next().ok_or("unable to unescape string, found '\\' as last character")?;
        rest = chars.as_str();
        let (length, radix) = match escape {
            'x' | 'X' => (2, 16),
            'u' if kind == QuotedLiteral::String => (4, 16),
            'U' if kind == QuotedLiteral::String => (8, 16),
            '0'..='3' => (2, 8),
            _ => {
                out.push(simple(escape).ok_or(FAILED)?);
                continue;
            }
        };
        let digits = rest.get(..length).ok_or(FAILED)?;
        rest = rest.get(length..).ok_or(FAILED)?;
        let mut value = u32::from_str_radix(digits, radix).map_err(|_| FAILED)?;
        if radix == 8 {
            value += (escape as u32 - '0' as u32) * 64;
        }
        if kind == QuotedLiteral::Bytes {
            out.push(value as u8);
        } else if version < ParserVersion::V0_23 && value > i32::MAX.cast_unsigned() {
            // In Go, this is a negative rune; only its last byte is written.
            out.push(value as u8);
        } else {
            let c = match char::from_u32(value) {
                Some(c) => c,
                None if version >= ParserVersion::V0_23 => return Err("invalid unicode code point"),
                None if value > u32::from(char::MAX) => return Err(FAILED),
                None => char::REPLACEMENT_CHARACTER,
            };
            out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
        }
    }
    out.extend_from_slice(rest.as_bytes());
    Ok(out)
}

fn simple(escape: char) -> Option<u8> {
    Some(match escape {
        'a' => 7,
        'b' => 8,
        'f' => 12,
        'n' => b'\n',
        'r' => b'\r',
        't' => b'\t',
        'v' => 11,
        '\\' | '\'' | '"' | '`' | '?' => escape as u8,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::{ParserVersion, QuotedLiteral};

    fn unescape(literal: &str, kind: QuotedLiteral) -> Result<Vec<u8>, &'static str> {
        super::unescape(literal, kind, ParserVersion::V0_29)
    }

    #[test]
    fn escapes_are_code_points_in_strings_and_bytes_in_bytes() {
        assert_eq!(unescape(r"'\xe9\u00e9\101'", QuotedLiteral::String), Ok("ééA".as_bytes().to_vec()));
        assert_eq!(unescape(r"'\xe9\377'", QuotedLiteral::Bytes), Ok(vec![0xe9, 0xff]));
        assert_eq!(unescape(r"'\ud800'", QuotedLiteral::String), Err("invalid unicode code point"));
        assert_eq!(unescape("r'\\d'", QuotedLiteral::String), Ok(b"\\d".to_vec()));
        assert_eq!(unescape("'''a'b'''", QuotedLiteral::String), Ok(b"a'b".to_vec()));
    }

    #[test]
    fn invalid_code_points_depend_on_the_version() {
        let read = |literal| super::unescape(literal, QuotedLiteral::String, ParserVersion::V0_17);
        assert_eq!(read(r"'a\ud800'"), Ok("a\u{fffd}".as_bytes().to_vec()));
        assert_eq!(read(r"'\U00110000'"), Err("unable to unescape string"));
        assert_eq!(read(r"'\UFFFFFF41'"), Ok(b"A".to_vec()));
    }
}
