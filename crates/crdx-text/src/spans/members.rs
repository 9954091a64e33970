//! An index of the members of a mapping, for finding a member at the beginning of a path.

use super::outline::Outline;
use std::cmp::Reverse;
use std::ops::Range;

/// The members of a mapping, sorted by length of name (longest first), then by name. Of duplicate names, the last one,
/// which is in effect, comes first.
#[derive(Debug)]
pub struct Members {
    /// The nodes of keys and values.
    sorted: Vec<(usize, usize)>,
    /// The range in `sorted` of the names of each length, in bytes.
    lengths: Vec<(usize, Range<usize>)>,
}

impl Members {
    /// Indexes the members of a mapping and the members merged into it.
    pub fn new(outline: &Outline, members: &[(usize, usize)]) -> Self {
        let mut sorted = outline.members(members);
        sorted.retain(|(key, _)| text(outline, *key).is_some());
        sorted.reverse();
        sorted.sort_by_key(|(key, _)| order(outline, *key));
        let mut lengths: Vec<(usize, Range<usize>)> = Vec::new();
        for (index, (key, _)) in sorted.iter().enumerate() {
            let length = text(outline, *key).unwrap_or_default().len();
            match lengths.last_mut() {
                Some((last, range)) if *last == length => range.end = index + 1,
                _ => lengths.push((length, index..index + 1)),
            }
        }
        Self { sorted, lengths }
    }

    /// The members whose names `path` may begin with, as `.name`, `name` or `[name]`: the nodes of key and value, and
    /// the rest of the path. Longer names come first: `a.b` before `a`.
    pub fn fitting<'p>(&self, outline: &Outline, path: &'p str) -> impl Iterator<Item = (usize, usize, &'p str)> {
        self.lengths.iter().flat_map(move |(length, range)| {
            let found = split(path, *length).map(|(name, rest)| {
                let sorted = self.sorted.get(range.clone()).unwrap_or_default();
                let first = sorted.partition_point(|(key, _)| text(outline, *key).unwrap_or_default() < name);
                let equal = sorted.get(first..).unwrap_or_default().iter();
                equal
                    .take_while(move |(key, _)| text(outline, *key) == Some(name))
                    .map(move |(key, value)| (*key, *value, rest))
            });
            found.into_iter().flatten()
        })
    }
}

fn text(outline: &Outline, key: usize) -> Option<&str> {
    outline.nodes.get(key)?.shape.text()
}

fn order(outline: &Outline, key: usize) -> (Reverse<usize>, &str) {
    let name = text(outline, key).unwrap_or_default();
    (Reverse(name.len()), name)
}

/// Splits off a name of `length` bytes at the beginning of a path; returns the name and the rest.
fn split(path: &str, length: usize) -> Option<(&str, &str)> {
    if let Some(inner) = path.strip_prefix('[') {
        let (name, rest) = inner.split_at_checked(length)?;
        return Some((name, rest.strip_prefix(']')?));
    }
    let (name, rest) = path.strip_prefix('.').unwrap_or(path).split_at_checked(length)?;
    (rest.is_empty() || rest.starts_with(['.', '['])).then_some((name, rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spans::{Shape, outline};

    #[test]
    fn the_longest_name_comes_first_and_of_equal_ones_the_last() {
        let outline = outline::json(br#"{"a": 1, "a.b": 2, "": 3, "a": 4, "ab": 5, "a.b.c": 6}"#);
        let Shape::Mapping(members) = &outline.nodes.first().unwrap().shape else { panic!() };
        let members = Members::new(&outline, members);
        let fitting = |path| {
            let found = members.fitting(&outline, path);
            found
                .map(|(key, _, rest)| (outline.nodes.get(key).unwrap().range.start, rest.to_owned()))
                .collect::<Vec<_>>()
        };
        let want = |all: &[(usize, &str)]| all.iter().map(|(at, rest)| (*at, (*rest).to_owned())).collect::<Vec<_>>();
        assert_eq!(fitting("a.b.d"), want(&[(9, ".d"), (26, ".b.d"), (1, ".b.d")]));
        assert_eq!(fitting(".a[0]"), want(&[(26, "[0]"), (1, "[0]")]));
        assert_eq!(fitting("[a.b].c"), want(&[(9, ".c")]));
        assert_eq!(fitting("[]"), want(&[(19, "")]));
        assert_eq!(fitting("abc"), []);
        assert_eq!(fitting("é"), []);
    }
}
