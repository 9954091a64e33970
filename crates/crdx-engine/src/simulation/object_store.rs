//! Stores that keep objects until a later input with the same name needs them, so that memory does not grow with the number
//! of objects.

use crdx_text::{Syntax, json, yaml};
use crdx_value::Value;
use crdx_value::lock::lock;
use std::fmt::Debug;
use std::io;
use std::sync::Mutex;

/// The suggestion for a store in a temporary file that cannot be used.
pub const TEMP_FILE_HELP: &str = "make room in the directory for temporary files, or name another with TMPDIR";

/// Keeps objects, each readable by its position. May be shared between threads.
pub trait ObjectStore: Debug + Send + Sync {
    /// Stores an object.
    ///
    /// # Errors
    /// The object cannot be written.
    fn put(&self, object: &Value) -> io::Result<StoredAt>;

    /// Stores the text of an object, which takes less time than to store the object.
    ///
    /// # Errors
    /// The text cannot be written.
    fn put_text(&self, text: &[u8], syntax: Syntax) -> io::Result<StoredAt>;

    /// Reads the object at a position.
    ///
    /// # Errors
    /// The object cannot be read, or its text is malformed.
    fn get(&self, at: StoredAt) -> io::Result<Value>;

    /// Creates a store of the same type without objects.
    fn empty(&self) -> Box<dyn ObjectStore>;
}

/// The position of an object in a store. Positions of objects that a single thread stores are in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct StoredAt {
    /// The index of the file, for a store with several files.
    pub file: usize,
    /// The number of bytes, or of objects, before it.
    pub start: u64,
    /// The number of bytes; 0 for a store of objects.
    pub length: usize,
    /// The syntax, if it is a text.
    pub text: Option<Syntax>,
}

impl StoredAt {
    /// Returns the position as a value.
    pub fn to_value(self) -> Value {
        let Self { file, start, length, text } = self;
        let text = match text {
            None => 0,
            Some(Syntax::Json) => 1,
            Some(Syntax::Yaml) => 2,
        };
        Value::Array([file as i64, start as i64, length as i64, text].map(Value::Int).to_vec())
    }

    /// Returns the position that [`StoredAt::to_value`] wrote; `None` for any other value.
    pub fn from_value(value: &Value) -> Option<Self> {
        let [file, start, length, text] = value.as_array()? else { return None };
        let number = |value: &Value| usize::try_from(value.as_int()?).ok();
        let text = match number(text)? {
            0 => None,
            1 => Some(Syntax::Json),
            _ => Some(Syntax::Yaml),
        };
        let start = start.as_int()?.try_into().ok()?;
        Some(Self { file: number(file)?, start, length: number(length)?, text })
    }

    /// Returns true if the object was stored as text, as an input contains it.
    pub fn is_text(self) -> bool {
        self.text.is_some()
    }
}

/// Decodes the text of an object; `None` if it is malformed.
pub fn decode(text: &[u8], syntax: Syntax) -> Option<Value> {
    match syntax {
        Syntax::Json => json::read(text).ok(),
        Syntax::Yaml => yaml::read(text).ok(),
    }
}

/// Objects in memory, for inputs that are known to be small.
#[derive(Debug, Default)]
pub struct MemoryStore(Mutex<Vec<Value>>);

impl MemoryStore {
    fn push(&self, object: Value, text: Option<Syntax>) -> StoredAt {
        let mut objects = lock(&self.0);
        let start = objects.len() as u64;
        objects.push(object);
        StoredAt { file: 0, start, length: 0, text }
    }
}

impl ObjectStore for MemoryStore {
    fn put(&self, object: &Value) -> io::Result<StoredAt> {
        Ok(self.push(object.clone(), None))
    }

    fn put_text(&self, text: &[u8], syntax: Syntax) -> io::Result<StoredAt> {
        let object = decode(text, syntax).ok_or_else(|| io::Error::from(io::ErrorKind::InvalidData))?;
        Ok(self.push(object, Some(syntax)))
    }

    fn get(&self, at: StoredAt) -> io::Result<Value> {
        let objects = lock(&self.0);
        let object = usize::try_from(at.start).ok().and_then(|index| objects.get(index));
        object.cloned().ok_or_else(|| io::ErrorKind::InvalidInput.into())
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
    fn objects_and_texts_are_found_again() {
        let store = MemoryStore::default();
        let object_at = store.put(&Value::Int(7)).unwrap();
        let text_at = store.put_text(b"a: on\n", Syntax::Yaml).unwrap();
        assert_eq!(store.get(object_at).unwrap(), Value::Int(7));
        assert_eq!(store.get(text_at).unwrap(), object([("a", true)]));
        assert!(text_at.is_text() && !object_at.is_text() && object_at < text_at);
        assert_eq!(store.put_text(b"{", Syntax::Json).unwrap_err().kind(), io::ErrorKind::InvalidData);
        assert_eq!(store.empty().get(object_at).unwrap_err().kind(), io::ErrorKind::InvalidInput);
    }

    #[test]
    fn a_position_is_read_again() {
        for text in [None, Some(Syntax::Json), Some(Syntax::Yaml)] {
            let at = StoredAt { file: 3, start: 1 << 40, length: 5, text };
            assert_eq!(StoredAt::from_value(&at.to_value()), Some(at));
        }
        assert_eq!(StoredAt::from_value(&Value::Null), None);
    }
}
