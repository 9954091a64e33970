//! The text of a client, for tests and for the fuzz target `lsp`.

use crdx_editor::{Position, TextChange};

/// A text as a client keeps it: UTF-16 code units, edited as `vscode-languageserver-textdocument` does.
pub struct Client(pub Vec<u16>);

impl Client {
    /// The starts of the lines, and the end of each without its line break.
    pub fn lines(&self) -> Vec<(usize, usize)> {
        let (cr, lf) = (u16::from(b'\r'), u16::from(b'\n'));
        let mut lines = Vec::new();
        let mut start = 0;
        let mut at = 0;
        while at < self.0.len() {
            let length = match self.0[at] {
                unit if unit == cr && self.0.get(at + 1) == Some(&lf) => 2,
                unit if unit == cr || unit == lf => 1,
                _ => 0,
            };
            if length > 0 {
                lines.push((start, at));
                start = at + length;
            }
            at += length.max(1);
        }
        lines.push((start, self.0.len()));
        lines
    }

    fn offset(&self, position: Position) -> usize {
        let Some(&(start, end)) = self.lines().get(position.line as usize) else { return self.0.len() };
        let offset = start.saturating_add(position.character as usize).min(end);
        // A character of two units is not divided.
        let is_low = |at: usize| self.0.get(at).is_some_and(|unit| (0xdc00..0xe000).contains(unit));
        if offset > start && is_low(offset) { offset - 1 } else { offset }
    }

    /// Applies an edit.
    pub fn edit(&mut self, change: &TextChange) {
        let new: Vec<u16> = change.text.encode_utf16().collect();
        match change.range {
            None => self.0 = new,
            Some(range) => {
                let (a, b) = (self.offset(range.start), self.offset(range.end));
                self.0.splice(a.min(b)..a.max(b), new);
            }
        }
    }
}
