//! The nodes of a planned program.

use super::{call::Callee, constant::Constant};
use crate::value::{MapKey, Value};
use crdx_regexp::Regexp;
use std::{collections::HashSet, sync::Arc};

/// A node of a program. The kinds are cel-go's, because each kind is charged differently.
#[derive(Debug)]
pub(super) enum ProgramNode {
    /// A constant, which costs nothing.
    Constant(Constant),
    /// An attribute: a variable or other operand with selections.
    Attribute(Attribute),
    /// `has()`: the last qualifier tests only for presence.
    Has(Attribute),
    And(Box<[ProgramNode]>),
    Or(Box<[ProgramNode]>),
    /// `==`, or `!=` if negated.
    Equal {
        sides: Box<[ProgramNode; 2]>,
        negated: bool,
    },
    /// Everything except false counts as true, including errors and values that are not booleans.
    NotStrictlyFalse(Box<ProgramNode>),
    Call(Box<Call>),
    /// A regular expression match with a constant pattern.
    Match(Box<Match>),
    /// `in` with a list of constants.
    InSet(Box<ProgramNode>, HashSet<MapKey<'static>>),
    List(Box<[Element]>),
    Map(Box<[MapEntryNode]>),
    /// `Object.spec{…}`, `JSONPatch{…}`
    Message(Box<MessageNode>),
    Fold(Box<Fold>),
    /// `or` or `orValue`.
    Otherwise {
        sides: Box<[ProgramNode; 2]>,
        value: bool,
    },
}

#[derive(Debug)]
pub(super) struct Call {
    pub callee: Callee,
    pub args: Box<[ProgramNode]>,
    /// True if the arguments after a failed argument are not evaluated; the call is then not charged.
    pub stops_at_error: bool,
}

#[derive(Debug)]
pub(super) struct Match {
    pub kind: MatchKind,
    pub pattern: Regexp,
    pub callee: Callee,
    pub text: ProgramNode,
    /// The pattern as a value, for the cost.
    pub pattern_value: Value<'static>,
    pub limit: Option<ProgramNode>,
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
    pub node: ProgramNode,
    pub optional: bool,
}

#[derive(Debug)]
pub(super) struct MapEntryNode {
    pub key: ProgramNode,
    pub value: ProgramNode,
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
    pub value: ProgramNode,
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
    Node(Box<ProgramNode>),
    Choice { condition: Box<ProgramNode>, branches: Box<[Attribute; 2]> },
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
    Node(Box<ProgramNode>),
}

/// `&&` or `||`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LogicalOperator {
    And,
    Or,
}

impl LogicalOperator {
    /// The operand that determines the result, whatever the others are.
    pub fn decisive_value(self) -> bool {
        self == Self::Or
    }
}

/// The step of a fold. Those of the usual macros change the accumulator in place.
#[derive(Debug)]
pub(super) enum FoldStep {
    /// The accumulator stays the same: a branch of `filter`.
    Unchanged,
    /// `accumulator && term`, or `accumulator || term`: `all`, `exists`.
    Logic {
        terms: Box<[ProgramNode]>,
        operator: LogicalOperator,
    },
    /// `accumulator + [element]`: `map`.
    Push(Element),
    /// `accumulator + list`
    Append(ProgramNode),
    /// `cel.@mapInsert(accumulator, key, value)`
    Insert(Box<[ProgramNode; 2]>),
    /// `cel.@mapInsert(accumulator, map)`: `transformMapEntry`.
    InsertAll(Box<Call>),
    /// `condition ? step : step`: `filter`.
    Choice {
        condition: ProgramNode,
        branches: Box<[FoldStep; 2]>,
    },
    /// Any other branch of a choice, which is not charged for the variable it begins with.
    Branch(Attribute),
    Other(ProgramNode),
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
    Other(ProgramNode),
}

#[derive(Debug)]
pub(super) struct Fold {
    pub range: ProgramNode,
    pub element: usize,
    /// The slot of the second loop variable, if there is one; the first one is then the index or key.
    pub second: Option<usize>,
    pub accumulator: usize,
    /// Evaluated when the accumulator is first read.
    pub init: ProgramNode,
    pub condition: Condition,
    pub step: FoldStep,
    pub result: ProgramNode,
}
