//! The request of client-side `kubectl apply` for a custom resource: the last-applied annotation, and the JSON merge
//! patch computed from three objects.
//!
//! Follows `k8s.io/kubectl/pkg/util/apply.go` and `k8s.io/apimachinery/pkg/util/jsonmergepatch`.

use super::{field_manager::LAST_APPLIED, path::equal};
use crdx_value::GoError;
use crdx_value::{Map, Value, json, number};
use std::borrow::Cow;

/// The usual length of an object as JSON.
const CAPACITY: usize = 2048;

/// Returns the object as kubectl sends it: the last-applied annotation contains the JSON of the object without that
/// annotation. An object with malformed annotations is returned unchanged: kubectl cannot decode it, and the server
/// rejects it.
#[must_use]
pub fn with_last_applied(mut object: Value) -> Value {
    let Some(annotations) = own_annotations(&object) else { return object };
    let Some(members) = object.as_object_mut() else { return object };
    let metadata = members.entry("metadata".to_owned()).or_insert_with(|| Value::Object(Map::new()));
    if let Some(metadata) = metadata.as_object_mut() {
        // kubectl keeps an empty map, which is visible in the text of the annotation.
        metadata.insert("annotations".to_owned(), Value::Object(annotations));
    }
    let mut text = String::with_capacity(CAPACITY);
    json::write_compact(&mut text, &object);
    text.push('\n');
    let annotations = object.get_mut("metadata").and_then(|m| m.get_mut("annotations"));
    if let Some(annotations) = annotations.and_then(Value::as_object_mut) {
        annotations.insert(LAST_APPLIED.to_owned(), Value::from(text));
    }
    object
}

/// The annotations without the last-applied one, as kubectl's accessor decodes them (`NestedNullCoercingStringMap`): a null
/// is an empty string. `None` if they are not a map of strings.
fn own_annotations(object: &Value) -> Option<Map> {
    let text = |(key, value): (&String, &Value)| match value {
        Value::String(_) => Some((key.clone(), value.clone())),
        Value::Null => Some((key.clone(), Value::from(""))),
        _ => None,
    };
    let mut annotations = match object.at(&["metadata", "annotations"]) {
        None | Some(Value::Null) => Map::new(),
        Some(Value::Object(members)) => members.iter().map(text).collect::<Option<Map>>()?,
        Some(_) => return None,
    };
    annotations.remove(LAST_APPLIED);
    Some(annotations)
}

/// Returns the object as `kubectl create` and `kubectl replace` send it: an existing last-applied annotation is updated
/// (`CreateOrUpdateAnnotation`).
#[must_use]
pub fn with_current_annotation(object: Value) -> Value {
    match object.str_at(&["metadata", "annotations", LAST_APPLIED]) {
        Some(text) if !text.is_empty() => with_last_applied(object),
        _ => object,
    }
}

/// Returns the object as `kubectl apply` creates it: null members are dropped, as a merge patch would do later, but the
/// annotation still contains them.
#[must_use]
pub fn to_create(object: Value) -> Value {
    let mut object = with_last_applied(object);
    drop_nulls(&mut object);
    object
}

/// Like [`to_create`], but without the last-applied annotation.
#[must_use]
pub fn to_create_unannotated(mut object: Value) -> Value {
    remove_last_applied(&mut object);
    drop_nulls(&mut object);
    object
}

/// Leaves out the last-applied annotation, and annotations without members, which the server omits.
pub fn remove_last_applied(object: &mut Value) {
    if let Some(annotations) = own_annotations(object)
        && let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut)
    {
        if annotations.is_empty() {
            metadata.remove("annotations");
        } else {
            metadata.insert("annotations".to_owned(), Value::Object(annotations));
        }
    }
}

/// Drops null members; list items are kept (`pruneNullsFromMap` in `kubectl apply`).
pub fn drop_nulls(value: &mut Value) {
    match value {
        Value::Object(members) => {
            let mut has_null = false;
            for child in members.values_mut() {
                match child {
                    Value::Null => has_null = true,
                    Value::Object(_) | Value::Array(_) => drop_nulls(child),
                    _ => {}
                }
            }
            // Removing members rebuilds the map; most maps have no nulls.
            if has_null {
                members.retain(|_, child| !child.is_null());
            }
        }
        Value::Array(items) => {
            for item in items {
                drop_nulls(item);
            }
        }
        _ => {}
    }
}

