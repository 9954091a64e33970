//! Merges lists (`mergeSlice`, `normalizeElementOrder` and their helpers).

use super::lookup::Schema;
use super::{DIRECTIVE, LISTS_OF_LISTS, Mode, PatchError, bad_patch_type, bad_type, go_sort, merge_map, no_merge_key};
use crdx_value::{Map, Value, object, print};
use std::collections::{BTreeSet, HashMap, HashSet};

/// The kind of the items of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Element {
    Map,
    Scalar,
}

/// `sliceElementType`: the kind of the items of all lists, which must have the same type.
pub(super) fn element(lists: &[&[Value]]) -> Result<Element, PatchError> {
    let mut items = lists.iter().flat_map(|list| list.iter());
    let none = || PatchError::Other("no elements in any of the given slices".to_owned());
    let first = items.next().ok_or_else(none)?;
    // Go panics for null.
    let kind = match first {
        Value::Array(_) => return Err(LISTS_OF_LISTS),
        Value::Object(_) => Element::Map,
        _ => Element::Scalar,
    };
    if items.all(|item| print::type_name(item) == print::type_name(first)) {
        return Ok(kind);
    }
    let shown = lists.iter().map(|list| Value::Array(list.to_vec())).collect();
    Err(PatchError::Other(format!("list element types are not identical: {}", print::format_v(&Value::Array(shown)))))
}

/// A merged list.
pub(super) struct Merged {
    pub items: Vec<Value>,
    /// The keys of the list that was merged into, as its slice is afterwards: Go deletes and appends in place. The lists of
    /// a server have no free capacity, because it patches copies of objects.
    pub original: Vec<Value>,
}

/// The kind of a patch of a list.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ListPatch {
    /// Items to add or to change, and directives.
    Items,
    /// The items to delete from a list of scalars (`$deleteFromPrimitiveList`).
    Deletions,
}

/// How the items of lists are merged.
#[derive(Clone, Copy)]
pub(super) struct ListMerge<'k> {
    pub merge_key: &'k str,
    pub mode: Mode,
}

/// `mergeSlice`
pub(super) fn merge(
    original: Vec<Value>,
    patch: Vec<Value>,
    schema: Schema,
    ListMerge { merge_key, mode }: ListMerge<'_>,
    list_patch: ListPatch,
) -> Result<Merged, PatchError> {
    if original.is_empty() && patch.is_empty() {
        return Ok(Merged { items: original, original: patch });
    }
    let kind = element(&[&original, &patch])?;
    if kind == Element::Scalar {
        if list_patch == ListPatch::Deletions {
            let deleted: HashSet<&Value> = patch.iter().collect();
            let items = original.into_iter().filter(|item| !deleted.contains(item)).collect();
            return Ok(Merged { items, original: Vec::new() });
        }
        let merged = without_duplicates(original.iter().chain(&patch).cloned().collect());
        let order = if patch.is_empty() { merged.clone() } else { original };
        let items = in_order(merged, &patch, &order, merge_key, Ok(kind))?;
        return Ok(Merged { items, original: order });
    }
    if merge_key.is_empty() {
        return Err(PatchError::Other(format!("cannot merge lists without merge key for {}", schema.kind())));
    }
    let Remaining { items, patch, replaced, rest } = directives(original, patch, merge_key)?;
    let order = keys(&items, merge_key);
    let merged = merge_items(items, &patch, schema, ListMerge { merge_key, mode })?;
    let original = if let Some(mut replaced) = replaced {
        replaced.extend(rest);
        replaced
    } else {
        let added = merged.get(order.len()..).unwrap_or_default();
        let added = added.get(..rest.len()).unwrap_or(added);
        let rest = rest.into_iter().skip(added.len());
        order.iter().cloned().chain(keys(added, merge_key)).chain(rest).collect()
    };
    let items = in_order(merged, &patch, &order, merge_key, Ok(kind))?;
    Ok(Merged { items, original })
}

