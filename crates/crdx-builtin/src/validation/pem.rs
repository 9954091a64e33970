//! PEM blocks, as Go's `encoding/pem` decodes them.

use crdx_value::base64::Encoding;

#[derive(Debug, PartialEq, Eq)]
pub struct Block<'t> {
    /// The type, such as `CERTIFICATE`.
    pub label: &'t [u8],
    /// True if lines such as `Key: value` precede the content.
    pub has_headers: bool,
    /// The decoded content.
    pub contents: Vec<u8>,
}

const BEGIN: &[u8] = b"-----BEGIN ";
const END: &[u8] = b"-----END ";
const DASHES: &[u8] = b"-----";

/// Finds the first block; the second result is the text after it. Blocks that cannot be decoded are skipped.
pub fn decode(text: &[u8]) -> Option<(Block<'_>, &[u8])> {
    let mut rest = text;
    loop {
        let (line, after) = next_line(rest)?;
        rest = after;
        if let Some(found) = label(line, BEGIN).and_then(|label| read(label, rest)) {
            return Some(found);
        }
    }
}

/// The first line without white space at its end, and the text after it.
fn next_line(text: &[u8]) -> Option<(&[u8], &[u8])> {
    if text.is_empty() {
        return None;
    }
    let end = text.iter().position(|b| *b == b'\n').unwrap_or(text.len());
    let (line, after) = text.split_at(end);
    Some((line.trim_ascii_end(), after.get(1..).unwrap_or_default()))
}

/// The type in a line such as `-----BEGIN TYPE-----`.
fn label<'t>(line: &'t [u8], start: &[u8]) -> Option<&'t [u8]> {
    line.strip_prefix(start)?.strip_suffix(DASHES)
}

fn read<'t>(label_: &'t [u8], text: &'t [u8]) -> Option<(Block<'t>, &'t [u8])> {
    let mut rest = text;
    let (mut has_headers, mut in_headers) = (false, true);
    let mut body = Vec::new();
    loop {
        let (line, after) = next_line(rest)?;
        rest = after;
        if line.starts_with(END) {
            break (label(line, END)? == label_).then_some(())?;
        }
        in_headers &= line.contains(&b':');
        has_headers |= in_headers;
        if !in_headers {
            body.extend(line.iter().filter(|b| !b.is_ascii_whitespace()));
        }
    }
    let body = String::from_utf8(body).ok()?;
    let contents = Encoding::Standard.decode(&body).ok()?;
    Some((Block { label: label_, has_headers, contents }, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_found_in_any_text() {
        let text =
            b"text\n-----BEGIN A-----\nYWJj\nZGVm\n-----END A-----\n-----BEGIN B-----\nK: v\n\nYQ==\n-----END B-----";
        let (first, rest) = decode(text).unwrap();
        assert_eq!(first, Block { label: b"A", has_headers: false, contents: b"abcdef".to_vec() });
        let (second, rest) = decode(rest).unwrap();
        assert_eq!(second, Block { label: b"B", has_headers: true, contents: b"a".to_vec() });
        assert_eq!(decode(rest), None);
    }

    #[test]
    fn incomplete_blocks_are_skipped() {
        for text in [
            "",
            "-----BEGIN A-----\nYQ==",
            "-----BEGIN A-----\nYQ==\n-----END B-----",
            "-----BEGIN A-----\n?\n-----END A-----",
        ] {
            assert_eq!(decode(text.as_bytes()), None, "{text}");
        }
    }
}
