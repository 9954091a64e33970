//! The error of a body that cannot be decoded.

/// A body that cannot be decoded, with the text of the server's decoder.
#[derive(Debug, PartialEq)]
pub(in crate::server) enum Unreadable {
    /// Decoding failed before the type was known.
    Early(String),
    /// Decoding failed after the type was known: for example, a number beyond float64, or a nested Protobuf message.
    Late(String),
}

impl Unreadable {
    /// The text of the error.
    pub fn into_text(self) -> String {
        let (Self::Early(text) | Self::Late(text)) = self;
        text
    }
}
