//! Messages about requests, as `kubectl -v` prints them. The level belongs to the process, as klog's does.

use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

/// The level from which kubectl names each request.
const REQUESTS: u8 = 6;

static LEVEL: AtomicU8 = AtomicU8::new(0);

/// Sets the level of `-v`.
pub fn set_level(level: u8) {
    LEVEL.store(level, Ordering::Relaxed);
}

/// Reports a request to standard error if the level asks for it.
pub fn request(url: &str, answer: &str, took: Duration) {
    if LEVEL.load(Ordering::Relaxed) >= REQUESTS {
        eprintln!("GET {url} {answer} in {} milliseconds", took.as_millis());
    }
}
