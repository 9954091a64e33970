//! Objects outside of memory, each readable by its position.

mod encoding;

use super::temp_file::{Span, TempFile};
use crate::value::Value;
use std::io;
use std::sync::{Mutex, PoisonError};

/// The usual length of an object.
const CAPACITY: usize = 4096;

/// Objects in a temporary file. May be shared between threads.
#[derive(Debug, Default)]
pub struct TempStore(Mutex<TempFile>);

/// The position of an object.
#[derive(Clone, Copy, Debug)]
pub struct StoredAt(Span);

impl TempStore {
    /// Stores an object.
    ///
    /// # Errors
    /// The temporary file cannot be written.
    pub fn put(&self, object: &Value) -> io::Result<StoredAt> {
        let mut bytes = Vec::with_capacity(CAPACITY);
        encoding::write(&mut bytes, object);
        self.0.lock().unwrap_or_else(PoisonError::into_inner).append(&bytes).map(StoredAt)
    }

    /// Reads the object at a position.
    ///
    /// # Errors
    /// The temporary file cannot be read.
    pub fn get(&self, at: StoredAt) -> io::Result<Value> {
        let bytes = self.0.lock().unwrap_or_else(PoisonError::into_inner).read(at.0)?;
        encoding::read(&mut &*bytes).ok_or_else(|| io::Error::from(io::ErrorKind::InvalidData))
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
        let stored: Vec<StoredAt> = (0..100).map(|n| temp_store.put(&make(n)).unwrap()).collect();
        for n in [99, 0, 50] {
            assert_eq!(temp_store.get(stored[n]).unwrap(), make(n as i64));
        }
    }
}
