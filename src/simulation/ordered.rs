//! Work on several threads with results in the order of the inputs, and never more than a few inputs in flight.
//!
//! Each thread takes some inputs at a time, works on them and gives their results when it is their turn. So what is read
//! for an input is used and freed by the thread that read it: memory that changes threads is what costs most here.

use std::io;
use std::num::NonZeroUsize;
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;

/// Inputs taken at a time: enough that taking turns costs nothing, few enough that memory stays flat.
const BATCH: usize = 16;
/// As in `main.rs`: values nest 10,000 deep.
const STACK: usize = 256 << 20;

/// Does `work` on every input and gives each result to `take`, in order. With one job everything happens on this thread.
pub fn in_order<T, R>(
    jobs: NonZeroUsize,
    inputs: impl Iterator<Item = T> + Send,
    work: impl Fn(T) -> R + Sync,
    mut take: impl FnMut(R) + Send,
) -> io::Result<()> {
    if jobs.get() == 1 {
        inputs.for_each(|input| take(work(input)));
        return Ok(());
    }
    let mut source = Source { inputs: inputs.fuse(), batches: 0 };
    let (_, first) = source.batch();
    // A few inputs are not worth a thread.
    let more = first.len() == BATCH;
    for input in first {
        take(work(input));
    }
    if !more {
        return Ok(());
    }
    let source = Mutex::new(source);
    let sink = Sink { state: Mutex::new(Given { next: 1, abandoned: false, take }), changed: Condvar::new() };
    let run = || {
        loop {
            let (at, batch) = source.lock().unwrap_or_else(PoisonError::into_inner).batch();
            if batch.is_empty() {
                break;
            }
            let place = Place { sink: &sink, at };
            let results: Vec<R> = batch.into_iter().map(&work).collect();
            if !place.give(results) {
                break;
            }
        }
    };
    thread::scope(|scope| {
        for _ in 1..jobs.get() {
            thread::Builder::new().stack_size(STACK).spawn_scoped(scope, run)?;
        }
        run();
        Ok(())
    })
}

/// Where inputs come from.
struct Source<I> {
    inputs: I,
    batches: usize,
}

impl<I: Iterator> Source<I> {
    /// The next inputs and their number; none at the end.
    fn batch(&mut self) -> (usize, Vec<I::Item>) {
        let batch = self.inputs.by_ref().take(BATCH).collect();
        self.batches += 1;
        (self.batches - 1, batch)
    }
}

/// Where results go.
struct Sink<F> {
    state: Mutex<Given<F>>,
    changed: Condvar,
}

struct Given<F> {
    /// The batch whose results come next.
    next: usize,
    /// A thread panicked: what it had will never come.
    abandoned: bool,
    take: F,
}

/// The place of a batch among the results.
struct Place<'a, F> {
    sink: &'a Sink<F>,
    at: usize,
}

impl<F> Place<'_, F> {
    /// Gives the results when all before have been given; `false` if that will never be.
    fn give<R>(self, results: Vec<R>) -> bool
    where
        F: FnMut(R),
    {
        let mut state = self.sink.state.lock().unwrap_or_else(PoisonError::into_inner);
        while state.next != self.at && !state.abandoned {
            state = self.sink.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if state.abandoned {
            return false;
        }
        for result in results {
            (state.take)(result);
        }
        state.next += 1;
        self.sink.changed.notify_all();
        true
    }
}

impl<F> Drop for Place<'_, F> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.sink.state.lock().unwrap_or_else(PoisonError::into_inner).abandoned = true;
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
