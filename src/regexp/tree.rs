//! The syntax tree of a pattern, with the measures that Go limits.

use crate::value::unicode::Ranges;

/// A node.
#[derive(Debug)]
pub struct Node {
    /// What it is.
    pub op: Op,
    /// Levels of the tree below and including it; 0 until measured.
    height: u32,
    /// Instructions it compiles to, about; 0 until measured.
    size: i64,
}

/// What a node is.
#[derive(Debug)]
pub enum Op {
    /// Nothing matches.
    NoMatch,
    /// The empty text.
    Empty,
    /// These code points; surrogates are possible and match nothing.
    Literal {
        /// The code points, the smallest of each orbit when folded.
        runes: Vec<u32>,
        /// Case does not count.
        fold: bool,
    },
    /// One code point of a class.
    Class(Ranges),
    /// Any code point but a newline.
    AnyNotNewline,
    /// Any code point.
    Any,
    /// A place in the text.
    Look(Look),
    /// `(…)`
    Capture {
        /// From 1 on.
        index: usize,
        /// What is captured.
        sub: Box<Node>,
    },
    /// `x*`
    Star(Box<Node>, Greed),
    /// `x+`
    Plus(Box<Node>, Greed),
    /// `x?`
    Quest(Box<Node>, Greed),
    /// `x{min,max}`
    Repeat {
        /// At least.
        min: u32,
        /// At most; `None` for no limit.
        max: Option<u32>,
        /// Which length is tried first.
        greed: Greed,
        /// What is repeated.
        sub: Box<Node>,
    },
    /// One after the other.
    Concat(Vec<Node>),
    /// The first that matches.
    Alternate(Vec<Node>),
}

/// A place in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
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

/// Which length a repetition tries first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Greed {
    /// The longest.
    Greedy,
    /// The shortest.
    Lazy,
}

impl Node {
    /// A node not yet measured.
    pub fn new(op: Op) -> Self {
        Self { op, height: 0, size: 0 }
    }

    /// Forgets its measures; children keep theirs.
    pub fn changed(&mut self) {
        self.height = 0;
    }

    fn children(&mut self) -> &mut [Node] {
        match &mut self.op {
            Op::Capture { sub, .. }
            | Op::Star(sub, _)
            | Op::Plus(sub, _)
            | Op::Quest(sub, _)
            | Op::Repeat { sub, .. } => std::slice::from_mut(sub),
            Op::Concat(subs) | Op::Alternate(subs) => subs,
            _ => &mut [],
        }
    }

    /// Measures the height anew; children that were measured before are not looked at again.
    pub fn measure_height(&mut self) -> u32 {
        let below = self.children().iter_mut().map(Node::height).max().unwrap_or(0);
        self.height = below + 1;
        self.height
    }

    /// The height.
    pub fn height(&mut self) -> u32 {
        if self.height == 0 { self.measure_height() } else { self.height }
    }

    fn size(&mut self) -> i64 {
        if self.size == 0 { self.measure_size() } else { self.size }
    }

    /// Measures the size anew; children that were measured before are not looked at again.
    pub fn measure_size(&mut self) -> i64 {
        let size = match &mut self.op {
            Op::Literal { runes, .. } => runes.len() as i64,
            Op::Capture { sub, .. } | Op::Star(sub, _) => 2 + sub.size(),
            Op::Plus(sub, _) | Op::Quest(sub, _) => 1 + sub.size(),
            Op::Concat(subs) => subs.iter_mut().map(Node::size).sum(),
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

    /// A single code point or a class of them.
    pub fn is_class(&self) -> bool {
        match &self.op {
            Op::Literal { runes, .. } => runes.len() == 1,
            Op::Class(_) | Op::AnyNotNewline | Op::Any => true,
            _ => false,
        }
    }

    /// The same class, or the same count of the same class: what Go takes for a common first piece of alternatives.
    pub fn same_class(&self, other: &Self) -> bool {
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

    /// `n` and its greed of `x{n}` where x is a class.
    fn fixed_count(&self) -> Option<(u32, Greed)> {
        match &self.op {
            Op::Repeat { min, max, greed, sub } if Some(*min) == *max && sub.is_class() => Some((*min, *greed)),
            _ => None,
        }
    }

    /// Whether nested counts multiply to at most `limit` copies of anything.
    pub fn repeats_within(&self, limit: u32) -> bool {
        match &self.op {
            Op::Repeat { min, max, sub, .. } => {
                let most = max.unwrap_or(*min);
                match max {
                    Some(0) => true,
                    _ if most > limit => false,
                    _ => sub.repeats_within(limit.checked_div(most).unwrap_or(limit)),
                }
            }
            Op::Capture { sub, .. } | Op::Star(sub, _) | Op::Plus(sub, _) | Op::Quest(sub, _) => {
                sub.repeats_within(limit)
            }
            Op::Concat(subs) | Op::Alternate(subs) => subs.iter().all(|s| s.repeats_within(limit)),
            _ => true,
        }
    }
}