/// Computes the merge patch that `kubectl apply` sends for `modified` (the result of [`with_last_applied`]) if `live`
/// exists: additions and changes relative to the live object, and deletions relative to the last-applied configuration.
///
/// kubectl's patch library decodes every number as float64: an integer beyond 2^53 is rounded in the patch, and a
/// change smaller than the rounding is not detected.
///
/// # Errors
/// Returns a text if the annotation is not valid JSON.
pub fn patch(live: &Value, mut modified: Value) -> Result<Value, GoError> {
    let mut original = last_applied(live)?;
    round_numbers(&mut original);
    round_numbers(&mut modified);
    Ok(patch_of(&original, &modified, &rounded(live)))
}

fn last_applied(live: &Value) -> Result<Value, GoError> {
    Ok(match live.str_at(&["metadata", "annotations", LAST_APPLIED]).filter(|text| !text.is_empty()) {
        Some(text) => crdx_text::json::read(text.as_bytes()).map_err(|e| e.message)?,
        None => Value::Object(Map::new()),
    })
}

fn patch_of(original: &Value, modified: &Value, live: &Value) -> Value {
    let none = Map::new();
    let [original, modified, live] = [original, modified, live].map(|value| value.as_object().unwrap_or(&none));
    let changes = difference(live, modified, PatchPart::Changes);
    let deletions = difference(original, modified, PatchPart::Deletions);
    Value::Object(combine(deletions, changes))
}

/// Rounds every integer to the nearest float64, as the server decodes what Go writes for it.
fn round_numbers(value: &mut Value) {
    match value {
        Value::Int(i) => *value = number::to_value(*i as f64),
        Value::Array(items) => items.iter_mut().for_each(round_numbers),
        Value::Object(members) => members.values_mut().for_each(round_numbers),
        _ => {}
    }
}

/// The value with rounded numbers, which is copied only if it changes.
fn rounded(value: &Value) -> Cow<'_, Value> {
    fn is_exact(value: &Value) -> bool {
        const EXACT: u64 = 1 << f64::MANTISSA_DIGITS;
        match value {
            Value::Int(i) => i.unsigned_abs() <= EXACT,
            Value::Array(items) => items.iter().all(is_exact),
            Value::Object(members) => members.values().all(is_exact),
            _ => true,
        }
    }
    if is_exact(value) {
        return Cow::Borrowed(value);
    }
    let mut value = value.clone();
    round_numbers(&mut value);
    Cow::Owned(value)
}

/// A part of a merge patch.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PatchPart {
    /// The members that are null.
    Deletions,
    /// All others.
    Changes,
}

/// Computes a part of the merge patch from one object to another.
fn difference(from: &Map, to: &Map, part: PatchPart) -> Map {
    let mut out = Map::new();
    for (name, new) in to {
        let kept = match (from.get(name), new) {
            (Some(Value::Object(old)), Value::Object(new)) => non_empty(difference(old, new, part)),
            (Some(old), new) if equal(old, new) => None,
            (_, new) => of_part(new, part),
        };
        if let Some(kept) = kept {
            out.insert(name.clone(), kept);
        }
    }
    if part == PatchPart::Deletions {
        let removed = from.keys().filter(|name| !to.contains_key(name));
        out.extend(removed.map(|name| (name.clone(), Value::Null)));
    }
    out
}

fn of_part(new: &Value, part: PatchPart) -> Option<Value> {
    match new {
        Value::Null => (part == PatchPart::Deletions).then_some(Value::Null),
        Value::Object(members) if !members.is_empty() => {
            let kept = members.iter().filter_map(|(name, value)| Some((name.clone(), of_part(value, part)?)));
            non_empty(kept.collect())
        }
        other => (part == PatchPart::Changes).then(|| other.clone()),
    }
}

