//! Removes fields and items from a value (`typed/remove.go`).

use super::item_element;
use crate::apply::{path::PathElement, set::Set};
use crdx_types::merge::{Choice, ListRelation, Type};
use crdx_value::{Map, Value};

/// The value without the members of `remove_set`; a map or list that becomes empty becomes null.
pub fn remove(ty: &Type, value: &Value, remove_set: &Set) -> Value {
    match (ty.choice_for(value), value) {
        (Some(Choice::Scalar(_)), _) => value.clone(),
        (Some(Choice::List(list)), Value::Array(items)) if list.relation != ListRelation::Atomic => {
            let kept = items.iter().filter_map(|item| {
                let Ok(element) = item_element(list, item) else { return Some(item.clone()) };
                if remove_set.has_member(&element) {
                    return None;
                }
                Some(match remove_set.below(&element) {
                    Some(below) => remove(list.items.resolve(), item, below),
                    None => item.clone(),
                })
            });
            let kept: Vec<Value> = kept.collect();
            if kept.is_empty() { Value::Null } else { Value::Array(kept) }
        }
        (Some(Choice::Map(map)), Value::Object(members)) if !map.atomic => {
            let mut kept = Map::new();
            for (name, member) in members {
                let element = PathElement::Field(name.clone());
                if remove_set.has_member(&element) {
                    continue;
                }
                let member = match (remove_set.below(&element), map.type_of(name)) {
                    (Some(below), Some(ty)) => remove(ty, member, below),
                    _ => member.clone(),
                };
                kept.insert(name.clone(), member);
            }
            if kept.is_empty() { Value::Null } else { Value::Object(kept) }
        }
        _ => Value::Null,
    }
}
