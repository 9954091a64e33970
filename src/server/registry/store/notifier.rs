//! Waking many watches at once.

use std::fmt::Debug;
use std::task::Waker;

/// Wakes waiting watches, so that the thread that commits a write need not.
pub trait WatchNotifier: Debug + Send + Sync {
    /// Wakes each of them soon.
    fn notify(&self, waiting: Vec<Waker>);
}
