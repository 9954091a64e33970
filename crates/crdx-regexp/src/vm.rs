//! A backtracking-free virtual machine (Pike VM): one instruction per code point, all threads in lockstep, and time linear
//! in the length of text and pattern.
//!
//! It executes patterns that match little text, because it needs no automaton, and patterns that are too large for an
//! automaton (`\pL{1000}` is 1000 instructions here but megabytes of states there) or nested too deeply for it.

use super::class;
use super::tree::{Assertion, Greediness, Op, RegexpNode};
use crdx_value::unicode::{MAX, Ranges};
use std::sync::Arc;

/// A compiled program.
#[derive(Debug)]
pub struct Program {
    code: Vec<Inst>,
    /// The most code points of a text that the program can match; longer paths are not compiled.
    reach: u64,
}

// Addresses have 32 bits, so that an instruction has 16 bytes; Go's limit on the size of patterns is far lower.
#[derive(Clone, Debug)]
enum Inst {
    /// Matches a code point of the class.
    Class(Arc<Ranges>),
    /// Matches this code point.
    Char(u32),
    /// Continues at the first target, then at the second.
    Split(u32, u32),
    Jump(u32),
    /// The start or the end of the match.
    Save(u8),
    Assertion(Assertion),
    Match,
    Fail,
}

/// Threads by priority, each with the boundaries of its match.
struct Threads {
    /// The position in `list` of each instruction; valid only if the entry there points back.
    index_of: Vec<u32>,
    list: Vec<u32>,
    slots: Vec<Option<usize>>,
    width: usize,
}

impl Threads {
    fn new(size: usize, width: usize) -> Self {
        Self { index_of: vec![0; size], list: Vec::new(), slots: Vec::new(), width }
    }
    /// Adds an instruction unless it is already in the set.
    fn insert(&mut self, pc: u32) -> bool {
        let Some(index) = self.index_of.get_mut(pc as usize) else { return false };
        if self.list.get(*index as usize) == Some(&pc) {
            return false;
        }
        *index = self.list.len() as u32;
        self.list.push(pc);
        self.slots.resize(self.list.len() * self.width, None);
        true
    }
    fn clear(&mut self) {
        self.list.clear();
        self.slots.clear();
    }
    fn slots_of(&self, thread: usize) -> &[Option<usize>] {
        self.slots.get(thread * self.width..(thread + 1) * self.width).unwrap_or(&[])
    }
    fn set_last_slots(&mut self, slots: &[Option<usize>]) {
        let start = self.slots.len() - self.width;
        if let Some(last) = self.slots.get_mut(start..) {
            last.copy_from_slice(slots);
        }
    }
}

/// A pending step while following instructions that consume no input.
enum PendingStep {
    Go(u32),
    Restore(u8, Option<usize>),
}

impl Program {
    /// Compiles a tree.
    pub fn new(tree: &RegexpNode) -> Self {
        Self::with_reach(tree, u64::MAX)
    }

    /// Compiles a tree only as far as texts of at most `reach` code points can get: such a text matches the program if it
    /// matches the pattern, but the boundaries of the match may differ.
    pub fn with_reach(tree: &RegexpNode, reach: u64) -> Self {
        let mut program = Self { code: Vec::new(), reach };
        program.code.push(Inst::Save(0));
        program.emit(tree);
        program.code.push(Inst::Save(1));
        program.code.push(Inst::Match);
        program
    }

    /// True if the program can decide whether a text of `length` bytes matches.
    pub fn reaches(&self, length: usize) -> bool {
        self.reach >= length as u64
    }

    /// The memory of the instructions in bytes.
    pub fn memory(&self) -> usize {
        self.code.len() * size_of::<Inst>()
    }

    /// The address of the next instruction.
    fn next(&self) -> u32 {
        self.code.len() as u32
    }

