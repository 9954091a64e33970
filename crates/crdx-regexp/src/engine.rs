//! An automaton of regex-automata for patterns that match much text.

use super::tree::{Assertion, Greediness, Op, RegexpNode};
use crdx_value::unicode::{self as tables, MAX, Ranges};
use regex_automata::meta::{Builder, Config, Regex};
use regex_automata::{Input, Match};
use regex_syntax::hir;

/// The maximum size of the automaton in bytes. Go allows 128 MB, but needs fewer states for the same pattern.
const AUTOMATON_LIMIT: usize = 4 << 20;
/// The maximum height of trees for regex-automata, which processes them recursively.
const HEIGHT_LIMIT: u32 = 120;

#[derive(Debug)]
pub struct Automaton {
    regex: Regex,
    /// True if the first hit may not be a match: a `\B` inside a multi-byte character would hide the match that
    /// contains it.
    may_hit_inside: bool,
}

impl Automaton {
    /// Compiles a pattern; `None` if it is too large or nested too deeply.
    pub fn new(tree: &mut RegexpNode) -> Option<Self> {
        if tree.height() > HEIGHT_LIMIT {
            return None;
        }
        let config = Config::new().nfa_size_limit(Some(AUTOMATON_LIMIT)).utf8_empty(true);
        let tree = translate(tree)?;
        let regex = Builder::new().configure(config).build_from_hir(&tree).ok()?;
        Some(Self { regex, may_hit_inside: tree.properties().look_set().contains(hir::Look::WordAsciiNegate) })
    }

    /// Returns true if the pattern matches anywhere in the text.
    pub fn is_match(&self, text: &str) -> bool {
        if self.may_hit_inside { self.find(text, 0).is_some() } else { self.regex.is_match(text) }
    }

    /// The memory of the automaton and of one search in bytes.
    #[cfg(test)]
    pub fn memory(&self) -> usize {
        self.regex.memory_usage() + self.regex.create_cache().memory_usage()
    }

    /// Finds the first match at or after `start`.
    pub fn find(&self, text: &str, start: usize) -> Option<Match> {
        self.regex.search(&Input::new(text).range(start..))
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
fn translate(node: &RegexpNode) -> Option<hir::Hir> {
    let repetition = |min, max, greediness: Greediness, sub: &RegexpNode| {
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
        // A group would need memory for its boundaries in every state.
        Op::Capture(sub) => translate(sub)?,
        Op::Star(sub, greediness) => repetition(0, None, *greediness, sub)?,
        Op::Plus(sub, greediness) => repetition(1, None, *greediness, sub)?,
        Op::Quest(sub, greediness) => repetition(0, Some(1), *greediness, sub)?,
        Op::Repeat { min, max, greediness, sub } => repetition(*min, *max, *greediness, sub)?,
        Op::Concat(subs) => hir::Hir::concat(subs.iter().map(translate).collect::<Option<_>>()?),
        Op::Alternate(subs) => hir::Hir::alternation(subs.iter().map(translate).collect::<Option<_>>()?),
    })
}