/// `deduplicateScalars`: the last item takes the place of a repeated one.
pub(super) fn without_duplicates(items: Vec<Value>) -> Vec<Value> {
    // The value of each place, as the index of its first place, and the places of each value.
    let mut first: HashMap<&Value, usize> = HashMap::with_capacity(items.len());
    let mut values: Vec<usize> = items.iter().enumerate().map(|(at, item)| *first.entry(item).or_insert(at)).collect();
    if first.len() == items.len() {
        return items;
    }
    let mut places: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); items.len()];
    for (at, value) in values.iter().enumerate() {
        if let Some(places) = places.get_mut(*value) {
            places.insert(at);
        }
    }
    let mut at = 0;
    while let Some(value) = values.get(at).copied() {
        at += 1;
        let next = |places: &[BTreeSet<usize>]| places.get(value)?.range(at..).next().copied();
        while let Some(repeated) = next(&places) {
            let Some(last) = values.pop() else { break };
            if let Some(places) = places.get_mut(value) {
                places.remove(&repeated);
            }
            if let Some(place) = values.get_mut(repeated) {
                *place = last;
                if let Some(places) = places.get_mut(last) {
                    places.remove(&values.len());
                    places.insert(repeated);
                }
            }
        }
    }
    let mut items: Vec<Option<Value>> = items.into_iter().map(Some).collect();
    values.into_iter().filter_map(|value| items.get_mut(value)?.take()).collect()
}

/// The lists to merge after the items with a `$patch` took effect.
struct Remaining {
    items: Vec<Value>,
    patch: Vec<Value>,
    /// The keys of the remaining items, if the patch replaces them.
    replaced: Option<Vec<Value>>,
    /// The keys in the slice after the remaining items, one for each deleted item.
    rest: Vec<Value>,
}

/// `mergeSliceWithSpecialElements` and `deleteMatchingEntries`
fn directives(original: Vec<Value>, patch: Vec<Value>, key: &str) -> Result<Remaining, PatchError> {
    let mut places: HashMap<&Value, Vec<usize>> = HashMap::new();
    let has_directive = |item: &Value| item.get(DIRECTIVE).is_some();
    if patch.iter().any(has_directive) {
        for (at, item) in original.iter().enumerate() {
            if let Some(value) = item.get(key) {
                places.entry(value).or_default().push(at);
            }
        }
    }
    let mut is_deleted = vec![false; original.len()];
    let mut last = original.len();
    let mut rest = Vec::new();
    let mut replaces = false;
    for item in &patch {
        let Value::Object(members) = item else { continue };
        let Some(directive) = members.get(DIRECTIVE) else { continue };
        match directive.as_str() {
            Some("delete") => {
                let value = members.get(key).ok_or_else(|| no_merge_key(members, key))?;
                for at in places.remove(value).unwrap_or_default() {
                    // The following items move to the front; the last one is also left in its place.
                    while last > 0 && is_deleted.get(last - 1) == Some(&true) {
                        last -= 1;
                    }
                    rest.extend(original.get(last.saturating_sub(1)).map(|item| key_of_item(item, key)));
                    if let Some(is_deleted) = is_deleted.get_mut(at) {
                        *is_deleted = true;
                    }
                }
            }
            Some("replace") => replaces = true,
            Some("merge") => {
                return Err(PatchError::Other("merging lists cannot yet be specified in the patch".to_owned()));
            }
            _ => return Err(bad_patch_type(directive, members)),
        }
    }
    rest.reverse();
    drop(places);
    let items = original.into_iter().zip(is_deleted).filter(|(_, is_deleted)| !is_deleted).map(|(item, _)| item);
    let patch = patch.into_iter().filter(|item| !has_directive(item));
    Ok(if replaces {
        let replaced = keys(&items.collect::<Vec<_>>(), key);
        Remaining { items: patch.collect(), patch: Vec::new(), replaced: Some(replaced), rest }
    } else {
        Remaining { items: items.collect(), patch: patch.collect(), replaced: None, rest }
    })
}

