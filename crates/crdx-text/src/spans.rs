//! Finds the positions of fields in the text of a document. Built only when an error is shown.
//!
//! The server's paths cannot be split without the object (in `spec.a.b`, `a.b` may be one key or two), so paths are
//! matched against the tree: [`Spans::locate`]. For the first paths, only the part of the tree is built that they need.

mod members;
pub(super) mod outline;

use super::lines::Lines;
use super::strict::StrictError;
use super::yaml::Duplicate;
use super::{Position, Syntax};
use crdx_value::field::NIL_PATH;
use crdx_value::lock::lock;
use members::Members;
use outline::{Outline, OutlineNode, Shape};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, OnceLock};

/// A range of text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// The start position.
    pub start: Position,
    /// The byte range.
    pub range: Range<usize>,
}

/// The result of locating a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The span of the key, if the node is a member of an object.
    pub key: Option<Span>,
    /// The span of the value.
    pub value: Span,
    /// True if the whole path was found; otherwise the result is the nearest ancestor.
    pub exact: bool,
}

impl Found {
    /// The span that shows the field in `text`, in which it was found: the value, or the key if `is_name`, if the value has
    /// several lines, or if it is that of an ancestor.
    pub fn shown(self, text: &[u8], is_name: bool) -> Span {
        let has_lines = || text.get(self.value.range.clone()).unwrap_or_default().contains(&b'\n');
        match self.key {
            Some(key) if is_name || !self.exact || has_lines() => key,
            _ => self.value,
        }
    }
}

/// A step from a node to one below it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathStep {
    /// To a member of an object.
    Member(String),
    /// To an item of a list.
    Item(usize),
}

/// The positions of the nodes of one document.
#[derive(Debug)]
pub struct Spans<'a> {
    text: &'a [u8],
    syntax: Syntax,
    cache: Shared<'a>,
}

/// A cache of one [`Spans`], or of several for the same text.
#[derive(Debug)]
enum Shared<'a> {
    Own(Cache),
    Given(&'a Cache),
}

/// A cache for one text, shared by the items of a list.
#[derive(Debug, Default)]
pub struct Cache {
    index: OnceLock<Index>,
    /// The number of bytes that were read to locate paths without the index.
    read: AtomicUsize,
}

/// The nodes of a text, or those on a path.
#[derive(Debug)]
struct Index {
    outline: Outline,
    /// Converts offsets to positions; without it, lines are counted.
    lines: Option<Lines>,
    /// Indexes of the mappings searched so far, by node.
    members: Mutex<HashMap<usize, Arc<Members>>>,
}

impl Index {
    fn new(text: &[u8], syntax: Syntax) -> Self {
        let outline = match syntax {
            Syntax::Json => outline::json(text),
            Syntax::Yaml => super::yaml::outline(text),
        };
        Self { outline, lines: Some(Lines::new(text)), members: Mutex::default() }
    }

    fn of_path(text: &[u8], path: &str) -> Option<Self> {
        let outline = super::yaml::outline_of_path(text, path)?;
        Some(Self { outline, lines: None, members: Mutex::default() })
    }

    fn span(&self, text: &[u8], node: usize) -> Option<Span> {
        let OutlineNode { range, .. } = self.outline.nodes.get(node)?;
        let start = match &self.lines {
            Some(lines) => lines.position(text, range.start),
            None => Position::at_offset(text, range.start),
        };
        Some(Span { start, range: range.clone() })
    }

    /// The node at a path, or its nearest ancestor.
    fn locate(&self, text: &[u8], path: &str) -> Found {
        let mut best = Best { node: 0, key: None, left: usize::MAX };
        let mut budget = BUDGET;
        self.search(0, None, path, &mut best, &mut budget);
        Found {
            key: best.key.and_then(|key| self.span(text, key)),
            value: self.span(text, best.node).unwrap_or_default(),
            exact: best.left == 0,
        }
    }

    /// The index of the mapping at `node`, including merged members.
    fn members(&self, node: usize, members: &[(usize, usize)]) -> Arc<Members> {
        let mut known = lock(&self.members);
        Arc::clone(known.entry(node).or_insert_with(|| Arc::new(Members::new(&self.outline, members))))
    }

