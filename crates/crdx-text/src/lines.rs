//! Converts offsets to positions without scanning from the start, because a text may be one long line.

use super::Position;

/// The number of bytes in a block.
const BLOCK: usize = 1024;

/// The lines and blocks of a text.
#[derive(Debug)]
pub struct Lines {
    /// The offsets of line starts.
    starts: Vec<usize>,
    /// The number of characters before each block of the text.
    characters: Vec<usize>,
}

fn characters(text: &[u8]) -> usize {
    if text.is_ascii() {
        return text.len();
    }
    text.iter().filter(|b| (**b & 0xc0) != 0x80).count()
}

impl Lines {
    /// Reads the lines of a text.
    pub fn new(text: &[u8]) -> Self {
        let starts = std::iter::once(0).chain(memchr::memchr_iter(b'\n', text).map(|at| at + 1));
        let mut before = 0;
        let characters = text.chunks(BLOCK).map(|block| {
            let known = before;
            before += characters(block);
            known
        });
        Self { starts: starts.collect(), characters: characters.collect() }
    }

    /// Like [`Position::at_offset`]; `text` must be the text of these lines.
    pub fn position(&self, text: &[u8], offset: usize) -> Position {
        let line = self.starts.partition_point(|start| *start <= offset).saturating_sub(1);
        let start = self.starts.get(line).copied().unwrap_or_default();
        if offset - start <= BLOCK {
            let in_line = Position::at_offset(text.get(start..).unwrap_or_default(), offset - start);
            return Position { line: line + 1, column: in_line.column };
        }
        let mut column = self.characters_before(text, offset) - self.characters_before(text, start) + 1;
        if start == 0 && text.starts_with(b"\xef\xbb\xbf") {
            column -= 1;
        }
        Position { line: line + 1, column }
    }

    fn characters_before(&self, text: &[u8], offset: usize) -> usize {
        let block = offset / BLOCK;
        let known = self.characters.get(block).copied();
        known.unwrap_or_default() + characters(text.get(block * BLOCK..offset).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_in_a_long_line_are_found() {
        let text = format!("\u{feff}x: 1\né: [{}z]", "é, ".repeat(3000));
        let lines = Lines::new(text.as_bytes());
        for (at, _) in text.char_indices().skip(1).step_by(97) {
            assert_eq!(lines.position(text.as_bytes(), at), Position::at_offset(text.as_bytes(), at), "{at}");
        }
    }
}
