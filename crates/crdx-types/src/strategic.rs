//! Strategic merge patches (`StrategicMergeMapPatch` in `k8s.io/apimachinery/pkg/util/strategicpatch`), with the patch
//! strategies and merge keys of the Go types.
//!
//! If the result depends on the order in which Go iterates over a map, keys are processed in alphabetical order.

mod diff;
mod go_sort;
mod lists;
mod lookup;

use super::types::{TypeId, Types};
use crdx_value::{Map, Value, print};
pub use diff::{three_way, three_way_without_strategies};
use lists::{ListMerge, ListPatch};
use lookup::Schema;
use std::collections::HashSet;
use std::fmt;

const DIRECTIVE: &str = "$patch";
const RETAIN_KEYS: &str = "$retainKeys";
const DELETE_PREFIX: &str = "$deleteFromPrimitiveList";
const ORDER_PREFIX: &str = "$setElementOrder";

/// The reason why a patch cannot be applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PatchError {
    /// A directive has a wrong format (400).
    Format(&'static str),
    /// The lists cannot be merged (422).
    Unprocessable(&'static str),
    /// Any other error (500).
    Other(String),
}

impl fmt::Display for PatchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Format(text) | Self::Unprocessable(text) => f.write_str(text),
            Self::Other(text) => f.write_str(text),
        }
    }
}

impl std::error::Error for PatchError {}

const BAD_DELETE_LIST: PatchError = PatchError::Format("invalid patch format of primitive list");
const BAD_RETAIN_KEYS: PatchError = PatchError::Format("invalid patch format of retainKeys");
const BAD_ORDER_LIST: PatchError = PatchError::Format("invalid patch format of setElementOrder list");
const LISTS_OF_LISTS: PatchError = PatchError::Unprocessable("lists of lists are not supported");

/// Applies `patch` to an object of a struct type.
///
/// # Errors
/// Returns the reason why the patch cannot be applied.
pub fn merge(types: &'static Types, id: TypeId, original: Map, patch: Map) -> Result<Map, PatchError> {
    merge_map(original, patch, Schema::new(types, id), Mode::Apply)
}

/// Applies `patch` to an object of a type none of whose fields have a patch strategy, except those of its metadata.
///
/// # Errors
/// Returns the reason why the patch cannot be applied.
pub fn merge_without_strategies(types: &'static Types, original: Map, patch: Map) -> Result<Map, PatchError> {
    merge_map(original, patch, Schema::without_strategies(types), Mode::Apply)
}

/// The part of a patch that the server prints in errors about its result: Go's merge consumes directives and the lists
/// that they order.
pub fn unconsumed(original: &Map, mut patch: Map) -> Map {
    patch.remove(RETAIN_KEYS);
    let ordered: Vec<String> = patch.keys().filter(|key| key.starts_with(ORDER_PREFIX)).cloned().collect();
    for directive in ordered {
        patch.remove(&directive);
        if let Some(key) = without_prefix(&directive, ORDER_PREFIX) {
            patch.remove(key);
        }
    }
    for (key, value) in &mut patch {
        if let (Some(Value::Object(original)), Value::Object(members)) = (original.get(key), value) {
            *members = unconsumed(original, std::mem::take(members));
        }
    }
    patch
}

/// What a patch is merged into (`MergeOptions`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// An object: directives take effect.
    Apply,
    /// Another patch: directives are kept.
    Combine,
}

