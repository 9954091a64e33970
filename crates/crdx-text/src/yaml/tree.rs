//! The first document of a text as a flat tree: nodes in document order, each with the end of its subtree.

use super::parser::{Event, Parser};
use super::source::CheckedText;
use super::token::Mark;
use crate::{Error, Position};
use std::borrow::Cow;
use std::collections::HashMap;

/// A document.
#[derive(Debug, Default)]
pub struct Tree<'a> {
    /// The nodes; the first is the root. Empty for a text without a document.
    pub nodes: Vec<Node<'a>>,
    /// The start of text after the document, which single-document decoders ignore.
    pub rest: Option<Mark>,
}

#[derive(Debug)]
pub struct Node<'a> {
    pub kind: NodeKind<'a>,
    /// The start position.
    pub start: Mark,
    /// The end position.
    pub end: Mark,
    /// The index of the node after its subtree.
    pub next: usize,
}

#[derive(Debug)]
pub(crate) enum NodeKind<'a> {
    Scalar {
        /// The text.
        value: Cow<'a, str>,
        /// The tag, if there is one.
        tag: Option<Box<str>>,
        /// True if the type is determined from the text.
        implicit: bool,
    },
    /// A sequence, followed by its items.
    Sequence,
    /// A mapping, followed by keys and values alternately.
    Mapping,
    /// An alias of another node.
    Alias {
        /// The name of its anchor.
        name: &'a str,
        /// The index of the node that the alias refers to.
        target: usize,
    },
}

/// Parses the first document.
pub fn parse<'a>(source: &'a CheckedText<'a>) -> Result<Tree<'a>, Error> {
    if u32::try_from(source.text.len()).is_err() {
        return Err(Error::new("yaml: the document is larger than 4 GiB", None));
    }
    let mut parser = Parser::new(source);
    // An estimate for short keys and values.
    let mut tree = Tree { nodes: Vec::with_capacity(source.text.len() / 14), rest: None };
    let mut open: Vec<usize> = Vec::new();
    let mut anchors: HashMap<&str, usize> = HashMap::new();
    loop {
        let found = parser.next()?;
        let index = tree.nodes.len();
        let kind = match found.event {
            Event::StreamEnd => return Ok(tree),
            Event::DocumentStart => continue,
            Event::DocumentEnd => {
                // Anything except white space and `...` after it is another document.
                let more = (found.start.at as usize) < source.text.len()
                    && !matches!(parser.next(), Ok(next) if matches!(next.event, Event::StreamEnd));
                tree.rest = more.then_some(found.start);
                return Ok(tree);
            }
            Event::SequenceEnd | Event::MappingEnd => {
                if let Some(node) = open.pop().and_then(|i| tree.nodes.get_mut(i)) {
                    node.next = index;
                    node.end = found.end;
                }
                continue;
            }
            Event::SequenceStart => {
                open.push(index);
                NodeKind::Sequence
            }
            Event::MappingStart => {
                open.push(index);
                NodeKind::Mapping
            }
            Event::Alias(name) => {
                let Some(target) = anchors.get(name) else {
                    let position = Position::at_offset(source.text.as_bytes(), found.start.at as usize);
                    return Err(Error::new(format!("yaml: unknown anchor '{name}' referenced"), Some(position)));
                };
                NodeKind::Alias { name, target: *target }
            }
            Event::Scalar { value, tag, implicit } => NodeKind::Scalar { value, tag, implicit },
        };
        if let Some(anchor) = found.anchor {
            anchors.insert(anchor, index);
        }
        tree.nodes.push(Node { kind, start: found.start, end: found.end, next: index + 1 });
    }
}
