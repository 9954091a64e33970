//! The bytes of a source that are not UTF-8, until the documents that have them are read.

use super::varint;
use crdx_text::Position;
use crdx_value::lock::lock;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::{Arc, Mutex};

/// Bytes next to each other that are not UTF-8.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InvalidRun {
    /// The offset of the first byte in the source.
    pub first: u64,
    /// The offset of the last byte in the source.
    pub last: u64,
    /// The position of the first replacement in the decoded text.
    pub position: Position,
}

/// The bytes of a source that were replaced, because they are not UTF-8. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct InvalidBytes(Arc<Mutex<PendingRuns>>);

impl InvalidBytes {
    /// Adds bytes that follow all others, with the position of their replacement.
    pub fn add(&self, (first, length): (u64, usize), position: Position) {
        lock(&self.0).add(InvalidRun { first, last: first + length as u64 - 1, position });
    }

    /// Takes the runs of a document, and returns the first ones, at most `most`. Those before it are in no document, and are
    /// removed.
    pub fn take(&self, document: &Range<Position>, most: usize) -> Vec<InvalidRun> {
        let mut pending = lock(&self.0);
        let mut taken = Vec::new();
        while let Some(run) = pending.take_before(document.end) {
            if run.position >= document.start && taken.len() < most {
                taken.push(run);
            }
        }
        taken
    }

    /// Returns true if all runs were taken.
    #[cfg(test)]
    pub fn is_empty(&self) -> bool {
        let pending = lock(&self.0);
        pending.distances.is_empty() && pending.last.is_none()
    }
}

/// The runs that were not taken yet.
///
/// A decoder does not know where documents end. So it adds the runs of all documents that it reads ahead, and all runs of a
/// document, which may be millions. An encoded run takes at least four bytes, usually no more than its
/// text.
#[derive(Debug, Default)]
struct PendingRuns {
    /// The distances between runs ([`write_distance`]), without the last run.
    distances: VecDeque<u8>,
    /// The run before the first one in `distances`.
    before: InvalidRun,
    /// The last run in `distances`.
    written: InvalidRun,
    /// The last run. The next bytes may belong to it.
    last: Option<InvalidRun>,
}

impl PendingRuns {
    fn add(&mut self, run: InvalidRun) {
        match &mut self.last {
            Some(last) if last.last + 1 == run.first => last.last = run.last,
            last => {
                if let Some(done) = last.replace(run) {
                    write_distance(&mut self.distances, &self.written, &done);
                    self.written = done;
                }
            }
        }
    }

    /// Takes the first run if it begins before a position.
    fn take_before(&mut self, end: Position) -> Option<InvalidRun> {
        if self.distances.is_empty() {
            return self.last.take_if(|run| run.position < end);
        }
        let mut bytes = self.distances.iter().copied();
        let run = read_distance(&mut bytes, &self.before).filter(|run| run.position < end)?;
        let read = self.distances.len() - bytes.len();
        self.distances.drain(..read);
        self.before = run;
        Some(run)
    }
}

/// Appends the distance of a run from the one before it.
fn write_distance(out: &mut impl Extend<u8>, before: &InvalidRun, run: &InvalidRun) {
    let lines = run.position.line - before.position.line;
    let column = if lines == 0 { before.position.column } else { 0 };
    varint::write(out, run.first - before.last);
    varint::write(out, run.last - run.first);
    varint::write(out, lines as u64);
    varint::write(out, (run.position.column - column) as u64);
}

/// Reads the distance of a run from the one before it.
fn read_distance(mut bytes: impl Iterator<Item = u8>, before: &InvalidRun) -> Option<InvalidRun> {
    let mut number = || varint::read(&mut bytes);
    let first = before.last + number()?;
    let last = first + number()?;
    let lines = number()? as usize;
    let column = if lines == 0 { before.position.column } else { 0 } + number()? as usize;
    Some(InvalidRun { first, last, position: Position { line: before.position.line + lines, column } })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(line: usize, column: usize) -> Position {
        Position { line, column }
    }

    #[test]
    fn runs_are_those_of_a_document() {
        let invalid = InvalidBytes::default();
        let runs = [(3, 1, at(1, 4)), (4, 2, at(1, 5)), (900, 1, at(1, 901)), (1000, 1, at(7, 2)), (1002, 1, at(7, 4))];
        for (first, length, position) in runs {
            invalid.add((first, length), position);
        }
        let run = |first, last, position| InvalidRun { first, last, position };
        assert_eq!(invalid.take(&(at(1, 1)..at(1, 4)), 9), []);
        assert_eq!(invalid.take(&(at(1, 1)..at(1, 901)), 9), [run(3, 5, at(1, 4))]);
        assert_eq!(invalid.take(&(at(2, 1)..at(7, 4)), 9), [run(1000, 1000, at(7, 2))], "900 is before the document");
        invalid.add((2000, 1), at(8, 1));
        assert_eq!(invalid.take(&(at(7, 4)..at(9, 1)), 1), [run(1002, 1002, at(7, 4))]);
        assert_eq!(invalid.take(&(at(1, 1)..at(9, 1)), 9), [], "those over the limit are taken, too");
    }

    #[test]
    fn a_run_takes_as_many_bytes_as_its_text() {
        let invalid = InvalidBytes::default();
        for index in 0..1_000 {
            invalid.add((2 * index, 1), at(1 + index as usize, 1));
        }
        let text = 1_000 * "\u{fffd}\n".len();
        assert!(lock(&invalid.0).distances.len() <= text);
    }
}
