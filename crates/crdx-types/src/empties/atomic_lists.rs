//! Empty lists and maps in the items of atomic lists. The field manager compares such a list with `reflect.DeepEqual`
//! (`listReflect.EqualsUsing` of structured-merge-diff), for which an empty list or map differs from an absent one.

use super::Empties;
use crate::merge::{ListRelation, Type};
use crdx_value::{Map, Value};

/// The nodes that contain a value.
#[derive(Clone, Copy, Default)]
struct Inside {
    /// True if the value is in an atomic list or map.
    atomic: bool,
    /// True if a list in that list or map, or the list itself, contains the value.
    list: bool,
}

impl Empties {
    /// Adds the empty lists and maps that an encoded value of a type omits in the items of atomic lists. Returns true if
    /// there are any.
    pub fn restore_in_atomic_lists(&self, type_: &Type, encoded: &mut Value) -> bool {
        self.add(type_, encoded, Inside::default())
    }

    fn add(&self, type_: &Type, value: &mut Value, inside: Inside) -> bool {
        match value {
            Value::Array(items) => {
                let Some(list) = &type_.list else { return false };
                let atomic = inside.atomic || list.relation == ListRelation::Atomic;
                let inside = Inside { atomic, list: atomic };
                let add = |added, (key, inner): (&String, &Self)| {
                    let item = key.parse().ok().and_then(|at: usize| items.get_mut(at));
                    item.is_some_and(|item| inner.add(list.items.resolve(), item, inside)) || added
                };
                self.inner.iter().fold(false, add)
            }
            Value::Object(members) => {
                let Some(map) = &type_.map else { return false };
                let inside = Inside { atomic: inside.atomic || map.atomic, ..inside };
                let add = |added, (key, inner): (&String, &Self)| {
                    let Some(type_) = map.type_of(key) else { return added };
                    match members.get_mut(key) {
                        Some(member) => inner.add(type_, member, inside) || added,
                        None if inside.list => inner.add_to(key, type_, members) || added,
                        None => added,
                    }
                };
                self.inner.iter().fold(false, add)
            }
            _ => false,
        }
    }

    /// Adds the value as a member with the type of a list or map, if it is empty.
    fn add_to(&self, key: &str, type_: &Type, members: &mut Map) -> bool {
        let empty = match self.empty {
            Some("[]") if type_.list.is_some() => Value::Array(Vec::new()),
            Some("{}") if type_.map.is_some() => Value::Object(Map::new()),
            _ => return false,
        };
        members.insert(key.to_owned(), empty);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::merge_type::merge_type_named;
    use crate::types::Types;
    use crdx_text::json;

    fn read(text: &str) -> Value {
        json::read(text.as_bytes()).unwrap()
    }

    /// The value that the field manager compares, for an object that is encoded as another one.
    fn restored(type_: &str, given: &str, encoded: &str) -> Option<Value> {
        let (empties, mut encoded) = (Empties::from_value(&read(given)).unwrap(), read(encoded));
        let type_ = merge_type_named(Types::for_release(35), type_).resolve();
        empties.restore_in_atomic_lists(type_, &mut encoded).then_some(encoded)
    }

    #[test]
    fn an_empty_map_in_an_item_of_an_atomic_list_differs_from_an_absent_one() {
        let given = r#"{"spec":{"limits":[{"type":"Pod"},{"min":{},"type":"Pod"}]}}"#;
        let encoded = r#"{"spec":{"limits":[{"type":"Pod"},{"type":"Pod"}]}}"#;
        assert_eq!(restored("core/v1.LimitRange", given, encoded), Some(read(given)));
    }

    #[test]
    fn an_empty_list_is_absent_outside_of_the_items_of_atomic_lists() {
        let of_pod = |given: &str, encoded: &str| restored("core/v1.Pod", given, encoded);
        let containers = r#"{"spec":{"containers":[{"name":"a"}]}}"#;
        assert_eq!(of_pod(r#"{"spec":{"containers":[{"args":[],"name":"a"}]}}"#, containers), None);
        assert_eq!(of_pod(r#"{"spec":{"containers":[{"name":"a"}],"tolerations":[]}}"#, containers), None);
        assert_eq!(of_pod(r#"{"spec":{"containers":[{"name":"a"}],"nodeSelector":{}}}"#, containers), None);
    }

    #[test]
    fn a_list_in_an_atomic_map_is_compared_with_its_items() {
        let of_selector = |given: &str, encoded: &str| restored("meta/v1.LabelSelector", given, encoded);
        let encoded = r#"{"matchExpressions":[{"key":"a","operator":"Exists"}]}"#;
        let given = r#"{"matchExpressions":[{"key":"a","operator":"Exists","values":[]}]}"#;
        assert_eq!(of_selector(given, encoded), Some(read(given)));
        assert_eq!(of_selector(r#"{"matchLabels":{},"matchExpressions":[]}"#, "{}"), None);
    }

    #[test]
    fn unknown_fields_are_not_restored() {
        let encoded = r#"{"spec":{"limits":[{"type":"Pod"}]}}"#;
        let given = r#"{"spec":{"limits":[{"type":"Pod","unknown":[]}]}}"#;
        assert_eq!(restored("core/v1.LimitRange", given, encoded), None);
    }
}
