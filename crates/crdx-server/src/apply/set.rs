//! Sets of field paths, stored as trees, and their `fieldsV1` form.
//!
//! Follows `structured-merge-diff/fieldpath/{set,serialize}.go`.

use super::path::{KeyFormat, Path, PathElement};
use crdx_types::merge::Type;
use crdx_value::GoError;
use crdx_value::{Map, Value};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// A set of field paths. Every node is a member or has members below it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Set {
    nodes: BTreeMap<PathElement, SetNode>,
}

/// A path in a set: its membership, and the members below it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct SetNode {
    /// True if the path itself is a member.
    is_member: bool,
    below: Set,
}

impl SetNode {
    fn is_empty(&self) -> bool {
        !self.is_member && self.below.is_empty()
    }

    fn extend(&mut self, other: Self) {
        self.is_member |= other.is_member;
        self.below.extend(other.below);
    }
}

impl Set {
    /// Adds a path. The empty path, which stands for the whole object, is never owned and is ignored.
    pub fn insert(&mut self, path: &[PathElement]) {
        let [first, rest @ ..] = path else { return };
        let node = match self.nodes.get_mut(first) {
            Some(node) => node,
            None => self.nodes.entry(first.clone()).or_default(),
        };
        node.is_member |= rest.is_empty();
        node.below.insert(rest);
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
        self.nodes.is_empty()
    }

    /// Returns true if the path is a member.
    pub fn has(&self, path: &[PathElement]) -> bool {
        let [first, rest @ ..] = path else { return false };
        self.nodes.get(first).is_some_and(|node| if rest.is_empty() { node.is_member } else { node.below.has(rest) })
    }

    /// Returns true if the path that consists of only this element is a member.
    pub(crate) fn has_member(&self, element: &PathElement) -> bool {
        self.nodes.get(element).is_some_and(|node| node.is_member)
    }

    /// The members below an element.
    pub fn below(&self, element: &PathElement) -> Option<&Self> {
        self.nodes.get(element).map(|node| &node.below).filter(|below| !below.is_empty())
    }

    /// The elements that are members or have members below them; the flag is true for members.
    pub fn elements(&self) -> impl Iterator<Item = (&PathElement, bool)> {
        self.nodes.iter().map(|(element, node)| (element, node.is_member))
    }

    /// Adds all members of another set.
    pub fn extend(&mut self, other: Self) {
        if self.is_empty() {
            *self = other;
            return;
        }
        for (element, node) in other.nodes {
            self.add(element, node);
        }
    }

    fn add(&mut self, element: PathElement, node: SetNode) {
        match self.nodes.entry(element) {
            Entry::Vacant(entry) => drop(entry.insert(node)),
            Entry::Occupied(mut entry) => entry.get_mut().extend(node),
        }
    }

    /// The members of either set.
    pub fn union(&self, other: &Self) -> Self {
        let mut out = self.clone();
        out.extend(other.clone());
        out
    }

    /// The members of both sets.
    pub fn intersection(&self, other: &Self) -> Self {
        let both = self.nodes.iter().filter_map(|(element, node)| {
            let other = other.nodes.get(element)?;
            let is_member = node.is_member && other.is_member;
            let both = SetNode { is_member, below: node.below.intersection(&other.below) };
            (!both.is_empty()).then(|| (element.clone(), both))
        });
        Self { nodes: both.collect() }
    }

    /// The members that are not in `other`; members below a removed member are kept.
    #[must_use]
    pub fn difference(mut self, other: &Self) -> Self {
        self.remove_all(other, false);
        self
    }

    /// The members that are neither in `other` nor below a member of `other`.
    #[must_use]
    pub(crate) fn recursive_difference(mut self, other: &Self) -> Self {
        self.remove_all(other, true);
        self
    }

