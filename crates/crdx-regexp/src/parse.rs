//! Parses regular expressions like Go (`regexp/syntax.Parse` with the Perl flags), with its error messages.
//!
//! The parser uses a stack of nodes and open parentheses like Go's, because some errors depend on the order in which
//! nodes are combined: a repetition applies to the last character of a literal, `{n}` limits multiply through groups,
//! and the limits on depth and size are checked after common prefixes of alternatives were factored out
//! ([`factor`](super::factor)).

use super::class;
use super::tree::{Assertion, Greediness, Op, RegexpNode};
use crdx_value::unicode::{self as tables, Ranges};
use std::collections::{HashMap, HashSet};

/// The reason why a text is not used as a pattern.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// A syntax error with its source text, as Go writes it.
    #[error("error parsing regexp: {kind}: `{at}`")]
    Syntax {
        /// The reason.
        kind: &'static str,
        /// The part of the pattern.
        at: String,
    },
    /// Go combines all alternatives, and all parts of a sequence, again at every level of parentheses.
    #[error("the pattern needs more steps to be parsed than kubectl-crdx executes for its length")]
    Unfinished,
}

impl Error {
    pub(super) fn new(kind: &'static str, at: &str) -> Self {
        Self::Syntax { kind, at: at.to_owned() }
    }
}

pub(super) const BAD_RANGE: &str = "invalid character class range";
pub(super) const BAD_ESCAPE: &str = "invalid escape sequence";
pub(super) const TRAILING_BACKSLASH: &str = "trailing backslash at end of expression";
const BAD_NAME: &str = "invalid named capture";
const BAD_PERL: &str = "invalid or unsupported Perl syntax";
const BAD_REPEAT_OP: &str = "invalid nested repetition operator";
const BAD_REPEAT_SIZE: &str = "invalid repeat count";
const MISSING_BRACKET: &str = "missing closing ]";
const MISSING_PAREN: &str = "missing closing )";
const INVALID_UTF8: &str = "invalid UTF-8";
const MISSING_REPEAT_ARGUMENT: &str = "missing argument to repetition operator";
const UNEXPECTED_PAREN: &str = "unexpected )";
const TOO_DEEP: &str = "expression nests too deeply";
const TOO_LARGE: &str = "expression too large";

/// The maximum height of the tree.
pub(super) const MAX_HEIGHT: u32 = 1000;
/// The maximum number of instructions (Go's limit of 128 MB).
const MAX_SIZE: i64 = (128 << 20) / 40;
/// The maximum number of runes in all classes (Go's limit of 128 MB).
const MAX_RUNES: usize = (128 << 20) / 4;
/// The maximum count in `{n,m}`, and of copies made by nested counts.
const MAX_REPEAT: u32 = 1000;

/// The steps of a pattern: this number, and [`STEPS_PER_BYTE`]. A step is a node that is visited or moved.
const STEPS: usize = 10_000;
/// The steps for each byte, so that the time for the patterns of a CRD grows with its length only.
const STEPS_PER_BYTE: usize = 100;

/// An exceeded limit; the error message contains the whole pattern.
#[derive(Clone, Copy, Debug)]
pub(super) enum Limit {
    /// The tree is too high.
    Depth,
    /// The program is too large.
    Size,
    /// No steps are left.
    Steps,
}

/// The flags `i`, `m`, `s` and `U`. Go stores them as bits, so that `(?-…)` becomes a complement; the effect is the
/// same.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Flags {
    pub(super) fold: bool,
    multi_line: bool,
    dot_newline: bool,
    lazy: bool,
}

#[derive(Clone, Copy, Debug)]
enum ParenKind {
    /// `(…)`, `(?P<name>…)`
    Capture,
    /// `(?:…)`
    NoCapture,
}

#[derive(Debug)]
enum StackEntry {
    Node(RegexpNode),
    Paren { kind: ParenKind, flags: Flags },
    Bar,
}

/// Parses a pattern. If it was not UTF-8, `malformed` is the offset of the first U+FFFD that replaces a byte.
pub fn parse(pattern: &str, malformed: Option<usize>) -> Result<RegexpNode, Error> {
    let mut parser = Parser {
        source: pattern,
        malformed,
        flags: Flags::default(),
        stack: Vec::new(),
        allocated: 0,
        spare: 0,
        runes: 0,
        repeats: 1,
        measures_size: false,
        steps: pattern.len().saturating_mul(STEPS_PER_BYTE).saturating_add(STEPS),
        classes: HashMap::new(),
        in_brackets: HashSet::new(),
    };
    parser.run()
}

