//! Processes inputs on several threads and returns the results in the order of the inputs, with a limited number of
//! inputs in memory.
//!
//! Each thread takes a batch of inputs, processes it and delivers the results. Those of a batch that is ready before an
//! earlier one are kept until then, so that no thread waits for another, except for a batch that takes very long.

use crdx_value::STACK_SIZE;
use crdx_value::lock::lock;
use std::collections::BTreeMap;
use std::io;
use std::num::NonZeroUsize;
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;

/// The batch size: large enough for little synchronization, small enough for constant memory.
const BATCH: usize = 16;

/// The maximum number of batches that are kept because an earlier one is not ready.
const KEPT: usize = 16;

/// Returns the number of threads: the requested number, or one per CPU.
pub fn threads(requested: Option<NonZeroUsize>) -> NonZeroUsize {
    requested.or_else(|| thread::available_parallelism().ok()).unwrap_or(NonZeroUsize::MIN)
}

/// Calls `work` on every input and passes each result to `take`, in order. With one job, the calling thread does all
/// work.
pub fn in_order<T, R: Send>(
    jobs: NonZeroUsize,
    inputs: impl Iterator<Item = T> + Send,
    work: impl Fn(T) -> R + Sync,
    mut take: impl FnMut(R) + Send,
) -> io::Result<()> {
    if jobs.get() == 1 {
        inputs.for_each(|input| take(work(input)));
        return Ok(());
    }
    let mut source = BatchSource { inputs: inputs.fuse(), batches: 0 };
    let (_, first) = source.batch();
    // Threads do not pay off for a few inputs.
    let more = first.len() == BATCH;
    for input in first {
        take(work(input));
    }
    if !more {
        return Ok(());
    }
    let source = Mutex::new(source);
    let state = Delivery { next: 1, kept: BTreeMap::new(), abandoned: false, take };
    let sink = Sink { state: Mutex::new(state), changed: Condvar::new() };
    let run = || {
        loop {
            let (at, batch) = lock(&source).batch();
            if batch.is_empty() {
                break;
            }
            let slot = ResultSlot { sink: &sink, at };
            let results: Vec<R> = batch.into_iter().map(&work).collect();
            if !slot.deliver(results) {
                break;
            }
        }
    };
    thread::scope(|scope| {
        for _ in 1..jobs.get() {
            thread::Builder::new().stack_size(STACK_SIZE).spawn_scoped(scope, run)?;
        }
        run();
        Ok(())
    })
}

struct BatchSource<I> {
    inputs: I,
    batches: usize,
}

impl<I: Iterator> BatchSource<I> {
    /// Returns the next batch and its number; empty at the end.
    fn batch(&mut self) -> (usize, Vec<I::Item>) {
        let batch = self.inputs.by_ref().take(BATCH).collect();
        self.batches += 1;
        (self.batches - 1, batch)
    }
}

struct Sink<R, F> {
    state: Mutex<Delivery<R, F>>,
    changed: Condvar,
}

struct Delivery<R, F> {
    /// The number of the batch to deliver next.
    next: usize,
    /// The results of later batches.
    kept: BTreeMap<usize, Vec<R>>,
    /// True if a thread panicked, so its batch will never be delivered.
    abandoned: bool,
    take: F,
}

/// The position of a batch.
struct ResultSlot<'a, R, F: FnMut(R)> {
    sink: &'a Sink<R, F>,
    at: usize,
}

impl<R, F: FnMut(R)> ResultSlot<'_, R, F> {
    /// Delivers the results after those of all earlier batches. Returns false if that is impossible because a thread
    /// panicked.
    fn deliver(self, results: Vec<R>) -> bool {
        let mut guard = lock(&self.sink.state);
        while guard.next != self.at && guard.kept.len() >= KEPT && !guard.abandoned {
            guard = self.sink.changed.wait(guard).unwrap_or_else(PoisonError::into_inner);
        }
        if guard.abandoned {
            return false;
        }
        let state = &mut *guard;
        state.kept.insert(self.at, results);
        let before = state.next;
        while let Some(results) = state.kept.remove(&state.next) {
            results.into_iter().for_each(&mut state.take);
            state.next += 1;
        }
        if state.next != before {
            self.sink.changed.notify_all();
        }
        true
    }
}

impl<R, F: FnMut(R)> Drop for ResultSlot<'_, R, F> {
    fn drop(&mut self) {
        if thread::panicking() {
            lock(&self.sink.state).abandoned = true;
            self.sink.changed.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_ends_everything() {
        let work = |n: u64| if n == 40 { panic!("on purpose") } else { n };
        let run = || in_order(NonZeroUsize::new(3).unwrap(), 0..2000, work, |_| ());
        assert!(std::panic::catch_unwind(run).is_err());
    }

    #[test]
    fn results_come_in_order() {
        for jobs in [1, 3] {
            let mut seen = Vec::new();
            let slow_first = |n: u64| {
                thread::sleep(std::time::Duration::from_micros(if n.is_multiple_of(7) { 500 } else { 0 }));
                n * 2
            };
            in_order(NonZeroUsize::new(jobs).unwrap(), 0..200, slow_first, |r| seen.push(r)).unwrap();
            assert_eq!(seen, (0..200).map(|n| n * 2).collect::<Vec<_>>());
        }
    }
}
