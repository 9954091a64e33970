//! Reads ordinary manifests directly to values or positions, without tokens, events and nodes: block mappings and
//! sequences with plain or quoted keys, scalars, and flow collections on one line.
//!
//! This only saves time. Where a text has anything else, or an error, [`read`] and [`outline`] return `None`, and the
//! stages of [`super`] read it; [`read`] also leaves a text with a key twice. Scalars that are not simple are scanned by
//! [`Scanner::scalar`].

mod builder;
#[cfg(test)]
mod tests;

use super::resolve::{self, Scalar};
use super::scanner::Scanner;
use super::source::CheckedText;
use super::token::Style;
use crate::spans::outline::Outline;
use builder::{MappingKey, NodeBuilder, Positions, Values};
use crdx_value::Value;
use std::borrow::Cow;

/// The maximum depth of collections that are read here.
const MAX_DEPTH: usize = 64;
/// The maximum length of a key in bytes, below the limit of YAML's simple keys.
const MAX_KEY: usize = 512;
/// The column after the last line.
const END: i32 = -1;

/// The characters of a plain key except `:`.
static IN_KEY: [bool; 256] = printable_except(b":");
/// The characters of a plain scalar in a flow collection except `:`.
static IN_FLOW: [bool; 256] = printable_except(b":,?[]{}");

/// The printable ASCII characters other than a space and `excluded`.
const fn printable_except(excluded: &[u8]) -> [bool; 256] {
    let mut set = [false; 256];
    let mut c = b'!';
    #[allow(clippy::indexing_slicing)] // constant indexes
    while c <= b'~' {
        let mut at = 0;
        while at < excluded.len() && excluded[at] != c {
            at += 1;
        }
        set[c as usize] = at == excluded.len();
        c += 1;
    }
    set
}

/// The value of a text that consists of one ordinary document.
pub fn read(source: &CheckedText<'_>) -> Option<Value> {
    build(source, &mut Values)
}

/// The positions of the nodes of such a text. With a path, members whose key the path does not contain may be missing.
pub fn outline(source: &CheckedText<'_>, path: Option<&str>) -> Option<Outline> {
    let mut positions = Positions { path, ..Positions::default() };
    build(source, &mut positions)?;
    Some(positions.outline)
}

/// Passes the nodes of a text that consists of one ordinary document to `builder`, and returns the root.
fn build<B: NodeBuilder>(source: &CheckedText<'_>, builder: &mut B) -> Option<B::Node> {
    if source.emulates_chunks || source.start > 0 || !source.text.ends_with('\n') || has_other_breaks(&source.text) {
        return None;
    }
    // The scanner's offsets are of this type.
    u32::try_from(source.text.len()).ok()?;
    let bytes = source.text.as_bytes();
    let has_tabs = memchr::memchr(b'\t', bytes).is_some();
    let mut reader = BlockReader { source, text: &source.text, bytes, has_tabs, at: 0, column: END, builder };
    if let Some(rest) = source.text.strip_prefix("---")
        && rest.starts_with(['\n', ' '])
    {
        reader.at = 3;
        reader.end_line()?;
    } else {
        reader.next_line()?;
    }
    let root = reader.block(0)?;
    (reader.column == END).then_some(root)
}

/// True for a text with a line break that is not `\n`: a carriage return, next line, line or paragraph separator.
fn has_other_breaks(text: &str) -> bool {
    let bytes = text.as_bytes();
    memchr::memchr3_iter(b'\r', 0xc2, 0xe2, bytes)
        .any(|at| matches!(bytes.get(at..), Some([b'\r', ..] | [0xc2, 0x85, ..] | [0xe2, 0x80, 0xa8 | 0xa9, ..])))
}

/// The position in a text. Between two nodes it is at the first character of a line that is not a space.
struct BlockReader<'a, 'b, B> {
    source: &'a CheckedText<'a>,
    text: &'a str,
    bytes: &'a [u8],
    /// True if there is a tab anywhere in the text.
    has_tabs: bool,
    at: usize,
    /// The number of spaces before `at` on its line, or [`END`].
    column: i32,
    builder: &'b mut B,
}

