//! Converts the tree to a value: resolves aliases and merges, and converts keys to strings (`decode.go`, then
//! `YAMLToJSON`).
//!
//! The Go libraries have some peculiarities: merges (`<<`) are applied in order, so that a later merge overrides an
//! earlier key; keys are converted to strings at the end, so `1` and `"1"` are not duplicates although one replaces the
//! other; `1.0` becomes the integer 1, because the value passes through JSON text.
//!
//! Nesting and aliases are processed with an explicit stack.

use super::Duplicate;
use super::resolve::Scalar;
use super::scalar::{is_merge, scalar};
use super::syntax;
use super::tree::{Node, NodeKind, Tree};
use crate::lines::Lines;
use crate::spans::outline::{Outline, OutlineNode, Shape};
use crate::{Error, ErrorKind, Position, json};
use crdx_value::{Map, Value, number};
use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

/// The number of bytes that aliases may repeat, or the size of the document if it is larger. A server accepts requests of
/// at most 3 MiB, but a list may contain several objects.
const EXPANSION: usize = 8 << 20;
const TOO_MUCH_TEXT: &str = "yaml: aliases repeat more than 8 MiB of text and more than the document itself has, but a \
                             server accepts at most 3 MiB per object: use fewer aliases of long values";

/// The result of decoding.
pub struct Decoded {
    pub value: Value,
    /// True if any key was repeated, possibly only after conversion to a string.
    pub repeated: bool,
    /// The duplicate keys, if requested.
    pub duplicates: Vec<Duplicate>,
}

/// The treatment of duplicate keys.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum DuplicateKeys {
    Ignore,
    Collect,
}

/// Decodes the value of `tree`; `text` is its source.
pub fn decode(tree: &Tree<'_>, text: &str, mode: DuplicateKeys) -> Result<Decoded, Error> {
    if tree.nodes.is_empty() {
        return Ok(Decoded { value: Value::Null, repeated: false, duplicates: Vec::new() });
    }
    let mut decoder = Decoder {
        tree,
        text,
        frames: Vec::new(),
        depth: 0,
        // The document itself counts as one node.
        decoded: 1,
        aliased: 0,
        expansion: EXPANSION.max(text.len()),
        active: BTreeSet::new(),
        wrong_key: None,
        lines: OnceCell::new(),
        infinite: false,
        repeated: false,
        seen: (mode == DuplicateKeys::Collect).then(Vec::new),
        duplicates: Vec::new(),
    };
    let value = decoder.run()?;
    if let Some(error) = decoder.key_error() {
        return Err(error);
    }
    if decoder.infinite
        && let Some(x) = first_infinite(&value)
    {
        return Err(Error::new(format!("json: unsupported value: {}", number::format_v(x)), None));
    }
    Ok(Decoded { value, repeated: decoder.repeated, duplicates: decoder.duplicates })
}

/// The positions of the nodes, with the text of keys.
pub fn outline(tree: &Tree<'_>) -> Outline {
    let mut nodes: Vec<OutlineNode> = Vec::with_capacity(tree.nodes.len());
    // A mapping precedes its keys in document order.
    let mut is_key = vec![false; tree.nodes.len()];
    for (index, node) in tree.nodes.iter().enumerate() {
        let children = || {
            let mut at = index + 1;
            std::iter::from_fn(move || {
                let child = (at < node.next).then_some(at)?;
                at = tree.nodes.get(child)?.next;
                Some(child)
            })
        };
        let shape = match &node.kind {
            NodeKind::Alias { target, .. } => Shape::Alias(*target),
            NodeKind::Sequence => Shape::Sequence(children().collect()),
            NodeKind::Mapping => {
                let mut children = children();
                let members = std::iter::from_fn(|| Some((children.next()?, children.next()?)));
                let members: Vec<(usize, usize)> = members.collect();
                for (key, _) in &members {
                    if let Some(is_key) = is_key.get_mut(*key) {
                        *is_key = true;
                    }
                }
                Shape::Mapping(members)
            }
            NodeKind::Scalar { .. } if is_key.get(index) != Some(&true) => Shape::Scalar(None),
            NodeKind::Scalar { .. } if is_merge(node) => Shape::Merge,
            NodeKind::Scalar { value, tag, implicit } => {
                let scalar = scalar(value, tag.as_deref(), *implicit).ok();
                Shape::Scalar(scalar.as_ref().and_then(key_text))
            }
        };
        nodes.push(OutlineNode { range: node.start.at as usize..node.end.at as usize, shape });
    }
    Outline { nodes }
}

