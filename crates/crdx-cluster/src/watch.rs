//! Watches: a stream of events, one line of JSON each.

use super::connection::Stream;
use super::{Connection, Error, Query, limits};
use crdx_text::json;
use crdx_value::Value;
use std::marker::PhantomData;

/// The events `{"type": …, "object": …}` until the server ends the watch or `--request-timeout` expires. An event of
/// type `ERROR` contains a Status and is the last one.
pub struct Watch<'a> {
    stream: Stream,
    path: String,
    /// The incomplete last line.
    rest: Vec<u8>,
    /// The number of bytes of `rest` that are known to contain no line break.
    searched: usize,
    done: bool,
    connection: PhantomData<&'a Connection>,
}

impl Connection {
    /// Watches the collection at `path` for changes after `resource_version`.
    pub fn watch(&self, path: &str, query: &Query, resource_version: &str, accept: &str) -> Result<Watch<'_>, Error> {
        let path = query.of(path, &[("watch", "true"), ("resourceVersion", resource_version)]);
        let stream = self.stream(&path, accept)?;
        Ok(Watch { stream, path, rest: Vec::new(), searched: 0, done: false, connection: PhantomData })
    }
}

impl Watch<'_> {
    fn event(&mut self) -> Result<Option<Value>, Error> {
        loop {
            let new = self.rest.get(self.searched..).unwrap_or_default();
            if let Some(end) = new.iter().position(|b| *b == b'\n') {
                let line: Vec<u8> = self.rest.drain(..=self.searched + end).collect();
                self.searched = 0;
                if line.trim_ascii().is_empty() {
                    continue;
                }
                limits::check_decoded(&line, &self.path)?;
                let event = json::read(&line);
                return event.map(Some).map_err(|e| Error::new(format!("an event of the watch is not JSON: {e}")));
            }
            self.searched = self.rest.len();
            let broke = |reason: &dyn std::fmt::Display| Error {
                help: Some("run it again".to_owned()),
                ..Error::new(format!("the watch failed: {reason}"))
            };
            match self.stream.next() {
                None if self.rest.trim_ascii().is_empty() => return Ok(None),
                None => return Err(broke(&"it ended in the middle of an event")),
                Some(Err(error)) => return Err(broke(&super::answer::root_cause(&error))),
                Some(Ok(bytes)) => self.rest.extend_from_slice(&bytes),
            }
            if self.rest.len() > limits::MAX_BODY {
                return Err(broke(&format!("an event is longer than {} MiB", limits::MAX_BODY >> 20)));
            }
        }
    }
}

impl Iterator for Watch<'_> {
    type Item = Result<Value, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.done {
            return None;
        }
        let event = self.event().transpose();
        self.done = !matches!(&event, Some(Ok(event)) if event.str_at(&["type"]) != Some("ERROR"));
        event
    }
}
