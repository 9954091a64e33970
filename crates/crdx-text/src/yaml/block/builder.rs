//! Builds a value, or an outline with positions, from the nodes that [`super::BlockReader`] finds.

use crate::spans::outline::{Outline, OutlineNode, Shape};
use crate::yaml::resolve;
use crate::yaml::token::Style;
use crdx_value::{Map, Value};
use std::borrow::Cow;
use std::ops::Range;

/// A key of a mapping; the offsets include its quotes.
pub(super) struct MappingKey<'a> {
    pub text: Cow<'a, str>,
    pub start: usize,
    pub end: usize,
}

/// Receives the nodes of a document in document order, a collection before its content. Positions are byte offsets.
pub(super) trait NodeBuilder {
    /// A complete node.
    type Node;
    type Key;
    type Mapping;
    type Sequence;

    /// Returns true if a member with this key must be built; other members are skipped.
    fn needs(&self, _: &MappingKey<'_>) -> bool {
        true
    }
    /// A scalar that is not a key; `None` if its value cannot be built.
    fn scalar(&mut self, text: Cow<'_, str>, style: Style, range: Range<usize>) -> Option<Self::Node>;
    /// An empty scalar.
    fn null(&mut self, at: usize) -> Self::Node;
    fn key(&mut self, key: MappingKey<'_>) -> Self::Key;
    fn start_mapping(&mut self, at: usize) -> Self::Mapping;
    /// Adds a member; `None` if its key is a duplicate that cannot be built.
    fn add_member(&mut self, mapping: &mut Self::Mapping, key: Self::Key, value: Self::Node) -> Option<()>;
    fn end_mapping(&mut self, mapping: Self::Mapping, at: usize) -> Self::Node;
    fn start_sequence(&mut self, at: usize) -> Self::Sequence;
    fn add_item(&mut self, sequence: &mut Self::Sequence, item: Self::Node);
    fn end_sequence(&mut self, sequence: Self::Sequence, at: usize) -> Self::Node;
}

/// Builds a value.
pub(super) struct Values;

impl NodeBuilder for Values {
    type Node = Value;
    type Key = String;
    type Mapping = Map;
    type Sequence = Vec<Value>;

    fn scalar(&mut self, text: Cow<'_, str>, style: Style, _: Range<usize>) -> Option<Value> {
        match style {
            Style::Plain => {
                let scalar = resolve::plain(&text);
                (!scalar.is_infinite()).then(|| scalar.into_value())
            }
            Style::Quoted => Some(Value::String(text.into_owned())),
        }
    }

    fn null(&mut self, _: usize) -> Value {
        Value::Null
    }

    fn key(&mut self, key: MappingKey<'_>) -> String {
        key.text.into_owned()
    }

    fn start_mapping(&mut self, _: usize) -> Map {
        Map::new()
    }

    fn add_member(&mut self, mapping: &mut Map, key: String, value: Value) -> Option<()> {
        mapping.insert(key, value).is_none().then_some(())
    }

    fn end_mapping(&mut self, mapping: Map, _: usize) -> Value {
        Value::Object(mapping)
    }

    fn start_sequence(&mut self, _: usize) -> Vec<Value> {
        Vec::new()
    }

    fn add_item(&mut self, sequence: &mut Vec<Value>, item: Value) {
        sequence.push(item);
    }

    fn end_sequence(&mut self, sequence: Vec<Value>, _: usize) -> Value {
        Value::Array(sequence)
    }
}

/// Builds an outline; a node is its index there.
#[derive(Default)]
pub(super) struct Positions<'p> {
    pub outline: Outline,
    /// Only members on this path are needed, if it is given.
    pub path: Option<&'p str>,
}

impl Positions<'_> {
    fn push(&mut self, range: Range<usize>, shape: Shape) -> usize {
        self.outline.nodes.push(OutlineNode { range, shape });
        self.outline.nodes.len() - 1
    }

    /// Completes the collection that began at `node`.
    fn end(&mut self, node: usize, shape: Shape, at: usize) -> usize {
        if let Some(collection) = self.outline.nodes.get_mut(node) {
            collection.range.end = at;
            collection.shape = shape;
        }
        node
    }
}

impl NodeBuilder for Positions<'_> {
    type Node = usize;
    type Key = usize;
    type Mapping = (usize, Vec<(usize, usize)>);
    type Sequence = (usize, Vec<usize>);

    fn needs(&self, key: &MappingKey<'_>) -> bool {
        self.path.is_none_or(|path| path.contains(&*key.text))
    }

    fn scalar(&mut self, _: Cow<'_, str>, _: Style, range: Range<usize>) -> Option<usize> {
        Some(self.push(range, Shape::Scalar(None)))
    }

    fn null(&mut self, at: usize) -> usize {
        self.push(at..at, Shape::Scalar(None))
    }

    fn key(&mut self, key: MappingKey<'_>) -> usize {
        self.push(key.start..key.end, Shape::Scalar(Some(key.text.into_owned())))
    }

    fn start_mapping(&mut self, at: usize) -> (usize, Vec<(usize, usize)>) {
        (self.push(at..at, Shape::Scalar(None)), Vec::new())
    }

    fn add_member(&mut self, mapping: &mut (usize, Vec<(usize, usize)>), key: usize, value: usize) -> Option<()> {
        mapping.1.push((key, value));
        Some(())
    }

    fn end_mapping(&mut self, (node, members): (usize, Vec<(usize, usize)>), at: usize) -> usize {
        self.end(node, Shape::Mapping(members), at)
    }

    fn start_sequence(&mut self, at: usize) -> (usize, Vec<usize>) {
        (self.push(at..at, Shape::Scalar(None)), Vec::new())
    }

    fn add_item(&mut self, sequence: &mut (usize, Vec<usize>), item: usize) {
        sequence.1.push(item);
    }

    fn end_sequence(&mut self, (node, items): (usize, Vec<usize>), at: usize) -> usize {
        self.end(node, Shape::Sequence(items), at)
    }
}
