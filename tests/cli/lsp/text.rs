//! The text of the server is that of the client after any edits, also with ranges that no client should send.

use super::client::Client;
use crdx_editor::{Position, Range, Text, TextChange};
use proptest::prelude::*;

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

fn change() -> impl Strategy<Value = TextChange> {
    let range = (position(), position()).prop_map(|(start, end)| Range { start, end });
    (prop::option::weighted(0.95, range), text()).prop_map(|(range, text)| TextChange { range, text })
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
