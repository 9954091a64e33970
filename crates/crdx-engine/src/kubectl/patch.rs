//! The patch of `kubectl apply`: the differences between the object that was applied last, the new one and the existing
//! one.

use super::error::UnsentError;
use crdx_server::apply::client_side;
use crdx_server::apply::field_manager::LAST_APPLIED;
use crdx_text::json;
use crdx_types::strategic::{self, PatchError};
use crdx_types::types::{TypeId, Types};
use crdx_value::release::Release;
use crdx_value::{Map, Value};

/// The type of patch that kubectl sends for a kind; it decides how lists are merged.
#[derive(Clone, Copy, Debug, Default)]
pub enum PatchType {
    /// The JSON merge patch of custom resources.
    #[default]
    Merge,
    /// The strategic merge patch of CRDs, whose lists are replaced as a whole, except those of the metadata.
    Definition,
    /// The strategic merge patch of a kind that is built into Kubernetes.
    Strategic(&'static Types, TypeId),
    /// The same for a kind whose Go type kubectl does not have: it sends a merge patch if it cannot compute the strategic one.
    StrategicOrMerge(&'static Types, TypeId),
}

/// A patch, as it is sent.
#[derive(Clone, Debug, PartialEq)]
pub struct Patch {
    /// The patch.
    pub value: Value,
    /// The content type of the request.
    pub content_type: &'static str,
}

pub(super) const MERGE: &str = "application/merge-patch+json";
pub(super) const STRATEGIC: &str = "application/strategic-merge-patch+json";

impl PatchType {
    /// Returns the patch; `None` if there is nothing to patch.
    ///
    /// # Errors
    /// Returns the reason why kubectl cannot compute the patch.
    pub fn patch(self, existing: &Value, new: Value) -> Result<Option<Patch>, UnsentError> {
        let modified = client_side::with_last_applied(new);
        let computed = match self {
            Self::Merge => return merge_patch(existing, modified),
            Self::Definition => {
                let types = Types::for_release(Release::NEWEST.minor().number().into());
                strategic_patch(existing, &modified, |original, modified, current| {
                    strategic::three_way_without_strategies(types, original, modified, current)
                })
            }
            Self::Strategic(types, id) | Self::StrategicOrMerge(types, id) => {
                strategic_patch(existing, &modified, |original, modified, current| {
                    strategic::three_way(types, id, original, modified, current)
                })
            }
        };
        match computed {
            Err(UnsentError::Patch(_)) if !matches!(self, Self::Strategic(..)) => merge_patch(existing, modified),
            other => other.map(|value| Patch::of(value, STRATEGIC)),
        }
    }
}

impl Patch {
    /// A patch that changes something.
    fn of(value: Value, content_type: &'static str) -> Option<Self> {
        (!value.as_object().is_some_and(Map::is_empty)).then_some(Self { value, content_type })
    }
}

fn merge_patch(existing: &Value, modified: Value) -> Result<Option<Patch>, UnsentError> {
    let value = client_side::patch(existing, modified).map_err(UnsentError::LastApplied)?;
    Ok(Patch::of(value, MERGE))
}

fn strategic_patch(
    existing: &Value,
    modified: &Value,
    three_way: impl FnOnce(&Map, &Map, &Map) -> Result<Map, PatchError>,
) -> Result<Value, UnsentError> {
    let applied = existing.str_at(&["metadata", "annotations", LAST_APPLIED]).filter(|text| !text.is_empty());
    let original = match applied {
        Some(text) => json::read(text.as_bytes()).map_err(|error| UnsentError::LastApplied(error.message.into()))?,
        None => Value::Object(Map::new()),
    };
    let none = Map::new();
    let [original, modified, current] = [&original, modified, existing].map(|v| v.as_object().unwrap_or(&none));
    three_way(original, modified, current)
        .map(Value::Object)
        .map_err(|error| UnsentError::Patch(error.to_string().into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The patch that kubectl sends for a CRD whose metadata changes.
    #[test]
    fn the_lists_in_the_metadata_of_a_crd_are_merged() {
        let with = |finalizers: &str| {
            let text = format!(r#"{{"metadata":{{"name":"a","finalizers":{finalizers}}},"spec":{{"versions":[1]}}}}"#);
            json::read(text.as_bytes()).unwrap()
        };
        let applied = client_side::with_last_applied(with(r#"["x/y","z/z"]"#));
        let patch = PatchType::Definition.patch(&applied, with(r#"["z/z"]"#)).unwrap().unwrap().value;
        let metadata = patch.get("metadata").unwrap();
        assert_eq!(metadata.get("$deleteFromPrimitiveList/finalizers"), Some(&Value::Array(vec!["x/y".into()])));
        assert_eq!(metadata.get("$setElementOrder/finalizers"), Some(&Value::Array(vec!["z/z".into()])));
        assert_eq!((metadata.get("finalizers"), patch.get("spec")), (None, None));
    }

    #[test]
    fn a_strategic_merge_patch_has_exact_integers() {
        let of =
            |x: &str| json::read(format!(r#"{{"metadata":{{"name":"a"}},"spec":{{"x":{x}}}}}"#).as_bytes()).unwrap();
        let existing = client_side::with_last_applied(of("9007199254740992"));
        let patch = PatchType::Definition.patch(&existing, of("9007199254740993")).unwrap().unwrap().value;
        assert_eq!(patch.at(&["spec", "x"]), Some(&Value::Int(9_007_199_254_740_993)));
    }
}
