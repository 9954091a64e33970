//! The nodes of a planned program.

use super::{call::Callee, constant::Constant};
use crate::value::{Key, Value};
use crdx_regexp::Regexp;
use std::{collections::HashSet, sync::Arc};

/// A node of a program. The kinds are cel-go's, because each kind is charged differently.
#[derive(Debug)]
pub(super) enum Node {
    /// A constant, which costs nothing.
    Constant(Constant),
    /// An attribute: a variable or other operand with selections.
    Attribute(Attribute),
    /// `has()`: the last qualifier tests only for presence.
    Has(Attribute),
    And(Box<[Node]>),
    Or(Box<[Node]>),
    /// `==`, or `!=` if negated.
    Equal {
        sides: Box<[Node; 2]>,
        negated: bool,
    },
    /// Everything except false counts as true, including errors and values that are not booleans.
    NotStrictlyFalse(Box<Node>),
    Call(Box<Call>),
    /// A regular expression match with a constant pattern.
    Match(Box<Match>),
    /// `in` with a list of constants.
    InSet(Box<Node>, HashSet<Key<'static>>),
    List(Box<[Element]>),
    Map(Box<[Entry]>),
    /// `Object.spec{…}`, `JSONPatch{…}`
    Message(Box<MessageNode>),
    Fold(Box<Fold>),
    /// `or` or `orValue`.
    Otherwise {
        sides: Box<[Node; 2]>,
        value: bool,
    },
}

#[derive(Debug)]
pub(super) struct Call {
    pub callee: Callee,
    pub args: Box<[Node]>,
    /// True if the arguments after a failed argument are not evaluated; the call is then not charged.
    pub stops_at_error: bool,
}

#[derive(Debug)]
pub(super) struct Match {
    pub kind: MatchKind,
    pub pattern: Regexp,
    pub callee: Callee,
    pub text: Node,
    /// The pattern as a value, for the cost.
    pub pattern_value: Value<'static>,
    pub limit: Option<Node>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MatchKind {
    Matches,
    Find,
    FindAll,
}

impl MatchKind {
    /// The kind of a function.
    pub fn of(function: &str) -> Option<Self> {
        match function {
            "matches" => Some(Self::Matches),
            "find" => Some(Self::Find),
            "findAll" => Some(Self::FindAll),
            _ => None,
        }
    }
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
    /// Empty for a conditional, whose branches have their own qualifiers.
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
    pub by: QualifierKey,
    /// True if a missing value is not an error.
    pub optional: bool,
    /// True for the last qualifier of `has()`.
    pub test: bool,
}

#[derive(Debug)]
pub(super) enum QualifierKey {
    Field(Box<str>),
    Constant(Value<'static>),
    /// An attribute used as a qualifier, which is not charged itself.
    Attribute(Box<Attribute>),
    Node(Box<Node>),
}

/// The step of a fold. Those of the usual macros change the accumulator in place.
#[derive(Debug)]
pub(super) enum Step {
    /// The accumulator stays the same: a branch of `filter`.
    Unchanged,
    /// `accumulator && term`, or `accumulator || term` if `true` is decisive: `all`, `exists`.
    Logic {
        terms: Box<[Node]>,
        decisive: bool,
    },
    /// `accumulator + [element]`: `map`.
    Push(Element),
    /// `accumulator + list`
    Append(Node),
    /// `cel.@mapInsert(accumulator, key, value)`
    Insert(Box<[Node; 2]>),
    /// `cel.@mapInsert(accumulator, map)`: `transformMapEntry`.
    InsertAll(Box<Call>),
    /// `condition ? step : step`: `filter`.
    Choice {
        condition: Node,
        branches: Box<[Step; 2]>,
    },
    /// Any other branch of a choice, which is not charged for the variable it begins with.
    Branch(Attribute),
    Other(Node),
}

/// The condition under which a fold continues. The conditions of the usual macros need no evaluation of a node.
#[derive(Debug)]
pub(super) enum Condition {
    /// `true`, which costs nothing: `map`, `filter`.
    Always,
    /// `@not_strictly_false(accumulator)`: `all`.
    UnlessFalse,
    /// `@not_strictly_false(!accumulator)`: `exists`.
    UnlessTrue,
    Other(Node),
}

#[derive(Debug)]
pub(super) struct Fold {
    pub range: Node,
    pub element: usize,
    /// The slot of the second loop variable, if there is one; the first one is then the index or key.
    pub second: Option<usize>,
    pub accumulator: usize,
    /// Evaluated when the accumulator is first read.
    pub init: Node,
    pub condition: Condition,
    pub step: Step,
    pub result: Node,
}
