//! The syntax tree of a pattern, with the measures that Go limits.

use crdx_value::unicode::Ranges;

#[derive(Debug)]
pub struct RegexpNode {
    /// The operation.
    pub op: Op,
    /// The number of levels including this node; 0 if not computed yet.
    height: u32,
    /// The approximate number of instructions; 0 if not computed yet.
    size: i64,
}

/// The operation of a node.
#[derive(Debug)]
pub enum Op {
    /// Matches nothing.
    NoMatch,
    /// Matches the empty string.
    Empty,
    /// A sequence of code points. It may contain surrogates, which match nothing.
    Literal {
        /// The code points; if `fold`, the smallest one of each folding orbit.
        runes: Vec<u32>,
        /// True if matching is case-insensitive.
        fold: bool,
    },
    /// One code point of a class.
    Class(Ranges),
    /// Any code point except a newline.
    AnyNotNewline,
    /// Any code point.
    Any,
    /// An assertion about the position.
    Assertion(Assertion),
    /// `(…)`. Nobody asks for the text of a group, but Go counts it as an instruction and as a level.
    Capture(Box<RegexpNode>),
    /// `x*`
    Star(Box<RegexpNode>, Greediness),
    /// `x+`
    Plus(Box<RegexpNode>, Greediness),
    /// `x?`
    Quest(Box<RegexpNode>, Greediness),
    /// `x{min,max}`
    Repeat {
        /// The minimum count.
        min: u32,
        /// The maximum count; `None` if unbounded.
        max: Option<u32>,
        greediness: Greediness,
        /// The repeated node.
        sub: Box<RegexpNode>,
    },
    /// A concatenation.
    Concat(Vec<RegexpNode>),
    /// Alternatives in order of preference.
    Alternate(Vec<RegexpNode>),
}

/// An assertion about the position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Assertion {
    /// `(?m)^`
    LineStart,
    /// `(?m)$`
    LineEnd,
    /// `\A`, `^`
    Start,
    /// `\z`, `$`
    End,
    /// `\b`
    Word,
    /// `\B`
    NotWord,
}

/// The greediness of a repetition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Greediness {
    /// Prefers the longest match.
    Greedy,
    /// Prefers the shortest match.
    Lazy,
}

impl RegexpNode {
    /// Creates a node without measures.
    pub fn new(op: Op) -> Self {
        Self { op, height: 0, size: 0 }
    }

    /// Resets the measures of this node; those of its children are kept.
    pub fn changed(&mut self) {
        self.height = 0;
    }

    /// The number of children, which measuring visits.
    pub(crate) fn width(&self) -> usize {
        match &self.op {
            Op::Concat(subs) | Op::Alternate(subs) => subs.len(),
            _ => 1,
        }
    }

    /// The number of instructions of a [`Program`](super::vm::Program), with repetitions as often as they repeat.
    pub fn instructions(&self) -> u64 {
        match &self.op {
            Op::Literal { runes, .. } => (runes.len() as u64).max(1),
            Op::Capture(sub) => sub.instructions(),
            Op::Star(sub, _) | Op::Plus(sub, _) | Op::Quest(sub, _) => sub.instructions().saturating_add(2),
            Op::Repeat { min, max, sub, .. } => {
                let most = u64::from(max.unwrap_or(*min).max(1));
                let splits = most.saturating_sub(u64::from(*min));
                sub.instructions().saturating_mul(most).saturating_add(splits).saturating_add(2)
            }
            Op::Concat(subs) | Op::Alternate(subs) => {
                subs.iter().fold(0, |sum: u64, sub| sum.saturating_add(sub.instructions()).saturating_add(1))
            }
            _ => 1,
        }
    }

    fn children(&mut self) -> &mut [RegexpNode] {
        match &mut self.op {
            Op::Capture(sub) | Op::Star(sub, _) | Op::Plus(sub, _) | Op::Quest(sub, _) | Op::Repeat { sub, .. } => {
                std::slice::from_mut(sub)
            }
            Op::Concat(subs) | Op::Alternate(subs) => subs,
            _ => &mut [],
        }
    }

    /// Computes the height; measures of children are reused.
    pub(crate) fn measure_height(&mut self) -> u32 {
        let below = self.children().iter_mut().map(RegexpNode::height).max().unwrap_or(0);
        self.height = below + 1;
        self.height
    }

