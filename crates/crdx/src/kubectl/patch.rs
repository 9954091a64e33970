//! The patch of `kubectl apply`: the differences between the object that was applied last, the new one and the existing
//! one.

use super::error::UnsentError;
use crdx_server::apply::client_side;
use crdx_server::apply::field_manager::LAST_APPLIED;
use crdx_text::json;
use crdx_types::strategic;
use crdx_types::types::{TypeId, Types};
use crdx_value::{Map, Value};

/// The type of patch that kubectl sends for a kind; it decides how lists are merged.
#[derive(Clone, Copy, Debug, Default)]
pub enum PatchType {
    /// The JSON merge patch of custom resources.
    #[default]
    Merge,
    /// The strategic merge patch of CRDs, whose lists are replaced as a whole, so that it has the content of a merge
    /// patch.
    Definition,
    /// The strategic merge patch of a kind that is built into Kubernetes.
    Strategic(&'static Types, TypeId),
}

impl PatchType {
    /// The content type of the request.
    pub fn content_type(self) -> &'static str {
        match self {
            Self::Merge => "application/merge-patch+json",
            Self::Definition | Self::Strategic(..) => "application/strategic-merge-patch+json",
        }
    }

    /// Returns the patch; `None` if there is nothing to patch.
    ///
    /// # Errors
    /// Returns the reason why kubectl cannot compute the patch.
    pub fn patch(self, existing: &Value, new: Value) -> Result<Option<Value>, UnsentError> {
        let modified = client_side::with_last_applied(new);
        let patch = match self {
            Self::Merge => client_side::patch(existing, modified).map_err(UnsentError::LastApplied)?,
            Self::Definition => client_side::exact_patch(existing, &modified).map_err(UnsentError::LastApplied)?,
            Self::Strategic(types, id) => strategic_patch(types, id, existing, &modified)?,
        };
        Ok(Some(patch).filter(|patch| !patch.as_object().is_some_and(Map::is_empty)))
    }
}

fn strategic_patch(
    types: &'static Types,
    id: TypeId,
    existing: &Value,
    modified: &Value,
) -> Result<Value, UnsentError> {
    let applied = existing.str_at(&["metadata", "annotations", LAST_APPLIED]).filter(|text| !text.is_empty());
    let original = match applied {
        Some(text) => json::read(text.as_bytes()).map_err(|error| UnsentError::LastApplied(error.message))?,
        None => Value::Object(Map::new()),
    };
    let none = Map::new();
    let [original, modified, current] = [&original, modified, existing].map(|v| v.as_object().unwrap_or(&none));
    let patch = strategic::three_way(types, id, original, modified, current);
    patch.map(Value::Object).map_err(|error| UnsentError::Patch(error.to_string()))
}