/// `mergeMap`. The recursion is bounded by the nesting depth of the patch, which its decoder limits.
fn merge_map(mut original: Map, mut patch: Map, schema: Schema, mode: Mode) -> Result<Map, PatchError> {
    if let Some(directive) = patch.get(DIRECTIVE) {
        return match directive.as_str() {
            Some("replace") => {
                patch.remove(DIRECTIVE);
                Ok(patch)
            }
            Some("delete") => Ok(Map::new()),
            _ => Err(bad_patch_type(&directive.clone(), &patch)),
        };
    }
    retain_keys(&mut original, &mut patch, mode)?;
    merge_ordered_lists(&mut original, &mut patch, schema, mode)?;
    for (key, value) in patch {
        let deletes = key.starts_with(DELETE_PREFIX);
        if deletes && mode == Mode::Combine {
            original.insert(key, value);
            continue;
        }
        let key = if deletes { without_prefix(&key, DELETE_PREFIX).ok_or(BAD_DELETE_LIST)?.to_owned() } else { key };
        if value.is_null() {
            original.remove(&key);
            if mode == Mode::Combine {
                original.insert(key, value);
            }
            continue;
        }
        match (original.remove(&key), value) {
            (Some(Value::Object(old)), Value::Object(new)) => {
                let (below, merging) = schema.field(&key)?;
                let merged = if strategy(merging.patch_strategy)? == "replace" {
                    new
                } else {
                    merge_map(old, new, below, mode)?
                };
                original.insert(key, Value::Object(merged));
            }
            (Some(Value::Array(old)), Value::Array(new)) => {
                let (item, merging) = schema.item(&key)?;
                let merged = if deletes || strategy(merging.patch_strategy)? == "merge" {
                    let options = ListMerge { merge_key: merging.patch_merge_key, mode };
                    let patch = if deletes { ListPatch::Deletions } else { ListPatch::Items };
                    lists::merge(old, new, item, options, patch)?.items
                } else {
                    new
                };
                original.insert(key, Value::Array(merged));
            }
            (old, new) => {
                let is_same_type = old.as_ref().is_some_and(|old| print::type_name(old) == print::type_name(&new));
                if deletes && !is_same_type {
                    if let Some(old) = old {
                        original.insert(key, old);
                    }
                    continue;
                }
                let new = if is_same_type || mode == Mode::Combine { new } else { without_nulls(new) };
                if let Some(new) = without_directives(new) {
                    original.insert(key, new);
                }
            }
        }
    }
    Ok(original)
}

/// `applyRetainKeysDirective`
fn retain_keys(original: &mut Map, patch: &mut Map, mode: Mode) -> Result<(), PatchError> {
    let Some(keys) = patch.remove(RETAIN_KEYS) else { return Ok(()) };
    if mode == Mode::Combine {
        return match original.get(RETAIN_KEYS) {
            Some(known) if *known == keys => Ok(()),
            Some(known) => Err(PatchError::Other(format!(
                "{} and {} are not deep equal: this may happen when calculating the 3-way diff patch",
                print::format_v(known),
                print::format_v(&keys)
            ))),
            None => {
                original.insert(RETAIN_KEYS.to_owned(), keys);
                Ok(())
            }
        };
    }
    let keys: HashSet<&str> = keys.as_array().ok_or(BAD_RETAIN_KEYS)?.iter().filter_map(Value::as_str).collect();
    for (key, value) in patch.iter() {
        let is_directive = key.starts_with(DELETE_PREFIX) || key.starts_with(ORDER_PREFIX);
        if !value.is_null() && !is_directive && !keys.contains(key.as_str()) {
            return Err(BAD_RETAIN_KEYS);
        }
    }
    original.retain(|key, _| keys.contains(key.as_str()));
    Ok(())
}

/// `mergePatchIntoOriginal`: merges the lists that have a `$setElementOrder`.
fn merge_ordered_lists(original: &mut Map, patch: &mut Map, schema: Schema, mode: Mode) -> Result<(), PatchError> {
    let directives: Vec<String> = patch.keys().filter(|key| key.starts_with(ORDER_PREFIX)).cloned().collect();
    for directive in directives {
        let order = patch.remove(&directive).unwrap_or_default();
        if mode == Mode::Combine {
            match original.get(&directive) {
                Some(known) if *known == order => {}
                Some(_) => return Err(BAD_ORDER_LIST),
                None => drop(original.insert(directive.clone(), order.clone())),
            }
        }
        let Value::Array(order) = order else { return Err(bad_type("[]interface {}", &order)) };
        let key = without_prefix(&directive, ORDER_PREFIX).ok_or(BAD_ORDER_LIST)?;
        let list = |value: Option<Value>| match value {
            None => Ok(None),
            Some(Value::Array(items)) => Ok(Some(items)),
            Some(other) => Err(bad_type("[]interface {}", &other)),
        };
        let (old, new) = (list(original.remove(key))?, list(patch.remove(key))?);
        let (item, merging) = schema.item(key)?;
        let merge_key = merging.patch_merge_key;
        let strategy = strategy(merging.patch_strategy)?;
        lists::check_order(new.as_deref().unwrap_or_default(), &order, merge_key)?;
        let element = lists::element(&[old.as_deref().unwrap_or_default(), new.as_deref().unwrap_or_default()]);
        let (merged, before) = match (old, new) {
            (None, None) => continue,
            (Some(old), None) => (old.clone(), old),
            (None, Some(new)) => (new.into_iter().filter_map(without_directives).collect(), Vec::new()),
            (Some(old), Some(new)) if strategy == "merge" => {
                let merged = lists::merge(old, new, item, ListMerge { merge_key, mode }, ListPatch::Items)?;
                (merged.items, merged.original)
            }
            (Some(old), Some(new)) => (new, old),
        };
        let ordered = lists::in_order(merged, &order, &before, merge_key, element)?;
        original.insert(key.to_owned(), Value::Array(ordered));
    }
    Ok(())
}

