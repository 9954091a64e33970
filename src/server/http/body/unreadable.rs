//! Why a body could not be read.

/// An unreadable body, with the text of the server's decoder.
#[derive(Debug, PartialEq)]
pub(in crate::server) enum Unreadable {
    /// Before its type was known.
    Early(String),
    /// When its type was known already: a number that no float64 holds, a message inside one of Protobuf.
    Late(String),
}

impl Unreadable {
    /// The text.
    pub fn into_text(self) -> String {
        let (Self::Early(text) | Self::Late(text)) = self;
        text
    }
}
