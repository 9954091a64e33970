//! Plans the condition and the step of a fold, so that those of the usual macros work on the accumulator in place.

use super::node::{Attribute, Call, Condition, Element, Node, Root, Step};

/// Plans the condition under which a fold continues.
pub(super) fn condition(node: Node, accumulator: usize) -> Condition {
    let negates = |call: &Call| call.callee.function == "!_" && matches!(&*call.args, [arg] if reads(arg, accumulator));
    match &node {
        Node::Constant(constant) if constant.is_true() => Condition::Always,
        Node::NotStrictlyFalse(inner) if reads(inner, accumulator) => Condition::UnlessFalse,
        Node::NotStrictlyFalse(inner) if matches!(&**inner, Node::Call(call) if negates(call)) => Condition::UnlessTrue,
        _ => Condition::Other(node),
    }
}

/// Plans the step of a fold.
pub(super) fn step(node: Node, accumulator: usize) -> Step {
    match node {
        Node::And(terms) => logic(terms, accumulator, false),
        Node::Or(terms) => logic(terms, accumulator, true),
        Node::Call(made) => call(*made, accumulator),
        Node::Attribute(Attribute { root: Root::Choice { condition, branches }, qualifiers })
            if qualifiers.is_empty() =>
        {
            let branches = Box::new(branches.map(|attribute| branch(attribute, accumulator)));
            Step::Choice { condition: *condition, branches }
        }
        other => Step::Other(other),
    }
}

/// Returns true if the node is the accumulator itself.
fn reads(node: &Node, accumulator: usize) -> bool {
    matches!(node, Node::Attribute(attribute) if is_accumulator(attribute, accumulator))
}

fn is_accumulator(attribute: &Attribute, accumulator: usize) -> bool {
    matches!(attribute.root, Root::Slot(slot) if slot == accumulator) && attribute.qualifiers.is_empty()
}

fn logic(terms: Box<[Node]>, accumulator: usize, decisive: bool) -> Step {
    if terms.first().is_some_and(|first| reads(first, accumulator)) {
        return Step::Logic { terms: terms.into_iter().skip(1).collect(), decisive };
    }
    Step::Other(if decisive { Node::Or(terms) } else { Node::And(terms) })
}

fn branch(attribute: Attribute, accumulator: usize) -> Step {
    match attribute {
        attribute if is_accumulator(&attribute, accumulator) => Step::Unchanged,
        Attribute { root: Root::Node(node), qualifiers } if qualifiers.is_empty() => match step(*node, accumulator) {
            Step::Other(node) => Step::Branch(Attribute { root: Root::Node(Box::new(node)), qualifiers }),
            in_place => in_place,
        },
        attribute => Step::Branch(attribute),
    }
}

/// Plans a call, which may add to the accumulator.
fn call(call: Call, accumulator: usize) -> Step {
    let id = call.callee.single().map_or("", |overload| overload.id);
    let adds = call.args.first().is_some_and(|first| reads(first, accumulator));
    if id == "@mapInsert_map_map" && adds {
        return Step::InsertAll(Box::new(call));
    }
    let args = match (id, call.args.into_vec()) {
        ("add_list", args) if adds => match <[Node; 2]>::try_from(args) {
            Ok([_, Node::List(elements)]) => return append(elements),
            Ok([_, list]) => return Step::Append(list),
            Err(args) => args,
        },
        ("@mapInsert_map_key_value", args) if adds => match <[Node; 3]>::try_from(args) {
            Ok([_, key, value]) => return Step::Insert(Box::new([key, value])),
            Err(args) => args,
        },
        (_, args) => args,
    };
    Step::Other(Node::Call(Box::new(Call { args: args.into(), ..call })))
}

fn append(elements: Box<[Element]>) -> Step {
    match <[Element; 1]>::try_from(elements.into_vec()) {
        Ok([element]) => Step::Push(element),
        Err(elements) => Step::Append(Node::List(elements.into())),
    }
}
