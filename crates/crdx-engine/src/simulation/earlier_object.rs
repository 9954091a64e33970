//! The object that an input stores for later inputs with the same name.

use super::object_store::{ObjectStore, StoredAt};
use super::unsent::{Unsent, lost};
use crdx_text::Syntax;
use crdx_value::Value;
use std::io;

/// The object that an earlier input with the same name stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EarlierObject {
    /// There is none, for example because the server would reject it.
    #[default]
    None,
    /// It is in the store.
    At(StoredAt),
    /// It cannot be written to the store, or read from it.
    Lost(io::ErrorKind),
}

impl EarlierObject {
    /// Stores an object, or its text if there is one.
    pub fn put(store: &dyn ObjectStore, object: &Value, text: Option<(&[u8], Syntax)>) -> Self {
        let stored_at = match text {
            Some((text, syntax)) => store.put_text(text, syntax),
            None => store.put(object),
        };
        stored_at.map_or_else(|error| Self::Lost(error.kind()), Self::At)
    }

    /// Returns it, and true if it is the text of an input that was only created in a dry run; `None` if there is none.
    ///
    /// # Errors
    /// Returns the reason why it is lost.
    pub fn read(self, store: &dyn ObjectStore) -> Result<Option<(Value, bool)>, Unsent> {
        match self {
            Self::None => Ok(None),
            Self::Lost(kind) => Err(lost(kind)),
            Self::At(stored) => match store.get(stored) {
                Ok(object) => Ok(Some((object, stored.is_text()))),
                Err(error) => Err(lost(error.kind())),
            },
        }
    }

    /// Returns it as a value; `None` if it is lost.
    pub fn to_value(self) -> Option<Value> {
        match self {
            Self::None => Some(Value::Null),
            Self::At(stored_at) => Some(stored_at.to_value()),
            Self::Lost(_) => None,
        }
    }

    /// Returns what [`EarlierObject::to_value`] wrote; `None` for any other value.
    pub fn from_value(value: &Value) -> Option<Self> {
        if value.is_null() { Some(Self::None) } else { StoredAt::from_value(value).map(Self::At) }
    }
}