impl<'a, B: NodeBuilder> BlockReader<'a, '_, B> {
    fn byte(&self, at: usize) -> u8 {
        self.bytes.get(at).copied().unwrap_or(b'\n')
    }

    fn slice(&self, from: usize, to: usize) -> &'a str {
        self.text.get(from..to).unwrap_or_default()
    }

    /// Moves to the next line that has more than spaces and a comment; `at` must be the start of a line.
    fn next_line(&mut self) -> Option<()> {
        loop {
            let start = self.at;
            self.skip_indentation();
            match self.byte(self.at) {
                b'\n' if self.at >= self.bytes.len() => {
                    self.column = END;
                    return Some(());
                }
                b'\n' => self.at += 1,
                b'#' => self.skip_line(),
                c => {
                    self.column = i32::try_from(self.at - start).ok()?;
                    let is_document_indicator =
                        self.column == 0 && matches!(self.bytes.get(start..start + 3), Some(b"---" | b"..."));
                    return (!is_document_indicator && c != b'\t').then_some(());
                }
            }
        }
    }

    fn skip_line(&mut self) {
        let rest = self.rest();
        if rest.first() == Some(&b'\n') {
            self.at += 1;
            return;
        }
        self.at += memchr::memchr(b'\n', rest).map_or(rest.len(), |length| length + 1);
    }

    /// Moves from the end of a node to the next line; only spaces and a comment may be in between.
    fn end_line(&mut self) -> Option<()> {
        let end = self.at;
        self.skip_spaces();
        if !self.at_line_end(end) {
            return None;
        }
        self.skip_line();
        self.next_line()
    }

    /// True at the end of the line, or at a comment that does not touch what ended at `end`.
    fn at_line_end(&self, end: usize) -> bool {
        match self.byte(self.at) {
            b'\n' => true,
            b'#' => self.at > end,
            _ => false,
        }
    }

    /// Skips many spaces: compares eight characters at once.
    fn skip_indentation(&mut self) {
        while let Some(next) = self.rest().first_chunk::<8>() {
            let others = u64::from_le_bytes(*next) ^ u64::from_le_bytes([b' '; 8]);
            if others != 0 {
                self.at += others.trailing_zeros() as usize / 8;
                return;
            }
            self.at += 8;
        }
        self.skip_spaces();
    }

    fn skip_spaces(&mut self) {
        self.at += self.rest().iter().take_while(|c| **c == b' ').count();
    }

    fn skip_while(&mut self, set: &[bool; 256]) {
        let belongs = |c: &&u8| set.get(usize::from(**c)).copied().unwrap_or_default();
        self.at += self.rest().iter().take_while(belongs).count();
    }

    fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    /// True for `-` before a space or the end of the line.
    fn at_entry(&self) -> bool {
        self.at_indicator(b'-')
    }

    /// True for an indicator before a space or the end of the line.
    fn at_indicator(&self, indicator: u8) -> bool {
        self.byte(self.at) == indicator && matches!(self.byte(self.at + 1), b' ' | b'\n')
    }

    /// Reads the collection at the start of this line.
    fn block(&mut self, depth: usize) -> Option<B::Node> {
        if self.at_entry() {
            return self.sequence(self.column, depth);
        }
        let column = self.column;
        let key = self.key()?;
        self.mapping(column, key, depth)
    }

    /// Reads the rest of a mapping after its first key.
    fn mapping(&mut self, column: i32, first: MappingKey<'a>, depth: usize) -> Option<B::Node> {
        if depth > MAX_DEPTH {
            return None;
        }
        let mut mapping = self.builder.start_mapping(first.start);
        let mut key = first;
        loop {
            if self.builder.needs(&key) {
                let key_node = self.builder.key(key);
                let value = self.member(column, depth)?;
                self.builder.add_member(&mut mapping, key_node, value)?;
            } else {
                self.skip_member(column)?;
            }
            if self.column < column {
                return Some(self.builder.end_mapping(mapping, self.at));
            }
            if self.column > column || self.at_entry() {
                return None;
            }
            key = self.key()?;
        }
    }

    /// Reads the value after a key and its `:`.
    fn member(&mut self, column: i32, depth: usize) -> Option<B::Node> {
        let end = self.at;
        self.skip_spaces();
        if !self.at_line_end(end) {
            return self.inline(column);
        }
        self.skip_line();
        self.next_line()?;
        if self.column > column {
            self.block(depth + 1)
        } else if self.column == column && self.at_entry() {
            self.sequence(column, depth + 1)
        } else {
            Some(self.builder.null(end))
        }
    }

    /// Moves past the value after a key and its `:` without reading it. `None` if it may have lines that are not
    /// indented: a quoted scalar or a flow collection that does not end on its line.
    fn skip_member(&mut self, column: i32) -> Option<()> {
        let start = self.at;
        loop {
            self.skip_line();
            self.next_line()?;
            if self.column < column || (self.column == column && !self.at_entry()) {
                break;
            }
        }
        let skipped = self.bytes.get(start..self.at)?;
        is_balanced(skipped).then_some(())
    }

    fn sequence(&mut self, column: i32, depth: usize) -> Option<B::Node> {
        if depth > MAX_DEPTH {
            return None;
        }
        let mut sequence = self.builder.start_sequence(self.at);
        while self.column == column && self.at_entry() {
            self.at += 1;
            let end = self.at;
            self.skip_spaces();
            let item = if self.at_line_end(end) {
                self.skip_line();
                self.next_line()?;
                if self.column > column { self.block(depth + 1)? } else { self.builder.null(end) }
            } else {
                self.item(column, column + i32::try_from(self.at - end).ok()? + 1, depth)?
            };
            self.builder.add_item(&mut sequence, item);
        }
        // After an item, a deeper line is an error, and a line at the same column is the next key of the parent.
        (self.column <= column).then(|| self.builder.end_sequence(sequence, self.at))
    }

    /// Reads what follows `- ` on its line, at `column`.
    fn item(&mut self, sequence: i32, column: i32, depth: usize) -> Option<B::Node> {
        if self.at_entry() {
            self.column = column;
            return self.sequence(column, depth + 1);
        }
        let start = self.at;
        if let Some(key) = self.key() {
            return self.mapping(column, key, depth + 1);
        }
        self.at = start;
        self.inline(sequence)
    }

    /// Reads a plain or quoted key and its `:`, and leaves everything else unread.
    fn key(&mut self) -> Option<MappingKey<'a>> {
        let start = self.at;
        let first = self.byte(start);
        if first == b'"' || first == b'\'' {
            let text = self.simple_quoted()?;
            let end = self.at;
            let is_key = self.at_indicator(b':');
            self.at += 1;
            return (is_key && text.len() <= MAX_KEY).then_some(MappingKey { text: Cow::Borrowed(text), start, end });
        }
        if !first.is_ascii_alphanumeric() && !matches!(first, b'_' | b'/' | b'.' | b'$') {
            return None;
        }
        loop {
            self.skip_while(&IN_KEY);
            if self.byte(self.at) != b':' {
                return None;
            }
            if self.at_indicator(b':') {
                break;
            }
            self.at += 1;
        }
        let end = self.at;
        let text = self.slice(start, end);
        self.at += 1;
        if text.len() > MAX_KEY {
            return None;
        }
        Some(MappingKey { text: plain_key(text)?, start, end })
    }

    /// Reads a scalar or a flow collection that begins on this line, in the collection at `indent`, and moves to the
    /// next line.
    fn inline(&mut self, indent: i32) -> Option<B::Node> {
        let start = self.at;
        let (text, style) = match self.byte(start) {
            b'[' | b'{' => {
                let value = self.flow(0)?;
                self.end_line()?;
                return (self.column <= indent).then_some(value);
            }
            b'"' | b'\'' => match self.simple_quoted() {
                Some(text) => (text, Style::Quoted),
                None => return self.scalar(start, indent),
            },
            b'|' | b'>' => return self.scalar(start, indent),
            b'-' if !matches!(self.byte(start + 1), b' ' | b'\n' | b'\t') => (self.plain()?, Style::Plain),
            c if c.is_ascii_alphanumeric() || c >= 0x80 => (self.plain()?, Style::Plain),
            b'/' | b'.' | b'_' | b'$' | b'(' | b'<' | b'=' | b'~' | b'+' | b'^' | b'\\' | b';' => {
                (self.plain()?, Style::Plain)
            }
            _ => return None,
        };
        let end = self.at;
        self.end_line()?;
        if self.column > indent {
            // A plain scalar continues here; after another one this is an error.
            return self.scalar(start, indent);
        }
        self.builder.scalar(Cow::Borrowed(text), style, start..end)
    }

    /// Reads the plain scalar up to the end of this line.
    fn plain(&mut self) -> Option<&'a str> {
        let start = self.at;
        loop {
            self.at += memchr::memchr3(b'\n', b':', b'#', self.rest())?;
            match self.byte(self.at) {
                b'\n' => break,
                b':' if matches!(self.byte(self.at + 1), b' ' | b'\t' | b'\n') => return None,
                b'#' if self.byte(self.at - 1) == b' ' => break,
                _ => self.at += 1,
            }
        }
        while self.byte(self.at - 1) == b' ' {
            self.at -= 1;
        }
        let text = self.slice(start, self.at);
        let has_tab = self.has_tabs && text.contains('\t');
        (!has_tab).then_some(text)
    }

    /// Reads a quoted scalar on one line without escape sequences.
    fn simple_quoted(&mut self) -> Option<&'a str> {
        let quote = self.byte(self.at);
        let start = self.at + 1;
        let rest = self.bytes.get(start..)?;
        let length = if quote == b'"' {
            memchr::memchr3(b'"', b'\\', b'\n', rest)?
        } else {
            memchr::memchr2(b'\'', b'\n', rest)?
        };
        let text = self.slice(start, start + length);
        let is_simple = self.byte(start + length) == quote && (quote == b'"' || self.byte(start + length + 1) != quote);
        if !is_simple {
            return None;
        }
        self.at = start + length + 1;
        Some(text)
    }

    /// Scans a scalar with line breaks or escape sequences, and moves to the next line.
    fn scalar(&mut self, start: usize, indent: i32) -> Option<B::Node> {
        let (text, style, range, end) = Scanner::scalar(self.source, start, indent)?;
        let node = self.builder.scalar(text, style, range)?;
        let line = memchr::memrchr(b'\n', self.bytes.get(..end)?).map_or(0, |before| before + 1);
        let is_at_start = line > start && self.bytes.get(line..end)?.iter().all(|c| *c == b' ');
        self.at = if is_at_start { line } else { end };
        if !is_at_start {
            self.skip_spaces();
            // A comment may touch a quoted scalar, and a plain one ends after the spaces before it.
            if !self.at_line_end(start) {
                return None;
            }
            self.skip_line();
        }
        self.next_line()?;
        (self.column <= indent).then_some(node)
    }

    /// Reads a flow collection, which must end on this line.
    fn flow(&mut self, depth: usize) -> Option<B::Node> {
        if depth > MAX_DEPTH {
            return None;
        }
        let start = self.at;
        self.at += 1;
        if self.byte(start) == b'{' {
            let mut mapping = self.builder.start_mapping(start);
            while self.at_flow_entry(b'}') {
                let key = self.flow_key()?;
                let key = self.builder.key(key);
                self.skip_spaces();
                let value = self.flow_item(depth)?;
                self.builder.add_member(&mut mapping, key, value)?;
                self.flow_separator(b'}')?;
            }
            Some(self.builder.end_mapping(mapping, self.at))
        } else {
            let mut sequence = self.builder.start_sequence(start);
            while self.at_flow_entry(b']') {
                let item = self.flow_item(depth)?;
                self.builder.add_item(&mut sequence, item);
                self.flow_separator(b']')?;
            }
            Some(self.builder.end_sequence(sequence, self.at))
        }
    }

    /// Moves to the next entry of a flow collection and returns true, or past its `end` and returns false.
    fn at_flow_entry(&mut self, end: u8) -> bool {
        self.skip_spaces();
        let is_end = self.byte(self.at) == end;
        self.at += usize::from(is_end);
        !is_end
    }

    /// Moves past the `,` after an entry of a flow collection; `end` needs none.
    fn flow_separator(&mut self, end: u8) -> Option<()> {
        self.skip_spaces();
        match self.byte(self.at) {
            b',' => self.at += 1,
            c if c == end => {}
            _ => return None,
        }
        Some(())
    }

    fn flow_item(&mut self, depth: usize) -> Option<B::Node> {
        let start = self.at;
        let (text, style) = match self.byte(start) {
            b'[' | b'{' => return self.flow(depth + 1),
            b'"' | b'\'' => (self.simple_quoted()?, Style::Quoted),
            _ => (self.word()?, Style::Plain),
        };
        self.builder.scalar(Cow::Borrowed(text), style, start..self.at)
    }

    fn flow_key(&mut self) -> Option<MappingKey<'a>> {
        let start = self.at;
        let text = match self.byte(start) {
            b'"' | b'\'' => Cow::Borrowed(self.simple_quoted()?),
            _ => plain_key(self.word()?)?,
        };
        let end = self.at;
        let is_key = self.at_indicator(b':') && text.len() <= MAX_KEY;
        self.at += 1;
        is_key.then_some(MappingKey { text, start, end })
    }

    /// Reads a plain scalar in a flow collection. It begins with a letter, a digit or one of a few other characters, and may
    /// consist of several words.
    fn word(&mut self) -> Option<&'a str> {
        let start = self.at;
        if !matches!(self.byte(start), b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'_' | b'.' | b'/' | b'$' | b'-') {
            return None;
        }
        self.skip_flow_run();
        let mut end = self.at;
        loop {
            self.skip_spaces();
            // After a space, `#` begins a comment.
            if self.at == end || self.byte(self.at) == b'#' {
                break;
            }
            let word = self.at;
            self.skip_flow_run();
            if self.at == word {
                break;
            }
            end = self.at;
        }
        self.at = end;
        // A `-` before a space is an entry, not a scalar.
        let is_entry = self.byte(start) == b'-' && matches!(self.byte(start + 1), b' ' | b'\n');
        (!is_entry).then(|| self.slice(start, end))
    }

    /// Skips the printable characters of a plain scalar in a flow collection up to a space or an indicator.
    fn skip_flow_run(&mut self) {
        loop {
            self.skip_while(&IN_FLOW);
            let after = self.byte(self.at + 1);
            if self.byte(self.at) != b':' || (!after.is_ascii_alphanumeric() && after != b'/') {
                return;
            }
            self.at += 1;
        }
    }
}

