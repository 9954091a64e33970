//! Colours for human-readable output.

use super::printable;

/// A colour or style of text on a terminal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Paint {
    /// The terminal's default.
    #[default]
    None,
    /// Accepted, unchanged, added.
    Green,
    /// Rejected, an error, lost.
    Red,
    /// A warning, or changed.
    Yellow,
    /// Less important text.
    Dim,
    /// A heading.
    Bold,
    /// A source location.
    Cyan,
}

impl Paint {
    /// Returns `text` between the escape sequences of this style, or `text` alone unless `color` is set.
    pub fn when(self, color: bool, text: &str) -> String {
        let mut painted = String::with_capacity(text.len());
        self.push(color, text, &mut painted);
        painted
    }

    /// Appends to `out` what [`when`](Self::when) returns.
    pub fn push(self, color: bool, text: &str, out: &mut String) {
        let code = match self {
            _ if !color => return out.push_str(text),
            Self::None => return out.push_str(text),
            Self::Green => "32",
            Self::Red => "1;31",
            Self::Yellow => "33",
            Self::Dim => "2",
            Self::Bold => "1",
            Self::Cyan => "36",
        };
        // Only this program decides about colours.
        for part in ["\x1b[", code, "m", &*printable::text(text), "\x1b[0m"] {
            out.push_str(part);
        }
    }
}
