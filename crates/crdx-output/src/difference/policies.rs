//! The lines of a diff that admission policies set and remove. Items that they remove from lists are put back into the object
//! that is shown, so that a reader sees them.

use super::paths;
use super::places::Places;
use crdx_engine::report::Admission;
use crdx_engine::report::admission::{FieldChange, PolicyChange};
use crdx_value::{Value, json};
use std::collections::HashMap;

/// Paths, each with the name of a policy.
pub type PolicyPaths<'a> = Vec<(String, &'a str)>;

/// The values that policies set and remove, by the paths in the objects that are shown.
#[derive(Default)]
pub struct Policies<'a> {
    /// The values that policies set in the new object.
    pub set: PolicyPaths<'a>,
    /// The values that policies remove from the request and the existing object lacks; shown as lines that are not stored.
    pub not_stored: PolicyPaths<'a>,
    /// The values that policies remove from the request and the existing object has; shown as removed lines.
    pub removed: PolicyPaths<'a>,
    /// The places of the items of the request in the object that is shown.
    pub places: Places,
}

impl<'a> Policies<'a> {
    /// Reads what policies changed, and puts items that they remove from lists back into `shown`, the object after the write.
    pub fn new(admission: &'a Admission, before: Option<&Value>, shown: &mut Value) -> Self {
        let mut policies = Self::default();
        let mut fields = PolicyPaths::default();
        // Changes are undone in reverse order, because each change uses the indexes of the list that it received.
        for change in admission.mutated.iter().rev() {
            let mut undone = Self { places: std::mem::take(&mut policies.places), ..Self::default() };
            let (removed, kept) = undone.undo(change, before, shown);
            for (path, _) in policies.set.iter_mut().chain(&mut policies.not_stored).chain(&mut fields) {
                if let Some(moved) = moved(path, &kept) {
                    *path = moved;
                }
            }
            fields.extend(removed);
            policies.set.append(&mut undone.set);
            policies.not_stored.append(&mut undone.not_stored);
            policies.removed.append(&mut undone.removed);
            policies.places = undone.places;
        }
        let is_in = |object: &Value, path: &str| paths::at(object, path).is_some();
        fields.retain(|(path, _)| ![before, Some(shown)].iter().flatten().any(|object| is_in(object, path)));
        policies.not_stored.append(&mut fields);
        policies
    }

    /// Undoes the change of a policy. Returns the fields that it removes, and where the items of lists are now.
    fn undo(
        &mut self,
        change: &'a PolicyChange,
        before: Option<&Value>,
        shown: &mut Value,
    ) -> (PolicyPaths<'a>, KeptItems) {
        let policy = change.policy.as_str();
        let (mut fields, mut kept) = (PolicyPaths::default(), KeptItems::default());
        for FieldChange { path, before: old, after: new } in &change.fields {
            match (old, new) {
                (Some(Value::Array(old)), Some(Value::Array(new))) if old.len() != new.len() => {
                    let existing = before.and_then(|before| paths::at(before, path)?.as_array());
                    let list = ListChange { path, old, new, policy };
                    kept.extend(self.undo_list(&list, shown, existing.unwrap_or_default()));
                }
                (Some(value), None) => {
                    // An item of a list may have had another index.
                    let is_same = |before| !path.contains('[') || paths::at(before, path) == Some(value);
                    if before.is_some_and(is_same) {
                        self.removed.push((path.clone(), policy));
                    }
                    fields.extend(self.places.path(path).map(|path| (path, policy)));
                }
                (_, Some(_)) => self.set.extend(self.places.path(path).map(|path| (path, policy))),
                (None, None) => {}
            }
        }
        (fields, kept)
    }

    /// Puts the items back that a policy removes from a list, except for those that the existing object has. Returns the path of
    /// the list in `shown`, and where the other items are now.
    fn undo_list(
        &mut self,
        list: &ListChange<'a>,
        shown: &mut Value,
        existing: &[Value],
    ) -> Option<(String, Vec<usize>)> {
        let path = self.places.path(list.path)?;
        let Some(Value::Array(items)) = paths::at_mut(shown, &path) else { return None };
        let kept = counterparts(list.old, list.new);
        let (origins, restored) = self.origins(list, &kept, existing);
        let merged = Merged::new(std::mem::take(items), &restored);
        *items = merged.items;
        let added = counterparts(list.new, list.old).into_iter().enumerate().filter(|(_, old)| old.is_none());
        let added = added.filter_map(|(index, _)| merged.kept.get(self.places.index(list.path, index)?));
        self.set.extend(added.map(|index| list.item(&path, *index)));
        self.not_stored.extend(merged.restored.iter().map(|index| list.item(&path, *index)));
        let place = |origin: Origin| match origin {
            Origin::Kept(index) => merged.kept.get(index).copied(),
            Origin::Restored(index) => merged.restored.get(index).copied(),
        };
        self.places.set(list.path, origins.into_iter().map(|origin| origin.and_then(place)).collect(), &kept);
        Some((path, merged.kept))
    }

