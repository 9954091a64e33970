//! The JSON patch of a mutating webhook (`callAttrMutatingHook`).

use crate::apply::json_patch::{self, NO_FROM, NO_PATH, Operation};
use crate::apply::raw::Raw;
use crate::release::Release;
use crate::text;
use crate::value::json::go_kind;
use crate::value::{Value, json};

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
    pub fn read(bytes: &[u8]) -> Result<Self, String> {
        let operations = match text::json::read(bytes).map_err(|error| error.message)? {
            Value::Null => Vec::new(),
            Value::Array(operations) => operations,
            other => {
                return Err(format!(
                    "json: cannot unmarshal {} into Go value of type jsonpatch.Patch",
                    go_kind(&other)
                ));
            }
        };
        if let Some(other) = operations.iter().find(|o| !matches!(o, Value::Object(_) | Value::Null)) {
            let kind = go_kind(other);
            return Err(format!("json: cannot unmarshal {kind} into Go value of type jsonpatch.Operation"));
        }
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
    pub fn apply(&self, object: &Value, release: Release) -> Result<Value, String> {
        let mut document = object.clone();
        let mut applied = json_patch::Patch::of_request(release);
        for (index, operation) in self.operations.iter().enumerate() {
            let text = |key: &str| operation.str_at(&[key]).map(str::to_owned);
            let written = self.raw.item(index).and_then(|operation| operation.get("value"));
            let operation = Operation {
                op: text("op").unwrap_or_else(|| "unknown".to_owned()),
                path: text("path").ok_or_else(|| NO_PATH.to_owned()),
                from: text("from").ok_or_else(|| NO_FROM.to_owned()),
                value: operation.get("value").cloned(),
            };
            applied.step(&operation, written, &mut document).map_err(|error| error.to_string())?;
        }
        if document.str_at(&["kind"]).is_none_or(str::is_empty) {
            return Err(format!("Object 'Kind' is missing in '{}'", json::to_string(&document)));
        }
        Ok(document)
    }
}
