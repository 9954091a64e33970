//! Counts the bytes of all inputs of a run. The limit of the output follows from it.

use std::io::{self, Read};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Every reader of files, of answers of a cluster and of programs adds to it.
static TOTAL: AtomicUsize = AtomicUsize::new(0);

/// Returns the number of bytes that were read so far.
pub fn total() -> usize {
    TOTAL.load(Ordering::Relaxed)
}

/// Adds bytes that were read.
pub fn add(bytes: usize) {
    TOTAL.fetch_add(bytes, Ordering::Relaxed);
}

/// A reader that passes the number of bytes of each read to a function.
pub struct Counted<R, F>(pub R, pub F);

impl<R: Read, F: Fn(usize)> Read for Counted<R, F> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.0.read(buffer)?;
        (self.1)(count);
        Ok(count)
    }
}