/// The quotes and brackets of flow content, each with a counter of 10 bits in one number.
static COUNTERS: [u64; 256] = counters(b"\"'[]{}");
/// The number of bytes that are counted before a counter could overflow.
const COUNTED: usize = (1 << 10) - 1;

const fn counters(characters: &[u8]) -> [u64; 256] {
    let mut set = [0; 256];
    let mut at = 0;
    #[allow(clippy::indexing_slicing)] // constant indexes
    while at < characters.len() {
        set[characters[at] as usize] = 1 << (10 * at);
        at += 1;
    }
    set
}

/// True if every quote and bracket of a text may have its counterpart there.
fn is_balanced(text: &[u8]) -> bool {
    let mut counts = [0; 6];
    for piece in text.chunks(COUNTED) {
        // One pass for all characters: most texts are too short for vector instructions.
        let counters: u64 = piece.iter().filter_map(|c| COUNTERS.get(usize::from(*c))).sum();
        for (at, count) in counts.iter_mut().enumerate() {
            *count += (counters >> (10 * at)) & COUNTED as u64;
        }
    }
    let [double, single, open, close, open_brace, close_brace] = counts;
    double.is_multiple_of(2) && single.is_multiple_of(2) && open == close && open_brace == close_brace
}

/// The text of a plain scalar that is a key.
fn plain_key(text: &str) -> Option<Cow<'_, str>> {
    match resolve::plain(text) {
        Scalar::Text(text) => Some(text),
        scalar => super::decode::key_text(&scalar).map(Cow::Owned),
    }
}
