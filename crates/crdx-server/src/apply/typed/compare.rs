//! The difference between two values (`typed/compare.go`).

use super::{TypeErrors, as_list, error, item_element, prefixed, scalar_pair_errors};
use crate::apply::{
    path::{PathElement, equal},
    set::Set,
};
use crdx_types::merge::{Choice, ListRelation, ListType, MapType, Type};
use crdx_value::{Map, Value};
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
    let mut root = NodeComparison::default();
    root.compare(ty, old, new);
    if root.errors.is_empty() { Ok(root.below) } else { Err(root.errors) }
}

/// The comparison of two values. That of the root, which is never owned, is not used.
#[derive(Default)]
struct NodeComparison {
    errors: TypeErrors,
    /// True if the node itself differs.
    is_modified: bool,
    /// The differences below it.
    below: Comparison,
}

impl NodeComparison {
    fn compare(&mut self, ty: &Type, old: &Value, new: &Value) {
        let (old_kinds, new_kinds) = (ty.kinds(Some(old)), ty.kinds(Some(new)));
        if old_kinds != new_kinds {
            self.visit(ty.choose(old_kinds), old, new);
        }
        self.visit(ty.choose(new_kinds), old, new);
    }

    /// Compares two values as one kind.
    fn visit(&mut self, choice: Option<Choice<'_>>, old: &Value, new: &Value) {
        match choice {
            None => self.errors.extend(error("schema error: invalid atom: inlined")),
            Some(Choice::Scalar(scalar)) => {
                let errors = scalar_pair_errors(scalar, Some(old), Some(new));
                if errors.is_empty() {
                    self.leaf(old, new);
                }
                self.errors.extend(errors);
            }
            Some(Choice::List(list)) => {
                let (o, n) = (as_list(Some(old)).unwrap_or_default(), as_list(Some(new)).unwrap_or_default());
                if list.relation == ListRelation::Atomic || (o.is_empty() && n.is_empty()) {
                    self.leaf(old, new);
                } else {
                    self.items(list, o, n);
                }
            }
            Some(Choice::Map(map)) => {
                let (o, n) = (old.as_object(), new.as_object());
                let empty = |m: Option<&Map>| m.is_none_or(Map::is_empty);
                if map.atomic || (empty(o) && empty(n)) {
                    self.leaf(old, new);
                } else {
                    self.members(map, o, n);
                }
            }
        }
    }

    fn leaf(&mut self, old: &Value, new: &Value) {
        self.is_modified |= !equal(old, new);
    }

    fn child(&mut self, element: &PathElement, ty: &Type, old: Option<&Value>, new: Option<&Value>) {
        let (value, set) = match (old, new) {
            (Some(old), Some(new)) => return self.pair(element, ty, old, new),
            (None, Some(new)) => (new, &mut self.below.added),
            (Some(old), None) => (old, &mut self.below.removed),
            (None, None) => return,
        };
        let (below, errors) = fields(ty, value);
        if !errors.is_empty() {
            self.errors.extend(prefixed(errors, element));
        }
        set.attach(element, true, below);
    }

    fn pair(&mut self, element: &PathElement, ty: &Type, old: &Value, new: &Value) {
        let mut child = Self::default();
        child.compare(ty, old, new);
        if !child.errors.is_empty() {
            self.errors.extend(prefixed(child.errors, element));
        }
        self.below.removed.attach(element, false, child.below.removed);
        self.below.modified.attach(element, child.is_modified, child.below.modified);
        self.below.added.attach(element, false, child.below.added);
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

/// The fields below a value that the other side does not have: the value and everything in it are members of the
/// difference.
fn fields(ty: &Type, value: &Value) -> (Set, TypeErrors) {
    match ty.choice_for(value) {
        None => (Set::default(), error("schema error: invalid atom: inlined")),
        Some(Choice::List(list)) if list.relation != ListRelation::Atomic => fields_of_items(list, value),
        Some(Choice::Map(map)) if !map.atomic => fields_of_members(map, value),
        // A scalar has no errors, because it only has to fit one of the values.
        Some(_) => (Set::default(), TypeErrors::new()),
    }
}

fn fields_of_members(map: &MapType, value: &Value) -> (Set, TypeErrors) {
    let Some(members) = value.as_object() else { return (Set::default(), TypeErrors::new()) };
    let (mut found, mut errors) = (Vec::with_capacity(members.len()), TypeErrors::new());
    for (name, member) in members {
        let element = PathElement::Field(name.clone());
        let Some(ty) = map.type_of(name) else {
            errors.extend(prefixed(error("schema error: invalid atom: inlined"), &element));
            continue;
        };
        let (below, more) = fields(ty, member);
        if !more.is_empty() {
            errors.extend(prefixed(more, &element));
        }
        found.push((element, below));
    }
    (Set::of_members(found), errors)
}

fn fields_of_items(list: &ListType, value: &Value) -> (Set, TypeErrors) {
    let items = as_list(Some(value)).unwrap_or_default();
    let (mut elements, mut errors) = (Vec::with_capacity(items.len()), TypeErrors::new());
    for (i, item) in items.iter().enumerate() {
        match item_element(list, item) {
            Ok(element) => elements.push((element, item)),
            Err(reason) => errors.extend(error(format!("element {i}: {reason}"))),
        }
    }
    elements.sort_by(|(a, _), (b, _)| a.cmp(b));
    let ty = list.items.resolve();
    let mut found = Vec::with_capacity(elements.len());
    for same in elements.chunk_by(|(a, _), (b, _)| a == b) {
        let Some((element, item)) = same.first() else { continue };
        // Repeated items are members as a whole.
        let (below, more) = if same.len() == 1 { fields(ty, item) } else { (Set::default(), TypeErrors::new()) };
        if !more.is_empty() {
            errors.extend(prefixed(more, element));
        }
        found.push((element.clone(), below));
    }
    (Set::of_members(found), errors)
}
