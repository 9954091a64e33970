//! Several inputs of one name, judged in order though several threads judge; each finds what the one before left behind.
//!
//! Turns are given out in the order of the inputs and workers take inputs in that order, so whoever is waited for is
//! already at work, or done.

use crate::input::shelf::Place;
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

/// What an input leaves behind.
#[derive(Clone, Copy, Debug)]
pub enum Left {
    /// The object as it is stored then.
    Stored(Place),
    /// The object as it was sent: nothing was stored.
    Sent(Place),
}

#[derive(Debug, Default)]
struct Gate {
    /// Whether it is open, and what lies behind it.
    state: Mutex<(bool, Option<Left>)>,
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
    /// Whether nobody of that name came before.
    pub fn is_first(&self) -> bool {
        self.before.is_none()
    }

    /// Waits until those before are done; what the last of them left.
    pub fn wait(&self) -> Option<Left> {
        let before = self.before.as_ref()?;
        let mut state = before.state.lock().unwrap_or_else(PoisonError::into_inner);
        while !state.0 {
            state = before.opened.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.1
    }

    /// Leaves something to the next.
    pub fn leave(&self, left: Option<Left>) {
        self.own.state.lock().unwrap_or_else(PoisonError::into_inner).1 = left;
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.own.state.lock().unwrap_or_else(PoisonError::into_inner).0 = true;
        self.own.opened.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;
    use std::time::Duration;

    #[test]
    fn what_is_left_is_found() {
        let shelf = crate::input::shelf::Shelf::default();
        let mut turns = Turns::default();
        let (first, second, other) = (turns.next("a".into()), turns.next("a".into()), turns.next("b".into()));
        first.leave(Some(Left::Sent(shelf.put(&crate::value::Value::Int(7)).unwrap())));
        drop(first);
        let Some(Left::Sent(place)) = second.wait() else { panic!() };
        assert_eq!(shelf.get(place).unwrap(), crate::value::Value::Int(7));
        assert!(other.wait().is_none());
    }

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
