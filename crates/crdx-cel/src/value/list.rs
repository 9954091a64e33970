//! Lists: parts of a document, constants and computed lists.

use super::{Error, Fuel, Gaps, MapKey, Value, equal_strictly};
use crate::decl::{DeclType, ListKind, Shape};
use crdx_value as value;
use crdx_value::release::V1_37;
use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

/// A list.
#[derive(Clone, Debug)]
pub enum List<'a> {
    /// An array of a document with the declared type of the list.
    Json(&'a [value::Value], &'a DeclType),
    /// An array without a declared type; its items are converted by their JSON type.
    Untyped(&'a [value::Value]),
    /// The same, with unknown parts.
    Partial(&'a [value::Value], &'a Gaps),
    /// A constant of the program.
    Constant(&'a [Value<'a>]),
    /// A computed list.
    Shared(Arc<Vec<Value<'a>>>),
    /// The concatenation of two lists; `+` does not copy them.
    Joined(Arc<Joined<'a>>),
    /// `0 .. n`
    Range(usize),
    /// The result of `+` on a list of type set or map, which has that list type, too.
    Keyed(Arc<Vec<Value<'a>>>, &'a ListKind),
    /// A computed list with elements of a document that do not match their declared type, such as `1.0` in a list of
    /// integers. Using such an element is an error; computing the list is not.
    Mismatched(Arc<Vec<Element<'a>>>, &'a ListKind),
}

/// An element of a list, or the error of an element that does not match its declared type.
pub type Element<'a> = Result<Value<'a>, Error>;

/// Two concatenated lists.
#[derive(Debug)]
pub struct Joined<'a> {
    first: List<'a>,
    second: List<'a>,
    len: usize,
    /// The number of concatenations of concatenations.
    depth: u32,
}

/// The number of nested concatenations from which on they are copied, so that reading an element stays fast.
const MAX_DEPTH: u32 = 64;

impl<'a> List<'a> {
    /// The number of elements.
    pub fn len(&self) -> usize {
        match self {
            Self::Json(items, _) | Self::Untyped(items) => items.len(),
            Self::Partial(items, gaps) => {
                gaps.enumerate();
                items.len()
            }
            Self::Constant(items) => items.len(),
            Self::Shared(items) | Self::Keyed(items, _) => items.len(),
            Self::Mismatched(items, _) => items.len(),
            Self::Joined(joined) => joined.len,
            Self::Range(n) => *n,
        }
    }

