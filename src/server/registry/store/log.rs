//! What happened to the objects of a resource, in order and as far back as the log reaches: watches follow it, and lists of
//! the past are made by going back along it. It is the server's watch cache and etcd's history in one.

use super::Stored;
use crate::value::Value;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

/// The most events that are kept.
const MOST: usize = 10_000;
/// The most memory, roughly, of objects that are only kept for their events.
const MOST_WEIGHT: usize = 32 << 20;
/// How many of the last events keep the texts that were sent of them.
const TOLD: usize = 64;

/// A write.
#[derive(Debug)]
pub(in crate::server) struct Event {
    /// Its revision.
    pub revision: u64,
    /// The object's key.
    pub key: String,
    /// What was there before.
    pub before: Option<Arc<Stored>>,
    /// What is there after.
    pub after: Option<Arc<Stored>>,
    weight: usize,
    told: Mutex<Vec<(String, Arc<[u8]>)>>,
}

impl Event {
    /// A write at `revision`.
    pub fn new(revision: u64, key: &str, before: Option<Arc<Stored>>, after: Option<Arc<Stored>>) -> Self {
        let weight = before.as_ref().map_or(0, |stored| stored.weight(weight));
        Self { revision, key: key.to_owned(), before, after, weight, told: Mutex::default() }
    }

    /// The text in which all watches of one `form` tell the event, written once.
    pub fn told(&self, form: &str, write: impl FnOnce() -> Vec<u8>) -> Arc<[u8]> {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, text)) = told.iter().find(|(f, _)| f == form) {
            return Arc::clone(text);
        }
        let text: Arc<[u8]> = write().into();
        told.push((form.to_owned(), Arc::clone(&text)));
        text
    }

    fn forget_told(&self) {
        *self.told.lock().unwrap_or_else(PoisonError::into_inner) = Vec::new();
    }
}

/// The events, and from where on they are complete.
#[derive(Debug)]
pub(in crate::server) struct Log {
    events: VecDeque<Arc<Event>>,
    start: u64,
    weight: usize,
}

/// What comes after a revision.
#[derive(Debug)]
pub(in crate::server) enum Next {
    /// This.
    Event(Arc<Event>),
    /// Nothing yet.
    Nothing,
    /// That is not known any more; what is known begins after this revision.
    Lost(u64),
}

impl Log {
    /// Nothing happened before `start` that anyone could have seen.
    pub fn new(start: u64) -> Self {
        Self { events: VecDeque::new(), start, weight: 0 }
    }

    /// Adds the latest event, and drops the oldest when there are too many.
    pub fn push(&mut self, event: Event) {
        if let Some(at) = self.events.len().checked_sub(TOLD)
            && let Some(event) = self.events.get(at)
        {
            event.forget_told();
        }
        self.weight += event.weight;
        self.events.push_back(Arc::new(event));
        while (self.events.len() > MOST || self.weight > MOST_WEIGHT)
            && let Some(oldest) = self.events.pop_front()
        {
            self.weight -= oldest.weight;
            self.start = oldest.revision;
        }
    }

    /// Forgets everything: from now on it is complete again.
    pub fn restart(&mut self, revision: u64) {
        *self = Self::new(revision.max(self.start));
    }

    /// What comes after `revision`.
    pub fn after(&self, revision: u64) -> Next {
        if revision < self.start {
            return Next::Lost(self.start);
        }
        let at = self.events.partition_point(|event| event.revision <= revision);
        self.events.get(at).map_or(Next::Nothing, |event| Next::Event(Arc::clone(event)))
    }

    /// Takes `objects` back to how they were at `revision`; `false` when that is not known any more. `concerns` tells
    /// which keys are among them.
    pub fn rewind(
        &self,
        objects: &mut BTreeMap<String, Arc<Stored>>,
        revision: u64,
        concerns: impl Fn(&str) -> bool,
    ) -> bool {
        let undone = self.events.iter().rev().take_while(|event| event.revision > revision);
        for event in undone.filter(|event| concerns(&event.key)) {
            match &event.before {
                Some(before) => objects.insert(event.key.clone(), Arc::clone(before)),
                None => objects.remove(&event.key),
            };
        }
        revision >= self.start
    }
}

/// Roughly the bytes of a value.
fn weight(value: &Value) -> usize {
    const NODE: usize = 48;
    NODE + match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(weight).sum(),
        Value::Object(members) => members.iter().map(|(key, v)| key.len() + NODE + weight(v)).sum(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(revision: u64) -> Event {
        Event::new(revision, "a", None, None)
    }

    #[test]
    fn events_are_told_in_order_until_they_are_too_old() {
        let mut log = Log::new(5);
        assert!(matches!(log.after(4), Next::Lost(5)));
        assert!(matches!(log.after(5), Next::Nothing));
        for revision in [7, 9] {
            log.push(event(revision));
        }
        let next = |log: &Log, revision| match log.after(revision) {
            Next::Event(event) => event.revision,
            Next::Nothing => 0,
            Next::Lost(start) => 1000 + start,
        };
        assert_eq!([5, 6, 7, 8, 9, 10].map(|r| next(&log, r)), [7, 7, 9, 9, 0, 0]);
        for revision in 10..10 + MOST as u64 {
            log.push(event(revision));
        }
        assert_eq!([8, 9].map(|r| next(&log, r)), [1009, 10]);
        log.restart(50);
        assert_eq!([49, 50].map(|r| next(&log, r)), [1050, 0]);
    }

    #[test]
    fn what_an_event_tells_is_written_once_for_each_form() {
        let event = event(1);
        let text = event.told("json", || vec![1]);
        assert!(Arc::ptr_eq(&text, &event.told("json", || vec![2])));
        assert_eq!(&*event.told("table", || vec![3]), [3]);
    }

    #[test]
    fn heavy_objects_shorten_the_log() {
        let heavy = || {
            let raw = Value::from("x".repeat(MOST_WEIGHT / 3));
            Some(Arc::new(Stored::new(raw, 1)))
        };
        let mut log = Log::new(0);
        for revision in 1..=4 {
            log.push(Event::new(revision, "a", heavy(), None));
        }
        assert!(matches!(log.after(1), Next::Lost(2)));
        assert!(matches!(log.after(2), Next::Event(e) if e.revision == 3));
    }
}
