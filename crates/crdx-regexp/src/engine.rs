//! Executes a pattern: with regex-automata, or with [`vm`](super::vm) if the automaton would need too much memory.

use super::parse::Pattern;
use super::tree::{Assertion, Greediness, Node, Op};
use super::vm::Program;
use crdx_value::unicode::{self as tables, MAX, Ranges};
use regex_automata::Input;
use regex_automata::meta::{Builder, Config, Regex};
use regex_automata::util::primitives::NonMaxUsize;
use regex_syntax::hir;

/// The maximum size of the automaton in bytes. Go allows 128 MB, but needs fewer states for the same pattern.
const AUTOMATON_LIMIT: usize = 4 << 20;
/// The maximum height of trees for regex-automata, which processes them recursively. Higher trees are executed by
/// [`vm`](super::vm).
const HEIGHT_LIMIT: u32 = 120;

/// An executable pattern.
#[derive(Debug)]
pub enum Engine {
    /// An automaton of regex-automata.
    Automaton {
        /// The automaton.
        regex: Box<Regex>,
        /// True if the first hit may not be a match: a `\B` inside a multi-byte character would hide the match that
        /// contains it.
        may_hit_inside: bool,
    },
    /// A program for [`vm`](super::vm).
    Program(Program),
}

impl Engine {
    /// Compiles a pattern.
    pub fn new(mut pattern: Pattern) -> Self {
        if pattern.tree.height() <= HEIGHT_LIMIT {
            let config = Config::new().nfa_size_limit(Some(AUTOMATON_LIMIT)).utf8_empty(true);
            if let Some(tree) = translate(&pattern.tree)
                && let Ok(regex) = Builder::new().configure(config).build_from_hir(&tree)
            {
                let may_hit_inside = tree.properties().look_set().contains(hir::Look::WordAsciiNegate);
                return Self::Automaton { regex: Box::new(regex), may_hit_inside };
            }
        }
        Self::Program(Program::new(&pattern.tree))
    }

    /// Returns true if the pattern matches anywhere in the text.
    pub fn is_match(&self, text: &str) -> bool {
        match self {
            Self::Automaton { regex, may_hit_inside: false } => regex.is_match(text),
            Self::Automaton { regex, may_hit_inside: true } => regex.search(&Input::new(text)).is_some(),
            Self::Program(program) => program.run(text, 0, &mut []),
        }
    }

    /// Finds the first match at or after `start`, and stores as many group boundaries as `slots` has room for.
    pub fn search(&self, text: &str, start: usize, slots: &mut [Option<usize>]) -> bool {
        slots.fill(None);
        match self {
            Self::Automaton { regex, .. } => {
                let input = Input::new(text).range(start..);
                if slots.len() <= 2 {
                    let found = regex.search(&input);
                    if let (Some(found), [from, to]) = (&found, &mut *slots) {
                        (*from, *to) = (Some(found.start()), Some(found.end()));
                    }
                    return found.is_some();
                }
                let mut found = vec![None; slots.len()];
                let matched = regex.search_slots(&input, &mut found).is_some();
                for (slot, found) in slots.iter_mut().zip(found) {
                    *slot = found.map(NonMaxUsize::get);
                }
                matched
            }
            Self::Program(program) => program.run(text, start, slots),
        }
    }
}

/// A class for regex-automata, without surrogates, which do not occur in texts.
fn class(ranges: &[(u32, u32)]) -> hir::Hir {
    let mut out = Vec::with_capacity(ranges.len() + 1);
    for &(lo, hi) in ranges {
        for (lo, hi) in [(lo, hi.min(0xD7FF)), (lo.max(0xE000), hi)] {
            if let (Some(lo), Some(hi)) = (char::from_u32(lo), char::from_u32(hi))
                && lo <= hi
            {
                out.push(hir::ClassUnicodeRange::new(lo, hi));
            }
        }
    }
    hir::Hir::class(hir::Class::Unicode(hir::ClassUnicode::new(out)))
}

fn literal(runes: &[u32], fold: bool) -> hir::Hir {
    let mut parts = Vec::new();
    let mut text = String::new();
    for &c in runes {
        match char::from_u32(c) {
            Some(letter) if !fold || tables::simple_fold(c) == c => text.push(letter),
            _ => {
                if !text.is_empty() {
                    parts.push(hir::Hir::literal(std::mem::take(&mut text).into_bytes()));
                }
                let mut ranges = Ranges::new();
                super::class::add_folded_range(&mut ranges, c, c);
                parts.push(class(&ranges));
            }
        }
    }
    if !text.is_empty() {
        parts.push(hir::Hir::literal(text.into_bytes()));
    }
    hir::Hir::concat(parts)
}

/// Converts the tree for regex-automata; `None` if a number is out of range.
fn translate(node: &Node) -> Option<hir::Hir> {
    let repetition = |min, max, greediness: Greediness, sub: &Node| {
        let sub = Box::new(translate(sub)?);
        Some(hir::Hir::repetition(hir::Repetition { min, max, greedy: greediness == Greediness::Greedy, sub }))
    };
    Some(match &node.op {
        Op::NoMatch => hir::Hir::fail(),
        Op::Empty => hir::Hir::empty(),
        Op::Literal { runes, fold } => literal(runes, *fold),
        Op::Class(ranges) => class(ranges),
        Op::AnyNotNewline => class(&[(0, 0x9), (0xB, MAX)]),
        Op::Any => class(&[(0, MAX)]),
        Op::Assertion(look) => hir::Hir::look(match look {
            Assertion::LineStart => hir::Look::StartLF,
            Assertion::LineEnd => hir::Look::EndLF,
            Assertion::Start => hir::Look::Start,
            Assertion::End => hir::Look::End,
            Assertion::Word => hir::Look::WordAscii,
            Assertion::NotWord => hir::Look::WordAsciiNegate,
        }),
        Op::Capture { index, sub } => hir::Hir::capture(hir::Capture {
            index: u32::try_from(*index).ok()?,
            // regex-automata requires unique group names and Go does not, so names are stored separately.
            name: None,
            sub: Box::new(translate(sub)?),
        }),
        Op::Star(sub, greediness) => repetition(0, None, *greediness, sub)?,
        Op::Plus(sub, greediness) => repetition(1, None, *greediness, sub)?,
        Op::Quest(sub, greediness) => repetition(0, Some(1), *greediness, sub)?,
        Op::Repeat { min, max, greediness, sub } => repetition(*min, *max, *greediness, sub)?,
        Op::Concat(subs) => hir::Hir::concat(subs.iter().map(translate).collect::<Option<_>>()?),
        Op::Alternate(subs) => hir::Hir::alternation(subs.iter().map(translate).collect::<Option<_>>()?),
    })
}
