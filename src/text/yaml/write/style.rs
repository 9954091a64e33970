//! The styles in which a text can be written (`yaml_emitter_analyze_scalar`).

/// The styles that a text allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Analysis {
    /// It holds line breaks.
    pub multiline: bool,
    /// It can be plain.
    pub plain: bool,
    /// It can be in single quotes.
    pub single: bool,
    /// It can be a literal block.
    pub block: bool,
}

/// Line breaks of YAML 1.1.
pub fn is_break(c: char) -> bool {
    matches!(c, '\r' | '\n' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Characters written as they are. Those beyond U+FFFF are not.
pub fn is_printable(c: char) -> bool {
    matches!(c, '\n' | ' '..='~' | '\u{a0}'..='\u{fffd}') && c != '\u{feff}'
}

impl Analysis {
    /// Looks at every character of `text`.
    pub fn of(text: &str) -> Self {
        if text.is_empty() {
            return Self { multiline: false, plain: true, single: true, block: false };
        }
        let mut indicators = text.starts_with("---") || text.starts_with("...");
        let (mut breaks, mut special) = (false, false);
        // A break before a space, and a space before a break.
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
