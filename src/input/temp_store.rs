//! Stores objects outside of memory: small amounts in memory, more in a temporary file.

use crate::text;
use crate::value::{Value, json};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::sync::{Mutex, PoisonError};
use tempfile::SpooledTempFile;

/// The size up to which it stays in memory.
const IN_MEMORY: usize = 4 << 20;

/// Objects in the order in which they were stored.
#[derive(Debug)]
pub struct TempStore(Mutex<Inner>);

#[derive(Debug)]
struct Inner {
    file: SpooledTempFile,
    end: u64,
}

/// The position of an object.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    start: u64,
    length: usize,
}

impl Default for TempStore {
    fn default() -> Self {
        Self(Mutex::new(Inner { file: SpooledTempFile::new(IN_MEMORY), end: 0 }))
    }
}

impl TempStore {
    /// Stores an object.
    pub fn put(&self, object: &Value) -> io::Result<Place> {
        let text = json::to_string(object);
        let mut inner = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let start = inner.end;
        inner.file.seek(SeekFrom::Start(start))?;
        inner.file.write_all(text.as_bytes())?;
        inner.end = start.saturating_add(text.len() as u64);
        Ok(Place { start, length: text.len() })
    }

    /// Reads the object at a position.
    pub fn get(&self, place: Place) -> io::Result<Value> {
        let mut bytes = vec![0; place.length];
        let mut inner = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        inner.file.seek(SeekFrom::Start(place.start))?;
        inner.file.read_exact(&mut bytes)?;
        drop(inner);
        text::json::read(&bytes).map_err(|error| io::Error::other(error.message))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::object;

    #[test]
    fn objects_are_found_again() {
        let temp_store = TempStore::default();
        let make = |n: i64| object([("n", Value::Int(n)), ("pad", "x".repeat(1 << 16).into())]);
        let places: Vec<Place> = (0..100).map(|n| temp_store.put(&make(n)).unwrap()).collect();
        for n in [99, 0, 50] {
            assert_eq!(temp_store.get(places[n]).unwrap(), make(n as i64));
        }
    }
}