    fn remove_all(&mut self, other: &Self, recursive: bool) {
        for (element, removed) in &other.nodes {
            let Some(node) = self.nodes.get_mut(element) else { continue };
            node.is_member &= !removed.is_member;
            if removed.is_member && recursive {
                node.below = Self::default();
            } else {
                node.below.remove_all(&removed.below, recursive);
            }
            if node.is_empty() {
                self.nodes.remove(element);
            }
        }
    }

    /// Adds a node: `element` itself if `is_member`, and the members below it.
    pub fn attach(&mut self, element: &PathElement, is_member: bool, below: Self) {
        let node = SetNode { is_member, below };
        if !node.is_empty() {
            self.add(element.clone(), node);
        }
    }

    /// The set of these elements and the members below them.
    pub fn of_members(members: Vec<(PathElement, Self)>) -> Self {
        let nodes = members.into_iter().map(|(element, below)| (element, SetNode { is_member: true, below }));
        Self { nodes: nodes.collect() }
    }

    /// Adds every declared field that has members below it.
    #[must_use]
    pub(crate) fn with_named_fields(mut self, ty: Option<&Type>) -> Self {
        let (map, list) = (ty.and_then(|t| t.map.as_ref()), ty.and_then(|t| t.list.as_ref()));
        for (element, node) in self.nodes.iter_mut().filter(|(_, node)| !node.below.is_empty()) {
            let below = match (element, map, list) {
                (PathElement::Field(name), Some(map), _) => {
                    node.is_member |= map.fields.contains_key(name);
                    map.type_of(name)
                }
                (PathElement::Key(_), _, Some(list)) => Some(list.items.resolve()),
                _ => None,
            };
            node.below = std::mem::take(&mut node.below).with_named_fields(below);
        }
        self
    }

    /// The paths of all members, those of an object before those below its fields.
    pub fn paths(&self) -> Vec<Path> {
        let mut out = Vec::new();
        self.collect(&mut Vec::new(), &mut out);
        out
    }

    fn collect(&self, prefix: &mut Path, out: &mut Vec<Path>) {
        for (member, _) in self.nodes.iter().filter(|(_, node)| node.is_member) {
            let mut path = prefix.clone();
            path.push(member.clone());
            out.push(path);
        }
        for (element, node) in &self.nodes {
            prefix.push(element.clone());
            node.below.collect(prefix, out);
            prefix.pop();
        }
    }

    /// Encodes the set as a `fieldsV1` object.
    pub(crate) fn to_fields(&self, format: KeyFormat) -> Value {
        Value::Object(self.fields(false, format))
    }

    fn fields(&self, include_self: bool, format: KeyFormat) -> Map {
        let own = (include_self && !self.is_empty()).then(|| (".".to_owned(), Value::Object(Map::new())));
        let nodes = self.nodes.iter();
        let nodes = nodes
            .map(|(element, node)| (element.to_key(format), Value::Object(node.below.fields(node.is_member, format))));
        own.into_iter().chain(nodes).collect()
    }

    /// Decodes a `fieldsV1` object.
    ///
    /// # Errors
    /// Returns the server's message for a malformed object.
    pub fn from_fields(fields: &Value) -> Result<Self, GoError> {
        match fields {
            Value::Object(fields) => Ok(Self::read(fields)?.0),
            Value::Null => Ok(Self::default()),
            _ => Err("fieldsV1 must be an object".into()),
        }
    }

    /// Decodes a node: the set below it, and true if the node itself is a member.
    fn read(fields: &Map) -> Result<(Self, bool), GoError> {
        let (mut set, mut is_member) = (Self::default(), false);
        for (key, value) in fields {
            if key == "." {
                is_member = true;
                continue;
            }
            let Some(element) = PathElement::from_key(key)? else { continue };
            let Value::Object(below) = value else { return Err(format!("{key} must be an object").into()) };
            let (below, below_is_member) = Self::read(below)?;
            set.add(element, SetNode { is_member: below_is_member, below });
        }
        let is_member = is_member || set.is_empty();
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
        let fields = set.to_fields(KeyFormat::Escaped);
        assert_eq!(
            crdx_value::json::to_string(&fields),
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
