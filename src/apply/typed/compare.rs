//! The difference between two values (`typed/compare.go`).

use super::{TypeErrors, as_list, error, item_element, prefixed, scalar_pair_errors};
use crate::apply::{
    path::{PathElement, equal},
    set::Set,
    types::{Choice, ListRelation, ListType, MapType, Type},
};
use crate::value::{Map, Value};
use std::collections::BTreeMap;

/// The difference between two values; the three sets are disjoint.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Comparison {
    /// The fields that only the old value has.
    pub removed: Set,
    /// The fields that differ.
    pub modified: Set,
    /// The fields that only the new value has.
    pub added: Set,
}

impl Comparison {
    /// Removes the members of `ignored` and all fields below them.
    #[must_use]
    pub fn without(self, ignored: &Set) -> Self {
        Self {
            removed: self.removed.recursive_difference(ignored),
            modified: self.modified.recursive_difference(ignored),
            added: self.added.recursive_difference(ignored),
        }
    }
}

/// Compares two values of a type.
pub fn compare(ty: &Type, old: &Value, new: &Value) -> Result<Comparison, TypeErrors> {
    let mut root = Node::default();
    root.compare(ty, Some(old), Some(new));
    if root.errors.is_empty() { Ok(root.below) } else { Err(root.errors) }
}

/// The difference of a node.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Change {
    Removed,
    Modified,
    Added,
}

/// The comparison of a node. That of the root, which is never owned, is not used.
#[derive(Default)]
struct Node {
    errors: TypeErrors,
    /// The difference of the node itself.
    change: Option<Change>,
    /// The differences below it.
    below: Comparison,
}

impl Node {
    fn compare(&mut self, ty: &Type, old: Option<&Value>, new: Option<&Value>) {
        let (old_kinds, new_kinds) = (ty.kinds(old), ty.kinds(new));
        let leaf = if new.is_none() {
            self.visit(ty.choose(old_kinds), old, new)
        } else if old.is_none() || old_kinds == new_kinds {
            self.visit(ty.choose(new_kinds), old, new)
        } else {
            self.visit(ty.choose(old_kinds), old, new);
            self.visit(ty.choose(new_kinds), old, new)
        };
        if !leaf && old.is_none() {
            self.change = Some(Change::Added);
        } else if !leaf && new.is_none() {
            self.change = Some(Change::Removed);
        }
    }

    /// Compares two values as one kind. Returns true if the values were compared as atomic values.
    fn visit(&mut self, choice: Option<Choice<'_>>, old: Option<&Value>, new: Option<&Value>) -> bool {
        match choice {
            None => {
                self.errors.extend(error("schema error: invalid atom: inlined"));
                false
            }
            Some(Choice::Scalar(scalar)) => {
                let errors = scalar_pair_errors(scalar, old, new);
                let fits = errors.is_empty();
                if fits {
                    self.leaf(old, new);
                }
                self.errors.extend(errors);
                fits
            }
            Some(Choice::List(list)) => {
                let (o, n) = (as_list(old).unwrap_or_default(), as_list(new).unwrap_or_default());
                if list.relation == ListRelation::Atomic || (o.is_empty() && n.is_empty()) {
                    self.leaf(old, new);
                    return true;
                }
                self.items(list, o, n);
                false
            }
            Some(Choice::Map(map)) => {
                let (o, n) = (old.and_then(Value::as_object), new.and_then(Value::as_object));
                let empty = |m: Option<&Map>| m.is_none_or(Map::is_empty);
                if map.atomic || (empty(o) && empty(n)) {
                    self.leaf(old, new);
                    return true;
                }
                self.members(map, o, n);
                false
            }
        }
    }

    fn leaf(&mut self, old: Option<&Value>, new: Option<&Value>) {
        match (old, new) {
            (None, _) => self.change = Some(Change::Added),
            (_, None) => self.change = Some(Change::Removed),
            (Some(old), Some(new)) if !equal(old, new) => self.change = Some(Change::Modified),
            _ => {}
        }
    }

    fn child(&mut self, element: &PathElement, ty: &Type, old: Option<&Value>, new: Option<&Value>) {
        let mut child = Self::default();
        child.compare(ty, old, new);
        self.errors.extend(prefixed(child.errors, element));
        let is = |change| child.change == Some(change);
        self.below.removed.attach(element, is(Change::Removed), child.below.removed);
        self.below.modified.attach(element, is(Change::Modified), child.below.modified);
        self.below.added.attach(element, is(Change::Added), child.below.added);
    }

    fn members(&mut self, map: &MapType, old: Option<&Map>, new: Option<&Map>) {
        let mut names: Vec<&String> = old.into_iter().chain(new).flat_map(Map::keys).collect();
        names.sort();
        names.dedup();
        for name in names {
            let element = PathElement::Field(name.clone());
            let (o, n) = (old.and_then(|m| m.get(name)), new.and_then(|m| m.get(name)));
            match map.type_of(name) {
                Some(ty) => self.child(&element, ty, o, n),
                None => self.errors.extend(prefixed(error("schema error: invalid atom: inlined"), &element)),
            }
        }
    }

    fn items(&mut self, list: &ListType, old: &[Value], new: &[Value]) {
        let errors = &mut self.errors;
        let mut index = |items| {
            let mut found: BTreeMap<PathElement, Vec<&Value>> = BTreeMap::new();
            let items: &[Value] = items;
            for (i, item) in items.iter().enumerate() {
                match item_element(list, item) {
                    Ok(element) => found.entry(element).or_default().push(item),
                    Err(reason) => errors.extend(error(format!("element {i}: {reason}"))),
                }
            }
            found
        };
        let (mut old, new) = (index(old), index(new));
        for element in new.keys() {
            old.entry(element.clone()).or_default();
        }
        let ty = list.items.resolve();
        for (element, o) in &old {
            let n = new.get(element).map(Vec::as_slice).unwrap_or_default();
            match (o.as_slice(), n) {
                ([] | [_], [] | [_]) => self.child(element, ty, o.first().copied(), n.first().copied()),
                ([_, _, ..], [_, _, ..]) => {
                    let same = o.len() == n.len() && o.iter().zip(n).all(|(a, b)| equal(a, b));
                    if !same {
                        self.below.modified.attach(element, true, Set::default());
                    }
                }
                ([_, _, ..], rest) => {
                    if let Some(only) = rest.first() {
                        self.child(element, ty, None, Some(only));
                    }
                    self.below.removed.attach(element, true, Set::default());
                }
                (rest, _) => {
                    if let Some(only) = rest.first() {
                        self.child(element, ty, Some(only), None);
                    }
                    self.below.added.attach(element, true, Set::default());
                }
            }
        }
    }
}