pub(super) struct Parser<'a> {
    source: &'a str,
    malformed: Option<usize>,
    pub(super) flags: Flags,
    stack: Vec<StackEntry>,
    /// The number of nodes that Go would have allocated, and how many of them are free: sizes are computed only above a
    /// number of nodes.
    allocated: i64,
    spare: i64,
    runes: usize,
    repeats: i64,
    measures_size: bool,
    /// The steps that are left.
    steps: usize,
    /// The named classes that the pattern has, with their case variants if the flag is true.
    pub(super) classes: HashMap<(String, bool), Ranges>,
    /// The names of the classes in the current brackets.
    pub(super) in_brackets: HashSet<String>,
}

impl<'a> Parser<'a> {
    /// The source from offset `at`.
    pub(super) fn rest(&self, at: usize) -> &'a str {
        self.source.get(at..).unwrap_or("")
    }

    /// The source between two offsets.
    pub(super) fn slice(&self, from: usize, to: usize) -> &'a str {
        self.source.get(from..to).unwrap_or("")
    }

    /// The byte at an offset.
    pub(super) fn byte(&self, at: usize) -> Option<u8> {
        self.source.as_bytes().get(at).copied()
    }

    /// The character at an offset, and the offset after it (`nextRune`).
    pub(super) fn next(&self, at: usize) -> Result<Option<(char, usize)>, Error> {
        if self.malformed == Some(at) {
            return Err(Error::new(INVALID_UTF8, self.rest(at)));
        }
        Ok(self.rest(at).chars().next().map(|c| (c, at + c.len_utf8())))
    }

    /// Returns an error if a byte between two offsets is not UTF-8 (`checkUTF8`).
    pub(super) fn check_utf8(&self, from: usize, to: usize) -> Result<(), Error> {
        match self.malformed {
            Some(at) if (from..to).contains(&at) => Err(Error::new(INVALID_UTF8, self.slice(at, to))),
            _ => Ok(()),
        }
    }

    fn whole(&self, limit: Limit) -> Error {
        let kind = match limit {
            Limit::Depth => TOO_DEEP,
            Limit::Size => TOO_LARGE,
            Limit::Steps => return Error::Unfinished,
        };
        Error::new(kind, self.source)
    }

    fn run(&mut self) -> Result<RegexpNode, Error> {
        let mut at = 0;
        let mut last_repeat = None;
        while let Some((c, after)) = self.next(at)? {
            let mut repeat = None;
            match c {
                '(' if self.byte(after) == Some(b'?') => at = self.group_flags(at)?,
                '(' => {
                    self.open(ParenKind::Capture)?;
                    at = after;
                }
                '|' => {
                    self.vertical_bar().map_err(|l| self.whole(l))?;
                    at = after;
                }
                ')' => {
                    self.right_paren()?;
                    at = after;
                }
                '^' | '$' | '.' => {
                    let op = match (c, self.flags.multi_line) {
                        ('^', true) => Op::Assertion(Assertion::LineStart),
                        ('^', false) => Op::Assertion(Assertion::Start),
                        ('$', true) => Op::Assertion(Assertion::LineEnd),
                        ('$', false) => Op::Assertion(Assertion::End),
                        _ if self.flags.dot_newline => Op::Any,
                        _ => Op::AnyNotNewline,
                    };
                    self.push_new(op).map_err(|l| self.whole(l))?;
                    at = after;
                }
                '[' => at = self.class(at)?,
                '*' | '+' | '?' => {
                    repeat = Some(at);
                    at = self.repeat(c, None, at, after, last_repeat)?;
                }
                '{' => match self.counts(at) {
                    None => {
                        self.literal('{' as u32).map_err(|l| self.whole(l))?;
                        at = after;
                    }
                    Some((min, max, end)) => {
                        let (Ok(min), Ok(max)) = (u32::try_from(min), max.map(u32::try_from).transpose()) else {
                            return Err(Error::new(BAD_REPEAT_SIZE, self.slice(at, end)));
                        };
                        if min > MAX_REPEAT || max.is_some_and(|max| max > MAX_REPEAT || min > max) {
                            return Err(Error::new(BAD_REPEAT_SIZE, self.slice(at, end)));
                        }
                        repeat = Some(at);
                        at = self.repeat(c, Some((min, max)), at, end, last_repeat)?;
                    }
                },
                '\\' => at = self.escaped(at)?,
                c => {
                    self.literal(c as u32).map_err(|l| self.whole(l))?;
                    at = after;
                }
            }
            last_repeat = repeat;
        }
        self.close_alternatives().map_err(|l| self.whole(l))?;
        match (self.stack.pop(), self.stack.is_empty()) {
            (Some(StackEntry::Node(node)), true) => Ok(node),
            _ => Err(Error::new(MISSING_PAREN, self.source)),
        }
    }

    /// Parses an escape sequence outside a class.
    fn escaped(&mut self, at: usize) -> Result<usize, Error> {
        let after = at + 2;
        let look = match self.byte(at + 1) {
            Some(b'A') => Some(Assertion::Start),
            Some(b'z') => Some(Assertion::End),
            Some(b'b') => Some(Assertion::Word),
            Some(b'B') => Some(Assertion::NotWord),
            Some(b'C') => return Err(Error::new(BAD_ESCAPE, self.slice(at, after))),
            Some(b'Q') => {
                let rest = self.rest(after);
                let (literal, end) = match rest.find("\\E") {
                    Some(i) => (self.slice(after, after + i), after + i + 2),
                    None => (rest, self.source.len()),
                };
                for (i, c) in literal.char_indices() {
                    self.check_utf8(after + i, after + literal.len())?;
                    self.literal(c as u32).map_err(|l| self.whole(l))?;
                }
                return Ok(end);
            }
            _ => None,
        };
        if let Some(look) = look {
            self.push_new(Op::Assertion(look)).map_err(|l| self.whole(l))?;
            return Ok(after);
        }
        let mut ranges = Ranges::new();
        self.in_brackets.clear();
        let end = match self.unicode_class(at, &mut ranges)? {
            Some(end) => Some(end),
            None => self.perl_class(at, &mut ranges),
        };
        if let Some(end) = end {
            self.push_new(Op::Class(ranges)).map_err(|l| self.whole(l))?;
            return Ok(end);
        }
        // Go allocates a node for the class before it knows that there is none.
        self.take();
        self.give_back(1);
        let (c, end) = self.escape(at)?;
        self.literal(c).map_err(|l| self.whole(l))?;
        Ok(end)
    }

    // Groups

    fn open(&mut self, kind: ParenKind) -> Result<(), Error> {
        self.take();
        self.join_literals(None);
        self.stack.push(StackEntry::Paren { kind, flags: self.flags });
        self.check_size(None).map_err(|l| self.whole(l))
    }

    /// Parses `(?i)`, `(?i:`, `(?P<name>` or `(?<name>`.
    fn group_flags(&mut self, at: usize) -> Result<usize, Error> {
        let text = self.rest(at);
        // Go requires one more character than necessary.
        let name_start = if text.starts_with("(?P<") && text.len() > 4 {
            Some(at + 4)
        } else if text.starts_with("(?<") && text.len() > 3 {
            Some(at + 3)
        } else {
            None
        };
        if let Some(name_start) = name_start {
            let end = text.find('>').map(|i| at + i);
            self.check_utf8(name_start, end.unwrap_or(self.source.len()))?;
            let Some(end) = end else { return Err(Error::new(BAD_NAME, text)) };
            let name = self.slice(name_start, end);
            if name.is_empty() || !name.bytes().all(|b| b == b'_' || b.is_ascii_alphanumeric()) {
                return Err(Error::new(BAD_NAME, self.slice(at, end + 1)));
            }
            self.open(ParenKind::Capture)?;
            return Ok(end + 1);
        }
        let mut flags = self.flags;
        let mut on = true;
        let mut saw_flag = false;
        let mut end = at + 2;
        while let Some((c, after)) = self.next(end)? {
            end = after;
            match c {
                'i' => flags.fold = on,
                'm' => flags.multi_line = on,
                's' => flags.dot_newline = on,
                'U' => flags.lazy = on,
                '-' if on => on = false,
                ':' | ')' if on || saw_flag => {
                    if c == ':' {
                        self.open(ParenKind::NoCapture)?;
                    }
                    self.flags = flags;
                    return Ok(after);
                }
                _ => break,
            }
            saw_flag = c != '-';
        }
        Err(Error::new(BAD_PERL, self.slice(at, end)))
    }

    fn right_paren(&mut self) -> Result<(), Error> {
        self.close_alternatives().map_err(|l| self.whole(l))?;
        let (Some(StackEntry::Node(inner)), Some(StackEntry::Paren { kind, flags })) =
            (self.stack.pop(), self.stack.pop())
        else {
            return Err(Error::new(UNEXPECTED_PAREN, self.source));
        };
        self.flags = flags;
        let node = match kind {
            ParenKind::Capture => RegexpNode::new(Op::Capture(Box::new(inner))),
            ParenKind::NoCapture => inner,
        };
        self.push(node).map_err(|l| self.whole(l))
    }

    // Repetition

    /// Parses `{min,max}`; returns the counts and the offset after it, or `None` for literal text. A count out of range
    /// is -1.
    fn counts(&self, at: usize) -> Option<(i64, Option<i64>, usize)> {
        let (min, at) = self.count(at + 1)?;
        let (max, at) = match self.byte(at)? {
            b',' if self.byte(at + 1)? == b'}' => (None, at + 1),
            b',' => {
                let (max, at) = self.count(at + 1)?;
                (Some(max), at)
            }
            _ => (Some(min), at),
        };
        (self.byte(at)? == b'}').then_some((min, max, at + 1))
    }

    fn count(&self, at: usize) -> Option<(i64, usize)> {
        let length = self.rest(at).bytes().take_while(u8::is_ascii_digit).count();
        let digits = self.slice(at, at + length);
        if digits.is_empty() || (length > 1 && digits.starts_with('0')) {
            return None;
        }
        let value = digits.bytes().try_fold(0, |n: i64, b| (n < 100_000_000).then_some(n * 10 + i64::from(b - b'0')));
        Some((value.unwrap_or(-1), at + length))
    }

    /// Repeats the top of the stack; `at` and `end` are the offsets of the operator.
    fn repeat(
        &mut self,
        operator: char,
        counts: Option<(u32, Option<u32>)>,
        at: usize,
        mut end: usize,
        last_repeat: Option<usize>,
    ) -> Result<usize, Error> {
        let mut lazy = self.flags.lazy;
        if self.byte(end) == Some(b'?') {
            end += 1;
            lazy = !lazy;
        }
        if let Some(last) = last_repeat {
            return Err(Error::new(BAD_REPEAT_OP, self.slice(last, end)));
        }
        if !matches!(self.stack.last(), Some(StackEntry::Node(_))) {
            return Err(Error::new(MISSING_REPEAT_ARGUMENT, self.slice(at, end)));
        }
        let Some(StackEntry::Node(sub)) = self.stack.pop() else {
            return Err(Error::new(MISSING_REPEAT_ARGUMENT, self.slice(at, end)));
        };
        let sub = Box::new(sub);
        let greediness = if lazy { Greediness::Lazy } else { Greediness::Greedy };
        let op = match (operator, counts) {
            ('*', _) => Op::Star(sub, greediness),
            ('+', _) => Op::Plus(sub, greediness),
            (_, None) => Op::Quest(sub, greediness),
            (_, Some((min, max))) => Op::Repeat { min, max, greediness, sub },
        };
        self.take();
        let mut node = RegexpNode::new(op);
        self.check_limits(&mut node).map_err(|l| self.whole(l))?;
        let valid = match counts {
            Some((min, max)) if min >= 2 || max.is_some_and(|m| m >= 2) => node.repeats_within(MAX_REPEAT),
            _ => true,
        };
        self.stack.push(StackEntry::Node(node));
        if !valid {
            return Err(Error::new(BAD_REPEAT_SIZE, self.slice(at, end)));
        }
        Ok(end)
    }

    // Stack

    fn take(&mut self) {
        if self.spare > 0 {
            self.spare -= 1;
        } else {
            self.allocated += 1;
        }
    }

    /// Creates a node and counts the allocation that Go would make.
    pub(super) fn new_node(&mut self, op: Op) -> RegexpNode {
        self.take();
        RegexpNode::new(op)
    }

    /// Takes the steps for visiting or moving nodes.
    pub(super) fn visit(&mut self, count: usize) -> Result<(), Limit> {
        self.steps = self.steps.checked_sub(count).ok_or(Limit::Steps)?;
        Ok(())
    }

    /// Counts nodes that Go would reuse.
    pub(super) fn give_back(&mut self, count: usize) {
        self.spare += count as i64;
    }

    fn literal(&mut self, c: u32) -> Result<(), Limit> {
        let fold = self.flags.fold;
        let c = if fold { tables::min_fold(c) } else { c };
        self.push_new(Op::Literal { runes: vec![c], fold })
    }

    fn push_new(&mut self, op: Op) -> Result<(), Limit> {
        let node = self.new_node(op);
        self.push(node)
    }

    fn push(&mut self, mut node: RegexpNode) -> Result<(), Limit> {
        match &node.op {
            Op::Class(ranges) => {
                self.runes += 2 * ranges.len();
                // A class of one letter, or of its two case variants, is a literal.
                if let Some((c, fold)) = single(ranges) {
                    if self.join_literals(Some((c, fold))) {
                        return Ok(());
                    }
                    node.op = Op::Literal { runes: vec![c], fold };
                } else {
                    self.join_literals(None);
                }
            }
            op => {
                if let Op::Literal { runes, .. } = op {
                    self.runes += runes.len();
                }
                self.join_literals(None);
            }
        }
        self.check_limits(&mut node)?;
        self.stack.push(StackEntry::Node(node));
        Ok(())
    }

    /// Joins the two literals on top of the stack once no repetition can apply to the first. If they were joined and
    /// `next` is given, pushes `next` and returns true.
    fn join_literals(&mut self, next: Option<(u32, bool)>) -> bool {
        let [.., StackEntry::Node(first), StackEntry::Node(second)] = self.stack.as_mut_slice() else { return false };
        let (Op::Literal { runes: a, fold: f }, Op::Literal { runes: b, fold: g }) = (&mut first.op, &mut second.op)
        else {
            return false;
        };
        if f != g {
            return false;
        }
        a.append(b);
        if let Some((c, fold)) = next {
            second.op = Op::Literal { runes: vec![c], fold };
            return true;
        }
        self.stack.pop();
        self.give_back(1);
        false
    }

    /// Pops the nodes above the last open parenthesis or bar.
    fn pop_nodes(&mut self) -> Vec<RegexpNode> {
        let start = self.stack.iter().rposition(|e| !matches!(e, StackEntry::Node(_))).map_or(0, |i| i + 1);
        self.stack
            .drain(start..)
            .filter_map(|e| if let StackEntry::Node(node) = e { Some(node) } else { None })
            .collect()
    }

    fn concat(&mut self) -> Result<(), Limit> {
        self.join_literals(None);
        let nodes = self.pop_nodes();
        if nodes.is_empty() {
            return self.push_new(Op::Empty);
        }
        let node = self.collapse_concat(nodes)?;
        self.push(node)
    }

    fn collapse_concat(&mut self, mut nodes: Vec<RegexpNode>) -> Result<RegexpNode, Limit> {
        if nodes.len() == 1
            && let Some(node) = nodes.pop()
        {
            return Ok(node);
        }
        self.take();
        let mut subs = Vec::with_capacity(nodes.len());
        for node in nodes {
            if let Op::Concat(inner) = node.op {
                self.visit(inner.len())?;
                subs.extend(inner);
                self.give_back(1);
            } else {
                subs.push(node);
            }
        }
        Ok(RegexpNode::new(Op::Concat(subs)))
    }

    fn vertical_bar(&mut self) -> Result<(), Limit> {
        self.concat()?;
        if !self.swap_bar() {
            self.take();
            self.stack.push(StackEntry::Bar);
            self.check_size(None)?;
        }
        Ok(())
    }

    /// Moves the alternative on top of the stack below the bar; merges it with the alternative there if both are
    /// classes.
    fn swap_bar(&mut self) -> bool {
        if !matches!(self.stack.as_slice(), [.., StackEntry::Bar, StackEntry::Node(_)]) {
            return false;
        }
        let Some(StackEntry::Node(mut top)) = self.stack.pop() else { return false };
        self.stack.pop();
        match self.stack.last_mut() {
            Some(StackEntry::Node(below)) if below.is_class() && top.is_class() => {
                super::union::merge_classes(below, &mut top);
                self.give_back(1);
            }
            below => {
                if let Some(StackEntry::Node(below)) = below {
                    super::union::clean_class(below);
                }
                self.stack.push(StackEntry::Node(top));
            }
        }
        self.stack.push(StackEntry::Bar);
        true
    }

    /// Combines all alternatives above the last open parenthesis.
    fn close_alternatives(&mut self) -> Result<(), Limit> {
        self.concat()?;
        if self.swap_bar() {
            self.stack.pop();
        }
        let mut nodes = self.pop_nodes();
        if let Some(last) = nodes.last_mut() {
            super::union::clean_class(last);
        }
        if nodes.is_empty() {
            return self.push_new(Op::NoMatch);
        }
        let node = self.collapse_alternatives(nodes, 0)?;
        self.push(node)
    }

    // Limits

    pub(super) fn check_limits(&mut self, node: &mut RegexpNode) -> Result<(), Limit> {
        if self.runes > MAX_RUNES {
            return Err(Limit::Size);
        }
        self.visit(node.width())?;
        self.check_size(Some(node))?;
        if node.measure_height() > MAX_HEIGHT { Err(Limit::Depth) } else { Ok(()) }
    }

    fn check_size(&mut self, node: Option<&mut RegexpNode>) -> Result<(), Limit> {
        if !self.measures_size {
            if let Some(RegexpNode { op: Op::Repeat { min, max, .. }, .. }) = &node {
                let most = i64::from(max.unwrap_or(*min)).max(1);
                self.repeats = if most > MAX_SIZE / self.repeats { MAX_SIZE } else { self.repeats * most };
            }
            if self.allocated < MAX_SIZE / self.repeats {
                return Ok(());
            }
            self.measures_size = true;
            for entry in &mut self.stack {
                if let StackEntry::Node(node) = entry
                    && node.measure_size() > MAX_SIZE
                {
                    return Err(Limit::Size);
                }
            }
        }
        if node.is_some_and(|node| node.measure_size() > MAX_SIZE) { Err(Limit::Size) } else { Ok(()) }
    }

    // Classes

    /// Parses a bracketed class at an offset.
    fn class(&mut self, start: usize) -> Result<usize, Error> {
        let mut at = start + 1;
        let negated = self.byte(at) == Some(b'^');
        at += usize::from(negated);
        let mut ranges = Ranges::new();
        self.in_brackets.clear();
        let mut cleaned = class::FEW_RANGES;
        let mut first = true;
        while first || self.byte(at) != Some(b']') {
            first = false;
            // Ranges may be added many times.
            if ranges.len() > 2 * cleaned {
                class::clean(&mut ranges);
                cleaned = ranges.len().max(class::FEW_RANGES);
            }
            if let Some(end) = self.posix_class(at, &mut ranges)? {
                at = end;
                continue;
            }
            if let Some(end) = self.unicode_class(at, &mut ranges)? {
                at = end;
                continue;
            }
            if let Some(end) = self.perl_class(at, &mut ranges) {
                at = end;
                continue;
            }
            let (lo, mut end) = self.class_char(at, start)?;
            let mut hi = lo;
            // `[a-]` matches a and -.
            if self.byte(end) == Some(b'-') && !matches!(self.byte(end + 1), None | Some(b']')) {
                (hi, end) = self.class_char(end + 1, start)?;
                if hi < lo {
                    return Err(Error::new(BAD_RANGE, self.slice(at, end)));
                }
            }
            if self.flags.fold {
                self.visit(tables::foldable(lo, hi).count() / 2).map_err(|l| self.whole(l))?;
                class::add_folded_range(&mut ranges, lo, hi);
            } else {
                class::add_range(&mut ranges, lo, hi);
            }
            at = end;
        }
        class::clean(&mut ranges);
        if negated {
            ranges = class::negate(&ranges);
        }
        self.push_new(Op::Class(ranges)).map_err(|l| self.whole(l))?;
        Ok(at + 1)
    }

    fn class_char(&self, at: usize, class_start: usize) -> Result<(u32, usize), Error> {
        match self.next(at)? {
            None => Err(Error::new(MISSING_BRACKET, self.rest(class_start))),
            Some(('\\', _)) => self.escape(at),
            Some((c, end)) => Ok((c as u32, end)),
        }
    }
}

/// The letter of a class of one letter, or the smaller letter of a class of two case variants; the flag is true in the
/// latter case.
fn single(ranges: &[(u32, u32)]) -> Option<(u32, bool)> {
    let (lo, hi) = match ranges {
        [(lo, hi)] if lo == hi => return Some((*lo, false)),
        [(lo, hi)] if lo + 1 == *hi => (*lo, *hi),
        [(a, b), (c, d)] if a == b && c == d => (*a, *c),
        _ => return None,
    };
    (tables::simple_fold(lo) == hi && tables::simple_fold(hi) == lo).then_some((lo, true))
}