    /// Searches for `rest` below `node`; returns true if all of it was found.
    fn search(&self, node: usize, key: Option<usize>, rest: &str, best: &mut Best, budget: &mut usize) -> bool {
        if rest.len() < best.left {
            *best = Best { node, key, left: rest.len() };
        }
        if rest.is_empty() {
            return true;
        }
        if *budget == 0 {
            return false;
        }
        *budget -= 1;
        let outline = &self.outline;
        let node = outline.resolve(node);
        let Some(this) = outline.nodes.get(node) else { return false };
        match &this.shape {
            Shape::Sequence(items) => {
                let Some((index, rest)) = rest.strip_prefix('[').and_then(|r| r.split_once(']')) else { return false };
                let item = index.parse::<usize>().ok().and_then(|i| items.get(i));
                item.is_some_and(|item| self.search(*item, None, rest, best, budget))
            }
            Shape::Mapping(members) => {
                let members = self.members(node, members);
                members
                    .fitting(outline, rest)
                    .any(|(key, value, rest)| self.search(value, Some(key), rest, best, budget))
            }
            _ => false,
        }
    }
}

/// The maximum number of steps of a search.
const BUDGET: usize = 10_000;
/// The most times that a text is read to locate paths before it is indexed, which takes longer.
const MOST_READ: usize = 1;
/// The least part of a text, 1/64, that counts as read for each path.
const LEAST_READ: usize = 64;

impl<'a> Spans<'a> {
    /// Determines the positions in `text`. After a syntax error, only the part before it is available.
    pub fn new(text: &'a [u8], syntax: Syntax) -> Self {
        Self { text, syntax, cache: Shared::Own(Cache::default()) }
    }

    /// Like [`Spans::new`]; `cache` must belong to this text.
    pub fn cached(text: &'a [u8], syntax: Syntax, cache: &'a Cache) -> Self {
        Self { text, syntax, cache: Shared::Given(cache) }
    }

    fn cache(&self) -> &Cache {
        match &self.cache {
            Shared::Own(cache) => cache,
            Shared::Given(cache) => cache,
        }
    }

    fn index(&self) -> &Index {
        self.cache().index.get_or_init(|| Index::new(self.text, self.syntax))
    }

    /// The node at a path of the server (`spec.a[0].b`, `spec.map[a.b/c]`), or its nearest ancestor. An empty path and
    /// `<nil>` stand for the whole document.
    pub fn locate(&self, path: &str) -> Found {
        let path = if path == NIL_PATH { "" } else { path };
        self.located_alone(path).unwrap_or_else(|| self.index().locate(self.text, path))
    }

    /// The node at a path, by reading only a part of the text; `None` if so much was read that an index is worth it.
    fn located_alone(&self, path: &str) -> Option<Found> {
        let Cache { index, read } = self.cache();
        let length = self.text.len();
        if self.syntax != Syntax::Yaml || index.get().is_some() || read.load(Relaxed) >= MOST_READ * length {
            return None;
        }
        let found = Index::of_path(self.text, path)?.locate(self.text, path);
        let end = if found.exact { found.value.range.end } else { length };
        read.fetch_add(end.max(length / LEAST_READ), Relaxed);
        Some(found)
    }

    /// Like [`Spans::locate`], for a path relative to the node at `prefix` (`items[3]`).
    pub fn locate_in(&self, prefix: &str, path: &str) -> Found {
        let dot = if prefix.is_empty() || path.is_empty() || path.starts_with('[') { "" } else { "." };
        self.locate(&format!("{prefix}{dot}{path}"))
    }

    /// The path to the innermost node whose text contains `offset`: a value, or a member whose key contains it.
    pub fn path_at(&self, offset: usize) -> Vec<PathStep> {
        let nodes = &self.index().outline.nodes;
        let has = |node: usize| nodes.get(node).is_some_and(|n| n.range.start <= offset && offset <= n.range.end);
        let mut path = Vec::new();
        let mut node = 0;
        loop {
            let next = match nodes.get(node).map(|n| &n.shape) {
                // The text of a block reaches to the next key, so keys come first, and of several values the last.
                Some(Shape::Mapping(members)) => {
                    let member = members.iter().find(|(key, _)| has(*key));
                    let member = member.or_else(|| members.iter().rfind(|(_, value)| has(*value)));
                    member.and_then(|(key, value)| {
                        let name = nodes.get(*key)?.shape.text()?.to_owned();
                        Some((PathStep::Member(name), (!has(*key)).then_some(*value)))
                    })
                }
                Some(Shape::Sequence(items)) => {
                    let index = items.iter().rposition(|item| has(*item));
                    index.map(|index| (PathStep::Item(index), items.get(index).copied()))
                }
                _ => None,
            };
            let Some((step, below)) = next else { return path };
            path.push(step);
            let Some(below) = below else { return path };
            node = below;
        }
    }

