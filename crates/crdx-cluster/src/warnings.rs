//! Parses `Warning` headers as `ParseWarningHeaders` of apimachinery does.

/// The texts of a header's warnings with code 299, up to the first malformed one.
pub fn texts(header: &[u8]) -> Vec<String> {
    let header = String::from_utf8_lossy(header);
    let mut rest = header.trim();
    let mut texts = Vec::new();
    while let Some((code, text, more)) = one(rest) {
        if code == "299" && !text.is_empty() && !text.contains(char::is_control) {
            texts.push(text);
        }
        rest = more;
    }
    texts
}

/// The code and text of the first warning and the rest of the header: `CODE AGENT "TEXT" "DATE", …`; the date is optional.
fn one(header: &str) -> Option<(&str, String, &str)> {
    let (code, rest) = header.split_once(' ')?;
    let (_agent, rest) = rest.split_once(' ')?;
    let (text, rest) = quoted(rest)?;
    let rest = quoted(rest).map_or(rest, |(_date, rest)| rest);
    let rest = if rest.is_empty() { rest } else { rest.strip_prefix(',')?.trim() };
    Some((code, text, rest))
}

/// A quoted text and the rest.
fn quoted(text: &str) -> Option<(String, &str)> {
    let mut text = text.strip_prefix('"')?.char_indices();
    let mut inner = String::new();
    while let Some((_, c)) = text.next() {
        match c {
            '"' => return Some((inner, text.as_str().trim())),
            '\\' => inner.push(text.next()?.1),
            c => inner.push(c),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_warning_of_a_header_is_read() {
        assert_eq!(texts(b"299 - \"a \\\"b\\\" \\\\\""), ["a \"b\" \\"]);
        let date = "\"Wed, 21 Oct 2026 07:28:00 GMT\"";
        let several = format!("299 - \"a\" {date}, 199 agent \"b\",299 - \"c\", 299 - broken, 299 - \"d\"");
        assert_eq!(texts(several.as_bytes()), ["a", "c"]);
        for nothing in ["", "299", "299 -", "299 - text", "299 - \"open", "299 - \"\"", "299 - \"a\tb\""] {
            assert_eq!(texts(nothing.as_bytes()), [""; 0], "{nothing}");
        }
    }
}
