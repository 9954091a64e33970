//! The result of a JSON or merge patch, before it is decoded.

use crate::apply::raw::{self, Raw};
use crdx_value::Value;

/// A patched object.
pub(in crate::server) struct PatchedObject<'a> {
    pub object: Value,
    /// The source of the merge patch.
    pub source: Option<&'a Raw>,
    /// Applies the patch again.
    pub again: &'a dyn Fn() -> Value,
}

impl<'a> PatchedObject<'a> {
    /// The JSON of the object, with the numbers of a merge patch as they were written.
    pub fn text(&self) -> String {
        raw::text(&self.object, self.source)
    }

    /// Returns the object and a function that computes its text. Only errors quote the text, so it is computed from the
    /// result of a second application of the patch instead of a copy of every object.
    pub fn into_parts(self) -> (Value, impl Fn() -> String + 'a) {
        let Self { object, source, again } = self;
        (object, move || raw::text(&again(), source))
    }
}
