//! The members of an object, sorted by name.
//!
//! Nearly every object of Kubernetes has few members, and a B-tree has room for eleven in its smallest node. So a few
//! members are a sorted vector; only a map that grows large is a B-tree, in which an insertion does not move all
//! following members.

use super::{Value, short};
use std::collections::{BTreeMap, btree_map};
use std::fmt;
use std::iter::FusedIterator;
use std::slice;
use std::vec;

/// The largest number of members in a vector: a few cache lines per search, 2 KB per insertion.
const FEW: usize = 32;

/// The largest number of members that are searched one after the other. Most names differ in length, which is seen faster
/// than how two names are ordered.
const LINEAR: usize = 16;

/// The members of an object, sorted by name, as Go writes them.
#[derive(Clone)]
pub struct Map {
    members: Members,
}

#[derive(Clone)]
enum Members {
    Few(Vec<(String, Value)>),
    #[allow(clippy::box_collection)] // a map would be larger than a vector
    Many(Box<BTreeMap<String, Value>>),
}

use Members::{Few, Many};

impl Map {
    /// An empty map, which allocates nothing.
    pub const fn new() -> Self {
        Self { members: Few(Vec::new()) }
    }

    /// An empty map with room for some members.
    pub fn with_capacity(members: usize) -> Self {
        Self { members: Few(Vec::with_capacity(members.min(FEW))) }
    }

    /// A map of members with different names in order.
    pub fn from_sorted(members: Vec<(String, Value)>) -> Self {
        debug_assert!(members.is_sorted_by(|(one, _), (next, _)| one < next));
        if members.len() <= FEW {
            return Self { members: Few(members) };
        }
        Self { members: Many(Box::new(members.into_iter().collect())) }
    }

    /// The number of members.
    pub fn len(&self) -> usize {
        match &self.members {
            Few(members) => members.len(),
            Many(members) => members.len(),
        }
    }

    /// Returns true without members.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the value of a member.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.get_key_value(key).map(|(_, value)| value)
    }

    /// Returns the name and the value of a member.
    pub fn get_key_value(&self, key: &str) -> Option<(&String, &Value)> {
        match &self.members {
            Few(members) => find(members, key).map(|(key, value)| (key, value)),
            Many(members) => members.get_key_value(key),
        }
    }

    /// Returns the value of a member, which may be changed.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Value> {
        match &mut self.members {
            Few(members) => {
                let at = index(members, key)?;
                members.get_mut(at).map(|(_, value)| value)
            }
            Many(members) => members.get_mut(key),
        }
    }

    /// Returns true if there is such a member.
    pub fn contains_key(&self, key: &str) -> bool {
        self.get_key_value(key).is_some()
    }

    /// Sets a member. Returns its value before.
    pub fn insert(&mut self, key: String, value: Value) -> Option<Value> {
        match &mut self.members {
            Few(members) => match position(members, &key) {
                Ok(at) => members.get_mut(at).map(|(_, known)| std::mem::replace(known, value)),
                Err(at) if members.len() < FEW => {
                    members.insert(at, (key, value));
                    None
                }
                Err(_) => {
                    self.grow();
                    self.insert(key, value)
                }
            },
            Many(members) => members.insert(key, value),
        }
    }

    /// Removes a member. Returns its value.
    pub fn remove(&mut self, key: &str) -> Option<Value> {
        self.remove_entry(key).map(|(_, value)| value)
    }

    /// Removes a member. Returns its name and value.
    pub fn remove_entry(&mut self, key: &str) -> Option<(String, Value)> {
        match &mut self.members {
            Few(members) => index(members, key).map(|at| members.remove(at)),
            Many(members) => members.remove_entry(key),
        }
    }

    /// Returns the place of a member.
    pub fn entry(&mut self, key: String) -> Entry<'_> {
        Entry { map: self, key }
    }

    /// Keeps the members for which `keep` returns true.
    pub fn retain(&mut self, mut keep: impl FnMut(&String, &mut Value) -> bool) {
        match &mut self.members {
            Few(members) => members.retain_mut(|(key, value)| keep(key, value)),
            Many(members) => members.retain(keep),
        }
    }

    /// Removes all members.
    pub fn clear(&mut self) {
        *self = Self::new();
    }

    /// Moves all members of `other` into this map.
    pub fn append(&mut self, other: &mut Self) {
        self.extend(std::mem::take(other));
    }

    /// The members in order.
    pub fn iter(&self) -> Iter<'_> {
        Iter(match &self.members {
            Few(members) => Either::Few(members.iter()),
            Many(members) => Either::Many(members.iter()),
        })
    }

    /// The members in order; their values may be changed.
    pub fn iter_mut(&mut self) -> IterMut<'_> {
        IterMut(match &mut self.members {
            Few(members) => Either::Few(members.iter_mut()),
            Many(members) => Either::Many(members.iter_mut()),
        })
    }

    /// The names in order.
    pub fn keys(&self) -> impl DoubleEndedIterator<Item = &String> + ExactSizeIterator + Clone {
        self.iter().map(|(key, _)| key)
    }

    /// The values in the order of the names.
    pub fn values(&self) -> impl DoubleEndedIterator<Item = &Value> + ExactSizeIterator + Clone {
        self.iter().map(|(_, value)| value)
    }

    /// The values in the order of the names; they may be changed.
    pub fn values_mut(&mut self) -> impl DoubleEndedIterator<Item = &mut Value> + ExactSizeIterator {
        self.iter_mut().map(|(_, value)| value)
    }

    /// The values in the order of the names.
    pub fn into_values(self) -> impl DoubleEndedIterator<Item = Value> + ExactSizeIterator {
        self.into_iter().map(|(_, value)| value)
    }

    /// Makes a vector a tree. Few members become a tree only here, just before one is added.
    fn grow(&mut self) {
        if let Few(members) = &mut self.members {
            self.members = Many(Box::new(std::mem::take(members).into_iter().collect()));
        }
    }
}

