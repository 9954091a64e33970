//! Several inputs of one name, judged in order though several threads judge.
//!
//! Turns are given out in the order of the inputs and workers take inputs in that order, so whoever is waited for is
//! already at work, or done.

use std::collections::HashMap;
use std::sync::{Arc, Condvar, Mutex, PoisonError};

/// Gives out turns.
#[derive(Debug, Default)]
pub struct Turns {
    last: HashMap<String, Arc<Gate>>,
}

/// A place in the row of those that have one name; the next may go when it is dropped.
#[derive(Debug)]
pub struct Turn {
    before: Option<Arc<Gate>>,
    own: Arc<Gate>,
}

#[derive(Debug, Default)]
struct Gate {
    open: Mutex<bool>,
    opened: Condvar,
}

impl Turns {
    /// The next turn of those that have the name `key`.
    pub fn next(&mut self, key: String) -> Turn {
        let own = Arc::new(Gate::default());
        let before = self.last.insert(key, Arc::clone(&own));
        Turn { before, own }
    }
}

impl Turn {
    /// Waits until those before are done.
    pub fn wait(&self) {
        let Some(before) = &self.before else { return };
        let mut open = before.open.lock().unwrap_or_else(PoisonError::into_inner);
        while !*open {
            open = before.opened.wait(open).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        *self.own.open.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.own.opened.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;
    use std::time::Duration;

    #[test]
    fn who_comes_second_waits() {
        let mut turns = Turns::default();
        let (first, second, other) = (turns.next("a".into()), turns.next("a".into()), turns.next("b".into()));
        other.wait();
        let done = Mutex::new(Vec::new());
        thread::scope(|scope| {
            let done = &done;
            scope.spawn(move || {
                second.wait();
                done.lock().unwrap().push(2);
            });
            scope.spawn(move || {
                first.wait();
                thread::sleep(Duration::from_millis(20));
                done.lock().unwrap().push(1);
            });
        });
        assert_eq!(*done.lock().unwrap(), [1, 2]);
    }
}
