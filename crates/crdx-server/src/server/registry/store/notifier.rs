//! Waking many watches without blocking the writer.

use std::fmt::Debug;
use std::task::Waker;

/// Wakes waiting watches on another thread than the one that commits a write.
pub trait WatchNotifier: Debug + Send + Sync {
    /// Schedules all wakers to be woken.
    fn notify(&self, waiting: Vec<Waker>);
}
