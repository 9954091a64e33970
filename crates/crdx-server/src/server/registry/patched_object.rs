//! The result of a JSON or merge patch, before it is decoded.

use crate::apply::json_patch;
use crate::apply::raw::{self, Raw};
use crdx_value::Value;

pub(in crate::server) struct PatchedObject<'a> {
    pub object: Value,
    pub source: PatchSource<'a>,
}

/// The patch as it was written, which decides how errors quote the object.
#[derive(Clone, Copy)]
pub(in crate::server) enum PatchSource<'a> {
    Json {
        text: &'a [u8],
        existing: &'a Value,
    },
    Merge {
        patch: &'a Raw,
        /// Applies the patch again.
        again: &'a dyn Fn() -> Value,
    },
}

impl<'a> PatchedObject<'a> {
    /// The JSON of the object, with the values of the patch as they were written.
    pub fn text(&self) -> String {
        match self.source {
            PatchSource::Json { text, existing } => json_patch::text::patched(text, existing),
            PatchSource::Merge { patch, .. } => raw::text(&self.object, Some(patch)),
        }
    }

    /// Returns the object and a function that computes its text. Only errors quote the text, so it is computed from the
    /// result of a second application of the patch instead of a copy of every object.
    pub fn into_parts(self) -> (Value, impl Fn() -> String + 'a) {
        let Self { object, source } = self;
        (object, move || match source {
            PatchSource::Json { text, existing } => json_patch::text::patched(text, existing),
            PatchSource::Merge { patch, again } => raw::text(&again(), Some(patch)),
        })
    }
}
