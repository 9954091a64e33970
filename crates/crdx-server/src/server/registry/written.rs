//! An object that is ready to be stored.

use crate::server::metadata;
use crate::server::registry::store::{Collection, Raced, Revision, StoredObject};
use crdx_value::Value;
use std::sync::Arc;

/// An object that is ready to be stored.
#[derive(Debug)]
pub(in crate::server) struct Written {
    /// The object in the storage version.
    pub raw: Value,
    /// The object at the version of the request; `None` if it equals `raw`.
    pub shown: Option<Value>,
    /// The paths of fields that the version of the request has and the storage version does not.
    pub dropped: Vec<String>,
}

impl Written {
    /// The object in the response to a dry run.
    pub fn shown(self) -> Arc<Value> {
        Arc::new(self.shown.unwrap_or(self.raw))
    }

    /// Stores the object if the object at `key` is still `expected`. Returns the stored object, and the object at the
    /// version of the request.
    ///
    /// # Errors
    /// Returns [`Raced`] if another write was committed first.
    pub fn put(
        self,
        objects: &Collection,
        key: &str,
        expected: Option<&Arc<StoredObject>>,
        revision: &Revision,
    ) -> Result<(Arc<StoredObject>, Arc<Value>), Raced> {
        let stored = objects.put(key, expected, self.raw, revision)?;
        let shown = match self.shown {
            None => stored.raw(),
            Some(mut shown) => {
                metadata::set_text(&mut shown, "resourceVersion", &stored.revision.to_string());
                Arc::new(shown)
            }
        };
        Ok((stored, shown))
    }
}
