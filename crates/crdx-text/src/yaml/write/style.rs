//! The styles in which a string can be written (`yaml_emitter_analyze_scalar`).

/// The styles that a string allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Analysis {
    /// True if it contains line breaks.
    pub multiline: bool,
    /// True if it can be written as a plain scalar.
    pub plain: bool,
    /// True if it can be single-quoted.
    pub single: bool,
    /// True if it can be written as a literal block.
    pub block: bool,
}

/// Returns true for the line breaks of YAML 1.1.
pub(crate) fn is_break(c: char) -> bool {
    matches!(c, '\r' | '\n' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Returns true for characters that are written unescaped. Characters beyond U+FFFF are escaped.
pub fn is_printable(c: char) -> bool {
    matches!(c, '\n' | ' '..='~' | '\u{a0}'..='\u{fffd}') && c != '\u{feff}'
}

impl Analysis {
    /// Analyzes every character of `text`.
    pub fn new(text: &str) -> Self {
        if text.is_empty() {
            return Self { multiline: false, plain: true, single: true, block: false };
        }
        let mut indicators = text.starts_with("---") || text.starts_with("...");
        let (mut breaks, mut special) = (false, false);
        // A line break before a space, and a space before a line break.
        let (mut break_space, mut space_break) = (false, false);
        let mut previous = None;
        let mut chars = text.chars().peekable();
        while let Some(c) = chars.next() {
            let before_blank = chars.peek().is_none_or(|next| matches!(next, ' ' | '\t'));
            let after_blank = previous.is_none_or(|p| matches!(p, ' ' | '\t') || is_break(p));
            indicators |= match c {
                '#' => after_blank,
                ',' | '[' | ']' | '{' | '}' | '&' | '*' | '!' | '|' | '>' | '\'' | '"' | '%' | '@' | '`' => {
                    previous.is_none()
                }
                '?' | '-' => previous.is_none() && before_blank,
                ':' => before_blank,
                _ => false,
            };
            special |= !is_printable(c);
            if c == ' ' {
                break_space |= previous.is_some_and(is_break);
            } else if is_break(c) {
                breaks = true;
                space_break |= previous == Some(' ');
            }
            previous = Some(c);
        }
        let edge = |c: char| c == ' ' || is_break(c);
        let trailing_space = text.ends_with(' ');
        Self {
            multiline: breaks,
            plain: !(indicators
                || breaks
                || special
                || break_space
                || space_break
                || text.starts_with(edge)
                || text.ends_with(edge)),
            single: !(break_space || space_break || special),
            block: !(trailing_space || space_break || special),
        }
    }
}
