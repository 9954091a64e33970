//! Sets of field paths, stored as trees, and their `fieldsV1` form.
//!
//! Follows `structured-merge-diff/fieldpath/{set,serialize}.go`.

use super::{
    path::{Path, PathElement},
    types::Type,
};
use crate::value::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// A set of field paths. A node in `children` need not be a member itself, and the operations below never leave it
/// empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Set {
    members: BTreeSet<PathElement>,
    children: BTreeMap<PathElement, Set>,
}

impl Set {
    /// Adds a path. The empty path, which stands for the whole object, is never owned and is ignored.
    pub fn insert(&mut self, path: &[PathElement]) {
        match path {
            [] => {}
            [last] => {
                self.members.insert(last.clone());
            }
            [first, rest @ ..] => match self.children.get_mut(first) {
                Some(child) => child.insert(rest),
                None => self.children.entry(first.clone()).or_default().insert(rest),
            },
        }
    }

    /// The set of these paths, given as field names.
    pub fn of_fields(paths: &[&[&str]]) -> Self {
        let mut set = Self::default();
        for path in paths {
            let path: Path = path.iter().map(|name| PathElement::Field((*name).to_owned())).collect();
            set.insert(&path);
        }
        set
    }

    /// Returns true if the set is empty.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty() && self.children.values().all(Self::is_empty)
    }

    /// Returns true if the path is a member.
    pub fn has(&self, path: &[PathElement]) -> bool {
        match path {
            [] => false,
            [last] => self.members.contains(last),
            [first, rest @ ..] => self.children.get(first).is_some_and(|child| child.has(rest)),
        }
    }

    /// Returns true if the path that consists of only this element is a member.
    pub fn has_member(&self, element: &PathElement) -> bool {
        self.members.contains(element)
    }

    /// The members below an element.
    pub fn below(&self, element: &PathElement) -> Option<&Self> {
        self.children.get(element).filter(|child| !child.is_empty())
    }

    /// The elements that are members or have members below them; the flag is true for members.
    pub fn elements(&self) -> impl Iterator<Item = (&PathElement, bool)> {
        let only_parents = self.children.keys().filter(|e| !self.members.contains(*e)).map(|e| (e, false));
        only_parents.chain(self.members.iter().map(|e| (e, true)))
    }

    /// Adds all members of another set.
    pub fn extend(&mut self, other: Self) {
        if self.members.is_empty() && self.children.is_empty() {
            *self = other;
            return;
        }
        self.members.extend(other.members);
        for (element, child) in other.children {
            self.children.entry(element).or_default().extend(child);
        }
    }

    /// The members of either set.
    pub fn union(&self, other: &Self) -> Self {
        let mut out = self.clone();
        out.members.extend(other.members.iter().cloned());
        for (element, child) in &other.children {
            out.children.entry(element.clone()).and_modify(|c| *c = c.union(child)).or_insert_with(|| child.clone());
        }
        out
    }

    /// The members of both sets.
    pub fn intersection(&self, other: &Self) -> Self {
        let children = self.children.iter().filter_map(|(element, child)| {
            let both = child.intersection(other.children.get(element)?);
            (!both.is_empty()).then(|| (element.clone(), both))
        });
        Self { members: self.members.intersection(&other.members).cloned().collect(), children: children.collect() }
    }

    /// The members that are not in `other`; members below a removed member are kept.
    #[must_use]
    pub fn difference(mut self, other: &Self) -> Self {
        self.remove_all(other, false);
        self
    }

    /// The members that are neither in `other` nor below a member of `other`.
    #[must_use]
    pub fn recursive_difference(mut self, other: &Self) -> Self {
        self.remove_all(other, true);
        self
    }

    fn remove_all(&mut self, other: &Self, recursive: bool) {
        for (element, removed) in &other.children {
            if let Some(child) = self.children.get_mut(element) {
                child.remove_all(removed, recursive);
                if child.is_empty() {
                    self.children.remove(element);
                }
            }
        }
        for element in &other.members {
            self.members.remove(element);
            if recursive {
                self.children.remove(element);
            }
        }
    }

    /// Adds a node: `element` itself if `is_member`, and the members below it.
    pub fn attach(&mut self, element: &PathElement, is_member: bool, below: Self) {
        if is_member {
            self.members.insert(element.clone());
        }
        if !below.is_empty() {
            self.children.entry(element.clone()).or_default().extend(below);
        }
    }

    /// The set of these elements and the members below them.
    pub fn of_members(members: Vec<(PathElement, Self)>) -> Self {
        let parents = members.iter().filter(|(_, below)| !below.is_empty()).count();
        let mut children = Vec::with_capacity(parents);
        let members = members.into_iter().map(|(element, below)| {
            if !below.is_empty() {
                children.push((element.clone(), below));
            }
            element
        });
        Self { members: members.collect(), children: children.into_iter().collect() }
    }

    /// Adds every declared field that has members below it.
    pub fn with_named_fields(&self, ty: Option<&Type>) -> Self {
        let mut out = self.clone();
        let map = ty.and_then(|t| t.map.as_ref());
        for element in self.children.keys() {
            if let (PathElement::Field(name), Some(map)) = (element, map)
                && map.fields.contains_key(name)
            {
                out.members.insert(element.clone());
            }
        }
        for (element, child) in &mut out.children {
            let below = match (element, map, ty.and_then(|t| t.list.as_ref())) {
                (PathElement::Field(name), Some(map), _) => map.type_of(name),
                (PathElement::Key(_), _, Some(list)) => Some(list.items.resolve()),
                _ => None,
            };
            *child = child.with_named_fields(below);
        }
        out
    }

    /// The paths of all members, parents before children.
    pub fn paths(&self) -> Vec<Path> {
        let mut out = Vec::new();
        self.collect(&mut Vec::new(), &mut out);
        out
    }

    fn collect(&self, prefix: &mut Path, out: &mut Vec<Path>) {
        for member in &self.members {
            let mut path = prefix.clone();
            path.push(member.clone());
            out.push(path);
        }
        for (element, child) in &self.children {
            prefix.push(element.clone());
            child.collect(prefix, out);
            prefix.pop();
        }
    }

    /// Encodes the set as a `fieldsV1` object.
    pub fn to_fields(&self) -> Value {
        Value::Object(self.fields(false))
    }

    fn fields(&self, include_self: bool) -> Map {
        let include_self = include_self && !(self.members.is_empty() && self.children.is_empty());
        let own = include_self.then(|| (".".to_owned(), Value::Object(Map::new())));
        let leaves = self.members.iter().filter(|member| !self.children.contains_key(member));
        let leaves = leaves.map(|member| (member.to_key(), Value::Object(Map::new())));
        let children = self
            .children
            .iter()
            .map(|(element, child)| (element.to_key(), Value::Object(child.fields(self.members.contains(element)))));
        own.into_iter().chain(leaves).chain(children).collect()
    }

    /// Decodes a `fieldsV1` object.
    ///
    /// # Errors
    /// Returns the server's message for a malformed object.
    pub fn from_fields(fields: &Value) -> Result<Self, String> {
        match fields {
            Value::Object(fields) => Ok(Self::read(fields)?.0),
            Value::Null => Ok(Self::default()),
            _ => Err("fieldsV1 must be an object".to_owned()),
        }
    }

    /// Decodes a node: the set below it, and true if the node itself is a member.
    fn read(fields: &Map) -> Result<(Self, bool), String> {
        let (mut set, mut is_member) = (Self::default(), false);
        for (key, value) in fields {
            if key == "." {
                is_member = true;
                continue;
            }
            let Some(element) = PathElement::from_key(key)? else { continue };
            let Value::Object(below) = value else { return Err(format!("{key} must be an object")) };
            let (child, child_is_member) = Self::read(below)?;
            if child_is_member {
                set.members.insert(element.clone());
            }
            if !child.is_empty() {
                set.children.insert(element, child);
            }
        }
        let is_member = is_member || (set.members.is_empty() && set.children.is_empty());
        Ok((set, is_member))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_round_trip_through_fields() {
        let mut set = Set::of_fields(&[&["spec"], &["spec", "a"], &["metadata", "labels", "x"]]);
        set.insert(&[PathElement::Field("l".to_owned()), PathElement::Value(Value::from("p"))]);
        let fields = set.to_fields();
        assert_eq!(
            crate::value::json::to_string(&fields),
            r#"{"f:l":{"v:\"p\"":{}},"f:metadata":{"f:labels":{"f:x":{}}},"f:spec":{".":{},"f:a":{}}}"#
        );
        assert_eq!(Set::from_fields(&fields), Ok(set));
    }

    #[test]
    fn recursive_difference_removes_members_below() {
        let set = Set::of_fields(&[&["a"], &["a", "b"], &["c"]]);
        let minus = Set::of_fields(&[&["a"]]);
        assert_eq!(set.clone().difference(&minus), Set::of_fields(&[&["a", "b"], &["c"]]));
        assert_eq!(set.recursive_difference(&minus), Set::of_fields(&[&["c"]]));
    }
}
