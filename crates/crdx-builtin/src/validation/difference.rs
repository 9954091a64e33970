//! The difference of two values as a unified diff of their indented JSON (`Diff` in `k8s.io/apimachinery/pkg/util/diff`,
//! which uses `pmezard/go-difflib`, a port of Python's `difflib`).

use crate::validation::field_value::FieldValue;
use crate::validation::internal;
use crdx_value::release::{Release, V1_34};
use std::collections::HashMap;
use std::fmt::Write as _;
use std::ops::Range;

/// The number of lines around changed lines.
const CONTEXT: usize = 3;
/// Texts with at least this many lines may have popular lines, which are not used to find blocks.
const MANY_LINES: usize = 200;
/// The maximum number of pairs of equal lines that are looked at. Go has no limit.
const MAX_STEPS: usize = 50_000_000;

/// The difference of two values of an internal type. Before 1.34, the server prints that of go-cmp, which contains random
/// spaces; here are both values instead.
pub fn of(type_: &str, old: &FieldValue<'_, '_>, new: &FieldValue<'_, '_>, release: Release) -> String {
    if !release.since(V1_34) {
        let print = |field: &FieldValue<'_, '_>| internal::to_json(type_, field.value, field.empties, release);
        return format!("{}\n{}", print(old), print(new));
    }
    let print = |field: &FieldValue<'_, '_>| internal::to_pretty_json(type_, field.value, field.empties, release);
    unified(&print(old), &print(new)).unwrap_or_default()
}

/// The unified diff of two texts; `None` if it takes too long.
pub fn unified(old: &str, new: &str) -> Option<String> {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.split('\n').collect(), new.split('\n').collect());
    let operations = operations(&Matcher::new(&old, &new).blocks()?);
    let mut out = String::new();
    for group in groups(operations) {
        let (Some(first), Some(last)) = (group.first(), group.last()) else { continue };
        let (removed, added) = (first.old.start..last.old.end, first.new.start..last.new.end);
        let _ = writeln!(out, "@@ -{} +{} @@", range(&removed), range(&added));
        for operation in &group {
            if operation.equal {
                lines(&mut out, ' ', &old, &operation.old);
            } else {
                lines(&mut out, '-', &old, &operation.old);
                lines(&mut out, '+', &new, &operation.new);
            }
        }
    }
    Some(out)
}

fn lines(out: &mut String, sign: char, all: &[&str], range: &Range<usize>) {
    for line in all.get(range.clone()).unwrap_or_default() {
        let _ = writeln!(out, "{sign}{line}");
    }
}

/// `formatRangeUnified`
fn range(range: &Range<usize>) -> String {
    match range.len() {
        1 => format!("{}", range.start + 1),
        0 => format!("{},0", range.start),
        length => format!("{},{length}", range.start + 1),
    }
}

/// Equal lines in both texts.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Block {
    old: usize,
    new: usize,
    size: usize,
}

/// `SequenceMatcher`
struct Matcher {
    old: Vec<usize>,
    new: Vec<usize>,
    /// The places of a line in the new text; none for popular lines.
    places: Vec<Vec<usize>>,
    steps: usize,
}

impl Matcher {
    fn new(old: &[&str], new: &[&str]) -> Self {
        let mut numbers: HashMap<&str, usize> = HashMap::new();
        for line in old.iter().chain(new) {
            let next = numbers.len();
            numbers.entry(line).or_insert(next);
        }
        let number = |lines: &[&str]| lines.iter().filter_map(|line| numbers.get(line).copied()).collect();
        let (old, new): (Vec<usize>, Vec<usize>) = (number(old), number(new));
        let mut places = vec![Vec::new(); numbers.len()];
        for (at, line) in new.iter().enumerate() {
            if let Some(places) = places.get_mut(*line) {
                places.push(at);
            }
        }
        if new.len() >= MANY_LINES {
            let popular = new.len() / 100 + 1;
            places.iter_mut().filter(|places| places.len() > popular).for_each(Vec::clear);
        }
        Self { old, new, places, steps: 0 }
    }

    /// `findLongestMatch`; `None` after too many steps.
    fn longest(&mut self, old: &Range<usize>, new: &Range<usize>) -> Option<Block> {
        let mut best = Block { old: old.start, new: new.start, size: 0 };
        // The lengths of the matches that end with the line above, by their last line in the new text.
        let mut lengths: Vec<(usize, usize)> = Vec::new();
        for at in old.clone() {
            let places = self.old.get(at).and_then(|line| self.places.get(*line)).map_or(&[][..], Vec::as_slice);
            let from = places.partition_point(|place| *place < new.start);
            let mut next = Vec::new();
            let mut before = lengths.iter().peekable();
            for place in places.get(from..).unwrap_or_default().iter().take_while(|place| **place < new.end) {
                self.steps += 1;
                while before.peek().is_some_and(|(end, _)| end + 1 < *place) {
                    before.next();
                }
                let length = before.peek().filter(|(end, _)| end + 1 == *place).map_or(1, |(_, length)| length + 1);
                next.push((*place, length));
                if length > best.size {
                    best = Block { old: at + 1 - length, new: place + 1 - length, size: length };
                }
            }
            if self.steps > MAX_STEPS {
                return None;
            }
            lengths = next;
        }
        let same = |old: usize, new: usize| self.old.get(old) == self.new.get(new);
        while best.old > old.start && best.new > new.start && same(best.old - 1, best.new - 1) {
            best = Block { old: best.old - 1, new: best.new - 1, size: best.size + 1 };
        }
        while best.old + best.size < old.end
            && best.new + best.size < new.end
            && same(best.old + best.size, best.new + best.size)
        {
            best.size += 1;
        }
        Some(best)
    }