/// The items with their merge key only; those without one are complete, for errors.
fn keys(items: &[Value], key: &str) -> Vec<Value> {
    items.iter().map(|item| key_of_item(item, key)).collect()
}

fn key_of_item(item: &Value, key: &str) -> Value {
    item.get(key).map_or_else(|| item.clone(), |value| object([(key, value.clone())]))
}

/// `mergeSliceWithoutSpecialElements`
fn merge_items(
    mut original: Vec<Value>,
    patch: &[Value],
    schema: Schema,
    ListMerge { merge_key: key, mode }: ListMerge<'_>,
) -> Result<Vec<Value>, PatchError> {
    let mut places: HashMap<Value, usize> = HashMap::with_capacity(original.len());
    for (at, item) in original.iter().enumerate() {
        if let Some(value) = item.get(key) {
            places.entry(value.clone()).or_insert(at);
        }
    }
    for item in patch {
        let Value::Object(members) = item else { continue };
        let value = members.get(key).ok_or_else(|| no_merge_key(members, key))?;
        if let Some(old) = places.get(value).and_then(|at| original.get_mut(*at)) {
            let Value::Object(before) = std::mem::take(old) else { continue };
            *old = Value::Object(merge_map(before, members.clone(), schema, mode)?);
        } else {
            places.insert(value.clone(), original.len());
            original.push(item.clone());
        }
    }
    Ok(original)
}

/// The first place of each merge key in a list.
struct Places<'v> {
    first: HashMap<&'v Value, usize>,
    /// The first item that is no map.
    not_a_map: Option<usize>,
}

impl<'v> Places<'v> {
    fn new(items: &'v [Value], key: &str) -> Self {
        let mut first = HashMap::with_capacity(items.len());
        for (at, item) in items.iter().enumerate() {
            if let Some(value) = item.get(key) {
                first.entry(value).or_insert(at);
            }
        }
        Self { first, not_a_map: items.iter().position(|item| item.as_object().is_none()) }
    }

    /// `findMapInSliceBasedOnKeyValue`
    fn contains(&self, value: &Value) -> Result<bool, PatchError> {
        match (self.first.get(value), self.not_a_map) {
            (Some(at), Some(bad)) if *at < bad => Ok(true),
            (_, Some(bad)) => Err(PatchError::Other(format!("value for key {bad} is not a map"))),
            (found, None) => Ok(found.is_some()),
        }
    }
}

/// Orders a merged list: the items in `order` have its order, the others that of `server_order`
/// (`partitionMapsByPresentInList`, `partitionPrimitivesByPresentInList` and `normalizeElementOrder`).
pub(super) fn in_order(
    merged: Vec<Value>,
    order: &[Value],
    server_order: &[Value],
    merge_key: &str,
    kind: Result<Element, PatchError>,
) -> Result<Vec<Value>, PatchError> {
    let (mut patched, mut others) = (Vec::new(), Vec::new());
    if merge_key.is_empty() {
        let order: HashSet<&Value> = order.iter().collect();
        (patched, others) = merged.into_iter().partition(|item| order.contains(item));
    } else {
        let places = Places::new(order, merge_key);
        for item in merged {
            let is_patched = places.contains(keyed(&item, merge_key)?)?;
            if is_patched { patched.push(item) } else { others.push(item) }
        }
    }
    let kind = kind?;
    let patched = sorted(patched, order, merge_key, kind)?;
    let others = sorted(others, server_order, merge_key, kind)?;
    Ok(interleaved(others, patched, &positions(server_order, merge_key, kind), merge_key, kind))
}