    /// Finds the positions of the duplicate keys that the decoder reported without positions.
    pub(super) fn duplicates(&self, errors: &[StrictError]) -> Vec<Duplicate> {
        let index = self.index();
        let mut found = index.outline.repeated().into_iter();
        let start_of = |node: Option<usize>| node.and_then(|n| index.span(self.text, n)).unwrap_or_default().start;
        let pair = |error: &StrictError| {
            let (first, second) = found.next().map_or((None, None), |(a, b)| (Some(a), Some(b)));
            Duplicate { line: None, message: error.to_string(), first: start_of(first), second: start_of(second) }
        };
        errors.iter().map(pair).collect()
    }
}

/// The best node found so far.
struct Best {
    node: usize,
    key: Option<usize>,
    /// The length of the unmatched rest of the path.
    left: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str, syntax: Syntax, path: &str) -> String {
        let spans = Spans::new(text.as_bytes(), syntax);
        let found = spans.locate(path);
        let of_whole = if path == NIL_PATH { "" } else { path };
        assert_eq!(found, spans.index().locate(text.as_bytes(), of_whole));
        let value = text.get(found.value.range.clone()).unwrap().lines().next().unwrap_or_default().to_owned();
        let key = found.key.map_or("-".to_owned(), |k| k.start.to_string());
        format!("{key} {} {value}{}", found.value.start, if found.exact { "" } else { " near" })
    }

    #[test]
    fn fields_of_yaml() {
        let text = "spec:\n  a:\n  - b: 1\n  - b: &x {c: d}\n  map: {a.b/c: 2, 'q': *x}\n  a.b: {c: 3}\n  é: !!str 4\n";
        for (path, want) in [
            ("spec.a[0].b", "3:5 3:8 1"),
            ("spec.a[1].b.c", "4:12 4:15 d"),
            ("spec.a[2].b", "2:3 3:3 - b: 1 near"),
            ("spec.map[a.b/c]", "5:9 5:16 2"),
            ("spec.map.q", "5:19 5:24 *x"),
            ("spec.map[q].c", "4:12 4:15 d"),
            ("spec.a.b.c", "6:9 6:12 3"),
            ("spec.é", "7:3 7:6 !!str 4"),
            ("spec.missing.x", "1:1 2:3 a: near"),
            ("other", "- 1:1 spec: near"),
            ("", "- 1:1 spec:"),
            ("<nil>", "- 1:1 spec:"),
        ] {
            assert_eq!(at(text, Syntax::Yaml, path), want, "{path}");
        }
    }

    #[test]
    fn merged_fields() {
        let text = "a: &a {x: 1}\nb:\n  <<: [*a, {w: 2}]\n  z: 3\n";
        assert_eq!(at(text, Syntax::Yaml, "b.x"), "1:8 1:11 1");
        assert_eq!(at(text, Syntax::Yaml, "b.w"), "3:13 3:16 2");
    }

    #[test]
    fn fields_of_json() {
        let text = "{\"spec\": {\"a\\u0062\": [1, {\"x\": \"y\"}], \"b\": 1,\n \"b\": 2}}";
        for (path, want) in [
            ("spec.ab[1].x", "1:27 1:32 \"y\""),
            ("spec.ab[7]", "1:11 1:22 [1, {\"x\": \"y\"}] near"),
            ("spec.b", "2:2 2:7 2"),
        ] {
            assert_eq!(at(text, Syntax::Json, path), want, "{path}");
        }
        let spans = Spans::new(text.as_bytes(), Syntax::Json);
        let found = spans.duplicates(&[StrictError::DuplicateField("spec.b".to_owned())]);
        assert_eq!(
            (found[0].first, found[0].second),
            (Position { line: 1, column: 39 }, Position { line: 2, column: 2 })
        );
    }

    #[test]
    fn the_path_of_an_offset_leads_to_its_field() {
        let text = "spec:\n  a:\n  - b: 1\n  - c: {d: x}\n  e: \n";
        let spans = Spans::new(text.as_bytes(), Syntax::Yaml);
        let at = |part: &str| {
            let steps = spans.path_at(text.find(part).unwrap()).into_iter().map(|step| match step {
                PathStep::Member(name) => name,
                PathStep::Item(index) => index.to_string(),
            });
            steps.collect::<Vec<_>>().join("/")
        };
        assert_eq!(at("1"), "spec/a/0/b");
        assert_eq!(at("d:"), "spec/a/1/c/d");
        assert_eq!(at("e:"), "spec/e");
        assert_eq!(at("spec"), "spec");
    }

    #[test]
    fn searching_for_ambiguous_paths_terminates() {
        let text = "a: &a\n  a: &b\n    a: &c {a: 1, a.a: 2}\n    a.a: *c\n  a.a: *b\n";
        let path = vec!["a"; 3000].join(".");
        assert!(!Spans::new(text.as_bytes(), Syntax::Yaml).locate(&path).exact);
    }
}
