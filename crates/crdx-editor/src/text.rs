//! The text of an open file, edited with the positions of the protocol: lines from 0, UTF-16 code units from 0.

use super::messages::{Position, Range, TextChange};

/// An open file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Text {
    content: String,
    /// The offset of each line.
    lines: Vec<usize>,
}

impl Text {
    /// A file with this content.
    pub fn new(content: String) -> Self {
        let lines = line_starts(&content);
        Self { content, lines }
    }

    pub fn content(&self) -> &str {
        &self.content
    }

    /// Applies an edit. Positions outside of the text mean the end of the line or of the text.
    pub fn edit(&mut self, change: TextChange) {
        match change.range {
            None => self.content = change.text,
            Some(range) => {
                let (start, end) = (self.offset(range.start), self.offset(range.end));
                // As in vscode-languageserver-textdocument, the ends of a range may be swapped.
                self.content.replace_range(start.min(end)..start.max(end), &change.text);
            }
        }
        self.lines = line_starts(&self.content);
    }

    /// The byte offset of a position.
    pub fn offset(&self, position: Position) -> usize {
        let Some(start) = self.lines.get(position.line as usize).copied() else { return self.content.len() };
        let line = self.line(position.line as usize);
        let mut units = position.character as usize;
        let mut offset = start;
        for c in line.chars() {
            if units < c.len_utf16() {
                break;
            }
            units -= c.len_utf16();
            offset += c.len_utf8();
        }
        offset
    }

    /// The position of a byte offset.
    pub fn position(&self, offset: usize) -> Position {
        let offset = self.content.floor_char_boundary(offset);
        let line = self.lines.partition_point(|start| *start <= offset).saturating_sub(1);
        let start = self.lines.get(line).copied().unwrap_or_default();
        let before = self.content.get(start..offset).unwrap_or_default();
        Position { line: number(line), character: number(before.encode_utf16().count()) }
    }

    /// The range of a part of the text in bytes.
    pub fn range(&self, part: std::ops::Range<usize>) -> Range {
        Range { start: self.position(part.start), end: self.position(part.end) }
    }

    /// The byte offset of a line and column of this program: both from 1, lines end with `\n`, columns are characters. A
    /// byte order mark has no column.
    pub fn offset_of(&self, line: usize, column: usize) -> usize {
        let line = line.max(1);
        let start = match line {
            1 => self.content.chars().next().filter(|c| *c == '\u{feff}').map_or(0, char::len_utf8),
            _ => self.content.match_indices('\n').nth(line - 2).map_or(self.content.len(), |(at, _)| at + 1),
        };
        let rest = self.content.get(start..).unwrap_or_default();
        let rest = rest.split_once('\n').map_or(rest, |(line, _)| line);
        start + rest.char_indices().nth(column.max(1) - 1).map_or(rest.len(), |(at, _)| at)
    }

    /// The content of a line (from 0) without its line break.
    pub fn line(&self, line: usize) -> &str {
        let start = self.lines.get(line).copied().unwrap_or(self.content.len());
        let end = self.lines.get(line + 1).copied().unwrap_or(self.content.len());
        self.content.get(start..end).unwrap_or_default().trim_end_matches(['\r', '\n'])
    }
}

/// The protocol's lines end with `\n`, `\r\n` or `\r`.
fn line_starts(content: &str) -> Vec<usize> {
    let bytes = content.as_bytes();
    let mut lines = vec![0];
    for (at, byte) in bytes.iter().enumerate() {
        if *byte == b'\n' || (*byte == b'\r' && bytes.get(at + 1) != Some(&b'\n')) {
            lines.push(at + 1);
        }
    }
    lines
}

fn number(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(line: u32, character: u32) -> Position {
        Position { line, character }
    }

    fn edit(text: &mut Text, from: Position, to: Position, new: &str) {
        let range = Some(Range { start: from, end: to });
        text.edit(TextChange { range, text: new.to_owned() });
    }

    #[test]
    fn edits_use_utf16_positions() {
        let mut text = Text::new("a: 😀x\r\nb: ü\n".to_owned());
        edit(&mut text, at(0, 5), at(0, 6), "y");
        assert_eq!(text.content(), "a: 😀y\r\nb: ü\n");
        edit(&mut text, at(1, 3), at(1, 99), "");
        assert_eq!(text.content(), "a: 😀y\r\nb: \n");
        edit(&mut text, at(7, 0), at(9, 9), "c");
        assert_eq!(text.content(), "a: 😀y\r\nb: \nc");
        edit(&mut text, at(0, 4), at(0, 5), "z");
        assert_eq!(text.content(), "a: zy\r\nb: \nc", "a position inside of a character means its start");
    }

    #[test]
    fn positions_and_offsets_correspond() {
        let text = Text::new("é😀\rb\r\nc\n".to_owned());
        for (offset, _) in text.content().char_indices() {
            let position = text.position(offset);
            if text.content().as_bytes()[offset] != b'\n' || position.line != 1 {
                assert_eq!(text.offset(position), offset, "{position:?}");
            }
        }
        assert_eq!(text.position(6), at(0, 3));
        assert_eq!(text.position(7), at(1, 0));
        assert_eq!(text.line(1), "b");
    }

    #[test]
    fn lines_of_this_program_end_with_a_line_feed() {
        let text = Text::new("\u{feff}a\rb: 😀c\nd".to_owned());
        assert_eq!(text.content().get(text.offset_of(1, 1)..).unwrap().chars().next(), Some('a'));
        assert_eq!(text.content().get(text.offset_of(1, 7)..).unwrap().chars().next(), Some('c'));
        assert_eq!(text.content().get(text.offset_of(2, 1)..), Some("d"));
        assert_eq!(text.offset_of(9, 9), text.content().len());
    }
}