    fn set(&mut self, at: u32, inst: Inst) {
        if let Some(target) = self.code.get_mut(at as usize) {
            *target = inst;
        }
    }

    fn split(&mut self, at: u32, enter: u32, skip: u32, greediness: Greediness) {
        let inst = if greediness == Greediness::Greedy { Inst::Split(enter, skip) } else { Inst::Split(skip, enter) };
        self.set(at, inst);
    }

    /// Reserves an instruction that is set later.
    fn reserve(&mut self) -> u32 {
        self.code.push(Inst::Fail);
        self.next() - 1
    }

    fn class(&mut self, ranges: Ranges) {
        self.code.push(Inst::Class(Arc::new(ranges)));
    }

    fn plus(&mut self, sub: &RegexpNode, greediness: Greediness) -> u64 {
        let start = self.next();
        let least = self.emit(sub);
        let split = self.reserve();
        self.split(split, start, split + 1, greediness);
        least
    }

    fn quest(&mut self, greediness: Greediness, body: impl FnOnce(&mut Self)) {
        let split = self.reserve();
        body(self);
        self.split(split, split + 1, self.next(), greediness);
    }

    fn star(&mut self, sub: &RegexpNode, greediness: Greediness) {
        if can_be_empty(sub) {
            // Compiled as `(x+)?`, so that an empty match of the body is not repeated.
            self.quest(greediness, |program| {
                program.plus(sub, greediness);
            });
            return;
        }
        let split = self.reserve();
        self.emit(sub);
        self.code.push(Inst::Jump(split));
        self.split(split, split + 1, self.next(), greediness);
    }

    /// Emits the instructions of a node; returns the least number of code points that it matches.
    fn emit(&mut self, node: &RegexpNode) -> u64 {
        match &node.op {
            Op::NoMatch => self.code.push(Inst::Fail),
            Op::Empty => return 0,
            Op::Literal { runes, fold } => {
                let reach = usize::try_from(self.reach).unwrap_or(usize::MAX).saturating_add(1);
                runes.iter().take(reach).for_each(|&c| self.literal(c, *fold));
                return runes.len() as u64;
            }
            Op::Class(ranges) => self.class(ranges.clone()),
            Op::AnyNotNewline => self.class(vec![(0, 0x9), (0xB, MAX)]),
            Op::Any => self.class(vec![(0, MAX)]),
            Op::Assertion(look) => {
                self.code.push(Inst::Assertion(*look));
                return 0;
            }
            Op::Capture(sub) => return self.emit(sub),
            Op::Star(sub, greediness) => {
                self.star(sub, *greediness);
                return 0;
            }
            Op::Plus(sub, greediness) => return self.plus(sub, *greediness),
            Op::Quest(sub, greediness) => {
                self.quest(*greediness, |program| {
                    program.emit(sub);
                });
                return 0;
            }
            Op::Repeat { min, max, greediness, sub } => return self.repeat(*min, *max, *greediness, sub),
            Op::Concat(subs) => {
                return subs.iter().fold(0, |sum: u64, sub| sum.saturating_add(self.emit(sub)));
            }
            Op::Alternate(subs) => return self.alternate(subs),
        }
        1
    }

    fn literal(&mut self, c: u32, fold: bool) {
        let mut ranges = Ranges::new();
        if fold {
            class::add_folded_range(&mut ranges, c, c);
            class::clean(&mut ranges);
        }
        match ranges.as_slice() {
            [] => self.code.push(Inst::Char(c)),
            [(lo, hi)] if lo == hi => self.code.push(Inst::Char(c)),
            _ => self.class(ranges),
        }
    }

    fn alternate(&mut self, subs: &[RegexpNode]) -> u64 {
        let mut ends = Vec::with_capacity(subs.len());
        let mut least = u64::MAX;
        for (i, sub) in subs.iter().enumerate() {
            if i + 1 == subs.len() {
                least = least.min(self.emit(sub));
                break;
            }
            let split = self.reserve();
            least = least.min(self.emit(sub));
            ends.push(self.reserve());
            self.set(split, Inst::Split(split + 1, self.next()));
        }
        for end in ends {
            self.set(end, Inst::Jump(self.next()));
        }
        least
    }