/// The text of a scalar used as a key; `None` if it cannot be a key.
pub(super) fn key_text(scalar: &Scalar<'_>) -> Option<String> {
    Some(match scalar {
        Scalar::Text(text) => text.clone().into_owned(),
        Scalar::Int(i) => i.to_string(),
        Scalar::Bool(b) => b.to_string(),
        Scalar::Float(x) => float_key(*x),
        Scalar::Null | Scalar::Uint(_) => return None,
    })
}

/// Formats a float key with the precision of a float32.
fn float_key(x: f64) -> String {
    let single = x as f32;
    if single.is_nan() {
        ".nan".to_owned()
    } else if single.is_infinite() {
        if single > 0.0 { ".inf" } else { "-.inf" }.to_owned()
    } else {
        // The shortest digits of the float32, formatted like the float64 with these digits.
        number::format_g(format!("{single:e}").parse().unwrap_or(x))
    }
}

/// The first infinity or NaN, in the order in which Go writes JSON.
fn first_infinite(value: &Value) -> Option<f64> {
    let mut rest = vec![value];
    while let Some(value) = rest.pop() {
        match value {
            Value::Float(x) if !x.is_finite() => return Some(*x),
            Value::Array(items) => rest.extend(items.iter().rev()),
            Value::Object(members) => rest.extend(members.values().rev()),
            _ => {}
        }
    }
    None
}

/// A collection that is being decoded.
enum Frame {
    /// An array: its items so far, and the range of nodes still to decode.
    Sequence { items: Vec<Value>, at: usize, end: usize },
    /// An object, filled by the [`Frame::Pairs`] above it.
    Mapping { members: Map },
    /// The keys and values of a mapping, for the object in frame `object`.
    Pairs { object: usize, at: usize, end: usize, key: Option<Pending> },
    /// The mappings to merge into the object in frame `object`, last first.
    Merges { object: usize, items: Vec<usize> },
    /// An alias that is being followed.
    Alias { node: usize },
}

/// A key whose value is being decoded.
struct Pending {
    text: String,
    identity: Option<KeyIdentity>,
    key: usize,
    value: usize,
}

/// The identity of a key in Go: its type and value.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum KeyIdentity {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Float(u64),
    Text(String),
}

impl KeyIdentity {
    fn show(&self) -> String {
        syntax::show_scalar(&match self {
            Self::Null => Scalar::Null,
            Self::Bool(b) => Scalar::Bool(*b),
            Self::Int(i) => Scalar::Int(*i),
            Self::Uint(u) => Scalar::Uint(*u),
            Self::Float(bits) => Scalar::Float(f64::from_bits(*bits)),
            Self::Text(text) => Scalar::Text(Cow::Borrowed(text)),
        })
    }
}

/// The identity of a key; `None` for NaN, which never equals itself.
fn identity(scalar: Scalar<'_>) -> Option<KeyIdentity> {
    Some(match scalar {
        Scalar::Null => KeyIdentity::Null,
        Scalar::Bool(b) => KeyIdentity::Bool(b),
        Scalar::Int(i) => KeyIdentity::Int(i),
        Scalar::Uint(u) => KeyIdentity::Uint(u),
        Scalar::Float(x) if x.is_nan() => return None,
        // Adding zero converts -0 to +0.
        Scalar::Float(x) => KeyIdentity::Float((x + 0.0).to_bits()),
        Scalar::Text(text) => KeyIdentity::Text(text.into_owned()),
    })
}

/// A key of a type that JSON does not allow.
struct WrongKey {
    /// Go's name of the type.
    kind: &'static str,
    /// The key as Go prints it.
    shown: String,
    /// The nodes of the key and its value.
    nodes: (usize, usize),
}

