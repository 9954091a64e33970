//! The event log of a collection: its most recent writes in order. Watches read it forwards, and lists at an old
//! revision undo it backwards. It replaces both the server's watch cache and etcd's history.

use super::StoredObject;
use crdx_value::Value;
use crdx_value::lock::lock;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};

/// The maximum number of events in the log.
const MAX_EVENTS: usize = 10_000;
/// The approximate maximum size, in bytes, of old objects that only the log refers to.
const MAX_WEIGHT: usize = 32 << 20;
/// The number of most recent events that cache their serialized text.
const MAX_EVENTS_WITH_TEXTS: usize = 64;

/// A write or removal of one object.
#[derive(Debug)]
pub(in crate::server) struct Event {
    /// The revision of the write.
    pub revision: u64,
    /// The object's key.
    pub key: String,
    /// The object before the write; `None` if it was created.
    pub before: Option<Arc<StoredObject>>,
    /// The object after the write; `None` if it was removed.
    pub after: Option<Arc<StoredObject>>,
    weight: usize,
    texts: Mutex<Vec<(String, Arc<[u8]>)>>,
}

impl Event {
    /// Creates the event of a write at `revision`.
    pub fn new(revision: u64, key: &str, before: Option<Arc<StoredObject>>, after: Option<Arc<StoredObject>>) -> Self {
        let weight = before.as_ref().map_or(0, |stored| stored.weight(weight));
        Self { revision, key: key.to_owned(), before, after, weight, texts: Mutex::default() }
    }

    /// The serialized event in one `form`, computed once for all watches that use this form.
    ///
    /// # Errors
    /// Returns the error of `write`.
    pub fn text<E>(&self, form: &str, write: impl FnOnce() -> Result<Vec<u8>, E>) -> Result<Arc<[u8]>, E> {
        let mut texts = lock(&self.texts);
        if let Some((_, text)) = texts.iter().find(|(f, _)| f == form) {
            return Ok(Arc::clone(text));
        }
        let text: Arc<[u8]> = write()?.into();
        texts.push((form.to_owned(), Arc::clone(&text)));
        Ok(text)
    }

    fn drop_texts(&self) {
        *lock(&self.texts) = Vec::new();
    }
}

/// The most recent events, and the revision after which they are complete.
#[derive(Debug)]
pub(in crate::server) struct Log {
    events: VecDeque<Arc<Event>>,
    start: u64,
    weight: usize,
}

/// The result of reading the log after a revision.
#[derive(Debug)]
pub(in crate::server) enum Next {
    /// The next event.
    Event(Arc<Event>),
    /// There is no later event yet.
    UpToDate,
    /// Events after the given revision have been dropped. The log is complete only after this revision.
    Expired(u64),
}

impl Log {
    /// Creates an empty log that is complete after `start`.
    pub fn new(start: u64) -> Self {
        Self { events: VecDeque::new(), start, weight: 0 }
    }

    /// Appends an event, and drops the oldest events if the log is too large.
    pub fn push(&mut self, event: Event) {
        if let Some(at) = self.events.len().checked_sub(MAX_EVENTS_WITH_TEXTS)
            && let Some(event) = self.events.get(at)
        {
            event.drop_texts();
        }
        self.weight += event.weight;
        self.events.push_back(Arc::new(event));
        while (self.events.len() > MAX_EVENTS || self.weight > MAX_WEIGHT)
            && let Some(oldest) = self.events.pop_front()
        {
            self.weight -= oldest.weight;
            self.start = oldest.revision;
        }
    }

    /// Drops all events; the log is complete after `revision`.
    pub fn restart(&mut self, revision: u64) {
        *self = Self::new(revision.max(self.start));
    }

    /// The revision of the last event, or that after which the log is complete if there is none.
    pub fn end(&self) -> u64 {
        self.events.back().map_or(self.start, |event| event.revision)
    }

    /// The first event after `revision`.
    pub fn after(&self, revision: u64) -> Next {
        if revision < self.start {
            return Next::Expired(self.start);
        }
        let at = self.events.partition_point(|event| event.revision <= revision);
        self.events.get(at).map_or(Next::UpToDate, |event| Next::Event(Arc::clone(event)))
    }

    /// Restores `objects` to their state at `revision`. Returns `false` if the log does not reach back that far.
    /// `matches` returns true for the keys to restore.
    pub fn rewind(
        &self,
        objects: &mut BTreeMap<String, Arc<StoredObject>>,
        revision: u64,
        matches: impl Fn(&str) -> bool,
    ) -> bool {
        let undone = self.events.iter().rev().take_while(|event| event.revision > revision);
        for event in undone.filter(|event| matches(&event.key)) {
            match &event.before {
                Some(before) => objects.insert(event.key.clone(), Arc::clone(before)),
                None => objects.remove(&event.key),
            };
        }
        revision >= self.start
    }
}

/// The approximate memory of a value, in bytes.
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
    fn events_are_read_in_order_until_they_expire() {
        let mut log = Log::new(5);
        assert!(matches!(log.after(4), Next::Expired(5)));
        assert!(matches!(log.after(5), Next::UpToDate));
        for revision in [7, 9] {
            log.push(event(revision));
        }
        let next = |log: &Log, revision| match log.after(revision) {
            Next::Event(event) => event.revision,
            Next::UpToDate => 0,
            Next::Expired(start) => 1000 + start,
        };
        assert_eq!([5, 6, 7, 8, 9, 10].map(|r| next(&log, r)), [7, 7, 9, 9, 0, 0]);
        for revision in 10..10 + MAX_EVENTS as u64 {
            log.push(event(revision));
        }
        assert_eq!([8, 9].map(|r| next(&log, r)), [1009, 10]);
        log.restart(50);
        assert_eq!([49, 50].map(|r| next(&log, r)), [1050, 0]);
    }

    #[test]
    fn an_event_is_serialized_once_per_form() {
        let event = event(1);
        let text = |form, bytes| event.text(form, || Ok::<_, ()>(bytes)).unwrap();
        let first = text("json", vec![1]);
        assert!(Arc::ptr_eq(&first, &text("json", vec![2])));
        assert_eq!(&*text("table", vec![3]), [3]);
        assert_eq!(event.text("none", || Err("refused")), Err("refused"));
    }

    #[test]
    fn heavy_objects_shorten_the_log() {
        let heavy = || {
            let raw = Value::from("x".repeat(MAX_WEIGHT / 3));
            Some(Arc::new(StoredObject::new(raw, 1)))
        };
        let mut log = Log::new(0);
        for revision in 1..=4 {
            log.push(Event::new(revision, "a", heavy(), None));
        }
        assert!(matches!(log.after(1), Next::Expired(2)));
        assert!(matches!(log.after(2), Next::Event(e) if e.revision == 3));
    }
}
