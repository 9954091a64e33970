//! Unions of single characters and classes, which the parser creates from alternatives.

use super::class;
use super::tree::{Op, RegexpNode};
use crdx_value::unicode::{MAX, Ranges};

/// Sets `into` to the union of two classes.
pub(super) fn merge_classes(into: &mut RegexpNode, other: &mut RegexpNode) {
    if rank(other) > rank(into) {
        std::mem::swap(into, other);
    }
    into.changed();
    let newline = || match &other.op {
        Op::Literal { runes, .. } => runes.as_slice() == [0xA],
        Op::Class(ranges) => class::contains(ranges, 0xA),
        Op::Any => true,
        _ => false,
    };
    match &mut into.op {
        Op::AnyNotNewline if newline() => into.op = Op::Any,
        Op::Class(ranges) => add(ranges, other),
        Op::Literal { runes, fold } => {
            if let Op::Literal { runes: b, fold: g } = &other.op
                && runes == b
                && fold == g
            {
                return;
            }
            let mut ranges = Ranges::new();
            add(&mut ranges, into);
            add(&mut ranges, other);
            into.op = Op::Class(ranges);
        }
        _ => {}
    }
}

fn add(ranges: &mut Ranges, node: &RegexpNode) {
    match &node.op {
        Op::Literal { runes, fold } => {
            for &c in runes {
                if *fold {
                    class::add_folded_range(ranges, c, c);
                } else {
                    class::add_range(ranges, c, c);
                }
            }
        }
        Op::Class(other) => class::add_class(ranges, other),
        _ => {}
    }
}

/// Ranks classes from simple to complex.
fn rank(node: &RegexpNode) -> u8 {
    match node.op {
        Op::Class(_) => 1,
        Op::AnyNotNewline => 2,
        Op::Any => 3,
        _ => 0,
    }
}

/// Sorts and merges the ranges of a class; a class that contains every code point becomes `.`.
pub(super) fn clean_class(node: &mut RegexpNode) {
    if let Op::Class(ranges) = &mut node.op {
        class::clean(ranges);
        match ranges.as_slice() {
            [(0, MAX)] => node.op = Op::Any,
            [(0, 0x9), (0xB, MAX)] => node.op = Op::AnyNotNewline,
            _ => {}
        }
    }
}