struct Decoder<'t, 'a> {
    tree: &'t Tree<'a>,
    text: &'t str,
    frames: Vec<Frame>,
    /// The number of open arrays and objects.
    depth: usize,
    /// The number of nodes decoded, and of those inside aliases.
    decoded: u64,
    aliased: u64,
    /// The number of bytes that aliases may still repeat.
    expansion: usize,
    /// The aliases being followed.
    active: BTreeSet<usize>,
    /// A key of a type that JSON does not allow; other errors take precedence.
    wrong_key: Option<WrongKey>,
    /// The lines of the text, once a position is needed.
    lines: OnceCell<Lines>,
    infinite: bool,
    repeated: bool,
    /// The keys of each open object with their first positions; only if duplicates are requested.
    seen: Option<Vec<BTreeMap<KeyIdentity, usize>>>,
    duplicates: Vec<Duplicate>,
}

impl<'t, 'a> Decoder<'t, 'a> {
    fn error(&self, message: String, index: usize) -> Error {
        Error::new(message, self.position(index))
    }

    fn position(&self, index: usize) -> Option<Position> {
        let node = self.tree.nodes.get(index)?;
        let lines = self.lines.get_or_init(|| Lines::new(self.text.as_bytes()));
        Some(lines.position(self.text.as_bytes(), node.start.at as usize))
    }

    fn node(&self, index: usize) -> Result<&'t Node<'a>, Error> {
        self.tree.nodes.get(index).ok_or_else(|| Error::new("yaml: no such node", None))
    }

    fn run(&mut self) -> Result<Value, Error> {
        if let Some(value) = self.start(0)? {
            return Ok(value);
        }
        loop {
            match self.frames.last_mut() {
                None => return Ok(Value::Null),
                Some(Frame::Sequence { at, end, .. }) => {
                    if at < end {
                        let index = *at;
                        *at = self.tree.nodes.get(index).map_or(*end, |n| n.next);
                        if let Some(value) = self.start(index)? {
                            self.attach(value);
                        }
                    } else if let Some(Frame::Sequence { items, .. }) = self.frames.pop() {
                        self.depth -= 1;
                        if let Some(value) = self.complete(Value::Array(items)) {
                            return Ok(value);
                        }
                    }
                }
                Some(Frame::Pairs { object, at, end, .. }) => {
                    if at < end {
                        let (key_index, object) = (*at, *object);
                        let value_index = self.tree.nodes.get(key_index).map_or(*end, |n| n.next);
                        *at = self.tree.nodes.get(value_index).map_or(*end, |n| n.next);
                        self.pair(key_index, value_index, object)?;
                    } else {
                        self.frames.pop();
                        if matches!(self.frames.last(), Some(Frame::Mapping { .. }))
                            && let Some(Frame::Mapping { members }) = self.frames.pop()
                        {
                            self.depth -= 1;
                            if let Some(seen) = &mut self.seen {
                                seen.pop();
                            }
                            if let Some(value) = self.complete(Value::Object(members)) {
                                return Ok(value);
                            }
                        } else {
                            self.end_aliases();
                        }
                    }
                }
                Some(Frame::Merges { object, items }) => {
                    let object = *object;
                    match items.pop() {
                        Some(index) => self.merge_one(index, object)?,
                        None => {
                            self.frames.pop();
                        }
                    }
                }
                // These frames are popped together with the frame above them.
                Some(Frame::Mapping { .. } | Frame::Alias { .. }) => {
                    self.frames.pop();
                }
            }
        }
    }

    /// Counts a node, and rejects documents that consist mostly of aliases.
    fn count(&mut self, index: usize) -> Result<(), Error> {
        self.decoded += 1;
        if !self.active.is_empty() {
            self.aliased += 1;
        }
        if self.aliased > 100 && self.decoded > 1000 {
            let allowed = match self.decoded {
                ..=400_000 => 0.99,
                4_000_000.. => 0.10,
                n => 0.99 - 0.89 * ((n - 400_000) as f64 / 3_600_000.0),
            };
            if self.aliased as f64 / self.decoded as f64 > allowed {
                return Err(self.error("yaml: document contains excessive aliasing".to_owned(), index));
            }
        }
        Ok(())
    }

