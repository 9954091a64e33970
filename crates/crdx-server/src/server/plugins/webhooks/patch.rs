//! The JSON patch of a mutating webhook (`callAttrMutatingHook`).

use crate::apply::json_patch::{self, Expected, PatchOperation};
use crate::apply::raw::Raw;
use crdx_text as text;
use crdx_value::GoError;
use crdx_value::release::Release;
use crdx_value::{Value, json};

/// A decoded patch.
pub(super) struct Patch {
    operations: Vec<Value>,
    raw: Raw,
}

impl Patch {
    /// Reads a patch (`jsonpatch.DecodePatch`).
    ///
    /// # Errors
    /// Returns the message of Go's decoder.
    pub fn read(bytes: &[u8]) -> Result<Self, GoError> {
        let patch = text::json::read(bytes).map_err(|error| error.message)?;
        json_patch::operations(&patch).map_err(|error| GoError::from(error.to_string()))?;
        let operations = if let Value::Array(operations) = patch { operations } else { Vec::new() };
        let raw = std::str::from_utf8(bytes).ok().and_then(Raw::read).unwrap_or(Raw::Null);
        Ok(Self { operations, raw })
    }

    /// Returns true if the patch has no operations.
    pub fn is_empty(&self) -> bool {
        self.operations.is_empty()
    }

    /// Returns the patched object.
    ///
    /// # Errors
    /// Returns the message of the jsonpatch library if an operation does not apply, or the server's message if the
    /// result is not an object.
    pub fn apply(&self, object: &Value, release: Release) -> Result<Value, GoError> {
        let mut document = object.clone();
        let mut applied = json_patch::Patch::of_request(release);
        for (index, operation) in self.operations.iter().enumerate() {
            let written = Expected::Text(self.raw.item(index).and_then(|operation| operation.get("value")));
            applied
                .step(&PatchOperation::decode(operation), written, &mut document)
                .map_err(|error| GoError::from(error.to_string()))?;
        }
        if document.str_at(&["kind"]).is_none_or(str::is_empty) {
            return Err(format!("Object 'Kind' is missing in '{}'", json::to_string(&document)).into());
        }
        Ok(document)
    }
}
