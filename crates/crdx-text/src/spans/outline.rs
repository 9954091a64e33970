//! The tree of node positions in a document, which decoders do not keep.

use std::collections::BTreeMap;
use std::ops::Range;

/// The maximum number of members after merging, because merges may be recursive.
const MAX_MERGED: usize = 10_000;

/// The nodes of a document; the first node is the root.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Outline {
    pub nodes: Vec<OutlineNode>,
}

#[derive(Debug, PartialEq)]
pub(crate) struct OutlineNode {
    /// The byte range in the text.
    pub range: Range<usize>,
    /// The kind of the node.
    pub shape: Shape,
}

/// The kind of a node.
#[derive(Debug, PartialEq)]
pub enum Shape {
    /// A scalar, with its text if it is a key.
    Scalar(Option<String>),
    /// A sequence with its items.
    Sequence(Vec<usize>),
    /// A mapping with its keys and values.
    Mapping(Vec<(usize, usize)>),
    /// An alias of another node.
    Alias(usize),
    /// The merge key `<<`, whose value is merged into the enclosing object.
    Merge,
}

impl Shape {
    /// The text of a key.
    pub fn text(&self) -> Option<&str> {
        if let Self::Scalar(Some(text)) = self { Some(text) } else { None }
    }
}

impl Outline {
    /// The members of an object, then the members merged into it (one level of `<<` lists and aliases at a time).
    pub fn members(&self, members: &[(usize, usize)]) -> Vec<(usize, usize)> {
        let mut all = members.to_vec();
        let mut at = 0;
        while let Some((key, value)) = all.get(at).copied() {
            at += 1;
            if !matches!(self.nodes.get(key).map(|n| &n.shape), Some(Shape::Merge)) || all.len() > MAX_MERGED {
                continue;
            }
            let merged = match self.nodes.get(self.resolve(value)).map(|n| &n.shape) {
                Some(Shape::Sequence(items)) => items.clone(),
                _ => vec![value],
            };
            for object in merged {
                if let Some(Shape::Mapping(more)) = self.nodes.get(self.resolve(object)).map(|n| &n.shape) {
                    all.extend(more);
                }
            }
        }
        all
    }

    /// The node at `index`, with an alias resolved.
    pub fn resolve(&self, index: usize) -> usize {
        match self.nodes.get(index).map(|n| &n.shape) {
            Some(Shape::Alias(target)) => *target,
            _ => index,
        }
    }

    /// Pairs of a duplicate key and the first key of the same name in its object, in document order.
    pub fn repeated(&self) -> Vec<(usize, usize)> {
        let mut found = Vec::new();
        for node in &self.nodes {
            if let Shape::Mapping(members) = &node.shape {
                let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
                for (key, _) in members {
                    let Some(name) = self.nodes.get(*key).and_then(|n| n.shape.text()) else { continue };
                    match seen.get(name) {
                        Some(first) => found.push((*first, *key)),
                        None => {
                            seen.insert(name, *key);
                        }
                    }
                }
            }
        }
        found.sort_by_key(|(_, second)| *second);
        found
    }
}

/// The outline of a valid JSON text; unspecified but safe for any other text.
pub fn json(text: &[u8]) -> Outline {
    let mut outline = Outline::default();
    let mut open: Vec<usize> = Vec::new();
    // The key whose value comes next, for each open container.
    let mut keys: Vec<Option<usize>> = Vec::new();
    let mut at = 0;
    while let Some(c) = text.get(at) {
        let start = at;
        at += 1;
        let shape = match c {
            b' ' | b'\t' | b'\r' | b'\n' | b',' | b':' => continue,
            b'}' | b']' => {
                keys.pop();
                if let Some(node) = open.pop().and_then(|i| outline.nodes.get_mut(i)) {
                    node.range.end = at;
                }
                continue;
            }
            b'{' => Shape::Mapping(Vec::new()),
            b'[' => Shape::Sequence(Vec::new()),
            b'"' => {
                while let Some(c) = text.get(at) {
                    at += if *c == b'\\' { 2 } else { 1 };
                    if *c == b'"' {
                        break;
                    }
                }
                Shape::Scalar(None)
            }
            _ => {
                let is_word = |c: &u8| !matches!(c, b' ' | b'\t' | b'\r' | b'\n' | b',' | b':' | b'}' | b']');
                at += text.get(at..).unwrap_or_default().iter().take_while(|c| is_word(c)).count();
                Shape::Scalar(None)
            }
        };
        let index = outline.nodes.len();
        let container = matches!(shape, Shape::Mapping(_) | Shape::Sequence(_));
        outline.nodes.push(OutlineNode { range: start..at.min(text.len()), shape });
        let parent = open.last().and_then(|i| outline.nodes.get_mut(*i));
        match (parent.map(|p| &mut p.shape), keys.last_mut()) {
            (Some(Shape::Sequence(items)), _) => items.push(index),
            (Some(Shape::Mapping(members)), Some(key)) => {
                if let Some(key) = key.take() {
                    members.push((key, index));
                } else {
                    *key = Some(index);
                    let literal = text.get(start..at).unwrap_or_default();
                    let name = crate::json::read(literal).ok().and_then(|v| v.as_str().map(str::to_owned));
                    if let Some(node) = outline.nodes.get_mut(index) {
                        node.shape = Shape::Scalar(name);
                    }
                }
            }
            _ => {}
        }
        if container {
            open.push(index);
            keys.push(None);
        }
    }
    outline
}
