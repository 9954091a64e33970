//! Object metadata: the fields that the server reads and sets through `metav1.Object`.
//!
//! Decoding has already normalized metadata to the encoding of a typed ObjectMeta, so values of a wrong type do not
//! occur. A value of a wrong type would be treated as absent.

use crate::crd::{self, CustomResourceDefinition};
use crdx_text::strict::{StrictDecodingError, StrictError};
use crdx_value::{Map, Value, json};
use std::sync::Arc;

/// An object with `metadata`.
pub(in crate::server) trait HasMetadata {
    /// The members of `metadata`; `None` if it is missing.
    fn metadata(&self) -> Option<&Map>;
}

/// The object of a write: a [`Value`] or a typed object.
pub(in crate::server) trait Object: HasMetadata + Clone {
    /// The members of `metadata`, which is added if missing; `None` if the value is not an object.
    fn metadata_mut(&mut self) -> Option<&mut Map>;

    /// The object as a value that admission plugins can change; `None` for a typed object, which is encoded for them.
    fn as_value_mut(&mut self) -> Option<&mut Value>;

    /// Decodes an object that the server changed as JSON.
    ///
    /// # Errors
    /// Returns an error if a value has a wrong type, or for an unknown field of a typed object.
    fn of_value(value: Value) -> Result<Self, InvalidObject>;

    /// The object as JSON.
    fn into_value(self) -> Value;
}

/// The reason why JSON that the server changed is no longer an object of its kind.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(in crate::server) struct InvalidObject(String);

impl HasMetadata for Value {
    fn metadata(&self) -> Option<&Map> {
        self.get("metadata").and_then(Self::as_object)
    }
}

impl Object for Value {
    fn metadata_mut(&mut self) -> Option<&mut Map> {
        let members = self.as_object_mut()?;
        if !matches!(members.get("metadata"), Some(Self::Object(_))) {
            members.insert("metadata".to_owned(), Self::Object(Map::new()));
        }
        members.get_mut("metadata")?.as_object_mut()
    }

    fn as_value_mut(&mut self) -> Option<&mut Value> {
        Some(self)
    }

    fn of_value(value: Value) -> Result<Self, InvalidObject> {
        Ok(value)
    }

    fn into_value(self) -> Value {
        self
    }
}

impl HasMetadata for CustomResourceDefinition {
    fn metadata(&self) -> Option<&Map> {
        Some(&self.metadata)
    }
}

impl Object for CustomResourceDefinition {
    fn metadata_mut(&mut self) -> Option<&mut Map> {
        Some(&mut self.metadata)
    }

    fn as_value_mut(&mut self) -> Option<&mut Value> {
        None
    }

    fn of_value(value: Value) -> Result<Self, InvalidObject> {
        let decoded = crd::decode(&value).map_err(|error| InvalidObject(error.to_string()))?;
        if decoded.unknown.is_empty() {
            return Ok(decoded.crd);
        }
        let unknown = decoded.unknown.into_iter().map(StrictError::UnknownField).collect();
        Err(InvalidObject(StrictDecodingError(unknown).to_string()))
    }

    fn into_value(self) -> Value {
        self.to_value()
    }
}

impl<T: HasMetadata> HasMetadata for Arc<T> {
    fn metadata(&self) -> Option<&Map> {
        (**self).metadata()
    }
}

/// A string member of `metadata`; empty if absent.
pub(in crate::server) fn text<'a>(object: &'a impl HasMetadata, key: &str) -> &'a str {
    get(object, key).and_then(Value::as_str).unwrap_or_default()
}

/// Sets a string member of `metadata`; an empty string removes the member.
pub(in crate::server) fn set_text(object: &mut impl Object, key: &str, text: &str) {
    set(object, key, (!text.is_empty()).then(|| Value::from(text)));
}

/// Sets a member of `metadata`, or removes it if `value` is `None`.
pub(in crate::server) fn set(object: &mut impl Object, key: &str, value: Option<Value>) {
    if value.is_none() && object.metadata().is_none() {
        return;
    }
    let Some(metadata) = object.metadata_mut() else { return };
    match value {
        Some(value) => metadata.insert(key.to_owned(), value),
        None => metadata.remove(key),
    };
}

/// A member of `metadata`.
pub(in crate::server) fn get<'a>(object: &'a impl HasMetadata, key: &str) -> Option<&'a Value> {
    object.metadata()?.get(key)
}

/// The finalizers of the object.
pub(in crate::server) fn finalizers(object: &impl HasMetadata) -> Vec<&str> {
    get(object, "finalizers").and_then(Value::as_array).unwrap_or_default().iter().filter_map(Value::as_str).collect()
}

/// Returns true if the object is being deleted.
pub(in crate::server) fn is_deleting(object: &impl HasMetadata) -> bool {
    get(object, "deletionTimestamp").is_some_and(|v| !v.is_null())
}

/// The generation; 0 if absent.
pub(in crate::server) fn generation(object: &impl HasMetadata) -> i64 {
    get(object, "generation").and_then(Value::as_int).unwrap_or_default()
}

/// `WipeObjectMetaSystemFields`
pub(in crate::server) fn wipe_system_fields(object: &mut impl Object) {
    if object.metadata().is_none() {
        return;
    }
    let Some(metadata) = object.metadata_mut() else { return };
    for key in ["creationTimestamp", "uid", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"] {
        metadata.remove(key);
    }
}

/// `FillObjectMetaSystemFields`
pub(in crate::server) fn fill_system_fields(object: &mut impl Object, uid: &str, now: &str) {
    let Some(metadata) = object.metadata_mut() else { return };
    for (key, text) in [("creationTimestamp", now), ("uid", uid)] {
        metadata.insert(key.to_owned(), text.into());
    }
}

/// Removes duplicate owner references and returns the UIDs of the removed ones.
pub(in crate::server) fn dedup_owner_references(object: &mut impl Object) -> Vec<String> {
    let Some(references) = get(object, "ownerReferences").and_then(Value::as_array) else { return Vec::new() };
    if references.len() < 2 {
        return Vec::new();
    }
    let mut merged: Vec<Value> = Vec::with_capacity(references.len());
    let mut duplicates = Vec::new();
    let mut seen = std::collections::HashSet::new();
    for reference in references {
        if seen.insert(json::to_string(reference)) {
            merged.push(reference.clone());
        } else {
            duplicates.push(reference.str_at(&["uid"]).unwrap_or_default().to_owned());
        }
    }
    if !duplicates.is_empty() {
        set(object, "ownerReferences", Some(Value::Array(merged)));
    }
    duplicates
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_value::object;

    #[test]
    fn repeated_owners_are_removed_and_named() {
        let owner = |name: &str| object([("uid", "u"), ("name", name)]);
        let metadata = object([("ownerReferences", Value::Array(vec![owner("a"), owner("b"), owner("a")]))]);
        let mut o = object([("metadata", metadata)]);
        assert_eq!(dedup_owner_references(&mut o), ["u"]);
        assert_eq!(get(&o, "ownerReferences").and_then(Value::as_array).map(<[Value]>::len), Some(2));
    }

    #[test]
    fn members_are_set_and_removed() {
        let mut o = object([("kind", "X")]);
        set_text(&mut o, "name", "a");
        assert_eq!(text(&o, "name"), "a");
        set_text(&mut o, "name", "");
        assert_eq!(get(&o, "name"), None);
    }
}