    /// Counts the bytes of a scalar or key. In Go, the values of aliases share their text, and the size of a request is
    /// limited later; here a value owns its text.
    fn expand(&mut self, bytes: usize, index: usize) -> Result<(), Error> {
        if self.active.is_empty() {
            return Ok(());
        }
        match self.expansion.checked_sub(bytes) {
            Some(left) => {
                self.expansion = left;
                Ok(())
            }
            None => Err(self.error(TOO_MUCH_TEXT.to_owned(), index).of_kind(ErrorKind::Expansion)),
        }
    }

    /// The error for the key of a type that JSON does not allow. If there are several, Go reports an arbitrary one.
    fn key_error(&self) -> Option<Error> {
        let WrongKey { kind, shown, nodes: (key, value) } = self.wrong_key.as_ref()?;
        let value = syntax::show(self.tree, *value).ok()?;
        let message = format!("unsupported map key of type: {kind}, key: {shown}, value: {value}");
        Some(self.error(message, *key))
    }

    /// Starts decoding a node: a scalar returns its value, a collection pushes a frame.
    fn start(&mut self, index: usize) -> Result<Option<Value>, Error> {
        self.count(index)?;
        let node = self.node(index)?;
        match &node.kind {
            NodeKind::Scalar { value, tag, implicit } => {
                let scalar = scalar(value, tag.as_deref(), *implicit).map_err(|e| self.error(e.message, index))?;
                self.expand(value.len(), index)?;
                Ok(Some(self.value(scalar)))
            }
            NodeKind::Sequence => {
                self.enter(node, index)?;
                self.frames.push(Frame::Sequence { items: Vec::new(), at: index + 1, end: node.next });
                Ok(None)
            }
            NodeKind::Mapping => {
                self.enter(node, index)?;
                let object = self.frames.len();
                self.frames.push(Frame::Mapping { members: Map::new() });
                self.frames.push(Frame::Pairs { object, at: index + 1, end: node.next, key: None });
                if let Some(seen) = &mut self.seen {
                    seen.push(BTreeMap::new());
                }
                Ok(None)
            }
            NodeKind::Alias { target, .. } => {
                self.follow(index)?;
                let value = self.start(*target)?;
                if value.is_some() {
                    self.end_aliases();
                }
                Ok(value)
            }
        }
    }

    fn enter(&mut self, node: &Node<'_>, index: usize) -> Result<(), Error> {
        self.depth += 1;
        if self.depth > json::MAX_DEPTH {
            // The error that Go reports when it reads the intermediate JSON text.
            let c = if matches!(node.kind, NodeKind::Sequence) { '[' } else { '{' };
            return Err(self.error(format!("invalid character '{c}' exceeded max depth"), index));
        }
        Ok(())
    }

    fn follow(&mut self, index: usize) -> Result<(), Error> {
        if !self.active.insert(index) {
            let name = match self.node(index)?.kind {
                NodeKind::Alias { name, .. } => name,
                _ => "",
            };
            return Err(self.error(format!("yaml: anchor '{name}' value contains itself"), index));
        }
        self.frames.push(Frame::Alias { node: index });
        Ok(())
    }

    /// Removes the aliases whose node has been decoded.
    fn end_aliases(&mut self) {
        while let Some(Frame::Alias { node }) = self.frames.last() {
            self.active.remove(node);
            self.frames.pop();
        }
    }

    fn value(&mut self, scalar: Scalar<'_>) -> Value {
        self.infinite |= scalar.is_infinite();
        scalar.into_value()
    }

    /// Completes a collection: returns it if it is the root, otherwise adds it to its parent.
    fn complete(&mut self, value: Value) -> Option<Value> {
        self.end_aliases();
        if self.frames.is_empty() {
            return Some(value);
        }
        self.attach(value);
        None
    }

    /// Adds a value to the innermost collection.
    fn attach(&mut self, value: Value) {
        match self.frames.last_mut() {
            Some(Frame::Sequence { items, .. }) => items.push(value),
            Some(Frame::Pairs { object, key, .. }) => {
                let object = *object;
                let Some(key) = key.take() else { return };
                if self.seen.is_some() {
                    self.look_for_duplicate(key.identity, key.key, key.value);
                }
                if let Some(Frame::Mapping { members }) = self.frames.get_mut(object) {
                    self.repeated |= members.insert(key.text, value).is_some();
                }
            }
            _ => {}
        }
    }