    /// The number of copies of a repeated node that texts within reach can distinguish from more copies. `least` is the
    /// least number of code points that the node matches.
    fn distinct_copies(&self, least: u64) -> u32 {
        let copies = match self.reach.checked_div(least) {
            // One more than fits into the text.
            Some(fitting) => fitting.saturating_add(1),
            // One for each code point and an empty one at each position.
            None => self.reach.saturating_mul(2).saturating_add(1),
        };
        u32::try_from(copies).unwrap_or(u32::MAX)
    }

    /// Emits a copy of the instructions of a repeated node. Copies share their classes.
    fn copy(&mut self, (start, end): (u32, u32)) {
        let shift = self.next() - start;
        for i in start..end {
            let inst = match self.code.get(i as usize).cloned() {
                Some(Inst::Split(a, b)) => Inst::Split(a + shift, b + shift),
                Some(Inst::Jump(a)) => Inst::Jump(a + shift),
                Some(inst) => inst,
                None => Inst::Fail,
            };
            self.code.push(inst);
        }
    }

    fn repeat(&mut self, min: u32, max: Option<u32>, greediness: Greediness, sub: &RegexpNode) -> u64 {
        let most = max.unwrap_or(min);
        if most == 0 {
            if max.is_none() {
                self.star(sub, greediness);
            }
            return 0;
        }
        let mut splits = Vec::new();
        if min == 0 {
            splits.push(self.reserve());
        }
        let start = self.next();
        let least = self.emit(sub);
        let first = (start, self.next());
        let distinct = self.distinct_copies(least);
        let (min, most) = (min.min(distinct), most.min(distinct));
        for i in 1..most {
            if i >= min {
                splits.push(self.reserve());
            }
            self.copy(first);
        }
        let end = self.next();
        if max.is_none() {
            // The last copy is repeated.
            let split = self.reserve();
            self.split(split, end - (first.1 - first.0), split + 1, greediness);
        }
        for split in splits {
            self.split(split, split + 1, end, greediness);
        }
        u64::from(min).saturating_mul(least)
    }

    /// Finds the first match at or after `start`, and stores its boundaries if `slots` has room for them.
    pub fn run(&self, text: &str, start: usize, slots: &mut [Option<usize>]) -> bool {
        self.run_within(text, start, slots, &mut { u64::MAX }).unwrap_or(false)
    }

    /// As [`Self::run`], in at most `steps` instructions, which are taken from it. `None` if they do not suffice.
    pub fn run_within(&self, text: &str, start: usize, slots: &mut [Option<usize>], steps: &mut u64) -> Option<bool> {
        let width = slots.len();
        // The addresses of both sets of threads are cleared.
        *steps = steps.checked_sub(self.code.len() as u64)?;
        let mut now = Threads::new(self.code.len(), width);
        let mut then = Threads::new(self.code.len(), width);
        let mut stack = Vec::new();
        let mut current = vec![None; width];
        let mut matched = false;
        let mut before = text.get(..start).and_then(|t| t.chars().next_back());
        let mut rest = text.get(start..).unwrap_or("").char_indices();
        loop {
            let next = rest.next();
            let at = next.map_or(text.len(), |(i, _)| start + i);
            let after = next.map(|(_, c)| c);
            if now.list.is_empty() && matched {
                return Some(true);
            }
            *steps = steps.checked_sub(now.list.len() as u64 + 1)?;
            if !matched {
                current.fill(None);
                self.follow(0, at, before, after, &mut now, &mut current, &mut stack);
            }
            let after_char = at + after.map_or(0, char::len_utf8);
            for thread in 0..now.list.len() {
                let Some(pc) = now.list.get(thread).copied() else { break };
                match (self.code.get(pc as usize), after) {
                    (Some(Inst::Match), _) => {
                        slots.copy_from_slice(now.slots_of(thread));
                        matched = true;
                        if width == 0 {
                            return Some(true);
                        }
                        break;
                    }
                    (Some(Inst::Char(c)), Some(found)) if *c == found as u32 => {}
                    (Some(Inst::Class(ranges)), Some(found)) if in_class(ranges, found as u32) => {}
                    _ => continue,
                }
                let upcoming = rest.clone().next().map(|(_, c)| c);
                current.copy_from_slice(now.slots_of(thread));
                self.follow(pc + 1, after_char, after, upcoming, &mut then, &mut current, &mut stack);
            }
            if after.is_none() {
                return Some(matched);
            }
            before = after;
            std::mem::swap(&mut now, &mut then);
            then.clear();
        }
    }

