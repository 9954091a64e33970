//! The text of the server is that of the client after any edits, also with ranges that no client should send.

use crdx::editor::Text;
use lsp_types::{Position, Range, TextDocumentContentChangeEvent};
use proptest::prelude::*;

/// A text as a client keeps it: UTF-16 code units, edited as `vscode-languageserver-textdocument` does.
struct Client(Vec<u16>);

impl Client {
    /// The starts of the lines, and the end of each without its line break.
    fn lines(&self) -> Vec<(usize, usize)> {
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

    fn edit(&mut self, change: &TextDocumentContentChangeEvent) {
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

fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("\n".to_owned()),
        Just("\r\n".to_owned()),
        Just("\r".to_owned()),
        Just("😀".to_owned()),
        Just("é".to_owned()),
        Just("\u{feff}".to_owned()),
        Just("a: b".to_owned()),
        "\\PC{0,3}",
    ];
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

fn position() -> impl Strategy<Value = Position> {
    let near = (0..12_u32, 0..12_u32);
    let any = (any::<u32>(), any::<u32>());
    prop_oneof![9 => near, 1 => any].prop_map(|(line, character)| Position { line, character })
}

fn change() -> impl Strategy<Value = TextDocumentContentChangeEvent> {
    let range = (position(), position()).prop_map(|(start, end)| Range { start, end });
    (prop::option::weighted(0.95, range), text()).prop_map(|(range, text)| TextDocumentContentChangeEvent {
        range,
        range_length: None,
        text,
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]
    #[test]
    fn the_text_is_that_of_the_client(start in text(), changes in prop::collection::vec(change(), 1..12)) {
        let mut server = Text::new(start.clone());
        let mut client = Client(start.encode_utf16().collect());
        for change in changes {
            client.edit(&change);
            server.edit(change);
            prop_assert_eq!(server.content().encode_utf16().collect::<Vec<_>>(), client.0.clone());
        }
        // Positions and offsets correspond.
        for (line, (start, end)) in client.lines().into_iter().enumerate() {
            let length = u32::try_from(end - start).unwrap();
            for character in [0, length] {
                let position = Position { line: u32::try_from(line).unwrap(), character };
                prop_assert_eq!(server.position(server.offset(position)), position);
            }
        }
    }
}
