//! Computes the patch of `kubectl apply` (`CreateThreeWayMergePatch`).

use super::lists::{self, Element};
use super::lookup::Schema;
use super::{DELETE_PREFIX, DIRECTIVE, Mode, ORDER_PREFIX, PatchError, RETAIN_KEYS, go_sort, merge_map, strategy};
use crate::types::{Merging, TypeId, Types};
use crdx_value::sort::sort_by;
use crdx_value::{Map, Value, object, print};
use std::cmp::Ordering;

/// The differences that are computed (`DiffOptions`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Differences {
    /// Additions and changes.
    Changes,
    Deletions,
}

/// Returns the patch that changes `current` to `modified`, without deleting what is not in `original`, the configuration
/// applied last.
///
/// # Errors
/// Returns the reason why kubectl cannot compute the patch.
pub fn three_way(
    types: &'static Types,
    id: TypeId,
    original: &Map,
    modified: &Map,
    current: &Map,
) -> Result<Map, PatchError> {
    patch(Schema::new(types, id), original, modified, current)
}

/// Like [`three_way`], for a type none of whose fields have a patch strategy, except those of its metadata.
///
/// # Errors
/// Returns the reason why kubectl cannot compute the patch.
pub fn three_way_without_strategies(
    types: &'static Types,
    original: &Map,
    modified: &Map,
    current: &Map,
) -> Result<Map, PatchError> {
    patch(Schema::without_strategies(types), original, modified, current)
}

fn patch(schema: Schema, original: &Map, modified: &Map, current: &Map) -> Result<Map, PatchError> {
    let changes = diff_maps(current, modified, schema, Differences::Changes, RetainKeys::Omit)?;
    let deletions = diff_maps(original, modified, schema, Differences::Deletions, RetainKeys::Omit)?;
    merge_map(deletions, changes, schema, Mode::Combine)
}

/// `diffMaps`. The recursion is bounded by the nesting depth of the objects, which their decoders limit.
fn diff_maps(
    original: &Map,
    modified: &Map,
    schema: Schema,
    part: Differences,
    retain_keys: RetainKeys,
) -> Result<Map, PatchError> {
    let mut patch = Map::new();
    for (key, new) in modified {
        let Some(old) = original.get(key) else {
            if part == Differences::Changes {
                patch.insert(key.clone(), new.clone());
            }
            continue;
        };
        if key == DIRECTIVE {
            if !matches!((old, new), (Value::String(_), Value::String(_))) {
                return Err(PatchError::Other(format!("invalid value for special key: {DIRECTIVE}")));
            }
            if old != new {
                patch.insert(key.clone(), new.clone());
            }
            continue;
        }
        match (old, new) {
            (Value::Object(old), Value::Object(new)) => diff_map(key, old, new, &mut patch, schema, part)?,
            (Value::Array(old), Value::Array(new)) => diff_list(key, old, new, &mut patch, schema, part)?,
            _ => replace(key, old, new, &mut patch, part),
        }
    }
    if part == Differences::Deletions {
        for key in original.keys().filter(|key| !modified.contains_key(key)) {
            patch.insert(key.clone(), Value::Null);
        }
    }
    let clears = || original.iter().any(|(key, value)| !value.is_null() && !modified.contains_key(key));
    if retain_keys == RetainKeys::Write && (!patch.is_empty() || clears()) {
        let mut keys: Vec<&String> =
            modified.iter().filter(|(_, value)| !value.is_null()).map(|(key, _)| key).collect();
        keys.sort();
        if !keys.is_empty() {
            let keys = keys.into_iter().map(|key| Value::from(key.as_str())).collect();
            patch.insert(RETAIN_KEYS.to_owned(), Value::Array(keys));
        }
    }
    Ok(patch)
}

/// `replacePatchFieldIfNotEqual`
fn replace(key: &str, old: &Value, new: &Value, patch: &mut Map, part: Differences) {
    if part == Differences::Changes && old != new {
        patch.insert(key.to_owned(), new.clone());
    }
}

/// `handleMapDiff`
fn diff_map(
    key: &str,
    old: &Map,
    new: &Map,
    patch: &mut Map,
    schema: Schema,
    part: Differences,
) -> Result<(), PatchError> {
    let (below, merging) = match schema.field(key) {
        Ok(found) => found,
        Err(_) if old == new => return Ok(()),
        Err(error) => return Err(error),
    };
    if strategy(merging.patch_strategy)? == "replace" {
        if part == Differences::Changes {
            patch.insert(key.to_owned(), Value::Object(new.clone()));
        }
        return Ok(());
    }
    let difference = diff_maps(old, new, below, part, RetainKeys::of(merging))?;
    if !difference.is_empty() {
        patch.insert(key.to_owned(), Value::Object(difference));
    }
    Ok(())
}

