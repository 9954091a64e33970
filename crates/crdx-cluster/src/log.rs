//! Messages about requests, as `kubectl -v` prints them. The level is global, as in klog.

use crdx_output::printable::complain;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

/// The level from which kubectl logs each request.
const REQUESTS: u8 = 6;

static LEVEL: AtomicU8 = AtomicU8::new(0);

/// Sets the level of `-v`.
pub fn set_level(level: u8) {
    LEVEL.store(level, Ordering::Relaxed);
}

/// Logs a request to standard error if the level is high enough.
pub fn request(url: &str, answer: &str, took: Duration) {
    if LEVEL.load(Ordering::Relaxed) >= REQUESTS {
        complain!("GET {url} {answer} in {} milliseconds", took.as_millis());
    }
}
