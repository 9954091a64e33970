//! The places of the items of a request's lists in the object that is shown. Policies add items, and remove others.

use super::paths;
use crdx_value::Value;
use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::fmt::Write as _;

/// The indexes in the shown object of the items of lists, by the paths of the lists; `None` for an item that is not shown. Items of
/// other lists have the same index in both.
#[derive(Default)]
pub struct Places(HashMap<String, Vec<Option<usize>>>);

impl Places {
    /// Returns the index in the shown object of an item of a list.
    pub fn index(&self, list: &str, index: usize) -> Option<usize> {
        self.0.get(list).map_or(Some(index), |places| places.get(index).copied().flatten())
    }

    /// Returns the path of a value in the shown object; `None` if its item is not shown.
    pub fn path(&self, path: &str) -> Option<String> {
        let (mut shown, mut read) = (String::with_capacity(path.len()), 0);
        for (at, _) in path.match_indices('[') {
            let (list, rest) = path.split_at_checked(at)?;
            let Some((index, rest)) = paths::split_index(rest) else { continue };
            // Writing to a String cannot fail.
            let _ = write!(shown, "{}[{}]", path.get(read..at)?, self.index(list, index)?);
            read = path.len() - rest.len();
        }
        shown.push_str(path.get(read..)?);
        Some(shown)
    }

    /// Sets the indexes of a list as it was before a policy changed it. `kept` has the index after the change of each item.
    pub fn set(&mut self, list: &str, places: Vec<Option<usize>>, kept: &[Option<usize>]) {
        let before_change = |path: &str| {
            let (index, rest) = paths::split_index(path.strip_prefix(list)?)?;
            Some(kept.iter().position(|kept| *kept == Some(index)).map(|index| format!("{list}[{index}]{rest}")))
        };
        let lists = std::mem::take(&mut self.0).into_iter();
        self.0 =
            lists.filter_map(|(path, places)| Some((before_change(&path).unwrap_or(Some(path))?, places))).collect();
        self.0.insert(list.to_owned(), places);
    }

    /// Returns the object in the request with the items of lists at the indexes that they have in the shown object.
    pub fn arrange<'v>(&self, sent: &'v Value) -> Cow<'v, Value> {
        if self.0.is_empty() {
            return Cow::Borrowed(sent);
        }
        let mut sent = sent.clone();
        let mut lists: Vec<_> = self.0.iter().collect();
        // Inner lists first: their paths have the indexes of the request.
        lists.sort_by_key(|(path, _)| Reverse(path.len()));
        for (path, places) in lists {
            if let Some(Value::Array(items)) = paths::at_mut(&mut sent, path) {
                *items = arranged(std::mem::take(items), places);
            }
        }
        Cow::Owned(sent)
    }
}

/// Returns a list with its items at other indexes, and null between them.
fn arranged(items: Vec<Value>, places: &[Option<usize>]) -> Vec<Value> {
    let length = places.iter().flatten().max().map_or(0, |last| last + 1);
    let mut arranged = vec![Value::Null; length];
    for (item, place) in items.into_iter().zip(places) {
        if let Some(slot) = place.and_then(|place| arranged.get_mut(place)) {
            *slot = item;
        }
    }
    arranged
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::json;

    #[test]
    fn paths_have_the_indexes_of_the_shown_object() {
        let mut places = Places::default();
        places.set("a[1].b", vec![Some(1), None], &[Some(0), None]);
        // An item before it is removed.
        places.set("a", vec![None, Some(0), Some(1)], &[None, Some(0), Some(1)]);
        for (path, shown) in [
            ("a[0].x", None),
            ("a[1]", Some("a[0]")),
            ("a[2].b[0][1].c[x]", Some("a[1].b[1][1].c[x]")),
            ("a[2].b[1]", None),
            ("a[9]", None),
            ("c[3].a[0]", Some("c[3].a[0]")),
            ("a", Some("a")),
        ] {
            assert_eq!(places.path(path).as_deref(), shown, "{path}");
        }
        let sent = json::read(br#"{"a":[0,{"b":[1]},{"b":[2,3]}]}"#).unwrap();
        let want = json::read(br#"{"a":[{"b":[1]},{"b":[null,2]}]}"#).unwrap();
        assert_eq!(*places.arrange(&sent), want);
    }
}