/// Whether a patch has the directive `$retainKeys`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RetainKeys {
    Omit,
    Write,
}

impl RetainKeys {
    fn of(merging: Merging) -> Self {
        let retains = merging.patch_strategy.split(',').any(|strategy| strategy == "retainKeys");
        if retains { Self::Write } else { Self::Omit }
    }
}

/// `handleSliceDiff` and `diffLists`
fn diff_list(
    key: &str,
    old: &[Value],
    new: &[Value],
    patch: &mut Map,
    schema: Schema,
    part: Differences,
) -> Result<(), PatchError> {
    let (item, merging) = match schema.item(key) {
        Ok(found) => found,
        Err(_) if old == new => return Ok(()),
        Err(error) => return Err(error),
    };
    if strategy(merging.patch_strategy)? != "merge" {
        replace(key, &Value::Array(old.to_vec()), &Value::Array(new.to_vec()), patch, part);
        return Ok(());
    }
    let mut put = |key: String, items: Vec<Value>| {
        if !items.is_empty() {
            patch.insert(key, Value::Array(items));
        }
    };
    if old.is_empty() {
        if part == Differences::Changes {
            put(key.to_owned(), new.to_vec());
        }
        return Ok(());
    }
    let merge_key = merging.patch_merge_key;
    let order_key = format!("{ORDER_PREFIX}/{key}");
    match lists::element(&[old, new])? {
        Element::Map => {
            let (items, deleted) = diff_items(old, new, item, merging, part)?;
            let mut items = lists::sorted(items, new, merge_key, Element::Map)?;
            items.extend(deleted);
            let same_order =
                old.len() == new.len() && old.iter().zip(new).all(|(a, b)| a.get(merge_key) == b.get(merge_key));
            if !items.is_empty() || part == Differences::Changes && !same_order {
                let keys = new
                    .iter()
                    .map(|item| lists::keyed(item, merge_key).map(|value| object([(merge_key, value.clone())])));
                put(order_key, keys.collect::<Result<_, _>>()?);
            }
            put(key.to_owned(), items);
        }
        Element::Scalar => {
            let (added, deleted) = diff_scalars(old, new);
            let is_ordered = match part {
                // Go has sorted the old list in place.
                Differences::Changes => !by_text(old).iter().map(|(_, item)| item).eq(new),
                Differences::Deletions => !deleted.is_empty(),
            };
            match part {
                Differences::Changes => put(key.to_owned(), lists::sorted(added, new, merge_key, Element::Scalar)?),
                Differences::Deletions => put(format!("{DELETE_PREFIX}/{key}"), deleted),
            }
            if is_ordered {
                put(order_key, new.to_vec());
            }
        }
    }
    Ok(())
}

/// `diffListsOfMaps`: the items to add or to change, and the directives that delete items.
fn diff_items(
    old: &[Value],
    new: &[Value],
    schema: Schema,
    merging: Merging,
    part: Differences,
) -> Result<(Vec<Value>, Vec<Value>), PatchError> {
    let merge_key = merging.patch_merge_key;
    let (mut old, mut new) = (by_key(old, merge_key).peekable(), by_key(new, merge_key).peekable());
    let (mut items, mut deleted) = (Vec::new(), Vec::new());
    loop {
        for (_, item) in old.peek().into_iter().chain(new.peek()) {
            lists::keyed(item, merge_key)?;
        }
        let order = match (old.peek(), new.peek()) {
            (None, None) => return Ok((items, deleted)),
            (None, Some(_)) => Ordering::Greater,
            (Some(_), None) => Ordering::Less,
            (Some((a, _)), Some((b, _))) => a.cmp(b),
        };
        match order {
            Ordering::Equal => {
                let (Some((_, Value::Object(before))), Some((_, Value::Object(after)))) = (old.next(), new.next())
                else {
                    continue;
                };
                let mut changes = diff_maps(before, after, schema, part, RetainKeys::of(merging))?;
                if let (false, Some(value)) = (changes.is_empty(), after.get(merge_key)) {
                    changes.insert(merge_key.to_owned(), value.clone());
                    items.push(Value::Object(changes));
                }
            }
            Ordering::Greater => {
                items.extend(new.next().filter(|_| part == Differences::Changes).map(|(_, item)| item.clone()));
            }
            Ordering::Less => {
                let Some((_, item)) = old.next().filter(|_| part == Differences::Deletions) else { continue };
                let value = lists::keyed(item, merge_key)?.clone();
                deleted.push(object([(merge_key, value), (DIRECTIVE, "delete".into())]));
            }
        }
    }
}