fn find<'m>(members: &'m [(String, Value)], key: &str) -> Option<&'m (String, Value)> {
    if members.len() <= LINEAR {
        return members.iter().find(|(known, _)| short::equal(known, key));
    }
    members.get(index(members, key)?)
}

fn index(members: &[(String, Value)], key: &str) -> Option<usize> {
    if members.len() <= LINEAR {
        return members.iter().position(|(known, _)| short::equal(known, key));
    }
    members.binary_search_by(|(known, _)| known.as_str().cmp(key)).ok()
}

/// Returns the index of a member, or the index at which it would be inserted.
fn position(members: &[(String, Value)], key: &str) -> Result<usize, usize> {
    // Members mostly arrive in order.
    match members.last() {
        Some((last, _)) if last.as_str() < key => Err(members.len()),
        _ => members.binary_search_by(|(known, _)| known.as_str().cmp(key)),
    }
}

impl Default for Map {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Map {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self).finish()
    }
}

/// Maps with the same members are equal, however they are stored.
impl PartialEq for Map {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().eq(other)
    }
}

impl Eq for Map {}

impl Extend<(String, Value)> for Map {
    fn extend<T: IntoIterator<Item = (String, Value)>>(&mut self, members: T) {
        for (key, value) in members {
            self.insert(key, value);
        }
    }
}

impl FromIterator<(String, Value)> for Map {
    fn from_iter<T: IntoIterator<Item = (String, Value)>>(members: T) -> Self {
        let members = members.into_iter();
        let mut map = Self::with_capacity(members.size_hint().0);
        map.extend(members);
        map
    }
}

impl<const N: usize> From<[(String, Value); N]> for Map {
    fn from(members: [(String, Value); N]) -> Self {
        members.into_iter().collect()
    }
}

/// The place of a member in a map.
pub struct Entry<'m> {
    map: &'m mut Map,
    key: String,
}

