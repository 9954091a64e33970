//! Work on several threads with results in the order of the inputs, and never more than a few inputs in flight.

use std::collections::BTreeMap;
use std::io;
use std::num::NonZeroUsize;
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread;

/// Inputs in flight per thread: enough that no thread waits, few enough that memory stays flat.
const DEPTH: usize = 16;
/// As in `main.rs`: values nest 10,000 deep.
const STACK: usize = 256 << 20;

/// Does `work` on every input and gives each result to `take`, in order. With one job everything happens on this thread.
pub fn in_order<T: Send, R: Send>(
    jobs: NonZeroUsize,
    inputs: impl Iterator<Item = T>,
    work: impl Fn(T) -> R + Sync,
    mut take: impl FnMut(R),
) -> io::Result<()> {
    if jobs.get() == 1 {
        inputs.for_each(|input| take(work(input)));
        return Ok(());
    }
    let (to_workers, for_workers) = mpsc::channel::<(usize, T)>();
    let for_workers = Mutex::new(for_workers);
    let (to_taker, results) = mpsc::channel();
    thread::scope(|scope| {
        for _ in 0..jobs.get() {
            let (for_workers, to_taker, work) = (&for_workers, to_taker.clone(), &work);
            let run = move || {
                loop {
                    let next = for_workers.lock().unwrap_or_else(PoisonError::into_inner).recv();
                    let Ok((at, input)) = next else { break };
                    if to_taker.send((at, work(input))).is_err() {
                        break;
                    }
                }
            };
            thread::Builder::new().stack_size(STACK).spawn_scoped(scope, run)?;
        }
        drop(to_taker);
        let mut early = BTreeMap::new();
        let (mut sent, mut taken) = (0, 0);
        let mut receive = |taken: &mut usize, take: &mut dyn FnMut(R)| {
            // All workers gone means that one panicked; the scope reports it.
            let Ok((at, result)) = results.recv() else { return false };
            early.insert(at, result);
            while let Some(result) = early.remove(taken) {
                *taken += 1;
                take(result);
            }
            true
        };
        for input in inputs {
            if to_workers.send((sent, input)).is_err() {
                break;
            }
            sent += 1;
            while sent - taken >= jobs.get() * DEPTH && receive(&mut taken, &mut take) {}
        }
        drop(to_workers);
        while taken < sent && receive(&mut taken, &mut take) {}
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

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
