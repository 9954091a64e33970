//! The difference between two values (`typed/compare.go`).

use super::{TypeErrors, as_list, error, item_element, prefixed, scalar_pair_errors};
use crate::apply::{
    path::{Path, PathElement, equal},
    set::Set,
    types::{Choice, ListRelation, ListType, MapType, Type},
};
use crate::value::Value;
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
    pub fn without(&self, ignored: &Set) -> Self {
        Self {
            removed: self.removed.recursive_difference(ignored),
            modified: self.modified.recursive_difference(ignored),
            added: self.added.recursive_difference(ignored),
        }
    }
}

/// Compares two values of a type.
pub fn compare(ty: &Type, old: &Value, new: &Value) -> Result<Comparison, TypeErrors> {
    let mut walker = Walker { path: Vec::new(), out: Comparison::default() };
    let errors = walker.compare(ty, Some(old), Some(new));
    if errors.is_empty() { Ok(walker.out) } else { Err(errors) }
}

struct Walker {
    path: Path,
    out: Comparison,
}

impl Walker {
    fn compare(&mut self, ty: &Type, old: Option<&Value>, new: Option<&Value>) -> TypeErrors {
        let (old_kinds, new_kinds) = (ty.kinds(old), ty.kinds(new));
        let (mut errors, mut leaf);
        if new.is_none() {
            (errors, leaf) = self.visit(ty.choose(old_kinds), old, new);
        } else if old.is_none() || old_kinds == new_kinds {
            (errors, leaf) = self.visit(ty.choose(new_kinds), old, new);
        } else {
            errors = self.visit(ty.choose(old_kinds), old, new).0;
            let (more, new_leaf) = self.visit(ty.choose(new_kinds), old, new);
            errors.extend(more);
            leaf = new_leaf;
        }
        if !leaf && old.is_none() {
            self.out.added.insert(&self.path);
            leaf = true;
        }
        if !leaf && new.is_none() {
            self.out.removed.insert(&self.path);
        }
        errors
    }

    /// Compares two values as one kind. The flag is true if the values were compared as atomic values.
    fn visit(&mut self, choice: Option<Choice<'_>>, old: Option<&Value>, new: Option<&Value>) -> (TypeErrors, bool) {
        match choice {
            None => (error("schema error: invalid atom: inlined"), false),
            Some(Choice::Scalar(scalar)) => {
                let errors = scalar_pair_errors(scalar, old, new);
                let fits = errors.is_empty();
                if fits {
                    self.leaf(old, new);
                }
                (errors, fits)
            }
            Some(Choice::List(list)) => {
                let (o, n) = (as_list(old).unwrap_or_default(), as_list(new).unwrap_or_default());
                if list.relation == ListRelation::Atomic || (o.is_empty() && n.is_empty()) {
                    self.leaf(old, new);
                    return (Vec::new(), true);
                }
                (self.items(list, o, n), false)
            }
            Some(Choice::Map(map)) => {
                let (o, n) = (old.and_then(Value::as_object), new.and_then(Value::as_object));
                let empty = |m: Option<&crate::value::Map>| m.is_none_or(crate::value::Map::is_empty);
                if map.atomic || (empty(o) && empty(n)) {
                    self.leaf(old, new);
                    return (Vec::new(), true);
                }
                (self.members(map, o, n), false)
            }
        }
    }

    fn leaf(&mut self, old: Option<&Value>, new: Option<&Value>) {
        match (old, new) {
            (None, _) => self.out.added.insert(&self.path),
            (_, None) => self.out.removed.insert(&self.path),
            (Some(old), Some(new)) if !equal(old, new) => self.out.modified.insert(&self.path),
            _ => {}
        }
    }

    fn below(&mut self, element: PathElement, ty: &Type, old: Option<&Value>, new: Option<&Value>) -> TypeErrors {
        self.path.push(element);
        let errors = self.compare(ty, old, new);
        match self.path.pop() {
            Some(element) => prefixed(errors, &element),
            None => errors,
        }
    }

    fn members(
        &mut self,
        map: &MapType,
        old: Option<&crate::value::Map>,
        new: Option<&crate::value::Map>,
    ) -> TypeErrors {
        let mut names: Vec<&String> = old.into_iter().chain(new).flat_map(|m| m.keys()).collect();
        names.sort();
        names.dedup();
        let mut errors = Vec::new();
        for name in names {
            let element = PathElement::Field(name.clone());
            let (o, n) = (old.and_then(|m| m.get(name)), new.and_then(|m| m.get(name)));
            errors.extend(match map.type_of(name) {
                Some(ty) => self.below(element, ty, o, n),
                None => prefixed(error("schema error: invalid atom: inlined"), &element),
            });
        }
        errors
    }

    fn items(&mut self, list: &ListType, old: &[Value], new: &[Value]) -> TypeErrors {
        let mut errors = Vec::new();
        let mut index = |items| {
            let mut found: BTreeMap<PathElement, Vec<&Value>> = BTreeMap::new();
            let items: &[Value] = items;
            for (i, item) in items.iter().enumerate() {
                match item_element(list, item) {
                    Ok(element) => found.entry(element).or_default().push(item),
                    Err(why) => errors.extend(error(format!("element {i}: {why}"))),
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
                ([] | [_], [] | [_]) => {
                    errors.extend(self.below(element.clone(), ty, o.first().copied(), n.first().copied()));
                }
                ([_, _, ..], [_, _, ..]) => {
                    let same = o.len() == n.len() && o.iter().zip(n).all(|(a, b)| equal(a, b));
                    if !same {
                        self.mark(element, |out| &mut out.modified);
                    }
                }
                ([_, _, ..], rest) => {
                    if let Some(only) = rest.first() {
                        errors.extend(self.below(element.clone(), ty, None, Some(only)));
                    }
                    self.mark(element, |out| &mut out.removed);
                }
                (rest, _) => {
                    if let Some(only) = rest.first() {
                        errors.extend(self.below(element.clone(), ty, Some(only), None));
                    }
                    self.mark(element, |out| &mut out.added);
                }
            }
        }
        errors
    }

    fn mark(&mut self, element: &PathElement, set: impl Fn(&mut Comparison) -> &mut Set) {
        self.path.push(element.clone());
        set(&mut self.out).insert(&self.path);
        self.path.pop();
    }
}
