//! The result of a JSON or merge patch, before it is decoded.

use crate::apply::raw::{self, Raw};
use crate::value::Value;

/// A patched object.
pub(in crate::server) struct PatchedObject<'a> {
    pub object: Value,
    /// The source of the merge patch.
    pub source: Option<&'a Raw>,
}

impl PatchedObject<'_> {
    /// The JSON of the object, with the numbers of a merge patch as they were written.
    pub fn text(&self) -> String {
        raw::text(&self.object, self.source)
    }
}