    /// Adds a thread and, by priority, all threads reachable from it without consuming input.
    #[expect(clippy::too_many_arguments)]
    fn follow(
        &self,
        pc: u32,
        at: usize,
        before: Option<char>,
        after: Option<char>,
        threads: &mut Threads,
        slots: &mut [Option<usize>],
        stack: &mut Vec<PendingStep>,
    ) {
        stack.push(PendingStep::Go(pc));
        while let Some(step) = stack.pop() {
            let mut pc = match step {
                PendingStep::Go(pc) => pc,
                PendingStep::Restore(slot, value) => {
                    if let Some(target) = slots.get_mut(usize::from(slot)) {
                        *target = value;
                    }
                    continue;
                }
            };
            while threads.insert(pc) {
                match self.code.get(pc as usize) {
                    Some(Inst::Split(first, second)) => {
                        stack.push(PendingStep::Go(*second));
                        pc = *first;
                    }
                    Some(Inst::Jump(to)) => pc = *to,
                    Some(Inst::Save(slot)) => {
                        if let Some(target) = slots.get_mut(usize::from(*slot)) {
                            stack.push(PendingStep::Restore(*slot, *target));
                            *target = Some(at);
                        }
                        pc += 1;
                    }
                    Some(Inst::Assertion(look)) if looks(*look, before, after) => pc += 1,
                    Some(Inst::Match | Inst::Char(_) | Inst::Class(_)) => {
                        threads.set_last_slots(slots);
                        break;
                    }
                    _ => break,
                }
            }
        }
    }
}

fn in_class(ranges: &[(u32, u32)], c: u32) -> bool {
    let i = ranges.partition_point(|&(_, hi)| hi < c);
    ranges.get(i).is_some_and(|&(lo, _)| lo <= c)
}

fn looks(look: Assertion, before: Option<char>, after: Option<char>) -> bool {
    let word = |c: Option<char>| c.is_some_and(|c| c == '_' || c.is_ascii_alphanumeric());
    match look {
        Assertion::Start => before.is_none(),
        Assertion::End => after.is_none(),
        Assertion::LineStart => matches!(before, None | Some('\n')),
        Assertion::LineEnd => matches!(after, None | Some('\n')),
        Assertion::Word => word(before) != word(after),
        Assertion::NotWord => word(before) == word(after),
    }
}

fn can_be_empty(node: &RegexpNode) -> bool {
    match &node.op {
        Op::NoMatch | Op::Literal { .. } | Op::Class(_) | Op::AnyNotNewline | Op::Any => false,
        Op::Empty | Op::Assertion(_) | Op::Star(..) | Op::Quest(..) => true,
        Op::Capture(sub) | Op::Plus(sub, _) => can_be_empty(sub),
        Op::Repeat { min, sub, .. } => *min == 0 || can_be_empty(sub),
        Op::Concat(subs) => subs.iter().all(can_be_empty),
        Op::Alternate(subs) => subs.iter().any(can_be_empty),
    }
}
