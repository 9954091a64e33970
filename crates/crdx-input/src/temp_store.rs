//! Objects outside of memory, each readable by its position.

mod encoding;

use super::temp_file::{Span, TempFile, TempFileError};
use crdx_engine::simulation::object_store::{ObjectStore, StoredAt, decode};
use crdx_text::Syntax;
use crdx_value::Value;
use crdx_value::lock::lock;
use std::io;
use std::sync::{Mutex, MutexGuard, TryLockError};

/// The usual length of an object.
const CAPACITY: usize = 4096;

/// The number of files, so that a thread need not wait while another one writes.
const FILES: usize = 4;

/// Objects in temporary files. May be shared between threads.
#[derive(Debug, Default)]
pub struct TempStore([Mutex<TempFile>; FILES]);

impl TempStore {
    fn append(&self, bytes: &[u8], text: Option<Syntax>) -> io::Result<StoredAt> {
        let (file, mut writer) = self.free_file()?;
        let Span { start, length } = writer.append(bytes)?;
        Ok(StoredAt { file, start, length, text })
    }

    /// Returns the first file that no other thread uses, or waits for the first file.
    fn free_file(&self) -> io::Result<(usize, MutexGuard<'_, TempFile>)> {
        let free = self.0.iter().enumerate().find_map(|(i, file)| match file.try_lock() {
            Ok(file) => Some((i, file)),
            Err(TryLockError::Poisoned(file)) => Some((i, file.into_inner())),
            Err(TryLockError::WouldBlock) => None,
        });
        free.map_or_else(|| self.file(0).map(|file| (0, file)), Ok)
    }

    fn file(&self, index: usize) -> io::Result<MutexGuard<'_, TempFile>> {
        let file = self.0.get(index).ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
        Ok(lock(file))
    }
}

impl ObjectStore for TempStore {
    fn put(&self, object: &Value) -> io::Result<StoredAt> {
        let mut bytes = Vec::with_capacity(CAPACITY);
        encoding::write(&mut bytes, object);
        self.append(&bytes, None)
    }

    fn put_text(&self, text: &[u8], syntax: Syntax) -> io::Result<StoredAt> {
        self.append(text, Some(syntax))
    }

    fn get(&self, at: StoredAt) -> io::Result<Value> {
        let bytes = self.file(at.file)?.read(Span { start: at.start, length: at.length })?;
        let object = match at.text {
            None => encoding::read(&mut &*bytes),
            Some(syntax) => decode(&bytes, syntax),
        };
        object.ok_or_else(|| TempFileError::wrap(io::ErrorKind::InvalidData.into()))
    }

    fn empty(&self) -> Box<dyn ObjectStore> {
        Box::<Self>::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_value::object;

    #[test]
    fn objects_are_found_again() {
        let temp_store = TempStore::default();
        let make = |n: i64| object([("n", Value::Int(n)), ("pad", "x".repeat(1 << 16).into())]);
        let stored: Vec<StoredAt> = (0..100).map(|n| temp_store.put(&make(n)).unwrap()).collect();
        assert!(stored.is_sorted());
        for n in [99, 0, 50] {
            assert_eq!(temp_store.get(stored[n]).unwrap(), make(n as i64));
        }
    }

    #[test]
    fn texts_are_decoded() {
        let temp_store = TempStore::default();
        for (text, syntax) in [("a: on\n", Syntax::Yaml), (r#"{"a":true}"#, Syntax::Json)] {
            let stored = temp_store.put_text(text.as_bytes(), syntax).unwrap();
            assert!(stored.is_text());
            assert_eq!(temp_store.get(stored).unwrap(), object([("a", true)]));
        }
        let malformed = temp_store.put_text(b"{", Syntax::Json).unwrap();
        assert_eq!(temp_store.get(malformed).unwrap_err().kind(), io::ErrorKind::InvalidData);
    }

    #[test]
    fn a_thread_uses_a_file_that_is_free() {
        let temp_store = TempStore::default();
        let busy = temp_store.file(0).unwrap();
        let stored = temp_store.put(&Value::Int(7)).unwrap();
        assert_eq!(stored.file, 1);
        drop(busy);
        assert_eq!(temp_store.get(stored).unwrap(), Value::Int(7));
    }
}