fn non_empty(members: Map) -> Option<Value> {
    (!members.is_empty()).then_some(Value::Object(members))
}

fn combine(mut into: Map, from: Map) -> Map {
    for (name, value) in from {
        let value = match (into.remove(&name), value) {
            (Some(Value::Object(old)), Value::Object(new)) => Value::Object(combine(old, new)),
            (_, value) => value,
        };
        into.insert(name, value);
    }
    into
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Value {
        crdx_text::json::read(text.as_bytes()).unwrap()
    }

    #[test]
    fn malformed_annotations_are_sent_unchanged() {
        let annotation = |annotations: &str| {
            let sent = with_last_applied(read(&format!(r#"{{"metadata":{{"annotations":{annotations}}}}}"#)));
            sent.at(&["metadata", "annotations"]).unwrap().clone()
        };
        for refused in [r#"{"a":1,"b":"c"}"#, r#"["a"]"#, r#""a""#] {
            assert_eq!(annotation(refused), read(refused));
        }
        assert_eq!(annotation(r#"{"a":null}"#).str_at(&["a"]), Some(""));
        assert!(annotation("null").str_at(&[LAST_APPLIED]).is_some());
    }

    #[test]
    fn create_and_replace_update_an_existing_annotation() {
        let with = |text: &str| {
            let annotations = crdx_value::object([(LAST_APPLIED, Value::from(text))]);
            let metadata = crdx_value::object([("annotations", annotations)]);
            crdx_value::object([("metadata", metadata), ("a", Value::Int(1))])
        };
        assert_eq!(with_current_annotation(with("{}")), with("{\"a\":1,\"metadata\":{\"annotations\":{}}}\n"));
        let without = read(r#"{"a":1,"metadata":{"name":"x"}}"#);
        assert_eq!(with_current_annotation(without.clone()), without);
    }

    #[test]
    fn created_objects_have_no_nulls() {
        let sent = to_create(read(r#"{"metadata":{"name":"a"},"spec":{"x":null,"l":[null,{"y":null,"z":1}]}}"#));
        assert_eq!(json::to_string(sent.get("spec").unwrap()), r#"{"l":[null,{"z":1}]}"#);
        assert!(sent.str_at(&["metadata", "annotations", LAST_APPLIED]).unwrap().contains(r#""x":null"#));
    }

    #[test]
    fn only_what_was_applied_before_is_deleted() {
        let before = with_last_applied(read(r#"{"metadata":{"name":"a"},"spec":{"x":1,"y":{"z":1},"l":[1]}}"#));
        let mut live = before.clone();
        live.get_mut("spec").unwrap().as_object_mut().unwrap().insert("theirs".to_owned(), Value::Int(1));
        assert_eq!(patch(&live, before.clone()), Ok(Value::Object(Map::new())));
        let after = with_last_applied(read(r#"{"metadata":{"name":"a"},"spec":{"x":2.0,"l":[1]}}"#));
        let sent = patch(&live, after.clone()).unwrap();
        assert_eq!(json::to_string(sent.get("spec").unwrap()), r#"{"x":2,"y":null}"#);
        let text = sent.str_at(&["metadata", "annotations", LAST_APPLIED]).unwrap();
        assert_eq!(text, "{\"metadata\":{\"annotations\":{},\"name\":\"a\"},\"spec\":{\"l\":[1],\"x\":2}}\n");
    }

    #[test]
    fn a_changed_integer_is_converted_to_float64() {
        let of = |spec: &str| read(&format!(r#"{{"metadata":{{"name":"a"}},"spec":{spec}}}"#));
        let before = with_last_applied(of(r#"{"x":1,"same":9007199254740993}"#));
        let after =
            with_last_applied(of(r#"{"x":9007199254740993,"l":[9223372036854775807],"same":9007199254740992}"#));
        let sent = patch(&before, after.clone()).unwrap();
        let rounded = r#"{"l":[9223372036854776000],"x":9007199254740992}"#;
        assert_eq!(json::to_string(sent.get("spec").unwrap()), rounded);
        assert_eq!(sent.get("spec").unwrap().get("x"), Some(&Value::Int(9_007_199_254_740_992)));
    }
}