/// `normalizeSliceOrder`
pub(super) fn sorted(
    items: Vec<Value>,
    order: &[Value],
    merge_key: &str,
    kind: Element,
) -> Result<Vec<Value>, PatchError> {
    let (mut items, mut deleted) = (items, Vec::new());
    if kind == Element::Map {
        for item in items.iter().chain(order) {
            keyed(item, merge_key)?;
        }
        let is_deleted = |item: &Value| item.str_at(&[DIRECTIVE]) == Some("delete");
        (deleted, items) = items.into_iter().partition(is_deleted);
    }
    let positions = positions(order, merge_key, kind);
    let at: Vec<Option<usize>> =
        items.iter().map(|item| positions.get(compared(item, merge_key, kind)).copied()).collect();
    let mut items = go_sort::permuted(items, &go_sort::stable(&at));
    items.extend(deleted);
    Ok(items)
}

/// `mergeSortedSlice`
fn interleaved(
    left: Vec<Value>,
    right: Vec<Value>,
    positions: &HashMap<&Value, usize>,
    merge_key: &str,
    kind: Element,
) -> Vec<Value> {
    let at = |item: &Value| positions.get(compared(item, merge_key, kind));
    let mut out = Vec::with_capacity(left.len() + right.len());
    let (mut left, mut right) = (left.into_iter().peekable(), right.into_iter().peekable());
    loop {
        let takes_left = match (left.peek(), right.peek()) {
            (None, None) => return out,
            (Some(_), None) => true,
            (None, Some(_)) => false,
            (Some(l), Some(r)) => matches!((at(l), at(r)), (Some(l), Some(r)) if l < r),
        };
        out.extend(if takes_left { left.next() } else { right.next() });
    }
}

/// The first position of each item of a list, for `index`.
fn positions<'v>(order: &'v [Value], merge_key: &str, kind: Element) -> HashMap<&'v Value, usize> {
    let mut positions = HashMap::with_capacity(order.len());
    for (at, item) in order.iter().enumerate() {
        positions.entry(compared(item, merge_key, kind)).or_insert(at);
    }
    positions
}

/// The value by which `index` finds an item. An absent key equals null.
fn compared<'v>(item: &'v Value, merge_key: &str, kind: Element) -> &'v Value {
    match kind {
        Element::Map => item.get(merge_key).unwrap_or(&Value::Null),
        Element::Scalar => item,
    }
}

/// The merge key of an item.
pub(super) fn keyed<'v>(item: &'v Value, key: &str) -> Result<&'v Value, PatchError> {
    let Value::Object(members) = item else { return Err(bad_type("map[string]interface {}", item)) };
    members.get(key).ok_or_else(|| no_merge_key(members, key))
}

/// `validatePatchWithSetOrderList`
pub(super) fn check_order(patch: &[Value], order: &[Value], merge_key: &str) -> Result<(), PatchError> {
    if order.is_empty() || patch.is_empty() {
        return Ok(());
    }
    let mut kept = Vec::new();
    for item in patch {
        match item {
            Value::Object(members) if !merge_key.is_empty() => {
                if members.get(DIRECTIVE).and_then(Value::as_str) != Some("delete") {
                    kept.push(item);
                }
            }
            other if !merge_key.is_empty() => return Err(bad_type("map[string]interface {}", other)),
            other => kept.push(other),
        }
    }
    let (mut items, mut order_items) = (kept.into_iter().peekable(), order.iter().peekable());
    while let (Some(item), Some(wanted)) = (items.peek(), order_items.peek()) {
        let has_directive = |value: &Value| value.as_object().is_some_and(|m: &Map| m.contains_key(DIRECTIVE));
        if has_directive(item) {
            items.next();
            continue;
        }
        let is_equal =
            if merge_key.is_empty() { item == wanted } else { keyed(item, merge_key)? == keyed(wanted, merge_key)? };
        if is_equal {
            items.next();
        }
        order_items.next();
    }
    if items.peek().is_none() || order_items.peek().is_some() {
        return Ok(());
    }
    let shown = |list: &[Value]| print::format_v(&Value::Array(list.to_vec()));
    let (patch, order) = (shown(patch), shown(order));
    Err(PatchError::Other(format!(
        "The order in patch list:\n{patch}\n doesn't match $setElementOrder list:\n{order}\n"
    )))
}
