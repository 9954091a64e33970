//! Characters that control a terminal or hide what a text says.

/// Returns true for a character that must not be printed as it is in a text for people: control characters (C0 except for
/// line breaks and tabs, DEL and C1), line separators, characters that change the direction of text, the byte order mark,
/// and the two that are no characters.
pub fn is_hidden(c: char) -> bool {
    matches!(
        c,
        '\0'..='\x08' | '\x0b'..='\x1f' | '\x7f'..='\u{9f}' | '\u{61c}' | '\u{200e}' | '\u{200f}'
        | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}'
    )
}