/// `sortMapsBasedOnField`: the items with the texts of their keys, in the order of these. Go's comparison puts an item before
/// equal ones that precede it.
fn by_key<'v>(items: &'v [Value], merge_key: &str) -> std::vec::IntoIter<(String, &'v Value)> {
    let text = |item: &Value| print::format_v(item.get(merge_key).unwrap_or(&Value::Null));
    let keyed: Vec<(String, &Value)> = items.iter().map(|item| (text(item), item)).collect();
    let mut sorted: Vec<&str> = keyed.iter().map(|(key, _)| key.as_str()).collect();
    sorted.sort_unstable();
    let ranks: Vec<usize> =
        keyed.iter().map(|(key, _)| sorted.partition_point(|other| *other < key.as_str())).collect();
    let order = go_sort::unstable(&ranks);
    go_sort::permuted(keyed, &order).into_iter()
}

/// `diffListsOfScalars`: the items that only the new list has, and those that only the old list has, sorted as text.
fn diff_scalars(old: &[Value], new: &[Value]) -> (Vec<Value>, Vec<Value>) {
    let (mut old, mut new) = (by_text(old).into_iter().peekable(), by_text(new).into_iter().peekable());
    let (mut added, mut deleted) = (Vec::new(), Vec::new());
    loop {
        match (old.peek(), new.peek()) {
            (None, None) => return (added, lists::without_duplicates(deleted)),
            (Some((a, _)), Some((b, _))) if a == b => {
                old.next();
                new.next();
            }
            (Some((a, _)), Some((b, _))) if a < b => deleted.extend(old.next().map(|(_, item)| item)),
            (Some(_), None) => deleted.extend(old.next().map(|(_, item)| item)),
            (_, Some(_)) => added.extend(new.next().map(|(_, item)| item)),
        }
    }
}

/// `sortScalars`: the items with their texts.
fn by_text(items: &[Value]) -> Vec<(String, Value)> {
    let mut items: Vec<(String, Value)> = items.iter().map(|item| (print::format_v(item), item.clone())).collect();
    sort_by(&mut items, |a, b| a.0.cmp(&b.0));
    items
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::json;
    use crdx_value::json::to_string;

    fn patched(original: &str, modified: &str, current: &str) -> String {
        let types = Types::for_release(37);
        let read = |text: &str| json::read(text.as_bytes()).unwrap().as_object().cloned().unwrap();
        let id = types.id("apps/v1.DeploymentSpec").unwrap();
        let patch = three_way(types, id, &read(original), &read(modified), &read(current));
        patch.map_or_else(|error| error.to_string(), |patch| to_string(&Value::Object(patch)))
    }

    fn containers(items: &str) -> String {
        format!(r#"{{"template":{{"spec":{{"containers":{items}}}}}}}"#)
    }

    /// The patches are those of kubectl 1.37.
    #[test]
    fn a_patch_has_changes_and_deletions_of_applied_fields() {
        let old = containers(
            r#"[{"name":"a","env":[{"name":"A","value":"1"},{"name":"B","value":"2"}]},{"name":"b","image":"y"}]"#,
        );
        let live = containers(
            r#"[{"name":"a","tty":true,"env":[{"name":"A","value":"1"},{"name":"B","value":"2"}]},{"name":"b","image":"y"},{"name":"c"}]"#,
        );
        let new = containers(r#"[{"name":"a","env":[{"name":"A","value":"1"},{"name":"B","value":"3"}]}]"#);
        assert_eq!(
            patched(&old, &new, &live),
            containers(
                r#"[{"$setElementOrder/env":[{"name":"A"},{"name":"B"}],"env":[{"name":"B","value":"3"}],"name":"a"},{"$patch":"delete","name":"b"}]"#
            )
            .replace(r#"{"containers""#, r#"{"$setElementOrder/containers":[{"name":"a"}],"containers""#)
        );
        assert_eq!(patched(&old, &old, &old), "{}");
        assert_eq!(
            patched(
                r#"{"replicas":2,"paused":true}"#,
                r#"{"replicas":3}"#,
                r#"{"replicas":2,"paused":true,"minReadySeconds":1}"#
            ),
            r#"{"paused":null,"replicas":3}"#
        );
    }

    #[test]
    fn other_keys_of_a_union_are_cleared() {
        let live = r#"{"strategy":{"type":"RollingUpdate","rollingUpdate":{"maxSurge":1}}}"#;
        assert_eq!(
            patched(live, r#"{"strategy":{"type":"Recreate"}}"#, live),
            r#"{"strategy":{"$retainKeys":["type"],"rollingUpdate":null,"type":"Recreate"}}"#
        );
    }

    #[test]
    fn an_item_without_merge_key_has_no_patch() {
        let (old, new) = (containers(r#"[{"name":"a"}]"#), containers(r#"[{"image":"x"}]"#));
        assert_eq!(patched(&old, &new, &old), "map: map[image:x] does not contain declared merge key: name");
    }
}
