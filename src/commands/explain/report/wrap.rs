//! The line wrapping of Go's `go-wordwrap` and of kubectl, which differ.

/// `wordwrap.WrapString`: breaks lines at white space so that they have at most `limit` characters.
pub fn wrap(text: &str, limit: usize) -> String {
    let mut out = String::new();
    let (mut word, mut space) = (String::new(), String::new());
    let (mut word_length, mut space_length, mut current) = (0, 0, 0);
    for c in text.chars() {
        if c == '\n' {
            // White space at the end of a full line is dropped.
            if !word.is_empty() || current + space_length <= limit {
                out.push_str(&space);
            }
            out.push_str(&word);
            out.push('\n');
            word.clear();
            space.clear();
            (word_length, space_length, current) = (0, 0, 0);
        } else if c.is_whitespace() && c != '\u{a0}' {
            if space.is_empty() || !word.is_empty() {
                current += space_length + word_length;
                out.push_str(&space);
                out.push_str(&word);
                word.clear();
                space.clear();
                (word_length, space_length) = (0, 0);
            }
            space.push(c);
            space_length += 1;
        } else {
            word.push(c);
            word_length += 1;
            if current + word_length + space_length > limit && word_length < limit {
                out.push('\n');
                space.clear();
                (current, space_length) = (0, 0);
            }
        }
    }
    if !word.is_empty() || current + space_length <= limit {
        out.push_str(&space);
    }
    out + &word
}

/// `indent` of kubectl's templates: indents every line with spaces.
pub fn indent(amount: usize, text: &str) -> String {
    let pad = " ".repeat(amount);
    format!("{pad}{}", text.replace('\n', &format!("\n{pad}")))
}

/// `wrapString` of `kubectl/pkg/explain/formatter.go`: wraps lines at `limit` bytes; code blocks, empty lines and lists
/// are kept.
pub fn lines(text: &str, limit: usize) -> Vec<String> {
    let mut wrapped: Vec<String> = Vec::new();
    let mut line = String::new();
    let mut last_word = "";
    for source in text.split('\n') {
        let is_code = source.starts_with("    ");
        let is_empty = source.trim().is_empty();
        if is_code || (is_empty && !wrapped.is_empty()) {
            flush(&mut wrapped, &mut line, &mut last_word);
            wrapped.push(if is_code { source.to_owned() } else { String::new() });
            continue;
        }
        if last_word.ends_with(':') || is_empty || is_item(source.trim()) {
            flush(&mut wrapped, &mut line, &mut last_word);
        }
        for word in source.split_whitespace() {
            if !line.is_empty() && line.len() + 1 + word.len() > limit {
                flush(&mut wrapped, &mut line, &mut last_word);
            }
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
            last_word = word;
        }
    }
    flush(&mut wrapped, &mut line, &mut last_word);
    wrapped
}

fn flush(wrapped: &mut Vec<String>, line: &mut String, last_word: &mut &str) {
    if !line.is_empty() {
        *last_word = "";
        wrapped.push(std::mem::take(line));
    }
}

/// `^(\d+\.?|-|\*)\s`
fn is_item(text: &str) -> bool {
    let digits = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let behind = if digits.len() < text.len() {
        digits.strip_prefix('.').unwrap_or(digits)
    } else {
        let Some(behind) = text.strip_prefix(['-', '*']) else { return false };
        behind
    };
    behind.starts_with(['\t', '\n', '\u{c}', '\r', ' '])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_where_go_breaks_them() {
        assert_eq!(wrap("aa bb  cc", 5), "aa bb\ncc");
        assert_eq!(wrap("aaaaaaaa b\n  c ", 5), "aaaaaaaa\nb\n  c ");
        assert_eq!(wrap("aaa\u{a0}bbb ccc", 5), "aaa\u{a0}bbb\nccc");
        assert_eq!(indent(2, "a\nb\n"), "  a\n  b\n  ");
        assert_eq!(lines("aa bb cc:\ndd\n\n- e\n    code", 5), ["aa bb", "cc:", "dd", "", "- e", "    code"]);
        assert_eq!(lines("1. a\nb", 20), ["1. a b"]);
    }
}