    /// Records a duplicate key. Its value has been decoded already, so duplicates inside the value are reported first.
    fn look_for_duplicate(&mut self, identity: Option<KeyIdentity>, key: usize, value: usize) {
        let Some(identity) = identity else { return };
        let Some(keys) = self.seen.as_mut().and_then(|seen| seen.last_mut()) else { return };
        let shown = identity.show();
        let first = match keys.entry(identity) {
            Entry::Vacant(entry) => {
                entry.insert(key);
                return;
            }
            Entry::Occupied(entry) => *entry.get(),
        };
        let line = self.tree.nodes.get(value).map_or(0, |n| n.start.line + 1);
        let message = format!("key {shown} already set in map");
        let (first, second) = (self.position(first).unwrap_or_default(), self.position(key).unwrap_or_default());
        self.duplicates.push(Duplicate { line: Some(line), message, first, second });
    }

    /// Decodes a key and starts decoding its value.
    fn pair(&mut self, key_index: usize, value_index: usize, object: usize) -> Result<(), Error> {
        let key_node = self.node(key_index)?;
        if is_merge(key_node) {
            return self.merge(value_index, object);
        }
        self.count(key_index)?;
        let mut target = key_node;
        if let NodeKind::Alias { target: index, .. } = key_node.kind {
            self.active.insert(key_index);
            self.count(index)?;
            target = self.node(index)?;
        }
        let NodeKind::Scalar { value, tag, implicit } = &target.kind else {
            let shown = syntax::show(self.tree, key_index).map_err(|m| self.error(m.into(), key_index))?;
            return Err(self.error(format!("yaml: invalid map key: {shown}"), key_index));
        };
        let scalar = scalar(value, tag.as_deref(), *implicit).map_err(|e| self.error(e.message, key_index))?;
        self.expand(value.len(), key_index)?;
        if matches!(key_node.kind, NodeKind::Alias { .. }) {
            self.active.remove(&key_index);
        }
        let text = key_text(&scalar);
        if text.is_none() {
            let kind = if scalar == Scalar::Null { "%!s(<nil>)" } else { "uint64" };
            let shown = syntax::show_scalar(&scalar);
            // Of duplicate keys the last one is used.
            if self.wrong_key.as_ref().is_none_or(|known| known.shown == shown) {
                self.wrong_key = Some(WrongKey { kind, shown, nodes: (key_index, value_index) });
            }
        }
        let text = text.unwrap_or_default();
        let identity = if self.seen.is_some() { identity(scalar) } else { None };
        if let Some(Frame::Pairs { key, .. }) = self.frames.last_mut() {
            *key = Some(Pending { text, identity, key: key_index, value: value_index });
        }
        if let Some(value) = self.start(value_index)? {
            self.attach(value);
        }
        Ok(())
    }

    fn merge(&mut self, index: usize, object: usize) -> Result<(), Error> {
        match self.node(index)?.kind {
            NodeKind::Sequence => {
                let end = self.node(index)?.next;
                let mut items = Vec::new();
                let mut at = index + 1;
                while at < end {
                    items.push(at);
                    at = self.node(at)?.next;
                }
                self.frames.push(Frame::Merges { object, items });
                Ok(())
            }
            _ => self.merge_one(index, object),
        }
    }

    /// Merges a mapping, or an alias of one, into an object.
    fn merge_one(&mut self, index: usize, object: usize) -> Result<(), Error> {
        let mut mapping = index;
        if let NodeKind::Alias { target, .. } = self.node(index)?.kind {
            mapping = target;
        }
        let node = self.node(mapping)?;
        if !matches!(node.kind, NodeKind::Mapping) {
            return Err(self.error(syntax::NOT_A_MAP.to_owned(), index));
        }
        self.count(index)?;
        if mapping != index {
            self.follow(index)?;
            self.count(mapping)?;
        }
        self.frames.push(Frame::Pairs { object, at: mapping + 1, end: node.next, key: None });
        Ok(())
    }
}