impl<'m> Entry<'m> {
    /// Returns the value of the member, and adds it if it does not exist.
    pub fn or_insert_with(self, value: impl FnOnce() -> Value) -> &'m mut Value {
        let Self { map, key } = self;
        if let Few(members) = &map.members
            && members.len() == FEW
            && position(members, &key).is_err()
        {
            map.grow();
        }
        match &mut map.members {
            Few(members) => match position(members, &key) {
                #[allow(clippy::indexing_slicing)] // an index of the search
                Ok(at) => &mut members[at].1,
                Err(at) => &mut members.insert_mut(at, (key, value())).1,
            },
            Many(members) => members.entry(key).or_insert_with(value),
        }
    }

    /// Returns the value of the member, and adds it if it does not exist.
    pub fn or_insert(self, value: Value) -> &'m mut Value {
        self.or_insert_with(|| value)
    }

    /// Returns the value of the member, and adds null if it does not exist.
    pub fn or_default(self) -> &'m mut Value {
        self.or_insert(Value::Null)
    }

    /// Changes the value of the member if it exists.
    pub fn and_modify(self, change: impl FnOnce(&mut Value)) -> Self {
        if let Some(value) = self.map.get_mut(&self.key) {
            change(value);
        }
        self
    }
}

/// An iterator over a vector or a tree.
#[derive(Clone, Debug)]
enum Either<F, M> {
    Few(F),
    Many(M),
}

/// Members in order.
#[derive(Clone, Debug)]
pub struct Iter<'m>(Either<slice::Iter<'m, (String, Value)>, btree_map::Iter<'m, String, Value>>);

/// Members in order, whose values may be changed.
#[derive(Debug)]
pub struct IterMut<'m>(Either<slice::IterMut<'m, (String, Value)>, btree_map::IterMut<'m, String, Value>>);

/// Members in order.
#[derive(Debug)]
pub struct IntoIter(Either<vec::IntoIter<(String, Value)>, btree_map::IntoIter<String, Value>>);

/// Implements an iterator; `$pair` makes a pair of an element of the vector.
macro_rules! iterator {
    ($of:ty, $item:ty, $pair:expr) => {
        impl<'m> Iterator for $of {
            type Item = $item;

            fn next(&mut self) -> Option<Self::Item> {
                match &mut self.0 {
                    Either::Few(members) => members.next().map($pair),
                    Either::Many(members) => members.next(),
                }
            }

            fn size_hint(&self) -> (usize, Option<usize>) {
                match &self.0 {
                    Either::Few(members) => members.size_hint(),
                    Either::Many(members) => members.size_hint(),
                }
            }
        }

        impl<'m> DoubleEndedIterator for $of {
            fn next_back(&mut self) -> Option<Self::Item> {
                match &mut self.0 {
                    Either::Few(members) => members.next_back().map($pair),
                    Either::Many(members) => members.next_back(),
                }
            }
        }

        impl<'m> ExactSizeIterator for $of {}
        impl<'m> FusedIterator for $of {}
    };
}

iterator!(Iter<'m>, (&'m String, &'m Value), |(key, value)| (key, value));
iterator!(IterMut<'m>, (&'m String, &'m mut Value), |(key, value)| (&*key, value));
iterator!(IntoIter, (String, Value), |member| member);

impl<'m> IntoIterator for &'m Map {
    type Item = (&'m String, &'m Value);
    type IntoIter = Iter<'m>;

    fn into_iter(self) -> Iter<'m> {
        self.iter()
    }
}

impl<'m> IntoIterator for &'m mut Map {
    type Item = (&'m String, &'m mut Value);
    type IntoIter = IterMut<'m>;

    fn into_iter(self) -> IterMut<'m> {
        self.iter_mut()
    }
}

impl IntoIterator for Map {
    type Item = (String, Value);
    type IntoIter = IntoIter;

