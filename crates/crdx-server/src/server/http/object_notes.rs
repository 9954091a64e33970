//! What a strategy notes about the object of a request.

use crdx_types::empties::Empties;

/// What the encoded form of an object of a built-in kind does not show. A strategy notes it when it decodes the object, and
/// reads it when it prepares and validates the object.
#[derive(Debug, Default)]
pub(in crate::server) struct ObjectNotes {
    /// The empty lists and maps of the object.
    pub empties: Option<Empties>,
    /// True if the labels of the object are those of its template.
    pub shares_labels: bool,
    /// The warnings about fields that the preparation of a new object changed.
    pub warnings: Vec<String>,
}
