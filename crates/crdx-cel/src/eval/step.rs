//! Plans the condition and the step of a fold, so that those of the usual macros work on the accumulator in place.

use super::node::{Attribute, Call, Condition, Element, FoldStep, LogicalOperator, ProgramNode, Root};

/// Plans the condition under which a fold continues.
pub(super) fn condition(node: ProgramNode, accumulator: usize) -> Condition {
    let negates = |call: &Call| call.callee.function == "!_" && matches!(&*call.args, [arg] if reads(arg, accumulator));
    match &node {
        ProgramNode::Constant(constant) if constant.is_true() => Condition::Always,
        ProgramNode::NotStrictlyFalse(inner) if reads(inner, accumulator) => Condition::UnlessFalse,
        ProgramNode::NotStrictlyFalse(inner) if matches!(&**inner, ProgramNode::Call(call) if negates(call)) => {
            Condition::UnlessTrue
        }
        _ => Condition::Other(node),
    }
}

/// Plans the step of a fold.
pub(super) fn step(node: ProgramNode, accumulator: usize) -> FoldStep {
    match node {
        ProgramNode::And(terms) => logic(terms, accumulator, LogicalOperator::And),
        ProgramNode::Or(terms) => logic(terms, accumulator, LogicalOperator::Or),
        ProgramNode::Call(made) => call(*made, accumulator),
        ProgramNode::Attribute(Attribute { root: Root::Choice { condition, branches }, qualifiers })
            if qualifiers.is_empty() =>
        {
            let branches = Box::new(branches.map(|attribute| branch(attribute, accumulator)));
            FoldStep::Choice { condition: *condition, branches }
        }
        other => FoldStep::Other(other),
    }
}

/// Returns true if the node is the accumulator itself.
fn reads(node: &ProgramNode, accumulator: usize) -> bool {
    matches!(node, ProgramNode::Attribute(attribute) if is_accumulator(attribute, accumulator))
}

fn is_accumulator(attribute: &Attribute, accumulator: usize) -> bool {
    matches!(attribute.root, Root::Slot(slot) if slot == accumulator) && attribute.qualifiers.is_empty()
}

fn logic(terms: Box<[ProgramNode]>, accumulator: usize, operator: LogicalOperator) -> FoldStep {
    if terms.first().is_some_and(|first| reads(first, accumulator)) {
        return FoldStep::Logic { terms: terms.into_iter().skip(1).collect(), operator };
    }
    FoldStep::Other(match operator {
        LogicalOperator::And => ProgramNode::And(terms),
        LogicalOperator::Or => ProgramNode::Or(terms),
    })
}

fn branch(attribute: Attribute, accumulator: usize) -> FoldStep {
    match attribute {
        attribute if is_accumulator(&attribute, accumulator) => FoldStep::Unchanged,
        Attribute { root: Root::Node(node), qualifiers } if qualifiers.is_empty() => match step(*node, accumulator) {
            FoldStep::Other(node) => FoldStep::Branch(Attribute { root: Root::Node(Box::new(node)), qualifiers }),
            in_place => in_place,
        },
        attribute => FoldStep::Branch(attribute),
    }
}

/// Plans a call, which may add to the accumulator.
fn call(call: Call, accumulator: usize) -> FoldStep {
    let id = call.callee.single().map_or("", |overload| overload.id);
    let adds = call.args.first().is_some_and(|first| reads(first, accumulator));
    if id == "@mapInsert_map_map" && adds {
        return FoldStep::InsertAll(Box::new(call));
    }
    let args = match (id, call.args.into_vec()) {
        ("add_list", args) if adds => match <[ProgramNode; 2]>::try_from(args) {
            Ok([_, ProgramNode::List(elements)]) => return append(elements),
            Ok([_, list]) => return FoldStep::Append(list),
            Err(args) => args,
        },
        ("@mapInsert_map_key_value", args) if adds => match <[ProgramNode; 3]>::try_from(args) {
            Ok([_, key, value]) => return FoldStep::Insert(Box::new([key, value])),
            Err(args) => args,
        },
        (_, args) => args,
    };
    FoldStep::Other(ProgramNode::Call(Box::new(Call { args: args.into(), ..call })))
}

fn append(elements: Box<[Element]>) -> FoldStep {
    match <[Element; 1]>::try_from(elements.into_vec()) {
        Ok([element]) => FoldStep::Push(element),
        Err(elements) => FoldStep::Append(ProgramNode::List(elements.into())),
    }
}
