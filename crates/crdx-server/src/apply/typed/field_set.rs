//! The fields that a value sets (`typed/tofieldset.go`).

use super::item_element;
use crate::apply::{
    path::{Path, PathElement},
    set::Set,
};
use crdx_types::merge::{Choice, ListRelation, ListType, MapType, Type};
use crdx_value::Value;
use std::collections::BTreeMap;

/// Every leaf, list item and undeclared field of a valid value.
pub(crate) fn field_set(ty: &Type, value: &Value) -> Set {
    let mut set = Set::default();
    collect(ty, value, &mut Vec::new(), &mut set);
    set
}

fn collect(ty: &Type, value: &Value, path: &mut Path, set: &mut Set) {
    match ty.choice_for(value) {
        Some(Choice::Scalar(_)) => set.insert(path),
        Some(Choice::List(list)) if list.relation == ListRelation::Atomic => set.insert(path),
        Some(Choice::List(list)) => collect_items(list, value, path, set),
        Some(Choice::Map(map)) if map.atomic => set.insert(path),
        Some(Choice::Map(map)) => collect_members(map, value, path, set),
        None => {}
    }
}

fn collect_items(list: &ListType, value: &Value, path: &mut Path, set: &mut Set) {
    let Value::Array(items) = value else { return };
    let elements: Vec<_> = items.iter().map(|item| item_element(list, item).ok()).collect();
    let mut counts: BTreeMap<&PathElement, usize> = BTreeMap::new();
    for element in elements.iter().flatten() {
        *counts.entry(element).or_default() += 1;
    }
    for (element, item) in elements.iter().zip(items) {
        let Some(element) = element else { continue };
        path.push(element.clone());
        // Repeated items are owned as a whole.
        if counts.get(element) == Some(&1) {
            collect(list.items.resolve(), item, path, set);
        }
        set.insert(path);
        path.pop();
    }
}

fn collect_members(map: &MapType, value: &Value, path: &mut Path, set: &mut Set) {
    let Value::Object(members) = value else { return };
    for (name, member) in members {
        path.push(PathElement::Field(name.clone()));
        if let Some(ty) = map.type_of(name) {
            collect(ty, member, path, set);
        }
        let empty = member.is_null() || member.as_object().is_some_and(crdx_value::Map::is_empty);
        if empty || !map.fields.contains_key(name) {
            set.insert(path);
        }
        path.pop();
    }
}
