//! The steps of a program.

use super::{call::Callee, constant::Constant};
use crate::{
    cel::value::{Key, Value},
    regexp::Regexp,
};
use std::{collections::HashSet, sync::Arc};

/// A step. Its kinds are cel-go's, because each is charged in its own way.
#[derive(Debug)]
pub(super) enum Node {
    /// Free.
    Constant(Constant),
    /// A variable, or anything, and what is selected from it.
    Attribute(Attribute),
    /// `has()`: the last qualifier is only tested for presence.
    Has(Attribute),
    And(Box<[Node]>),
    Or(Box<[Node]>),
    /// `==`, or `!=`
    Equal {
        sides: Box<[Node; 2]>,
        negated: bool,
    },
    /// Whatever is no boolean, or an error, counts as true.
    NotStrictlyFalse(Box<Node>),
    Call(Box<Call>),
    /// A call with a constant pattern.
    Match(Box<Match>),
    /// `in` a list of constants.
    InSet(Box<Node>, HashSet<Key<'static>>),
    List(Box<[Element]>),
    Map(Box<[Entry]>),
    /// `Object.spec{…}`, `JSONPatch{…}`
    Message(Box<MessageNode>),
    Fold(Box<Fold>),
    /// `or`, or `orValue`.
    Otherwise {
        sides: Box<[Node; 2]>,
        value: bool,
    },
    /// `accumulator + list`, in place.
    Append {
        slot: usize,
        list: Box<Node>,
    },
    /// `cel.@mapInsert(accumulator, key, value)`, in place.
    Insert {
        slot: usize,
        entry: Box<[Node; 2]>,
    },
}

#[derive(Debug)]
pub(super) struct Call {
    pub callee: Callee,
    pub args: Box<[Node]>,
    /// The arguments after one that failed are not evaluated, and then the call is not charged.
    pub in_turn: bool,
}

#[derive(Debug)]
pub(super) struct Match {
    pub kind: MatchKind,
    pub pattern: Regexp,
    pub callee: Callee,
    pub text: Node,
    /// The pattern as the cost sees it.
    pub pattern_value: Value<'static>,
    pub limit: Option<Node>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MatchKind {
    Matches,
    Find,
    FindAll,
}

#[derive(Debug)]
pub(super) struct Element {
    pub node: Node,
    pub optional: bool,
}

#[derive(Debug)]
pub(super) struct Entry {
    pub key: Node,
    pub value: Node,
    pub optional: bool,
}

#[derive(Debug)]
pub(super) struct MessageNode {
    pub type_name: Arc<str>,
    pub fields: Box<[MessageField]>,
}

#[derive(Debug)]
pub(super) struct MessageField {
    pub name: Arc<str>,
    pub value: Node,
    pub optional: bool,
}

#[derive(Debug)]
pub(super) struct Attribute {
    pub root: Root,
    /// Empty for a choice: its branches have them.
    pub qualifiers: Vec<Arc<Qualifier>>,
}

#[derive(Debug)]
pub(super) enum Root {
    Slot(usize),
    Node(Box<Node>),
    Choice { condition: Box<Node>, branches: Box<[Attribute; 2]> },
}

#[derive(Debug)]
pub(super) struct Qualifier {
    pub by: By,
    /// Nothing there is no error.
    pub optional: bool,
    /// Of `has()`.
    pub test: bool,
}

#[derive(Debug)]
pub(super) enum By {
    Field(Box<str>),
    Constant(Value<'static>),
    /// Not charged for itself.
    Attribute(Box<Attribute>),
    Node(Box<Node>),
}

#[derive(Debug)]
pub(super) struct Fold {
    pub range: Node,
    pub element: Option<usize>,
    /// The second variable: then the first is the index or key.
    pub second: Option<usize>,
    pub accumulator: usize,
    /// Computed when the accumulator is first looked at.
    pub init: Node,
    pub condition: Node,
    pub step: Node,
    pub result: Node,
}