    /// Returns true if there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The element at `index`; `None` past the end, and an error if the element does not match the declared type.
    pub fn get(&self, index: usize) -> Option<Element<'a>> {
        match self {
            Self::Json(items, decl) => items.get(index).map(|item| Value::from_json(item, items_of(decl)?)),
            Self::Untyped(items) => items.get(index).map(|item| Ok(Value::untyped(item))),
            Self::Partial(items, gaps) => gaps.record_unknown(gaps.item(items, index)),
            Self::Constant(items) => items.get(index).cloned().map(Ok),
            Self::Shared(items) | Self::Keyed(items, _) => items.get(index).cloned().map(Ok),
            Self::Mismatched(items, _) => items.get(index).cloned(),
            Self::Joined(joined) => match index.checked_sub(joined.first.len()) {
                None => joined.first.get(index),
                Some(index) => joined.second.get(index),
            },
            Self::Range(n) => (index < *n).then_some(Ok(Value::Int(index as i64))),
        }
    }

    /// The elements in order.
    pub fn iter(&self) -> impl Iterator<Item = Element<'a>> {
        (0..self.len()).map_while(|i| self.get(i))
    }

    /// Creates a list of elements. It keeps the error of each element that does not match its declared type.
    ///
    /// # Errors
    /// Returns the first error of another kind.
    pub fn computed(elements: impl IntoIterator<Item = Element<'a>>) -> Result<Self, Error> {
        Self::computed_as(elements, &ListKind::Atomic)
    }

    /// The same, with the list type of the list that it was computed from.
    fn computed_as(elements: impl IntoIterator<Item = Element<'a>>, kind: &'a ListKind) -> Result<Self, Error> {
        let kept = |element| match element {
            Err(error) if !matches!(error, Error::Failed(_)) => Err(error),
            element => Ok(element),
        };
        let all: Vec<Element<'a>> = elements.into_iter().map(kept).collect::<Result<_, _>>()?;
        if all.iter().any(Result::is_err) {
            return Ok(Self::Mismatched(Arc::new(all), kind));
        }
        let items = Arc::new(all.into_iter().flatten().collect());
        Ok(if matches!(kind, ListKind::Atomic) { Self::Shared(items) } else { Self::Keyed(items, kind) })
    }

    /// All elements, or the first error.
    pub fn to_vec(&self) -> Result<Vec<Value<'a>>, Error> {
        self.iter().collect()
    }

    /// The list type, which determines comparison and concatenation.
    pub fn kind(&self) -> &'a ListKind {
        match self {
            Self::Json(_, DeclType { shape: Shape::List { kind, .. }, .. }) => kind,
            Self::Keyed(_, kind) | Self::Mismatched(_, kind) => kind,
            _ => &ListKind::Atomic,
        }
    }

    /// Returns true if the list follows the rules of lists in documents, where comparing different types is an error.
    pub fn is_strict(&self) -> bool {
        match self {
            Self::Json(..) | Self::Keyed(..) => true,
            Self::Mismatched(_, kind) => !matches!(kind, ListKind::Atomic),
            _ => false,
        }
    }

    /// Returns true if the list is part of a document.
    pub(crate) fn is_of_document(&self) -> bool {
        matches!(self, Self::Json(..))
    }

    /// Returns true if the list is the concatenation of two plain lists. Concatenation with a list of a document copies
    /// it instead.
    pub(crate) fn is_joined(&self) -> bool {
        matches!(self, Self::Joined(joined) if !joined.first.is_strict())
    }

    /// The number of nested concatenations.
    fn depth(&self) -> u32 {
        if let Self::Joined(joined) = self { joined.depth } else { 0 }
    }

    /// The elements without nested concatenations.
    fn flattened(&self, fuel: &Fuel) -> Result<Self, Error> {
        fuel.spend(self.len())?;
        Self::computed(self.iter())
    }

    /// `self + other`
    pub fn concat(&self, other: &Self, fuel: &Fuel) -> Result<Self, Error> {
        match self.kind() {
            ListKind::Atomic => match self {
                // Concatenation with an empty list returns the other list, except that a list of a document is always
                // copied, as in Go.
                _ if self.is_empty() && !self.is_strict() => Ok(other.clone()),
                _ if other.is_empty() && !self.is_strict() => Ok(self.clone()),
                _ => {
                    let deep = self.depth().max(other.depth()) >= MAX_DEPTH;
                    let part =
                        |list: &Self| if deep && list.depth() > 0 { list.flattened(fuel) } else { Ok(list.clone()) };
                    let (first, second) = (part(self)?, part(other)?);
                    let depth = first.depth().max(second.depth()) + 1;
                    let len = self.len().saturating_add(other.len());
                    Ok(Self::Joined(Arc::new(Joined { first, second, len, depth })))
                }
            },
            ListKind::Set => {
                fuel.spend(self.len().saturating_add(other.len()))?;
                self.union(other)
            }
            kind @ ListKind::Map(keys) => {
                fuel.spend(self.len().saturating_add(other.len()))?;
                self.merge(other, keys, kind)
            }
        }
    }

    fn union(&self, other: &Self) -> Result<Self, Error> {
        let (mut seen, mut elements) = (HashSet::with_capacity(self.len()), Vec::with_capacity(self.len()));
        for element in self.iter() {
            if let Ok(item) = &element {
                seen.insert(set_key(item)?);
            }
            elements.push(element);
        }
        for element in other.iter() {
            // An element that does not match the declared type equals no other.
            let is_new = match &element {
                Ok(item) => seen.insert(set_key(item)?),
                Err(_) => true,
            };
            if is_new {
                elements.push(element);
            }
        }
        Self::computed_as(elements, &ListKind::Set)
    }

    fn merge(&self, other: &Self, keys: &[String], kind: &'a ListKind) -> Result<Self, Error> {
        let mut items = self.to_vec()?;
        let positions: HashMap<_, _> =
            items.iter().enumerate().map(|(position, item)| (map_key(item, keys), position)).collect();
        for item in other.iter() {
            let item = item?;
            match positions.get(&map_key(&item, keys)).and_then(|position| items.get_mut(*position)) {
                Some(slot) => *slot = item,
                None => items.push(item),
            }
        }
        Ok(Self::Keyed(Arc::new(items), kind))
    }

    /// Returns true if both lists have the same elements by the rules of `self`'s list type; the sizes are equal.
    pub(super) fn equal_as_set(&self, other: &Self, fuel: &Fuel) -> Result<bool, Error> {
        if fuel.server() < V1_37 {
            return Ok(self.contains_as_set(other));
        }
        // An element that does not match the declared type equals no other.
        let readable = |item: Result<Value<'a>, Error>| match item {
            Ok(item) => set_key(&item).map(Some),
            Err(Error::Failed(_)) => Ok(None),
            Err(error) => Err(error),
        };
        let keys: Vec<_> = self.iter().map(readable).collect::<Result<_, _>>()?;
        let mut set: HashMap<_, _> = keys.iter().flatten().map(|key| (key, false)).collect();
        for item in other.iter() {
            match readable(item)?.and_then(|key| set.get_mut(&key)) {
                None => return Ok(false),
                Some(seen) => *seen = true,
            }
        }
        Ok(keys.iter().all(Option::is_some) && set.values().all(|seen| *seen))
    }

    /// Compares sets of the same size as the server does before 1.37: every element of `other` must be in `self`. An
    /// element that does not match the declared type equals no other.
    fn contains_as_set(&self, other: &Self) -> bool {
        let keys = |list: &Self| list.iter().map(|item| set_key(&item.ok()?).ok()).collect::<Vec<_>>();
        let own: HashSet<_> = keys(self).into_iter().flatten().collect();
        keys(other).iter().all(|key| key.as_ref().is_some_and(|key| own.contains(key)))
    }

    /// Like [`List::equal_as_set`], for list type map.
    pub(super) fn equal_as_map(&self, other: &Self, keys: &[String], fuel: &Fuel) -> Result<bool, Error> {
        let mut by_key = HashMap::with_capacity(self.len());
        for item in self.iter() {
            let item = item?;
            by_key.insert(map_key(&item, keys), (item, false));
        }
        for item in other.iter() {
            let item = item?;
            match by_key.get_mut(&map_key(&item, keys)) {
                None => return Ok(false),
                Some((own, seen)) => {
                    if !equal_strictly(own, &item, fuel)? {
                        return Ok(false);
                    }
                    *seen = true;
                }
            }
        }
        // Before 1.37, it is enough that every element of `other` is in `self`.
        Ok(fuel.server() < V1_37 || by_key.values().all(|(_, seen)| *seen))
    }
}

