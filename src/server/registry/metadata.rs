//! `metadata` of objects as values: what the server reads and sets through `metav1.Object`.
//!
//! Decoding has already made it what a typed ObjectMeta writes, so wrong types do not occur; where they do, they read as
//! absent.

use crate::value::{Map, Value};

/// The members of `ObjectMeta`, in the order in which Go writes them.
pub(in crate::server) const MEMBERS: [&str; 15] = [
    "name",
    "generateName",
    "namespace",
    "selfLink",
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "labels",
    "annotations",
    "ownerReferences",
    "finalizers",
    "managedFields",
];

/// A text of `metadata`, empty when absent.
pub(in crate::server) fn text<'a>(object: &'a Value, key: &str) -> &'a str {
    object.str_at(&["metadata", key]).unwrap_or_default()
}

/// Sets a text of `metadata`; an empty one removes it.
pub(in crate::server) fn set_text(object: &mut Value, key: &str, text: &str) {
    set(object, key, (!text.is_empty()).then(|| Value::from(text)));
}

/// Sets or removes a member of `metadata`.
pub(in crate::server) fn set(object: &mut Value, key: &str, value: Option<Value>) {
    let Some(members) = object.as_object_mut() else { return };
    match value {
        Some(value) => {
            let metadata = members.entry("metadata".to_owned()).or_insert_with(|| Value::Object(Map::new()));
            if !matches!(metadata, Value::Object(_)) {
                *metadata = Value::Object(Map::new());
            }
            if let Some(metadata) = metadata.as_object_mut() {
                metadata.insert(key.to_owned(), value);
            }
        }
        None => {
            if let Some(metadata) = members.get_mut("metadata").and_then(Value::as_object_mut) {
                metadata.remove(key);
            }
        }
    }
}

/// A member of `metadata`.
pub(in crate::server) fn get<'a>(object: &'a Value, key: &str) -> Option<&'a Value> {
    object.at(&["metadata", key])
}

/// The finalizers.
pub(in crate::server) fn finalizers(object: &Value) -> Vec<&str> {
    get(object, "finalizers").and_then(Value::as_array).unwrap_or_default().iter().filter_map(Value::as_str).collect()
}

/// Whether deletion was asked for.
pub(in crate::server) fn is_deleting(object: &Value) -> bool {
    get(object, "deletionTimestamp").is_some_and(|v| !v.is_null())
}

/// The generation; 0 when absent.
pub(in crate::server) fn generation(object: &Value) -> i64 {
    get(object, "generation").and_then(Value::as_int).unwrap_or_default()
}

/// `WipeObjectMetaSystemFields`
pub(in crate::server) fn wipe_system_fields(object: &mut Value) {
    if get(object, "uid").is_none() && object.get("metadata").is_none() {
        return;
    }
    for key in ["creationTimestamp", "uid", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"] {
        set(object, key, None);
    }
}

/// `FillObjectMetaSystemFields`
pub(in crate::server) fn fill_system_fields(object: &mut Value, uid: &str, now: &str) {
    set_text(object, "creationTimestamp", now);
    set_text(object, "uid", uid);
}

/// Removes repeated owner references; the UIDs of the removed ones.
pub(in crate::server) fn dedup_owner_references(object: &mut Value) -> Vec<String> {
    let Some(references) = get(object, "ownerReferences").and_then(Value::as_array) else { return Vec::new() };
    let mut kept: Vec<Value> = Vec::with_capacity(references.len());
    let mut duplicates = Vec::new();
    let mut seen = std::collections::HashSet::new();
    for reference in references {
        let uid = reference.str_at(&["uid"]).unwrap_or_default();
        if seen.insert(uid) || !kept.contains(reference) {
            kept.push(reference.clone());
        } else {
            duplicates.push(uid.to_owned());
        }
    }
    if !duplicates.is_empty() {
        set(object, "ownerReferences", Some(Value::Array(kept)));
    }
    duplicates
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::object;

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
