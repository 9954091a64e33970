//! Counts the bytes that are read, for the share that a progress line shows.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The number of bytes that were read; clones share it.
#[derive(Clone, Debug, Default)]
pub struct ReadBytes(Arc<AtomicU64>);

impl ReadBytes {
    /// Returns the number.
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    pub fn count(&self, inner: Box<dyn Read + Send>) -> Box<dyn Read + Send> {
        Box::new(Counted { inner, read: self.clone() })
    }
}

struct Counted {
    inner: Box<dyn Read + Send>,
    read: ReadBytes,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.read.0.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}