/// `extractKey`
fn without_prefix<'k>(key: &'k str, prefix: &str) -> Option<&'k str> {
    key.strip_prefix(prefix)?.strip_prefix('/')
}

/// `extractRetainKeysPatchStrategy`: the strategy other than `retainKeys`.
fn strategy(text: &'static str) -> Result<&'static str, PatchError> {
    match text.split_once(',') {
        None if text == "retainKeys" => Ok(""),
        None => Ok(text),
        Some(("retainKeys", other) | (other, "retainKeys")) => Ok(other),
        Some(_) => Err(PatchError::Other(format!("unexpected patch strategy: [{}]", text.replace(',', " ")))),
    }
}

/// `discardNullValuesFromPatch`
fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(members) => Value::Object(
            members.into_iter().filter(|(_, v)| !v.is_null()).map(|(key, v)| (key, without_nulls(v))).collect(),
        ),
        Value::Array(items) => Value::Array(items.into_iter().map(without_nulls).collect()),
        other => other,
    }
}

/// `removeDirectives`: removes maps that have a `$patch`; `None` if the value itself has one.
fn without_directives(value: Value) -> Option<Value> {
    match value {
        Value::Object(members) if members.contains_key(DIRECTIVE) => None,
        Value::Object(members) => Some(Value::Object(
            members.into_iter().filter_map(|(key, v)| without_directives(v).map(|v| (key, v))).collect(),
        )),
        Value::Array(items) => Some(Value::Array(items.into_iter().filter_map(without_directives).collect())),
        other => Some(other),
    }
}

/// `mergepatch.ErrBadArgType`
fn bad_type(expected: &str, actual: &Value) -> PatchError {
    let found = if actual.is_null() { "%!s(<nil>)" } else { print::type_name(actual) };
    PatchError::Other(format!("expected a {expected}, but received a {found}"))
}

/// `mergepatch.ErrBadPatchType`
fn bad_patch_type(directive: &Value, of: &Map) -> PatchError {
    let shown = print::format_s(directive);
    PatchError::Other(format!("unknown patch type: {shown} in map: {}", print::format_v(&Value::Object(of.clone()))))
}