    /// The height, computed on first use.
    pub fn height(&mut self) -> u32 {
        if self.height == 0 { self.measure_height() } else { self.height }
    }

    fn size(&mut self) -> i64 {
        if self.size == 0 { self.measure_size() } else { self.size }
    }

    /// Computes the size; measures of children are reused.
    pub(crate) fn measure_size(&mut self) -> i64 {
        let size = match &mut self.op {
            Op::Literal { runes, .. } => runes.len() as i64,
            Op::Capture(sub) | Op::Star(sub, _) => 2 + sub.size(),
            Op::Plus(sub, _) | Op::Quest(sub, _) => 1 + sub.size(),
            Op::Concat(subs) => subs.iter_mut().map(RegexpNode::size).sum(),
            Op::Alternate(subs) => subs.iter_mut().map(|s| 1 + s.size()).sum::<i64>() - 1,
            Op::Repeat { min, max, sub, .. } => {
                let (min, sub) = (i64::from(*min), sub.size());
                match max {
                    None if min == 0 => 2 + sub,
                    None => min.saturating_mul(sub).saturating_add(1),
                    Some(max) => i64::from(*max).saturating_mul(sub).saturating_add(i64::from(*max) - min),
                }
            }
            _ => 1,
        };
        self.size = size.max(1);
        self.size
    }

    /// The number of states and of ranges of runes, with repetitions as often as they repeat.
    pub fn weight(&mut self) -> u64 {
        let of = |weight: u64| weight.max(1);
        match &mut self.op {
            Op::Literal { runes, .. } => of(runes.len() as u64),
            Op::Class(ranges) => of(ranges.len() as u64),
            Op::Repeat { min, max, sub, .. } => {
                sub.weight().saturating_mul(u64::from(max.unwrap_or(*min).max(*min)).max(1)).saturating_add(1)
            }
            _ => self.children().iter_mut().fold(1, |sum: u64, sub| sum.saturating_add(sub.weight())),
        }
    }

    /// Returns true for a single code point or a class.
    pub(crate) fn is_class(&self) -> bool {
        match &self.op {
            Op::Literal { runes, .. } => runes.len() == 1,
            Op::Class(_) | Op::AnyNotNewline | Op::Any => true,
            _ => false,
        }
    }

    /// Returns true if both nodes are the same class, or the same repetition of the same class, which Go treats as a
    /// common prefix of alternatives.
    pub(crate) fn same_class(&self, other: &Self) -> bool {
        match (&self.op, &other.op) {
            (Op::Literal { runes: a, fold: f }, Op::Literal { runes: b, fold: g }) => a.len() == 1 && a == b && f == g,
            (Op::Class(a), Op::Class(b)) => a == b,
            (Op::AnyNotNewline, Op::AnyNotNewline) | (Op::Any, Op::Any) => true,
            (Op::Repeat { sub: mine, .. }, Op::Repeat { sub: theirs, .. }) => {
                self.fixed_count().is_some() && self.fixed_count() == other.fixed_count() && mine.same_class(theirs)
            }
            _ => false,
        }
    }

    /// The count `n` and the greediness of `x{n}`, if x is a class.
    fn fixed_count(&self) -> Option<(u32, Greediness)> {
        match &self.op {
            Op::Repeat { min, max, greediness, sub } if Some(*min) == *max && sub.is_class() => {
                Some((*min, *greediness))
            }
            _ => None,
        }
    }

    /// Returns true if nested repetitions make at most `limit` copies.
    pub(crate) fn repeats_within(&self, limit: u32) -> bool {
        match &self.op {
            Op::Repeat { min, max, sub, .. } => {
                let most = max.unwrap_or(*min);
                match max {
                    Some(0) => true,
                    _ if most > limit => false,
                    _ => sub.repeats_within(limit.checked_div(most).unwrap_or(limit)),
                }
            }
            Op::Capture(sub) | Op::Star(sub, _) | Op::Plus(sub, _) | Op::Quest(sub, _) => sub.repeats_within(limit),
            Op::Concat(subs) | Op::Alternate(subs) => subs.iter().all(|s| s.repeats_within(limit)),
            _ => true,
        }
    }
}