    /// `GetMatchingBlocks`
    fn blocks(mut self) -> Option<Vec<Block>> {
        let (old_length, new_length) = (self.old.len(), self.new.len());
        let mut found = Vec::new();
        let mut open = vec![(0..old_length, 0..new_length)];
        while let Some((old, new)) = open.pop() {
            self.steps += old.len() + 1;
            let block = self.longest(&old, &new)?;
            if block.size == 0 {
                continue;
            }
            let (old_end, new_end) = (block.old + block.size, block.new + block.size);
            if old.start < block.old && new.start < block.new {
                open.push((old.start..block.old, new.start..block.new));
            }
            if old_end < old.end && new_end < new.end {
                open.push((old_end..old.end, new_end..new.end));
            }
            found.push(block);
        }
        found.sort_unstable_by_key(|block| (block.old, block.new));
        let mut joined: Vec<Block> = Vec::new();
        for block in found {
            match joined.last_mut() {
                Some(last) if last.old + last.size == block.old && last.new + last.size == block.new => {
                    last.size += block.size;
                }
                _ => joined.push(block),
            }
        }
        joined.push(Block { old: old_length, new: new_length, size: 0 });
        Some(joined)
    }
}

/// Lines that are equal in both texts, or that replace each other.
#[derive(Clone, Debug, PartialEq)]
struct OpCode {
    equal: bool,
    old: Range<usize>,
    new: Range<usize>,
}

/// `GetOpCodes`
fn operations(blocks: &[Block]) -> Vec<OpCode> {
    let (mut old, mut new) = (0, 0);
    let mut out = Vec::new();
    for block in blocks {
        if old < block.old || new < block.new {
            out.push(OpCode { equal: false, old: old..block.old, new: new..block.new });
        }
        (old, new) = (block.old + block.size, block.new + block.size);
        if block.size > 0 {
            out.push(OpCode { equal: true, old: block.old..old, new: block.new..new });
        }
    }
    out
}

/// `GetGroupedOpCodes`: changes that are near each other, with lines around them.
fn groups(mut operations: Vec<OpCode>) -> Vec<Vec<OpCode>> {
    if let Some(first) = operations.first_mut().filter(|operation| operation.equal) {
        *first = last_lines(first);
    }
    if let Some(last) = operations.last_mut().filter(|operation| operation.equal) {
        *last = first_lines(last);
    }
    let (mut groups, mut group) = (Vec::new(), Vec::new());
    for mut operation in operations {
        if operation.equal && operation.old.len() > 2 * CONTEXT {
            group.push(first_lines(&operation));
            groups.push(std::mem::take(&mut group));
            operation = last_lines(&operation);
        }
        group.push(operation);
    }
    if group.iter().any(|operation| !operation.equal) {
        groups.push(group);
    }
    groups
}

fn first_lines(equal: &OpCode) -> OpCode {
    let (old, new) = (&equal.old, &equal.new);
    OpCode {
        equal: true,
        old: old.start..old.end.min(old.start + CONTEXT),
        new: new.start..new.end.min(new.start + CONTEXT),
    }
}

fn last_lines(equal: &OpCode) -> OpCode {
    let (old, new) = (&equal.old, &equal.new);
    OpCode {
        equal: true,
        old: old.start.max(old.end.saturating_sub(CONTEXT))..old.end,
        new: new.start.max(new.end.saturating_sub(CONTEXT))..new.end,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The expected texts are those of `difflib.unified_diff` in Python, without its headers.
    #[test]
    fn differences_are_those_of_difflib() {
        let diff = |old: &str, new: &str| unified(&old.replace(' ', "\n"), &new.replace(' ', "\n")).unwrap();
        assert_eq!(diff("a b c", "a b c"), "");
        assert_eq!(diff("1 2 3 4 5 6 7 8 9", "1 2 3 4 x 6 7 8 9"), "@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+x\n 6\n 7\n 8\n");
        assert_eq!(diff("a", "b"), "@@ -1 +1 @@\n-a\n+b\n");
        assert_eq!(diff("a b", "a x y b"), "@@ -1,2 +1,4 @@\n a\n+x\n+y\n b\n");
        let (old, new) = ("x 1 2 3 4 5 6 7 8 9 y", "1 2 3 4 5 6 7 8 9 y z");
        assert_eq!(diff(old, new), "@@ -1,4 +1,3 @@\n-x\n 1\n 2\n 3\n@@ -9,3 +8,4 @@\n 8\n 9\n y\n+z\n");
        assert_eq!(diff("a b c a b d", "a b d c"), "@@ -1,6 +1,4 @@\n-a\n-b\n-c\n a\n b\n d\n+c\n");
    }

    #[test]
    fn popular_lines_of_long_texts_do_not_begin_blocks() {
        let long = |middle: &str| {
            let mut lines: Vec<String> = (0..250).map(|at| format!("line {at}")).collect();
            lines.splice(100..100, std::iter::repeat_n("same".to_owned(), 20));
            lines.insert(110, middle.to_owned());
            lines.join("\n")
        };
        let expected = "@@ -108,7 +108,7 @@\n same\n same\n same\n-a\n+b\n same\n same\n same\n";
        assert_eq!(unified(&long("a"), &long("b")).unwrap(), expected);
    }

    #[test]
    fn texts_with_too_many_equal_lines_have_no_difference() {
        // Each line occurs often, but not so often that it is popular.
        let text = |shift: usize| {
            (0..60_000).map(|at| ((at * 7 + shift * (at % 3)) % 600).to_string()).collect::<Vec<_>>().join("\n")
        };
        assert_eq!(unified(&text(0), &text(5)), None);
    }
}