/// `mergepatch.ErrNoMergeKey`
fn no_merge_key(of: &Map, key: &str) -> PatchError {
    let shown = print::format_v(&Value::Object(of.clone()));
    PatchError::Other(format!("map: {shown} does not contain declared merge key: {key}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::json;
    use crdx_value::GoError;
    use crdx_value::json::to_string;

    fn patched(type_: &str, original: &str, patch: &str) -> Result<String, GoError> {
        let types = Types::for_release(37);
        let read = |text: &str| json::read(text.as_bytes()).unwrap().as_object().cloned().unwrap();
        let merged = merge(types, types.id(type_).unwrap(), read(original), read(patch));
        merged.map(|merged| to_string(&Value::Object(merged))).map_err(|error| error.to_string().into())
    }

    #[test]
    fn a_list_that_is_null_cannot_be_ordered() {
        let pod = r#"{"containers":[{"name":"a"}]}"#;
        assert_eq!(
            patched("core/v1.PodSpec", pod, r#"{"containers":null,"$setElementOrder/containers":["a"]}"#),
            Err("expected a []interface {}, but received a %!s(<nil>)".into())
        );
    }

    #[test]
    fn lists_are_merged_by_their_key() {
        let pod = r#"{"containers":[{"name":"a","image":"1"},{"name":"b","args":["x"]}]}"#;
        let merged = |patch: &str| patched("core/v1.PodSpec", pod, patch).unwrap();
        assert_eq!(
            merged(r#"{"containers":[{"name":"b","image":"2","args":["y"]},{"name":"c"}]}"#),
            r#"{"containers":[{"image":"1","name":"a"},{"args":["y"],"image":"2","name":"b"},{"name":"c"}]}"#
        );
        assert_eq!(
            merged(r#"{"containers":[{"name":"a","$patch":"delete"}]}"#),
            r#"{"containers":[{"args":["x"],"name":"b"}]}"#
        );
        assert_eq!(
            merged(
                r#"{"$setElementOrder/containers":[{"name":"b"},{"name":"a"}],"containers":[{"name":"a","image":"3"}]}"#
            ),
            r#"{"containers":[{"args":["x"],"name":"b"},{"image":"3","name":"a"}]}"#
        );
        assert_eq!(merged(r#"{"containers":[{"name":"z"},{"$patch":"replace"}]}"#), r#"{"containers":[{"name":"z"}]}"#);
        assert_eq!(
            patched("core/v1.PodSpec", pod, r#"{"containers":[{"image":"x"}]}"#).unwrap_err(),
            "map: map[image:x] does not contain declared merge key: name".into()
        );
    }

    /// Answers of a real server.
    #[test]
    fn an_unknown_directive_is_shown_as_text() {
        let error = |directive: &str| {
            let pod = r#"{"containers":[{"name":"a"}]}"#;
            patched("core/v1.PodSpec", pod, &format!(r#"{{"containers":[{{"name":"a","$patch":{directive}}}]}}"#))
        };
        for (directive, shown, printed) in [
            (r#""x""#, "x", "x"),
            ("null", "%!s(<nil>)", "<nil>"),
            ("1", "%!s(int64=1)", "1"),
            (r#"["a"]"#, "[a]", "[a]"),
            (r#"{"a":1}"#, "map[a:%!s(int64=1)]", "map[a:1]"),
        ] {
            let text = format!("unknown patch type: {shown} in map: map[$patch:{printed} name:a]");
            assert_eq!(error(directive), Err(text.into()));
        }
    }

    #[test]
    fn primitives_are_deleted_from_lists_only() {
        let meta = r#"{"finalizers":["a","b"],"name":"x"}"#;
        let deleted = |member: &str| patched("meta/v1.ObjectMeta", meta, &format!("{{{member}}}"));
        let unchanged = || Ok(meta.to_owned());
        for member in [
            r#""$deleteFromPrimitiveList/name":["x"]"#,
            r#""$deleteFromPrimitiveList/finalizers":"a""#,
            r#""$deleteFromPrimitiveList/labels":["a"]"#,
            r#""$deleteFromPrimitiveList/":["a"]"#,
        ] {
            assert_eq!(deleted(member), unchanged(), "{member}");
        }
        let without = deleted(r#""$deleteFromPrimitiveList/finalizers":null"#);
        assert_eq!(without, Ok(r#"{"name":"x"}"#.to_owned()));
        for member in [r#""$deleteFromPrimitiveList":["a"]"#, r#""$deleteFromPrimitiveListX/finalizers":["a"]"#] {
            assert_eq!(deleted(member), Err("invalid patch format of primitive list".into()), "{member}");
        }
        let mixed = deleted(r#""$deleteFromPrimitiveList/finalizers":[1]"#).unwrap_err();
        assert_eq!(mixed, "list element types are not identical: [[a b] [1]]".into());
    }

    #[test]
    fn keys_are_retained_and_primitive_lists_deleted_from() {
        let spec = r#"{"strategy":{"type":"RollingUpdate","rollingUpdate":{"maxSurge":1}}}"#;
        let patch = r#"{"strategy":{"$retainKeys":["type"],"type":"Recreate"}}"#;
        assert_eq!(patched("apps/v1.DeploymentSpec", spec, patch).unwrap(), r#"{"strategy":{"type":"Recreate"}}"#);
        let wrong = r#"{"strategy":{"$retainKeys":["type"],"rollingUpdate":{}}}"#;
        assert_eq!(
            patched("apps/v1.DeploymentSpec", spec, wrong).unwrap_err(),
            "invalid patch format of retainKeys".into()
        );
        let meta = r#"{"finalizers":["a","b","c"]}"#;
        let deleted = patched("meta/v1.ObjectMeta", meta, r#"{"$deleteFromPrimitiveList/finalizers":["b"]}"#);
        assert_eq!(deleted.unwrap(), r#"{"finalizers":["a","c"]}"#);
        let added = patched("meta/v1.ObjectMeta", meta, r#"{"finalizers":["d","a"],"labels":{"a":null,"b":"1"}}"#);
        assert_eq!(added.unwrap(), r#"{"finalizers":["d","a","b","c"],"labels":{"b":"1"}}"#);
    }
}
