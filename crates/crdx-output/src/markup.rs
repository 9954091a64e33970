//! Escapes text for XML and HTML.

use super::printable;

/// Escapes `text` for element content and quoted attributes. Control characters, some of which XML 1.0 does not allow, and
/// characters that change the direction of text are shown as `\u001b`.
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 8);
    for c in printable::text(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            // An XML parser would turn these into spaces in an attribute.
            '\n' => out.push_str("&#10;"),
            '\t' => out.push_str("&#9;"),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_ends_an_element_or_a_value() {
        assert_eq!(escaped("a<b>&\"'\u{0}\n"), "a&lt;b&gt;&amp;&quot;&#39;\\u0000&#10;");
        assert_eq!(escaped("ü 🙂"), "ü 🙂");
        assert_eq!(escaped("\u{fffe}\u{9b}"), "\\ufffe\\u009b", "XML 1.0 does not allow the first");
    }
}
