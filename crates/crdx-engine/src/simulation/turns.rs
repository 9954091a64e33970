//! Orders inputs with the same kind, namespace and name across threads: each waits for its predecessor and continues
//! with the object that the predecessor stored.
//!
//! Turns are assigned in the order of the inputs, and threads take inputs in that order, so the predecessor is always
//! in progress or done. Results of finished turns are in a store, because there may be many names.

use super::earlier_object::EarlierObject;
use super::name_hash::{NameHash, NameHasher};
use super::object_store::{ObjectStore, StoredAt};
use super::stored_location;
use crate::report::SourceLocation;
use crdx_value::Value;
use crdx_value::lock::lock;
use std::collections::{HashMap, VecDeque};
use std::hash::Hash;
use std::io;
use std::sync::{Arc, Condvar, Mutex, PoisonError};

/// Assigns turns.
#[derive(Debug)]
pub struct Turns {
    hasher: NameHasher,
    last: HashMap<NameHash, Last>,
    /// The turns that may be in progress, in order.
    current: VecDeque<(NameHash, Arc<Gate>)>,
    finished: Box<dyn ObjectStore>,
}

/// The last turn of a name.
#[derive(Debug)]
enum Last {
    /// It may be in progress.
    Current(Arc<Gate>),
    /// It is finished, and its results are in the store.
    Stored(StoredAt),
    /// It is finished. It has no results, or they cannot be written.
    Finished(Option<Box<Done>>),
}

/// The turn of one input among those with the same name. Dropping it starts the next turn.
#[derive(Debug)]
pub struct Turn {
    before: Before,
    own: Arc<Gate>,
}

/// The preceding turn.
#[derive(Debug)]
enum Before {
    None,
    Current(Arc<Gate>),
    Finished(Option<Box<Done>>),
}

/// The results of the preceding inputs with the same name.
#[derive(Clone, Debug, PartialEq)]
pub struct Done {
    /// The location of the first one, without excerpt; `None` if it is lost.
    pub first: Option<SourceLocation>,
    /// The location of the one whose object is stored, without excerpt; `None` if it is lost.
    pub last: Option<SourceLocation>,
    /// The object that the last one stored.
    pub stored: EarlierObject,
}

#[derive(Debug, Default)]
struct Gate {
    state: Mutex<GateState>,
    opened: Condvar,
}

#[derive(Debug, Default)]
struct GateState {
    /// True if the next turn may begin.
    is_open: bool,
    /// True if the next turn waits.
    has_waiter: bool,
    /// The results up to this turn.
    done: Option<Done>,
}

impl Turns {
    /// Creates the turns of an input without documents so far. The results of finished turns are kept in a store.
    pub fn new(finished: Box<dyn ObjectStore>) -> Self {
        Self { hasher: NameHasher::default(), last: HashMap::new(), current: VecDeque::new(), finished }
    }

    /// Creates the turns of another input.
    pub fn again(&self) -> Self {
        Self::new(self.finished.empty())
    }

    /// Assigns the next turn for a name.
    pub fn next(&mut self, name: impl Hash) -> Turn {
        self.store_finished();
        let name = self.hasher.hash(name);
        let own = Arc::new(Gate::default());
        self.current.push_back((name, Arc::clone(&own)));
        let before = match self.last.insert(name, Last::Current(Arc::clone(&own))) {
            None => Before::None,
            Some(Last::Current(gate)) => Before::Current(gate),
            Some(Last::Stored(at)) => Before::Finished(Some(Box::new(self.finished(at)))),
            Some(Last::Finished(done)) => Before::Finished(done),
        };
        Turn { before, own }
    }

    /// Reads the results of a finished turn.
    fn finished(&self, at: StoredAt) -> Done {
        let malformed = || io::ErrorKind::InvalidData.into();
        let done = self.finished.get(at).and_then(|value| Done::from_value(&value).ok_or_else(malformed));
        done.unwrap_or_else(|error| Done { first: None, last: None, stored: EarlierObject::Lost(error.kind()) })
    }

    /// Moves the results of finished turns out of memory.
    fn store_finished(&mut self) {
        while let Some((name, gate)) = self.current.front() {
            let mut state = lock(&gate.state);
            if !state.is_open {
                break;
            }
            if let Some(last) = self.last.get_mut(name)
                && matches!(last, Last::Current(last) if Arc::ptr_eq(last, gate))
            {
                let done = state.done.take();
                let stored = done.as_ref().and_then(Done::to_value).and_then(|done| self.finished.put(&done).ok());
                *last = stored.map_or_else(|| Last::Finished(done.map(Box::new)), Last::Stored);
            }
            drop(state);
            self.current.pop_front();
        }
    }
}

