//! Counts the bytes that are read, for the share that a progress line shows.

use crdx_files::input_size::Counted;
use std::io::Read;
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
        let total = Arc::clone(&self.0);
        Box::new(Counted(inner, move |count| {
            total.fetch_add(count as u64, Ordering::Relaxed);
        }))
    }
}
