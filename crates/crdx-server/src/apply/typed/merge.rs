//! Merges an applied value into an existing value (`typed/merge.go`): nothing is removed, and leaves are taken from the
//! applied value.

use super::{TypeErrors, as_list, error, item_element, prefixed, scalar_pair_errors};
use crate::apply::path::PathElement;
use crdx_types::merge::{Choice, ListRelation, ListType, MapType, Type};
use crdx_value::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// Merges `new` into `old`. List items have the order of `new`; items that are only in `old` keep their positions.
pub fn merge(ty: &Type, old: &Value, new: &Value) -> Result<Value, TypeErrors> {
    let (out, errors) = merge_pair(ty, Some(old), Some(new));
    if errors.is_empty() { Ok(out.unwrap_or_default()) } else { Err(errors) }
}

type Merged = (Option<Value>, TypeErrors);

fn merge_pair(ty: &Type, old: Option<&Value>, new: Option<&Value>) -> Merged {
    let (old_kinds, new_kinds) = (ty.kinds(old), ty.kinds(new));
    if new.is_none() {
        return merge_as(ty.choose(old_kinds), old, new);
    }
    if old.is_none() || old_kinds == new_kinds {
        return merge_as(ty.choose(new_kinds), old, new);
    }
    let (_, mut errors) = merge_as(ty.choose(old_kinds), old, new);
    let (out, more) = merge_as(ty.choose(new_kinds), old, new);
    errors.extend(more);
    (out, errors)
}

fn merge_as(choice: Option<Choice<'_>>, old: Option<&Value>, new: Option<&Value>) -> Merged {
    let leaf = || (new.or(old).cloned(), Vec::new());
    match choice {
        None => (None, error("schema error: invalid atom: inlined")),
        Some(Choice::Scalar(scalar)) => {
            let errors = scalar_pair_errors(scalar, old, new);
            if errors.is_empty() { leaf() } else { (None, errors) }
        }
        Some(Choice::List(list)) => {
            let (o, n) = (as_list(old).unwrap_or_default(), as_list(new).unwrap_or_default());
            if list.relation == ListRelation::Atomic || (o.is_empty() && n.is_empty()) {
                return leaf();
            }
            merge_items(list, o, n)
        }
        Some(Choice::Map(map)) => {
            let (o, n) = (old.and_then(Value::as_object), new.and_then(Value::as_object));
            if map.atomic || (o.is_none_or(Map::is_empty) && n.is_none_or(Map::is_empty)) {
                return leaf();
            }
            merge_members(map, o, n)
        }
    }
}

fn merge_members(map: &MapType, old: Option<&Map>, new: Option<&Map>) -> Merged {
    let names: BTreeSet<&String> = old.into_iter().chain(new).flat_map(Map::keys).collect();
    let (mut out, mut errors) = (Map::new(), Vec::new());
    for name in names {
        let (o, n) = (old.and_then(|m| m.get(name)), new.and_then(|m| m.get(name)));
        let (merged, more) = match map.type_of(name) {
            Some(ty) => merge_pair(ty, o, n),
            None => (None, error("schema error: invalid atom: inlined")),
        };
        errors.extend(prefixed(more, &PathElement::Field(name.clone())));
        if let Some(merged) = merged {
            out.insert(name.clone(), merged);
        }
    }
    ((!out.is_empty()).then_some(Value::Object(out)), errors)
}

/// The items with their path elements in order, and a lookup table by path element.
type Index<'a> = (Vec<(PathElement, &'a Value)>, BTreeMap<PathElement, &'a Value>);

static NULL: Value = Value::Null;

fn index<'a>(list: &ListType, items: &'a [Value], allow_duplicates: bool, errors: &mut TypeErrors) -> Index<'a> {
    let (mut order, mut found) = (Vec::new(), BTreeMap::new());
    for (i, item) in items.iter().enumerate() {
        match item_element(list, item) {
            Err(reason) => errors.extend(error(format!("element {i}: {reason}"))),
            Ok(element) if found.contains_key(&element) && !allow_duplicates => {
                errors.extend(error(format!("duplicate entries for key {element}")));
            }
            Ok(element) => {
                // Repeated items are not merged with the new item.
                found.entry(element.clone()).and_modify(|v| *v = &NULL).or_insert(item);
                order.push((element, item));
            }
        }
    }
    (order, found)
}

fn merge_items(list: &ListType, old: &[Value], new: &[Value]) -> Merged {
    let mut errors = Vec::new();
    let (new_order, new_items) = index(list, new, false, &mut errors);
    let (old_order, old_items) = index(list, old, true, &mut errors);
    if !errors.is_empty() {
        return (None, errors);
    }
    let ty = list.items.resolve();
    let mut out = Vec::new();
    // The errors of items are discarded, as on the server.
    let mut take = |old: Option<&Value>, new: Option<&Value>| out.extend(merge_pair(ty, old, new).0);
    let mut shared = new_order.iter().map(|(element, _)| element).filter(|e| old_items.contains_key(*e));
    let mut next_shared = shared.next();
    let mut merged = BTreeSet::new();
    let (mut o, mut n) = (0, 0);
    while o < old_order.len() || n < new_order.len() {
        let (old_here, new_here) = (old_order.get(o), new_order.get(n));
        if let (Some((old_element, _)), Some((new_element, _))) = (old_here, new_here) {
            if old_element == new_element {
                merged.insert(new_element);
                take(old_items.get(old_element).copied(), new_items.get(new_element).copied());
                o += 1;
                n += 1;
                next_shared = shared.next();
                continue;
            }
            if new_items.contains_key(old_element) && next_shared.is_some_and(|next| next != old_element) {
                // The item is in both lists, but an earlier shared item comes first in the new order.
                o += 1;
                continue;
            }
        }
        if let Some((element, item)) = old_here {
            if !new_items.contains_key(element) {
                take(Some(item), None);
                o += 1;
                continue;
            }
            if merged.contains(element) {
                o += 1;
            }
        }
        if let Some((element, item)) = new_here {
            merged.insert(element);
            take(old_items.get(element).copied(), Some(item));
            n += 1;
            if next_shared == Some(element) {
                next_shared = shared.next();
            }
        }
    }
    ((!out.is_empty()).then_some(Value::Array(out)), errors)
}