impl Turn {
    /// Returns true if this is the first input with its name.
    pub fn is_first(&self) -> bool {
        matches!(self.before, Before::None)
    }

    /// Waits for the preceding inputs; returns `None` for the first one.
    pub fn wait(&self) -> Option<Done> {
        let before = match &self.before {
            Before::None => return None,
            Before::Finished(done) => return done.as_deref().cloned(),
            Before::Current(gate) => gate,
        };
        let mut state = lock(&before.state);
        while !state.is_open {
            state.has_waiter = true;
            state = before.opened.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.done.clone()
    }

    /// Passes the results to the next input.
    pub fn done(&self, done: Done) {
        lock(&self.own.state).done = Some(done);
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut state = lock(&self.own.state);
        state.is_open = true;
        // Most names occur once, and each notification is a system call.
        if state.has_waiter {
            self.own.opened.notify_all();
        }
    }
}

impl Done {
    /// Returns the results as a value; `None` if one of them is lost.
    fn to_value(&self) -> Option<Value> {
        let [first, last] = [&self.first, &self.last].map(|location| location.as_ref().map(stored_location::to_value));
        Some(Value::Array(vec![first?, last?, self.stored.to_value()?]))
    }

    fn from_value(value: &Value) -> Option<Self> {
        let [first, last, stored] = value.as_array()? else { return None };
        let [first, last] = [first, last].map(stored_location::from_value);
        Some(Self { first: Some(first?), last: Some(last?), stored: EarlierObject::from_value(stored)? })
    }
}

#[cfg(test)]
mod tests {
    use super::super::object_store::MemoryStore;
    use super::*;
    use std::thread;
    use std::time::Duration;

    #[test]
    fn the_next_input_gets_the_earlier_object() {
        let store = MemoryStore::default();
        let mut turns = Turns::new(Box::<MemoryStore>::default());
        let (first, second, other) = (turns.next("a"), turns.next("a"), turns.next("b"));
        let stored = store.put(&crdx_value::Value::Int(7)).unwrap();
        let location = SourceLocation::line(&"a.yaml".into(), 3);
        let done = Done { first: Some(location.clone()), last: Some(location), stored: EarlierObject::At(stored) };
        first.done(done.clone());
        drop(first);
        assert_eq!(second.wait(), Some(done));
        assert_eq!(store.get(stored).unwrap(), crdx_value::Value::Int(7));
        assert!(other.wait().is_none());
    }

    #[test]
    fn results_of_finished_turns_are_read_again() {
        let mut turns = Turns::new(Box::<MemoryStore>::default());
        let first = Some(SourceLocation::line(&"a.yaml".into(), 3));
        let stored = MemoryStore::default().put(&crdx_value::Value::Null).unwrap();
        let last = Some(SourceLocation::line(&"b.yaml".into(), 4));
        let done = Done { first, last, stored: EarlierObject::At(stored) };
        let lost = Done { stored: EarlierObject::Lost(io::ErrorKind::StorageFull), ..done.clone() };
        for name in 0..100 {
            turns.next(name).done(if name == 8 { lost.clone() } else { done.clone() });
        }
        drop(turns.next(100));
        assert!(turns.next(101).is_first());
        assert_eq!(turns.current.len(), 1);
        assert_eq!(turns.next(7).wait(), Some(done));
        assert_eq!(turns.next(8).wait(), Some(lost));
        let failed = turns.next(100);
        assert!(!failed.is_first() && failed.wait().is_none());
    }

    #[test]
    fn results_that_cannot_be_read_are_lost() {
        let mut turns = Turns::new(Box::<MemoryStore>::default());
        let first = Some(SourceLocation::line(&"a.yaml".into(), 3));
        turns.next("a").done(Done { last: first.clone(), first, stored: EarlierObject::None });
        drop(turns.next("b"));
        turns.finished = turns.finished.empty();
        let lost = Done { first: None, last: None, stored: EarlierObject::Lost(io::ErrorKind::InvalidInput) };
        assert_eq!(turns.next("a").wait(), Some(lost));
    }

    #[test]
    fn the_second_input_waits() {
        let mut turns = Turns::new(Box::<MemoryStore>::default());
        let (first, second, other) = (turns.next("a"), turns.next("a"), turns.next("b"));
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
