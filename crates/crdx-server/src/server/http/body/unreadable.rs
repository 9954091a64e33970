//! The decoding error of a request body.

/// A body that cannot be decoded, with the error message of the server's decoder.
#[derive(Debug, PartialEq)]
pub(in crate::server) enum Unreadable {
    /// Decoding failed before apiVersion and kind were known.
    Early(String),
    /// Decoding failed after apiVersion and kind were known: for example, a number outside the float64 range, or a
    /// malformed nested Protobuf message.
    Late(String),
}

impl Unreadable {
    /// The error message.
    pub(crate) fn into_text(self) -> String {
        let (Self::Early(text) | Self::Late(text)) = self;
        text
    }
}
