//! The notes of a strategy about the object of a request.

use crdx_types::empties::Empties;

/// Properties of an object of a built-in kind that its encoded form does not show. A strategy notes them when it decodes the object, and
/// reads them when it prepares and validates the object.
#[derive(Debug, Default)]
pub(in crate::server) struct ObjectNotes {
    /// The empty lists and maps of the object.
    pub empties: Option<Empties>,
    /// True if the labels of the object are those of its template.
    pub shares_labels: bool,
    /// The warnings about fields that the preparation of a new object changed.
    pub warnings: Vec<String>,
}
