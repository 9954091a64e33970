//! What admission policies set and remove in the lines of a diff. Items that they remove from lists are put back into the object
//! that is shown, so that a reader sees them.

use super::paths;
use crdx_engine::report::Admission;
use crdx_engine::report::admission::{FieldChange, PolicyChange};
use crdx_value::{Value, json};
use std::collections::HashMap;

/// Paths, each with the name of a policy.
pub type PolicyPaths<'a> = Vec<(String, &'a str)>;

/// What policies set and remove, by the paths in the objects that are shown.
#[derive(Default)]
pub struct Policies<'a> {
    /// What policies set in the new object.
    pub set: PolicyPaths<'a>,
    /// What policies remove from the request, and the existing object does not have: lines of the new object that are not stored.
    pub not_stored: PolicyPaths<'a>,
    /// What policies remove from the request, and the existing object has: removed lines.
    pub removed: PolicyPaths<'a>,
}

impl<'a> Policies<'a> {
    /// Reads what policies changed, and puts items that they remove from lists back into `shown`, the object after the write.
    pub fn new(admission: &'a Admission, before: Option<&Value>, shown: &mut Value) -> Self {
        let mut policies = Self::default();
        let mut fields = PolicyPaths::default();
        // The last change is undone first: each one has the indexes of the lists that it found.
        for change in admission.mutated.iter().rev() {
            let mut undone = Self::default();
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
    ) -> (PolicyPaths<'a>, KeptItems<'a>) {
        let policy = change.policy.as_str();
        let (mut fields, mut kept) = (PolicyPaths::default(), KeptItems::default());
        for FieldChange { path, before: old, after: new } in &change.fields {
            match (old, new) {
                (Some(Value::Array(old)), Some(Value::Array(new))) if old.len() != new.len() => {
                    let existing = before.and_then(|before| paths::at(before, path)?.as_array());
                    let list = ListChange { path, old, new, policy };
                    kept.extend(Some(path.as_str()).zip(self.undo_list(&list, shown, existing.unwrap_or_default())));
                }
                (Some(value), None) => {
                    // An item of a list may have had another index.
                    let is_same = |before| !path.contains('[') || paths::at(before, path) == Some(value);
                    if before.is_some_and(is_same) {
                        self.removed.push((path.clone(), policy));
                    }
                    fields.push((path.clone(), policy));
                }
                (_, Some(_)) => self.set.push((path.clone(), policy)),
                (None, None) => {}
            }
        }
        (fields, kept)
    }

    /// Puts the items back that a policy removes from a list, except for those that the existing object has. Returns where the
    /// other items are now.
    fn undo_list(&mut self, list: &ListChange<'a>, shown: &mut Value, existing: &[Value]) -> Option<Vec<usize>> {
        let Some(Value::Array(items)) = paths::at_mut(shown, list.path) else { return None };
        let mut existing = indexes_by_item(existing);
        let (mut removed, mut restored) = (0, Vec::new());
        for (index, item) in missing(list.old, list.new) {
            match existing.get_mut(&json::to_string(item)).and_then(Vec::pop) {
                Some(existing) => {
                    self.removed.push(list.item(existing));
                    removed += 1;
                }
                None => restored.push((index - removed, item)),
            }
        }
        let merged = Merged::new(std::mem::take(items), &restored);
        *items = merged.items;
        let added = missing(list.new, list.old).filter_map(|(index, _)| merged.kept.get(index));
        self.set.extend(added.map(|index| list.item(*index)));
        self.not_stored.extend(merged.restored.iter().map(|index| list.item(*index)));
        Some(merged.kept)
    }
}

/// The indexes of the items of lists after others were put back, by the paths of the lists.
type KeptItems<'a> = HashMap<&'a str, Vec<usize>>;

/// Returns the path of a value in a list whose items have other indexes now. A policy changes no list within such a list.
fn moved(path: &str, kept: &KeptItems<'_>) -> Option<String> {
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
    /// Returns the path of an item with the name of the policy.
    fn item(&self, index: usize) -> (String, &'a str) {
        (format!("{}[{index}]", self.path), self.policy)
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
    /// Puts items back into a list. Each has the index that it has afterwards, if the list is long enough.
    fn new(list: Vec<Value>, restored: &[(usize, &Value)]) -> Self {
        let (mut items, mut kept, mut put_back) = (Vec::with_capacity(list.len() + restored.len()), vec![], vec![]);
        let mut restored = restored.iter().peekable();
        let mut list = list.into_iter().peekable();
        loop {
            let at = items.len();
            if let Some((_, item)) = restored.next_if(|(index, _)| *index <= at || list.peek().is_none()) {
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

/// Returns the items of a list that another one lacks, with their indexes.
fn missing<'v>(list: &'v [Value], other: &[Value]) -> impl Iterator<Item = (usize, &'v Value)> {
    let mut others = indexes_by_item(other);
    let mut is_in_other = move |item: &Value| others.get_mut(&json::to_string(item)).and_then(Vec::pop).is_some();
    list.iter().enumerate().filter(move |(_, item)| !is_in_other(item))
}

/// Returns the indexes of equal items, the last one first.
fn indexes_by_item(list: &[Value]) -> HashMap<String, Vec<usize>> {
    let mut indexes: HashMap<String, Vec<usize>> = HashMap::new();
    for (index, item) in list.iter().enumerate().rev() {
        indexes.entry(json::to_string(item)).or_default().push(index);
    }
    indexes
}