    fn into_iter(self) -> IntoIter {
        IntoIter(match self.members {
            Few(members) => Either::Few(members.into_iter()),
            Many(members) => Either::Many(members.into_iter()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Different names for the numbers below 101, not in order.
    fn name(number: usize) -> String {
        format!("{:03}", number * 37 % 101)
    }

    fn numbered(count: usize) -> (Map, BTreeMap<String, Value>) {
        let members = || (0..count).map(|number| (name(number), Value::Int(number as i64)));
        (members().collect(), members().collect())
    }

    fn is_tree(map: &Map) -> bool {
        matches!(map.members, Many(_))
    }

    #[test]
    fn members_are_sorted_however_many() {
        for count in [0, 1, 2, FEW - 1, FEW, FEW + 1, 100] {
            let (map, tree) = numbered(count);
            assert_eq!(is_tree(&map), count > FEW);
            assert_eq!((map.len(), map.is_empty()), (count, count == 0));
            assert!(map.iter().eq(&tree), "{count}");
            assert!(map.iter().rev().eq(tree.iter().rev()), "{count}");
            assert!(map.keys().eq(tree.keys()) && map.values().eq(tree.values()), "{count}");
            assert!(map.into_iter().eq(tree), "{count}");
        }
    }

    #[test]
    fn members_are_found_changed_and_removed() {
        for count in [3, FEW, FEW + 1, 90] {
            let (mut map, mut tree) = numbered(count);
            assert_eq!(map.insert(name(2), Value::Null), tree.insert(name(2), Value::Null));
            assert_eq!(map.len(), count);
            for number in (0..count).rev() {
                assert_eq!(map.get(&name(number)), tree.get(&name(number)));
                assert_eq!(map.get_mut(&name(number)), tree.get_mut(&name(number)));
                assert_eq!(map.remove(&name(number)), tree.remove(&name(number)));
                assert!(!map.contains_key(&name(number)) && map.remove(&name(number)).is_none());
            }
            assert!(map.is_empty());
        }
    }

    #[test]
    fn a_full_vector_becomes_a_tree_for_a_new_member_only() {
        let (mut map, _) = numbered(FEW);
        *map.entry(name(3)).or_default() = Value::Bool(true);
        map.insert(name(4), Value::Null);
        assert!(!is_tree(&map) && map.get(&name(3)) == Some(&Value::Bool(true)));
        let (mut other, _) = numbered(FEW);
        *map.entry("new".to_owned()).or_insert(Value::Int(1)) = Value::Int(2);
        other.insert("new".to_owned(), Value::Int(1));
        assert!(is_tree(&map) && is_tree(&other));
        assert_eq!(map.entry("new".to_owned()).or_insert_with(|| Value::Null), &Value::Int(2));
        assert_eq!(map.len(), FEW + 1);
    }

    #[test]
    fn equality_is_that_of_the_members() {
        let (mut large, _) = numbered(FEW + 1);
        let (small, _) = numbered(FEW);
        assert_ne!(large, small);
        large.remove(&name(FEW));
        assert!(is_tree(&large) && !is_tree(&small));
        assert_eq!(large, small);
    }

    #[test]
    fn the_last_of_equal_names_wins() {
        let map = Map::from([("a".to_owned(), Value::Int(1)), ("a".to_owned(), Value::Int(2))]);
        assert_eq!((map.len(), map.get("a")), (1, Some(&Value::Int(2))));
    }

    #[test]
    fn a_map_is_as_small_as_a_vector() {
        assert_eq!(size_of::<Map>(), size_of::<Vec<Value>>());
        assert_eq!(size_of::<Value>(), 32);
    }

    #[test]
    fn equal_values_have_equal_hashes() {
        let hasher = std::hash::RandomState::new();
        let hash = |value: Value| std::hash::BuildHasher::hash_one(&hasher, value);
        let object = |keys: std::ops::Range<usize>| {
            let mut map = Map::new();
            keys.rev().for_each(|key| drop(map.insert(key.to_string(), Value::Float(0.0))));
            map
        };
        let mut shrunk = object(0..FEW + 8);
        (3..FEW + 8).for_each(|key| drop(shrunk.remove(&key.to_string())));
        assert_eq!(hash(Value::Object(shrunk)), hash(Value::Object(object(0..3))));
        assert_eq!(hash(Value::Float(-0.0)), hash(Value::Float(0.0)));
        let different =
            [Value::Null, Value::Int(1), Value::Float(1.0), Value::from("1"), Value::Array(vec![Value::Int(1)])];
        let hashes: std::collections::BTreeSet<u64> = different.into_iter().map(hash).collect();
        assert_eq!(hashes.len(), 5);
    }
}
