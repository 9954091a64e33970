//! Colours for human-readable output.

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
        let code = match self {
            _ if !color => return text.to_owned(),
            Self::None => return text.to_owned(),
            Self::Green => "32",
            Self::Red => "1;31",
            Self::Yellow => "33",
            Self::Dim => "2",
            Self::Bold => "1",
            Self::Cyan => "36",
        };
        format!("\x1b[{code}m{text}\x1b[0m")
    }
}
