//! Names that wait for a controller (`client-go/util/workqueue`).

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A queue without duplicates, in first-in, first-out order.
#[derive(Debug, Default)]
pub(in crate::server) struct WorkQueue(Mutex<VecDeque<String>>);

impl WorkQueue {
    fn names(&self) -> MutexGuard<'_, VecDeque<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a name unless it is already waiting.
    pub fn add(&self, name: &str) {
        let mut names = self.names();
        if !names.iter().any(|n| n == name) {
            names.push_back(name.to_owned());
        }
    }

    /// Removes and returns the first name.
    pub fn next(&self) -> Option<String> {
        self.names().pop_front()
    }

    /// Removes and returns all names.
    pub fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.names()).into()
    }

    /// Returns true if no name is waiting.
    pub fn is_empty(&self) -> bool {
        self.names().is_empty()
    }
}