    /// Returns where each item of a list comes from that is shown, and the items to put back: each behind the one before it. `kept`
    /// has the index after the change of each item.
    fn origins(
        &mut self,
        list: &ListChange<'a>,
        kept: &[Option<usize>],
        existing: &[Value],
    ) -> (Vec<Option<Origin>>, Vec<(usize, &'a Value)>) {
        let mut existing = indexes_by_item(existing);
        let (mut next, mut restored) = (0, Vec::new());
        let origin = |(item, kept): (&'a Value, &Option<usize>)| {
            if let Some(index) = kept {
                let place = self.places.index(list.path, *index)?;
                next = next.max(place + 1);
                return Some(Origin::Kept(place));
            }
            if let Some(index) = existing.get_mut(&json::to_string(item)).and_then(Vec::pop) {
                self.removed.push(list.item(list.path, index));
                return None;
            }
            restored.push((next, item));
            Some(Origin::Restored(restored.len() - 1))
        };
        let origins = list.old.iter().zip(kept).map(origin).collect();
        (origins, restored)
    }
}

/// The origin of an item that is shown.
enum Origin {
    /// The index in the list before items were put back.
    Kept(usize),
    /// The index among the items that were put back.
    Restored(usize),
}

/// The indexes of the items of lists after others were put back, by the paths of the lists.
type KeptItems = HashMap<String, Vec<usize>>;

/// Returns the path of a value in a list whose items have other indexes now. A policy changes no list within such a list.
fn moved(path: &str, kept: &KeptItems) -> Option<String> {
    path.match_indices('[').find_map(|(at, _)| {
        let (list, rest) = path.split_at_checked(at)?;
        let (index, rest) = paths::split_index(rest)?;
        Some(format!("{list}[{}]{rest}", kept.get(list)?.get(index)?))
    })
}

/// A list to which a policy adds items, or from which it removes some.
struct ListChange<'a> {
    path: &'a str,
    old: &'a [Value],
    new: &'a [Value],
    policy: &'a str,
}

impl<'a> ListChange<'a> {
    /// Returns the path of an item of the list at `path` with the name of the policy.
    fn item(&self, path: &str, index: usize) -> (String, &'a str) {
        (format!("{path}[{index}]"), self.policy)
    }
}

/// A list with items that were put back.
struct Merged {
    items: Vec<Value>,
    /// The index of each item that the list had.
    kept: Vec<usize>,
    /// The index of each item that was put back.
    restored: Vec<usize>,
}

impl Merged {
    /// Puts items back into a list, each before the item of the list with its index.
    fn new(list: Vec<Value>, restored: &[(usize, &Value)]) -> Self {
        let (mut items, mut kept, mut put_back) = (Vec::with_capacity(list.len() + restored.len()), vec![], vec![]);
        let mut restored = restored.iter().peekable();
        let mut list = list.into_iter();
        loop {
            let at = items.len();
            if let Some((_, item)) = restored.next_if(|(next, _)| *next <= kept.len() || list.len() == 0) {
                put_back.push(at);
                items.push((*item).clone());
            } else if let Some(item) = list.next() {
                kept.push(at);
                items.push(item);
            } else {
                return Self { items, kept, restored: put_back };
            }
        }
    }
}

/// Returns the index in another list of each item of a list; `None` for an item that the other one lacks.
fn counterparts(list: &[Value], other: &[Value]) -> Vec<Option<usize>> {
    let mut others = indexes_by_item(other);
    list.iter().map(|item| others.get_mut(&json::to_string(item)).and_then(Vec::pop)).collect()
}

/// Returns the indexes of equal items, the last one first.
fn indexes_by_item(list: &[Value]) -> HashMap<String, Vec<usize>> {
    let mut indexes: HashMap<String, Vec<usize>> = HashMap::new();
    for (index, item) in list.iter().enumerate().rev() {
        indexes.entry(json::to_string(item)).or_default().push(index);
    }
    indexes
}
