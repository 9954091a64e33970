//! Names that wait for a controller (`client-go/util/workqueue`).

use crdx_value::lock::lock;
use std::collections::{HashSet, VecDeque};
use std::sync::{Mutex, MutexGuard};

/// A queue without duplicates, in first-in, first-out order.
#[derive(Debug, Default)]
pub(in crate::server) struct WorkQueue(Mutex<Waiting>);

#[derive(Debug, Default)]
struct Waiting {
    queue: VecDeque<String>,
    names: HashSet<String>,
}

impl WorkQueue {
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        lock(&self.0)
    }

    /// Adds a name unless it is already waiting.
    pub fn add(&self, name: &str) {
        let mut waiting = self.waiting();
        if waiting.names.insert(name.to_owned()) {
            waiting.queue.push_back(name.to_owned());
        }
    }

    /// Removes and returns the first name.
    pub fn next(&self) -> Option<String> {
        let mut waiting = self.waiting();
        let name = waiting.queue.pop_front()?;
        waiting.names.remove(&name);
        Some(name)
    }

    /// Removes and returns all names.
    pub fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.waiting()).queue.into()
    }

    /// Returns true if no name is waiting.
    pub fn is_empty(&self) -> bool {
        self.waiting().queue.is_empty()
    }
}
