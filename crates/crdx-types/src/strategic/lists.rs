//! Merges lists (`mergeSlice`, `normalizeElementOrder` and their helpers).

use super::lookup::Schema;
use super::{DIRECTIVE, LISTS_OF_LISTS, Mode, PatchError, bad_patch_type, bad_type, merge_map, no_merge_key};
use crdx_value::{Map, Value, print};

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

/// `mergeSlice`
pub(super) fn merge(
    original: Vec<Value>,
    patch: Vec<Value>,
    schema: Schema,
    (merge_key, mode): (&str, Mode),
    deletes: bool,
) -> Result<Vec<Value>, PatchError> {
    if original.is_empty() && patch.is_empty() {
        return Ok(original);
    }
    let kind = element(&[&original, &patch])?;
    if kind == Element::Scalar {
        if deletes {
            return Ok(original.into_iter().filter(|item| !patch.contains(item)).collect());
        }
        let mut merged: Vec<Value> = Vec::new();
        for item in original.iter().chain(&patch) {
            if !merged.contains(item) {
                merged.push(item.clone());
            }
        }
        return in_order(merged, &patch, &original, merge_key, kind);
    }
    if merge_key.is_empty() {
        return Err(PatchError::Other(format!("cannot merge lists without merge key for {}", schema.kind())));
    }
    let (original, patch) = directives(original, patch, merge_key)?;
    let order = original.clone();
    let merged = merge_items(original, &patch, schema, (merge_key, mode))?;
    in_order(merged, &patch, &order, merge_key, kind)
}

/// `mergeSliceWithSpecialElements`: handles the items with a `$patch`.
fn directives(mut original: Vec<Value>, patch: Vec<Value>, key: &str) -> Result<(Vec<Value>, Vec<Value>), PatchError> {
    let mut rest = Vec::new();
    let mut replaces = false;
    for item in patch {
        let Value::Object(members) = &item else { continue };
        let Some(directive) = members.get(DIRECTIVE) else {
            rest.push(item);
            continue;
        };
        match directive.as_str() {
            Some("delete") => {
                let value = members.get(key).ok_or_else(|| no_merge_key(members, key))?;
                while let Some(at) = find(&original, key, value)? {
                    original.remove(at);
                }
            }
            Some("replace") => replaces = true,
            Some("merge") => {
                return Err(PatchError::Other("merging lists cannot yet be specified in the patch".to_owned()));
            }
            _ => return Err(bad_patch_type(directive, members)),
        }
    }
    Ok(if replaces { (rest, Vec::new()) } else { (original, rest) })
}

/// `mergeSliceWithoutSpecialElements`
fn merge_items(
    mut original: Vec<Value>,
    patch: &[Value],
    schema: Schema,
    (key, mode): (&str, Mode),
) -> Result<Vec<Value>, PatchError> {
    for item in patch {
        let Value::Object(members) = item else { continue };
        let value = members.get(key).ok_or_else(|| no_merge_key(members, key))?;
        match find(&original, key, value)? {
            Some(at) => {
                if let Some(old) = original.get_mut(at) {
                    let before = std::mem::take(old).as_object().cloned().unwrap_or_default();
                    *old = Value::Object(merge_map(before, members.clone(), schema, mode)?);
                }
            }
            None => original.push(item.clone()),
        }
    }
    Ok(original)
}

/// `findMapInSliceBasedOnKeyValue`
fn find(items: &[Value], key: &str, value: &Value) -> Result<Option<usize>, PatchError> {
    for (at, item) in items.iter().enumerate() {
        let Value::Object(members) = item else {
            return Err(PatchError::Other(format!("value for key {at} is not a map")));
        };
        if members.get(key) == Some(value) {
            return Ok(Some(at));
        }
    }
    Ok(None)
}

/// Orders a merged list: the items in `order` have its order, the others that of `server_order`
/// (`partitionMapsByPresentInList`, `partitionPrimitivesByPresentInList` and `normalizeElementOrder`).
pub(super) fn in_order(
    merged: Vec<Value>,
    order: &[Value],
    server_order: &[Value],
    merge_key: &str,
    kind: Element,
) -> Result<Vec<Value>, PatchError> {
    let (mut patched, mut others) = (Vec::new(), Vec::new());
    for item in merged {
        let is_patched = if merge_key.is_empty() {
            order.contains(&item)
        } else {
            let value = keyed(&item, merge_key)?;
            find(order, merge_key, value)?.is_some()
        };
        if is_patched { patched.push(item) } else { others.push(item) }
    }
    let patched = sorted(patched, order, merge_key, kind)?;
    let others = sorted(others, server_order, merge_key, kind)?;
    Ok(interleaved(others, patched, server_order, merge_key, kind))
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
    let at = |item: &Value| position(order, item, merge_key, kind);
    // `sort.SliceStable` with a comparison that puts an unknown item before any other.
    let less = |a: &Value, b: &Value| match (at(a), at(b)) {
        (Some(a), Some(b)) => a < b,
        _ => true,
    };
    for end in 1..items.len() {
        for i in (1..=end).rev() {
            let (Some(before), Some(item)) = (items.get(i - 1), items.get(i)) else { break };
            if !less(item, before) {
                break;
            }
            items.swap(i - 1, i);
        }
    }
    items.extend(deleted);
    Ok(items)
}

/// `mergeSortedSlice`
fn interleaved(left: Vec<Value>, right: Vec<Value>, order: &[Value], merge_key: &str, kind: Element) -> Vec<Value> {
    let at = |item: &Value| position(order, item, merge_key, kind);
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

/// `index`
fn position(order: &[Value], item: &Value, merge_key: &str, kind: Element) -> Option<usize> {
    match kind {
        Element::Map => order.iter().position(|other| other.get(merge_key) == item.get(merge_key)),
        Element::Scalar => order.iter().position(|other| other == item),
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