fn items_of(decl: &DeclType) -> Result<&DeclType, Error> {
    match &decl.shape {
        Shape::List { items, .. } => Ok(items),
        _ => Err(Error::new("invalid array type, expected Items with a non-empty Schema")),
    }
}

fn set_key<'a>(item: &Value<'a>) -> Result<MapKey<'a>, Error> {
    match item {
        Value::List(_) | Value::Map(_) => {
            Err(Error::new("listSet operations are only supported on lists of scalar values"))
        }
        other => Ok(MapKey::scalar(other)),
    }
}

fn map_key<'a>(item: &Value<'a>, keys: &[String]) -> Vec<MapKey<'a>> {
    keys.iter()
        .map(|key| match item {
            Value::Map(map) => match map.find_json(key) {
                Some(Ok(value)) => MapKey::scalar(&value),
                _ => MapKey::Null,
            },
            _ => MapKey::Null,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn computed_lists_keep_elements_that_do_not_match_their_type() {
        let decl = DeclType::list(DeclType::int());
        let items = [value::Value::Int(2), value::Value::Float(1.0), value::Value::Int(2)];
        let list = List::Json(&items, &decl);
        let computed = List::computed(list.iter()).unwrap();
        assert_eq!((computed.len(), computed.is_strict()), (3, false));
        assert!(matches!(computed.get(0), Some(Ok(Value::Int(2)))));
        assert_eq!(computed.get(1).unwrap().unwrap_err(), Error::new("invalid data, expected int, got float64"));
        // An element that does not match its type equals no other, not even itself.
        let union = list.union(&list).unwrap();
        assert_eq!((union.len(), union.is_strict()), (4, true));
        assert_eq!(List::computed([Err(Error::CostLimitExceeded)]).unwrap_err(), Error::CostLimitExceeded);
    }

    #[test]
    fn an_empty_list_and_an_empty_list_of_a_document_is_the_latter() {
        let decl = DeclType::list(DeclType::int());
        let list = List::Json(&[], &decl);
        assert!(List::Shared(Arc::default()).concat(&list, &Fuel::default()).unwrap().is_strict());
    }

    #[test]
    fn many_concatenations_do_not_nest() {
        let fuel = Fuel::default();
        let one = |i: i64| List::Shared(Arc::new(vec![Value::Int(i)]));
        let list = (1..5000).try_fold(one(0), |list, i| list.concat(&one(i), &fuel)).unwrap();
        assert_eq!((list.len(), list.is_joined()), (5000, true));
        assert!(list.depth() <= MAX_DEPTH + 1, "{}", list.depth());
        assert!(list.iter().enumerate().all(|(i, item)| matches!(item, Ok(Value::Int(n)) if n == i as i64)));
    }
}
