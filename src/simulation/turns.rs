//! Orders inputs with the same kind, namespace and name across threads: each waits for its predecessor and continues
//! with the object that the predecessor stored.
//!
//! Turns are assigned in the order of the inputs, and threads take inputs in that order, so the predecessor is always
//! in progress or done.

use crate::input::temp_store::StoredAt;
use crate::output::excerpt::SourceLocation;
use std::collections::HashMap;
use std::sync::{Arc, Condvar, Mutex, PoisonError};

/// Assigns turns.
#[derive(Debug, Default)]
pub struct Turns {
    last: HashMap<String, Arc<Gate>>,
}

/// The turn of one input among those with the same name. Dropping it starts the next turn.
#[derive(Debug)]
pub struct Turn {
    before: Option<Arc<Gate>>,
    own: Arc<Gate>,
}

/// The results of the preceding inputs with the same name.
#[derive(Clone, Debug)]
pub struct Done {
    /// The location of the first one.
    pub first: SourceLocation,
    /// The stored object, if any.
    pub stored: Option<StoredAt>,
}

#[derive(Debug, Default)]
struct Gate {
    /// True if the next turn may begin, and the results up to it.
    state: Mutex<(bool, Option<Done>)>,
    opened: Condvar,
}

impl Turns {
    /// Assigns the next turn for the name `key`.
    pub fn next(&mut self, key: String) -> Turn {
        let own = Arc::new(Gate::default());
        let before = self.last.insert(key, Arc::clone(&own));
        Turn { before, own }
    }
}

impl Turn {
    /// Returns true if this is the first input with its name.
    pub fn is_first(&self) -> bool {
        self.before.is_none()
    }

    /// Waits for the preceding inputs; returns `None` for the first one.
    pub fn wait(&self) -> Option<Done> {
        let before = self.before.as_ref()?;
        let mut state = before.state.lock().unwrap_or_else(PoisonError::into_inner);
        while !state.0 {
            state = before.opened.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.1.clone()
    }

    /// Passes the results to the next input.
    pub fn done(&self, done: Done) {
        self.own.state.lock().unwrap_or_else(PoisonError::into_inner).1 = Some(done);
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
    fn the_next_input_gets_the_stored_object() {
        let temp_store = crate::input::temp_store::TempStore::default();
        let mut turns = Turns::default();
        let (first, second, other) = (turns.next("a".into()), turns.next("a".into()), turns.next("b".into()));
        let stored = Some(temp_store.put(&crate::value::Value::Int(7)).unwrap());
        first.done(Done { first: SourceLocation::line(&"a.yaml".into(), 3), stored });
        drop(first);
        let done = second.wait().unwrap();
        assert_eq!(done.first.to_string(), "a.yaml:3");
        assert_eq!(temp_store.get(done.stored.unwrap()).unwrap(), crate::value::Value::Int(7));
        assert!(other.wait().is_none());
    }

    #[test]
    fn the_second_input_waits() {
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
